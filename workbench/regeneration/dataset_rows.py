"""Rows of a dataset of tasks: the columns of RealCode and repotest where applicable, and further columns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.regeneration.environment import Environment
from workbench.regeneration.tasks import Task, TaskSet
from workbench.repository.encoding import decode, source_encoding
from workbench.repository.functions import Function, find_functions

#: Incremented whenever a column changes its name or its meaning.
SCHEMA_VERSION = 1


def _column(kind: str, meaning: str, *, default: Any = ...) -> Any:
    metadata = {"kind": kind, "meaning": meaning}
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Row:
    """One task: the file around the body, the body, its tests, and where they run.

    ``left_context + gt + right_context`` is the whole file. Columns up to ``test_command`` have RealCode's names.
    """

    id: int = _column("int", "running number in this file, from 0")
    repo: str = _column("str", "owner/name, or the name of the case or project")
    base_commit: str = _column("str", "commit of a git source, else the digest of the content that was fetched")
    fn: str = _column("str", "path of the file, relative to the repository")
    path_from_root: str = _column("str", "the same, under the name of RealCode's first rows")
    intent: str = _column("str", "name of the function, followed by [function]")
    intent_type: str = _column("str", "always function (methods and nested functions included)")
    left_context: str = _column("str", "the file up to the body, signature and docstring included")
    gt: str = _column("str", "the original body")
    right_context: str = _column("str", "the file after the body")
    doc: str | None = _column("str?", "value of the original docstring; null if there is none")
    total_tests: int = _column("int", "number of tests in PASS_TO_PASS")
    PASS_TO_PASS: tuple[str, ...] = _column("list[str]", "T_i: pytest node ids, parameters kept, in pytest's order")
    FAIL_TO_PASS: tuple[str, ...] = _column(
        "list[str]", "always empty, as in RealCode: the original passes before, too"
    )
    image_name: str = _column("str", "Docker image of the Python version in which the tests ran here")
    build_command: str = _column(
        "str", "installs the exact packages that were there, and pytest-json-report for repotest"
    )
    test_command: str = _column("str", "runs the test files of T_i from the repository's root, as repotest expects")
    schema_version: int = _column("int", "version of these columns")
    task_id: str = _column("str", "path::qualified name, with #n from the second definition of the name on")
    source: str = _column("str", "what was fetched: NAME==VERSION, a git URL@revision, a folder, a case")
    snapshot: str = _column("str", "digest of the repository's content, 64 hexadecimal digits")
    source_sha256: str = _column("str", "digest of the file, 64 hexadecimal digits")
    encoding: str = _column("str", "encoding of the file; left_context + gt + right_context encoded is the file")
    qualified_name: str = _column("str", "Python's __qualname__")
    occurrence: int = _column("int", "which definition of that name in the file, from 1")
    kind: str = _column("str", "function, method or nested")
    signature: str = _column("str", "the header as one line")
    start_line: int = _column("int", "line of def, from 1")
    end_line: int = _column("int", "last line of the body")
    body: str = _column(
        "str", "the original body exactly as the workbench replaces it: from the end of the docstring on"
    )
    statements: int = _column("int", "executable lines of the body, nested functions included")
    statements_covered: int = _column("int", "how many of them T_i executes")
    coverage: float = _column("float", "statements_covered / statements, 0 to 1")
    branches: int = _column("int", "ways out of the body's lines that have several (an if has two)")
    branches_covered: int = _column("int", "how many of them T_i takes")
    branch_coverage: float | None = _column("float?", "branches_covered / branches, 0 to 1; null without branches")
    seconds: float = _column("float", "what T_i takes with the original, setup and teardown included")
    import_time: bool = _column("bool", "whether the body also runs while modules are imported or tests collected")
    unstable_tests: tuple[str, ...] = _column("list[str]", "quarantined tests that execute the function; not in T_i")
    python: str = _column("str", "version of the interpreter")
    environment: str = _column("str", "digest of the environment, 64 hexadecimal digits")
    sandbox: str = _column("str", "bubblewrap, docker or process")
    stub: str = _column("str", "version of the stubs that its tests tell from the original")

    def to_json(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @property
    def file(self) -> bytes:
        return (self.left_context + self.gt + self.right_context).encode(self.encoding, "surrogateescape")

    def task(self) -> Task:
        return Task(
            id=self.task_id,
            path=self.fn,
            qualified_name=self.qualified_name,
            occurrence=self.occurrence,
            kind=self.kind,
            signature=self.signature,
            start_line=self.start_line,
            end_line=self.end_line,
            tests=self.PASS_TO_PASS,
            statements=self.statements,
            covered=self.statements_covered,
            seconds=self.seconds,
            import_time=self.import_time,
            body=self.body,
            docstring=self.doc,
            source_sha256=self.source_sha256,
            branches=self.branches,
            branches_covered=self.branches_covered,
            unstable=self.unstable_tests,
        )


def columns() -> tuple[tuple[str, str, str], ...]:
    """Return (name, kind, meaning) of every column; ``?`` after a kind means that it may be null."""
    return tuple((each.name, each.metadata["kind"], each.metadata["meaning"]) for each in fields(Row))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the tasks of one repository come from."""

    repo: str  # ``owner/name`` or a name
    source: str  # what was fetched
    revision: str  # commit of a git source, else "" or another digest
    snapshot: str  # digest of the content
    root: Path  # of the pristine tree
    environment: Environment


def make_rows(origin: Origin, built: TaskSet) -> list[Row]:
    """Return a row for every task, numbered from 0. WorkbenchError: the tasks were built from other files."""
    return list(_rows(origin, built))


def numbered(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(replace(row, id=number) for number, row in enumerate(rows))


def repository_name(name: str, source: str) -> str:
    """Return ``owner/name`` for a repository on GitHub or with such a name, else the name."""
    found = re.search(r"github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?(?:@.*)?/?$", source)
    return found[1] if found else name


def _rows(origin: Origin, built: TaskSet) -> Iterator[Row]:
    files: dict[str, tuple[bytes, dict[tuple[str, int], Function]]] = {}
    python = _python(origin.environment)
    build = " ".join(["pip install", *origin.environment.installed, "pytest-json-report"])
    for number, task in enumerate(built.tasks):
        if task.path not in files:
            source = (origin.root / task.path).read_bytes()
            found = {(each.qualified_name, each.occurrence): each for each in find_functions(source, task.path)}
            files[task.path] = (source, found)
        source, functions = files[task.path]
        function = functions.get((task.qualified_name, task.occurrence))
        if function is None:
            raise WorkbenchError(f"{task.path} has changed since its tasks were built; run again with --rebuild.")
        encoding = source_encoding(source)
        left, body, right = (decode(part, encoding) for part in _parts(source, function))
        yield Row(
            id=number,
            repo=origin.repo,
            base_commit=origin.revision or origin.snapshot,
            fn=task.path,
            path_from_root=task.path,
            intent=f"{function.name}[function]",
            intent_type="function",
            left_context=left,
            gt=body,
            right_context=right,
            doc=task.docstring,
            total_tests=len(task.tests),
            PASS_TO_PASS=task.tests,
            FAIL_TO_PASS=(),
            image_name=f"python:{python.rpartition('.')[0]}",
            build_command=build,
            test_command=_test_command(origin.environment, task.tests),
            schema_version=SCHEMA_VERSION,
            task_id=task.id,
            source=origin.source,
            snapshot=origin.snapshot,
            source_sha256=task.source_sha256,
            encoding=encoding,
            qualified_name=task.qualified_name,
            occurrence=task.occurrence,
            kind=task.kind,
            signature=task.signature,
            start_line=task.start_line,
            end_line=task.end_line,
            body=task.body,
            statements=task.statements,
            statements_covered=task.covered,
            coverage=task.coverage,
            branches=task.branches,
            branches_covered=task.branches_covered,
            branch_coverage=task.branch_coverage,
            seconds=task.seconds,
            import_time=task.import_time,
            unstable_tests=task.unstable,
            python=python,
            environment=origin.environment.digest,
            sandbox=built.backend,
            stub=built.stub,
        )


def _parts(source: bytes, function: Function) -> tuple[bytes, bytes, bytes]:
    """Split the file around the body; a line end belongs to the line that it ends, as in RealCode's rows."""
    start, end = function.body
    blank = re.match(rb"[ \t\f]*(?:\r\n|\r|\n)", source[start:end])
    start += blank.end() if blank else 0
    line_end = re.match(rb"[ \t\f]*(?:\r\n|\r|\n)", source[end:])
    end += line_end.end() if line_end else 0
    return source[:start], source[start:end], source[end:]


def _python(environment: Environment) -> str:
    version = re.search(r"^version(?:_info)?\s*=\s*([\d.]+)", _text(environment.folder / "pyvenv.cfg"), re.M)
    return version[1] if version else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _test_command(environment: Environment, tests: Sequence[str]) -> str:
    workspace = environment.workspace
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    report = ("--json-report", "--json-report-file=report_pytest.json")
    words = ["python", "-m", "pytest", *workspace.pytest_args, *report, *files]
    return f"PYTHONPATH={':'.join(workspace.import_roots)} {shlex.join(words)}"
