"""Tasks: functions whose tests fail with a stub and pass with the original body.

Every dropped function is recorded with the stage and the reason; the stages refine those of the paper's Table 2. The
selection ``published`` reproduces that table: functions that a passing test reaches, excluding files below a folder
``tests/``, with or without a docstring, and without the stub filter, although the paper's text describes one. Test
functions in other folders are included. The paper's collector misses asynchronous functions, functions inside ``if``,
``for``, ``try`` or ``with``, and functions that only parametrised tests reach.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from workbench.base import python_syntax
from workbench.base.errors import UsageError, WorkbenchError
from workbench.repository.functions import Function, functions_by_name
from workbench.sandbox import Limits, Workspace

STUB_VERSION = "stub-1"

_DEFAULTS = {
    "None": "None", "int": "0", "float": "0.0", "complex": "0j", "str": '""', "bytes": 'b""', "bool": "False",
    "bytearray": "bytearray()", "list": "[]", "dict": "{}", "set": "set()", "frozenset": "frozenset()", "tuple": "()",
    "object": "None", "Any": "None", "List": "[]", "Dict": "{}", "Set": "set()", "FrozenSet": "frozenset()", "Tuple": "()",
    "Text": '""', "AnyStr": '""', "Sequence": "()", "Iterable": "()", "Collection": "()", "MutableSequence": "[]",
    "Mapping": "{}", "MutableMapping": "{}", "DefaultDict": "{}", "defaultdict": "{}", "OrderedDict": "{}",
    "Iterator": "iter(())", "Generator": "iter(())", "Counter": "{}",
}  # fmt: skip


def minimal_stub(function: Function) -> str:
    """Return ``pass`` or, for a generator, a body that yields nothing."""
    return "return\nyield" if function.is_generator else "pass"


def typed_stub(function: Function) -> str:
    """Return a body that returns the empty value of the return annotation; without annotation, ``minimal_stub``.

    ``Optional[T]`` and unions with ``None`` yield ``None``; other unions yield the empty value of their first member.
    """
    if function.is_generator:
        return minimal_stub(function)
    value = default_value(function.returns)
    return f"return {value}" if value is not None else minimal_stub(function)


def stubs(function: Function) -> tuple[str, ...]:
    """Return the distinct stubs of the function, ``minimal_stub`` first; a task's tests must fail with each one."""
    return tuple(dict.fromkeys((minimal_stub(function), typed_stub(function))))


def default_value(annotation: str | None) -> str | None:
    if annotation is None:
        return None
    text = annotation.strip().strip("\"'").strip()
    members = _split(text, "|")
    wrapper = re.match(
        r"(?:typing\.)?(Union|Optional|Annotated|Final|ClassVar|Awaitable|Coroutine)\[(.*)\]\Z", text, re.S
    )
    if wrapper:
        arguments = _split(wrapper[2], ",")
        if wrapper[1] == "Optional":
            return "None"
        if wrapper[1] == "Coroutine":
            return default_value(arguments[-1])
        members = arguments if wrapper[1] == "Union" else arguments[:1]
    if len(members) > 1 or wrapper:
        if any(member in ("None", "NoneType") for member in members):
            return "None"
        return next((value for member in members if (value := default_value(member)) is not None), None)
    literal = re.match(r"(?:typing\.)?Literal\[(.*)\]\Z", text, re.S)
    if literal:
        return _split(literal[1], ",")[0]
    name = re.match(r"[\w.]+", text)
    return _DEFAULTS.get(name[0].rpartition(".")[2]) if name else None


def _split(text: str, separator: str) -> list[str]:
    parts, depth, quoted, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "\"'":
            quoted = character
        elif character in "[({":
            depth += 1
        elif character in "])}":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


_NETWORK = re.compile(
    r"gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable|No route to host"
    r"|NameResolutionError|Max retries exceeded|(?:New|Max)?ConnectionError\b|ConnectError\b|urlopen error"
)

#: The stages at which a function can be dropped, in order.
STAGES = ("parse", "body", "trace", "time", "original", "stub")


@dataclass(frozen=True, slots=True)
class Task:
    """A function to regenerate from its documentation."""

    id: str  # ``path::qualified_name``, followed by ``#n`` starting with the name's second definition
    path: str  # POSIX, relative to the repository
    qualified_name: str
    occurrence: int  # position among the file's definitions with this name, from 1
    kind: str  # ``function``, ``method`` or ``nested``
    signature: str  # the function's header as a single line
    start_line: int  # line number of ``def``, from 1
    end_line: int  # line number of the last line of the body
    tests: tuple[str, ...]  # T_i: node ids of the function's tests, in pytest's order
    statements: int  # number of executable lines in the body
    covered: int  # number of statements that T_i executes
    seconds: float  # seconds that T_i takes with the original body, including setup and teardown
    import_time: bool  # whether the body also runs at import, in which case the fast route must not patch it
    body: str  # exactly the text that ``splice`` replaces
    docstring: str | None
    source_sha256: str  # SHA-256 of the file
    branches: int = 0  # number of branches in the body (an ``if`` has two)
    branches_covered: int = 0  # number of branches that T_i takes
    unstable: tuple[str, ...] = ()  # number of quarantined tests that execute the function

    @property
    def coverage(self) -> float:
        """The share of the body's statements that T_i executes, from 0 to 1."""
        return self.covered / self.statements if self.statements else 0.0

    @property
    def branch_coverage(self) -> float | None:
        """The share of the body's branches that T_i takes, from 0 to 1, or None if there are no branches."""
        return self.branches_covered / self.branches if self.branches else None

    def limits(self, base: Limits) -> Limits:
        """Return a candidate's limits: ten times the original's duration plus 5 seconds, at most ``base.seconds``."""
        return replace(base, seconds=min(base.seconds, 10 * self.seconds + 5.0))


@dataclass(frozen=True, slots=True)
class Dropped:
    """A function that did not become a task, with the stage (see `STAGES`) and the reason."""

    id: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """A progress report during task building, for a live view."""

    stage: str  # ``suite``, ``functions``, ``original``, ``stub`` or ``done``
    done: int  # number of functions decided so far
    total: int  # number of functions to decide; 0 while unknown
    text: str  # a one-line message
    task: Task | None = None  # the task found in this step, if any
    dropped: Dropped | None = None  # the function dropped in this step, if any


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one repository, and statistics about building them."""

    tasks: tuple[Task, ...]  # tasks in the order of files and lines
    dropped: tuple[Dropped, ...]
    stages: Mapping[str, int]  # number of functions left after each stage, as in Table 2
    stable: int  # number of tests that passed in every run
    unstable: Mapping[str, tuple[str, ...]]  # tests that passed in only some runs, with their outcomes
    failing: Mapping[str, str]  # tests that never passed, with the reason
    taken_out: Mapping[str, str]  # tests that hang or kill the process, with the reason
    suite_seconds: tuple[float, ...]  # wall-clock seconds of the three runs: original order, random order, traced
    backend: str  # name of the sandbox back end
    environment: str  # digest of the test environment
    stub: str = STUB_VERSION  # version of the stubs
    not_collected: Mapping[str, str] = field(default_factory=dict)  # files that cannot be imported, with the reason
    test_paths: tuple[str, ...] = ()  # test files with names that pytest does not collect

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of functions left after each stage, and of tests.

        Only counts of the selection ``published`` are comparable with Table 2.

        ``n_candidates`` is the number of functions outside tests. Each later count is a subset of the one before:
        ``n_with_body`` functions parse and have more than a stub; ``n_traced`` are executed by a stable test;
        ``n_in_time`` by stable tests within the time limit; ``n_reference`` pass these tests in isolation; ``n_tasks``
        fail them with every stub; ``n_documented`` have a docstring.
        """
        remaining = len(self.tasks) + len(self.dropped)
        dropped = Counter(entry.stage for entry in self.dropped)
        counts = {"n_candidates": remaining}
        names = {"body": "n_with_body", "trace": "n_traced", "time": "n_in_time", "original": "n_reference"}
        for stage in STAGES:
            remaining -= dropped[stage]
            if stage in names:
                counts[names[stage]] = remaining
        counts |= {"n_tasks": len(self.tasks), "n_documented": sum(task.docstring is not None for task in self.tasks)}
        skipped = sum(is_skipped(why) for why in self.failing.values())
        tests = {
            "n_stable": self.stable,
            "n_unstable": len(self.unstable),
            "n_failing": len(self.failing) - skipped,
            "n_skipped": skipped,
            "n_taken_out": len(self.taken_out),
        }
        return {**counts, "n_tests": sum(tests.values()), **tests}

    @property
    def quarantined(self) -> str:
        """A description of the tests excluded from all verdicts, or "" if every test is usable."""
        return ", ".join(not_used(self.unstable, self.failing, self.taken_out, self.not_collected))

    def workspace(self, workspace: Workspace) -> Workspace:
        return usable(workspace, self.not_collected, self.test_paths)


def located(root: Path, tasks: Iterable[Task]) -> list[tuple[Task, Function, bytes]]:
    """Return each task with its function and its file. Raises WorkbenchError if a file has changed since the build."""
    files: dict[str, tuple[bytes, dict[tuple[str, int], Function]]] = {}
    found = []
    for task in tasks:
        if task.path not in files:
            source = (root / task.path).read_bytes()
            files[task.path] = source, functions_by_name(source, task.path)
        source, functions = files[task.path]
        function = functions.get((task.qualified_name, task.occurrence))
        if function is None or hashlib.sha256(source).hexdigest() != task.source_sha256:
            raise WorkbenchError(f"{task.path} has changed since its tasks were built; run again with --rebuild.")
        found.append((task, function, source))
    return found


def is_skipped(why: str) -> bool:
    return why.startswith(("skipped:", "xfailed:", "xpassed:"))


def needs_network(why: str) -> bool:
    return _NETWORK.search(why) is not None


def not_used(
    unstable: Collection[str], failing: Mapping[str, str], taken_out: Collection[str], not_collected: Collection[str]
) -> tuple[str, ...]:
    skipped = sum(map(is_skipped, failing.values()))
    online = sum(map(needs_network, failing.values()))
    parts = (
        (len(unstable), "unstable", ""),
        (len(failing) - skipped, "failing", f" ({online} need the network)" if online else ""),
        (skipped, "skipped", ""),
        (len(taken_out), "hanging or fatal", ""),
        (len(not_collected), "test files that cannot be imported", ""),
    )
    return tuple(f"{number} {what}{more}" for number, what, more in parts if number)


def usable(workspace: Workspace, not_collected: Iterable[str], test_paths: tuple[str, ...]) -> Workspace:
    """Return ``workspace`` without test files that cannot be imported, plus those that must be passed explicitly."""
    ignored = tuple(f"--ignore={path}" for path in not_collected)
    return replace(
        workspace, pytest_args=(*workspace.pytest_args, *ignored), test_paths=test_paths or workspace.test_paths
    )


SELECTIONS = ("filtered", "published")


def parse_selection(text: str) -> str:
    """Return the named selection, or ``filtered`` for "". Raises UsageError if there is no such selection."""
    selection = text.strip() or SELECTIONS[0]
    if selection not in SELECTIONS:
        raise UsageError(f"There is no selection {text!r}; choose {' or '.join(SELECTIONS)}.")
    return selection


def is_published_file(path: PurePosixPath) -> bool:
    """Return whether none of the file's parent folders is named ``tests``."""
    return "tests" not in path.parts[:-1]


@functools.lru_cache(maxsize=1)  # cached because callers process the functions file by file
def missed_lines(source: bytes) -> frozenset[int]:
    """Return the lines of each ``def`` inside a compound statement; empty if the file does not parse."""
    try:
        tree = python_syntax.parse(source)
    except python_syntax.UNREADABLE:
        return frozenset()
    found: set[int] = set()
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, within = pending.pop()
        for child in ast.iter_child_nodes(node):
            is_definition = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if within and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(child.lineno)
            compound = isinstance(
                child, ast.If | ast.For | ast.While | ast.Try | ast.With | ast.AsyncFor | ast.AsyncWith
            )
            # Statements in a definition's body do not count as inside the compound statement around the definition.
            pending.append((child, compound or (within and not is_definition)))
    return frozenset(found)


def why_not_published(function: Function, tests: Sequence[str], missed: frozenset[int]) -> str:
    """Return why the published counts exclude a function that tests reach, or "" if they include it."""
    if function.is_async:
        return "It is asynchronous, which the published counts exclude."
    if function.start_line in missed:
        return "It is defined within a compound statement, which the published counts exclude."
    if all("[" in test for test in tests):
        return "Only parametrised tests reach it, which the published counts exclude."
    return ""
