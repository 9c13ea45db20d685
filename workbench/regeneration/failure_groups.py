"""Groups of candidates that failed in the same way.

Two candidates are in the same group if the same tests failed, and the most informative test (:func:`lead_of`) shows the
same wrong value (``assert 1 == 2``) or the same exception at the same location. Addresses and temporary paths differ
from run to run and are ignored. Line numbers in the task's own file depend on the length of the body, so the
exception's message is compared there instead.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workbench.base.python_syntax import UNREADABLE, parse
from workbench.session.groups import Group

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TaskRow


WRONG_VERDICTS = ("failed", "timeout", "crashed", "invalid", "bypassed")
"""Verdicts of failed candidates; ``error`` means that the workbench failed, not the candidate."""

Cause = tuple[str | int, ...]
"""The key of a group, used only to test for equality."""

_MASKS = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}"), "0x…"),
    (re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders)/[^\s'\"\\),\]}>]*"), "/tmp/…"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "…"),
)
_LINE_NUMBER = re.compile(r"\bline \d+")
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*)(?::\s|:$|$)")
_ASSERTED = re.compile(r"(?:AssertionError:\s+)?(assert\s.*)", re.DOTALL)
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+)(?:, in (\S+))?', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FailureLocation:
    """A line of the project: path, function and line (from 1); empty if no traceback frame is in the project."""

    path: str = ""
    function: str = ""
    line: int = 0

    def __str__(self) -> str:
        location = f"{self.path}:{self.line}" if self.path else ""
        return f"{location} in {self.function}" if location and self.function else location


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A test that failed for a candidate, with the first line of its message and the location of the error."""

    test: str
    outcome: str = "failed"
    message: str = ""
    place: FailureLocation = FailureLocation()

    @property
    def wrong_value(self) -> str:
        """The failed comparison as pytest prints it (``assert 1 == 2``), or "" for any other failure."""
        found = _ASSERTED.match(self.message)
        return steady(found[1]) if found else ""

    @property
    def exception(self) -> str:
        """The type of the exception, or "" if there is none, because the test did not run or was skipped."""
        if self.outcome not in ("failed", "error"):
            return ""
        if self.wrong_value:
            return "AssertionError"
        found = _EXCEPTION.match(self.message)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class FailedCandidate:
    """A candidate that did not pass."""

    id: str
    task: str
    path: str
    function: str  # qualified name of the function
    group: Group
    sample: int  # index of the sample, from 0
    verdict: str  # one of :data:`WRONG_VERDICTS`
    reason: str = ""
    tests: tuple[str, ...] = ()  # failed tests, sorted
    lead: FailedTest | None = None  # the most informative failed test
    changed: int = 0  # lines added and removed relative to the original body, regardless of order


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Candidates that failed in the same way, ordered by how little their bodies differ from the original."""

    key: str  # identical in every run and on every machine
    candidates: tuple[FailedCandidate, ...]
    tasks: int

    @property
    def representative(self) -> FailedCandidate:
        return self.candidates[0]

    @property
    def verdict(self) -> str:
        return self.representative.verdict

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that failed for at least one candidate of the group."""
        first = self.representative.tests
        if all(one.tests == first for one in self.candidates):
            return first  # tasks in their original order
        return tuple(sorted({test for one in self.candidates for test in one.tests}))

    @property
    def exception(self) -> str:
        lead = self.representative.lead
        return (lead.exception if lead is not None else "") or self.verdict

    @property
    def message(self) -> str:
        """The message of the representative's most informative test, or the reason for its verdict."""
        one = self.representative
        return one.lead.message if one.lead is not None and one.lead.message else one.reason

    @property
    def place(self) -> str:
        lead = self.representative.lead
        return str(lead.place) if lead is not None else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "candidates": [one.id for one in self.candidates],
            "tasks": self.tasks,
            "verdict": self.verdict,
            "exception": self.exception,
            "message": self.message,
            "place": self.place or None,
            "tests": list(self.tests),
            "representative": self.representative.id,
        }


@dataclass(frozen=True, slots=True)
class FailingTestCount:
    """The numbers of candidates and tasks for which a test failed."""

    test: str
    candidates: int
    tasks: int


@lru_cache(maxsize=65_536)
def steady(text: str) -> str:
    """Mask parts that differ from run to run: addresses, temporary paths, random identifiers."""
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


def place_of(traceback: str) -> FailureLocation:
    """Return the innermost frame of the project in a native-style pytest traceback, where its path is relative."""
    place = FailureLocation()
    for path, line, function in _FRAME.findall(traceback):
        if not _is_outside(path):
            place = FailureLocation(path, function, int(line))
    return place


def _is_outside(path: str) -> bool:
    return path.startswith(("/", "<", "\\")) or path[1:3] in (":\\", ":/")


def lead_of(tests: Sequence[FailedTest]) -> FailedTest | None:
    """Return the test with the most frequent message; among equals, prefer exceptions to wrong values."""
    counts = Counter(steady(test.message) for test in tests)
    ordered = sorted(tests, key=lambda one: one.test)
    return max(
        ordered,
        key=lambda one: (counts[steady(one.message)], bool(one.exception) and not one.wrong_value),
        default=None,
    )


def failure_groups(
    candidates: Iterable[FailedCandidate], cause: Callable[[FailedCandidate], Cause] | None = None
) -> tuple[FailureGroup, ...]:
    """Group candidates by ``cause``, largest group first; among groups of equal size, the one with more tasks."""
    found: dict[Cause, list[FailedCandidate]] = {}
    of = cause or same_failure
    for one in candidates:
        found.setdefault(of(one), []).append(one)
    groups = [
        FailureGroup(
            _key(cause),
            tuple(sorted(members, key=lambda one: (one.changed, one.task, one.group, one.sample, one.id))),
            len({one.task for one in members}),
        )
        for cause, members in found.items()
    ]
    return tuple(sorted(groups, key=lambda one: (-len(one.candidates), -one.tasks, one.key)))


def failing_most(candidates: Iterable[FailedCandidate]) -> tuple[FailingTestCount, ...]:
    """Return the tests that failed for any candidate, most frequent first."""
    counts: Counter[str] = Counter()
    tasks: dict[str, set[str]] = {}
    for one in candidates:
        counts.update(one.tests)
        for test in one.tests:
            tasks.setdefault(test, set()).add(one.task)
    found = (FailingTestCount(test, count, len(tasks[test])) for test, count in counts.items())
    return tuple(sorted(found, key=lambda one: (-one.candidates, -one.tasks, one.test)))


def same_failure(one: FailedCandidate) -> Cause:
    """Return a key of the error together with all failed tests."""
    lead = one.lead
    location = () if lead is None else (lead.test,) if lead.wrong_value else (lead.place.path, lead.place.function)
    return (*same_error(one), "in", *location, "of", *one.tests)


def same_error(one: FailedCandidate) -> Cause:
    """Return a key of the error alone: a wrong value, or an exception with its location or message."""
    lead = one.lead
    if lead is None or (one.verdict != "failed" and not lead.exception):
        return (one.verdict, "reason", _LINE_NUMBER.sub("line n", steady(one.reason)))
    if lead.wrong_value:
        return (one.verdict, "value", lead.wrong_value)
    place = lead.place
    if not place.path or place.path == one.path:
        return (one.verdict, "exception", lead.exception, steady(lead.message))
    return (one.verdict, "exception", lead.exception, place.path, place.function, place.line)


def same_exception(one: FailedCandidate) -> Cause:
    """Return a key of the verdict and the exception type, if there is an exception."""
    return (one.verdict, one.lead.exception if one.lead is not None else "")


def _key(cause: Cause) -> str:
    return hashlib.sha256(json.dumps(cause, ensure_ascii=True).encode("ascii")).hexdigest()[:12]


_MAX_TEST_LINES = 400


@dataclass(frozen=True, slots=True)
class SourceOfTest:
    """Lines from a test file."""

    path: str
    first: int  # line number of the first line, from 1
    lines: tuple[str, ...]  # lines of the test, with its decorators
    asserting: int  # number of the line that failed, or 0 if unknown
    error_lines: tuple[str, ...]  # the exception, and the values that pytest explains


def asserting_line(traceback: str, path: str) -> int:
    """Return the line number of a file's innermost frame in a traceback, or 0 if the file has no frame."""
    lines = [int(line) for name, line, _ in _FRAME.findall(traceback) if name == path]
    return lines[-1] if lines else 0


def error_lines(traceback: str) -> tuple[str, ...]:
    """Return the lines after the last traceback frame: the exception, and the values that pytest explains."""
    lines = traceback.rstrip("\n").split("\n")
    last = max((at for at, line in enumerate(lines) if _FRAME.match(line)), default=-1)
    below = lines[last + 1 :]
    # The frame's source is indented by four spaces, pytest's explanations by fewer.
    while below and below[0].startswith("    "):
        below = below[1:]
    return tuple(line for line in below if line.strip())


def source_of_test(text: str, test_id: str, traceback: str = "") -> SourceOfTest | None:
    """Return the source of a test (a pytest node id) from its file's text, or None if there is no such function."""
    path, _, rest = test_id.partition("::")
    names = rest.partition("[")[0].split("::")
    try:
        node: ast.AST | None = parse(text)
    except UNREADABLE:
        return None
    for name in names:
        node = _member(node, name)
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    last = min(node.end_lineno or node.lineno, first + _MAX_TEST_LINES - 1)
    lines = tuple(text.split("\n")[first - 1 : last])
    return SourceOfTest(path, first, lines, asserting_line(traceback, path), error_lines(traceback))


def _member(node: ast.AST | None, name: str) -> ast.AST | None:
    """Return the last definition of a name in a module or class body, including inside ``if``, ``try`` or ``with``."""
    if node is None:
        return None
    found = None
    pending = [*ast.iter_child_nodes(node)]
    while pending:
        one = pending.pop(0)
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = one if one.name == name else found
        elif isinstance(one, (ast.If, ast.Try, ast.With)):
            pending += ast.iter_child_nodes(one)
    return found


def text_of_test_file(reader: SessionReader, task: TaskRow, test_id: str) -> str:
    """Return the text of the file with a task's test, or "" if unknown.

    Sessions written by older versions do not contain the file, so it is then read from the cached repository, if
    present.
    """
    path = test_id.partition("::")[0]
    if task.test_files_blob is not None:
        subject = f"the index of test files of task {task.id}"
        digest = reader.decoded(reader.text_or_none(task.test_files_blob, subject), dict, subject).get(path)
        if isinstance(digest, str):
            return reader.text_or_none(digest, f"the test file {path}") or ""
    from workbench.repository.fetching import text_in_cache

    return text_in_cache(task.snapshot, path)
