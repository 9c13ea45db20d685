"""Run a repository's test suite three times: in its own order in a fresh interpreter, in random order, and traced.

A test is stable if it passes in all three runs. A test that passes only sometimes is quarantined, because verdicts based
on it would be random. Test files that cannot be imported and tests that hang or kill the process are excluded one by one.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.base import python_syntax
from workbench.base.errors import WorkbenchError
from workbench.base.text import clean, one_line
from workbench.regeneration.project_layout import pytest_configuration
from workbench.regeneration.tasks import needs_network, not_used, usable
from workbench.sandbox import Job, Limits, Pool, Reason, Report, Route, Verdict, Workspace
from workbench.sandbox.worker import is_left_out

_EXPECTED = re.compile(r"test_.*\.py|.*_test\.py")
_TEST_LIKE = re.compile(r"tests?(?:[A-Z_].*|\d*|\w+)?\.py|.*Tests?\.py")


def odd_test_files(root: Path) -> tuple[str, ...]:
    """Return the test files below ``root`` that pytest collects only if their paths are passed explicitly.

    Files with a ``unittest.TestCase`` under any name are returned only if no file with a test-like name contains a
    test.
    """
    likely, others = [], []
    for path in sorted(root.rglob("*.py")):
        relative = PurePosixPath(path.relative_to(root).as_posix())
        if is_left_out(relative) or _EXPECTED.fullmatch(relative.name) or not path.is_file():
            continue
        try:
            module = python_syntax.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        cases = any(_is_test_case(node) for node in module.body)
        named = _TEST_LIKE.fullmatch(relative.name) is not None
        if named and (cases or any(_is_test(node) for node in module.body)):
            likely.append(str(relative))
        elif cases:
            others.append(str(relative))
    return tuple(likely or others)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


def _is_test_case(node: ast.AST) -> bool:
    if not isinstance(node, ast.ClassDef) or not any(_is_test(inner) for inner in node.body):
        return False
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    return any(name.endswith("TestCase") for name in names)


#: Incremented whenever the stored format of a suite changes, so that older results are discarded.
SUITE_FORMAT = 2

_MODULE = re.compile(r"No module named ['\"]?([\w.]+)")


@dataclass(frozen=True, slots=True)
class Rules:
    """Limits used when building tasks, in seconds except for the last two."""

    slowest_tests: float = 10.0  # Functions whose tests take longer than this are dropped, as in the paper.
    suite_seconds: float = 900.0  # time limit of the whole suite
    # A suite that has not started its first test within this time is assumed to hang during import.
    import_seconds: float = 120.0
    hang_seconds: float = 90.0  # A test that has been running this long when the time limit is reached is excluded.
    most_taken_out: int = 10  # maximum number of excluded tests
    selection: str = "filtered"  # one of ``tasks.SELECTIONS``


class SuiteFailed(WorkbenchError):
    """None of the repository's tests can be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The results of running the whole suite."""

    stable: tuple[str, ...]  # tests that passed in every run, in pytest's order
    unstable: Mapping[str, tuple[str, ...]]  # tests that passed in only some runs, with the outcome of each run
    failing: Mapping[str, str]  # tests that never passed, each as ``outcome: message``
    taken_out: Mapping[str, str]  # tests that hang or kill the process, with the reason; excluded from later runs
    not_collected: Mapping[str, str]  # files that cannot be imported, with the reason; excluded from later runs
    test_paths: tuple[str, ...]  # files that pytest collects only if they are passed explicitly
    seconds: Mapping[str, float]  # duration of each test in seconds, the longest of the untraced runs
    runs: tuple[float, ...]  # wall-clock seconds of the three runs: original order, random order, traced
    trace: Mapping[str, Any]  # trace of contexts and lines; see ``workbench_runner.trace``

    @property
    def sentence(self) -> str:
        parts = not_used(self.unstable, self.failing, self.taken_out, self.not_collected)
        return ", ".join((f"{len(self.stable)} tests are stable", *parts))


async def run_suite(
    pool: Pool, limits: Limits, rules: Rules | None = None, on_progress: Callable[[str], None] = lambda line: None
) -> Suite:
    """Run the whole suite three times: in its own order in a fresh process, in random order, and traced.

    Afterwards, the workspace of the workers in ``pool`` collects exactly the usable test files.

    Raises:
        SuiteFailed: There are no tests, they cannot be imported, or none passes in every run.
        SandboxError: The sandbox does not start.
    """
    root = pool.workers[0].workspace.root
    runs = _Runs(pool, limits, rules or Rules(), on_progress)
    reports, not_collected, test_paths = await _collected(pool, runs.three, on_progress)
    outcomes = [{test.id: test for test in report.tests} for report in reports]
    stable: list[str] = []
    unstable: dict[str, tuple[str, ...]] = {}
    failing: dict[str, str] = {}
    for test in dict.fromkeys(test.id for report in reports for test in report.tests):
        if test in runs.taken_out:
            continue
        seen = tuple(run[test].outcome if test in run else "missing" for run in outcomes)
        if set(seen) == {"passed"}:
            stable.append(test)
        elif "passed" in seen:
            unstable[test] = seen
        else:
            result = next(run[test] for run in outcomes if test in run)
            failing[test] = f"{result.outcome}: {result.message}"
    ended = next((each for each in reports if each.verdict in (Verdict.TIMEOUT, Verdict.CRASHED)), None)
    if not stable or ended is not None:
        report = ended or reports[0]
        why = await asyncio.to_thread(lambda: with_file(collection_error(report.stderr), root))
        raise SuiteFailed(_why_unusable(report, why, failing, unstable, runs.taken_out, not_collected))
    return Suite(
        stable=tuple(stable),
        unstable=unstable,
        failing=failing,
        taken_out=runs.taken_out,
        not_collected=not_collected,
        test_paths=test_paths,
        seconds={test: max(run[test].seconds for run in outcomes[:2]) for test in stable},
        runs=tuple(report.seconds for report in reports),
        trace=reports[2].trace or {},
    )


async def run_recorded(
    pool: Pool, limits: Limits, rules: Rules | None = None, on_progress: Callable[[str], None] = lambda line: None
) -> Report:
    """Run the whole suite once and record its calls; hanging tests and files that cannot be imported are left out.

    Raises SuiteFailed like :func:`run_suite`, and SandboxError.
    """
    root = pool.workers[0].workspace.root
    runs = _Runs(pool, limits, rules or Rules(), on_progress)
    [report], not_collected, _ = await _collected(pool, runs.recorded, on_progress)
    if report.calls is None or not any(test.outcome == "passed" for test in report.tests):
        failing = {test.id: f"{test.outcome}: {test.message}" for test in report.tests}
        why = await asyncio.to_thread(lambda: with_file(collection_error(report.stderr), root))
        raise SuiteFailed(_why_unusable(report, why, failing, {}, runs.taken_out, not_collected))
    return report


async def _collected(
    pool: Pool, run: Callable[[], Awaitable[list[Report]]], on_progress: Callable[[str], None]
) -> tuple[list[Report], dict[str, str], tuple[str, ...]]:
    """Run the suite with fewer files until pytest can collect the remaining ones.

    Returns the reports, the files that cannot be imported with the reasons, and files that must be passed explicitly.
    """
    original = pool.workers[0].workspace
    not_collected: dict[str, str] = {}
    test_paths: tuple[str, ...] = ()
    while True:
        reports = await run()
        first = reports[0]
        broken = {path: why for path, why in _not_imported(first).items() if path not in not_collected}
        if first.tests:
            break
        if broken:
            not_collected |= broken
            on_progress(f"excluding files that cannot be imported: {', '.join(broken)}")
        elif _found_nothing(first) and not test_paths:
            found = await asyncio.to_thread(odd_test_files, original.root)
            test_paths = tuple(path for path in found if path not in not_collected)
            if not test_paths:
                break
            on_progress(f"adding test files whose names pytest does not collect: {', '.join(test_paths)}")
        else:
            break
        await _set_workspace(pool, usable(original, not_collected, test_paths))
    return reports, not_collected, test_paths


class _Runs:
    def __init__(self, pool: Pool, limits: Limits, rules: Rules, on_progress: Callable[[str], None]) -> None:
        self.taken_out: dict[str, str] = {}
        self._pool = pool
        self._limits = limits
        self._rules = rules
        self._on_progress = on_progress
        # Without namespaces, concurrent runs would share ports, the temporary folder and the home folder.
        isolated = pool.workers[0].backend.guarantees().isolated
        self._slots = asyncio.Semaphore(len(pool.workers) if isolated else 1)

    async def three(self) -> list[Report]:
        """Return the reports of all three runs, or only the first report if no test passed in it."""
        jobs = {
            "in its own order": Job("suite in its own order", route=Route.COLD),
            "traced": Job("suite traced", trace=True, trace_tests=self._rules.selection == "published"),
            "in random order": Job("suite in random order", order="random:1"),
        }
        tasks = {name: asyncio.create_task(self._one(name, job)) for name, job in jobs.items()}
        try:
            first = await tasks["in its own order"]
            if not any(test.outcome == "passed" for test in first.tests):
                return [first]
            return [first, await tasks["in random order"], await tasks["traced"]]
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def recorded(self) -> list[Report]:
        return [await self._one("and recording its calls", Job("suite recorded", record=True, route=Route.COLD))]

    async def _one(self, name: str, job: Job) -> Report:
        async with self._slots:
            self._on_progress(f"running the suite {name}")
            return await self._whole(job)

    async def _whole(self, job: Job) -> Report:
        """Run the suite to completion, excluding tests that hang or kill the process one at a time.

        The first attempt has a short time limit. A suite that has not reached its first test by then hangs during
        import, and a test that has been running for most of that time is considered to hang.
        """
        seconds = min(self._limits.seconds, self._rules.import_seconds)
        while True:
            deselect = tuple(self.taken_out)
            limits = replace(self._limits, seconds=seconds)
            report = await self._pool.run(replace(job, limits=limits, deselect=deselect))
            if report.verdict not in (Verdict.TIMEOUT, Verdict.CRASHED) or report.reason is Reason.COLLECTION:
                return report
            culprit = report.running
            if not culprit or culprit in deselect or len(deselect) >= self._rules.most_taken_out:
                return report
            running_for = report.seconds - sum(test.seconds for test in report.tests)
            if report.verdict is Verdict.TIMEOUT and running_for < self._rules.hang_seconds:
                if seconds >= self._limits.seconds:
                    return report
                seconds = self._limits.seconds  # This is probably a long suite in which no test hangs.
                continue
            self.taken_out.setdefault(culprit, report.detail)


async def _set_workspace(pool: Pool, workspace: Workspace) -> None:
    for worker in pool.workers:
        await worker.close()
        worker.workspace = workspace


def _found_nothing(report: Report) -> bool:
    return report.reason is Reason.MISSING_TESTS or (
        report.reason is Reason.EXIT_STATUS and report.detail.endswith("status 5.")
    )


def _not_imported(report: Report) -> dict[str, str]:
    found = {}
    for note in report.notes:
        name, _, why = note.partition(": ")
        path = name.partition("::")[0]
        if path.endswith(".py") and not path.endswith("conftest.py"):
            found[path] = why
    return found


def _why_unusable(
    report: Report,
    cause: str,
    failing: Mapping[str, str],
    unstable: Mapping[str, tuple[str, ...]],
    taken_out: Mapping[str, str],
    not_collected: Mapping[str, str],
) -> str:
    detail = _with_cause(report, cause)
    if report.verdict is Verdict.TIMEOUT and not report.running and not report.tests:
        location = hang_location(report.stderr)
        at = f" at {location}" if location else ""
        return f"The repository hangs{at} while its tests are imported or collected, so no test can run."
    if report.verdict is Verdict.TIMEOUT:
        return f"The repository's test suite did not finish: {detail}."
    if report.reason is Reason.WRONG_COPY:
        return report.detail
    if detail == cause:
        return f"pytest cannot run the repository's tests: {cause}."
    if report.verdict is Verdict.CRASHED:
        even = f", even without the {len(taken_out)} tests that hang or kill the process" if taken_out else ""
        return f"The repository's test suite does not run{even}: {detail}."
    if taken_out and not failing and not unstable:
        return f"Every test of the repository hangs or kills its process; the first is {next(iter(taken_out))}."
    if not failing and not unstable:
        return _why_none_found(report, cause, not_collected)
    if not failing:
        return f"All {len(unstable)} passing tests of the repository are unstable, such as {next(iter(unstable))}."
    test, why = next(iter(failing.items()))
    online = sum(needs_network(reason) for reason in failing.values())
    if online == len(failing):
        return (
            f"All {len(failing)} tests of the repository need the network, which a sandbox does not have; {test} {why}"
        )
    return f"None of the repository's {len(failing)} tests passes; {test} {why}"


def _with_cause(report: Report, pytest_reason: str) -> str:
    """Return a report's detail without its final period, followed by Python's or pytest's last message."""
    detail, internal = report.detail.rstrip("."), "pytest stopped with an internal error: "
    cause = crash_reason(report.stderr)
    if not cause and not report.tests and not report.running:
        cause = pytest_reason
        has_traceback = "Traceback (most recent call last)" in report.stderr
        exited = collection_error(report.stderr).startswith("SystemExit")
        if report.reason is Reason.EARLY_EXIT and has_traceback and not exited and not detail.startswith(internal):
            return cause
    if detail.startswith(internal):
        return internal + (cause or detail.removeprefix(internal))
    return f"{detail}: {cause}" if cause and report.verdict is Verdict.CRASHED else detail


def _why_none_found(report: Report, cause: str, not_collected: Mapping[str, str]) -> str:
    broken = [f"{path}: {why}" for path, why in not_collected.items()] or list(report.notes)
    broken = [plain(line) for line in broken]
    if broken and broken[0].startswith((".: ", ": ")):  # the repository's own folder inside the sandbox
        return f"pytest cannot run the repository's tests: {broken[0].partition(': ')[2].rstrip('.')}."
    if broken:
        missing = _MODULE.search(broken[0])
        hint = (
            f" {missing[1].partition('.')[0]} is not a declared dependency; add it with install = […] in a case.toml."
            if missing
            else ""
        )
        return f"The repository's tests cannot be imported: {broken[0]}{'.' if hint else ''}{hint}"
    if not _found_nothing(report):
        if not cause:
            return "pytest rejects the repository's configuration or conftest.py without a message."
        return f"pytest cannot run the repository's tests: {cause}."
    return "The repository has no tests that pytest finds."


_MAX_REASON_LENGTH = 300

_FRAME = re.compile(r"""^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)""")
_BRIEF_FRAME = re.compile(r"^(?P<path>[^\s:]+\.py):(?P<line>\d+): in ")
_CONFTEST = re.compile(r"^ImportError while loading conftest '(?P<path>[^']+)'")
_FATAL = re.compile(r"^Fatal Python error: (?P<what>.+)")
_HANG = re.compile(r"^Timeout \(\d+:\d+:\d+(?:\.\d+)?\)!$")
_DECORATION = re.compile(r"^(INTERNALERROR> ?|E  +)")
_NOT_OURS = re.compile(r"^(/|<)|site-packages/")

#: The private modules of pytest's exceptions, which only clutter messages.
_PRIVATE_NAMES = re.compile(r"(?:\b_pytest|\bpluggy)\.(?:\w+\.)+(?=[A-Z])")

_NAMES_A_FILE = re.compile(r"\.(?:py|ini|toml|cfg)\b")
_PLUGIN = re.compile(r'Error importing plugin "(?P<name>[^"]+)"')

#: Lines that are not informative by themselves.
_NOISE = ("mainloop: caught unexpected SystemExit!",)


def collection_error(stderr: str) -> str:
    """Return the reason in pytest's error output for running no test, without a final period, or "" if unknown."""
    lines = [plain(line.rstrip()) for line in clean(stderr).splitlines()]
    lines = [line for line in lines if line.strip() and line not in _NOISE]
    reason = _fatal(lines) or _conftest(lines) or _usage(lines) or _raised(lines) or (lines[-1] if lines else "")
    return one_line(reason, _MAX_REASON_LENGTH).rstrip(". ")


def plain(text: str) -> str:
    return _PRIVATE_NAMES.sub("", text)


def with_file(reason: str, root: Path) -> str:
    if not reason or _NAMES_A_FILE.search(reason):
        return reason
    configuration = pytest_configuration(root)
    if plugin := _PLUGIN.search(reason):
        for path in sorted(root.rglob("conftest.py")):
            if plugin["name"] in path.read_text("utf-8", "replace"):
                return f"{reason} ({path.relative_to(root).as_posix()})"
    return f"{reason} ({configuration})" if configuration else reason


def crash_reason(stderr: str) -> str:
    """Return Python's message on a fatal signal and its location in the repository, or "" if there is none."""
    return _fatal([line.rstrip() for line in clean(stderr).splitlines()])


def hang_location(stderr: str) -> str:
    """Return the innermost file and line of the repository in a dump of hanging threads, or "" if unknown."""
    lines = clean(stderr).splitlines()
    starts = [number for number, line in enumerate(lines) if _HANG.match(line)]
    # The main thread is listed last; other threads may be waiting in third-party code.
    return _location(lines[starts[-1] :], innermost_first=True) if starts else ""


def _fatal(lines: list[str]) -> str:
    for number, line in enumerate(lines):
        if found := _FATAL.match(line):
            return _with_location(found["what"], _location(lines[number:], innermost_first=True))
    return ""


def _conftest(lines: list[str]) -> str:
    """Return the error of a conftest.py that cannot be imported, with its location if it occurred in another file."""
    for number, line in enumerate(lines):
        if found := _CONFTEST.match(line):
            reasons = [_DECORATION.sub("", each).strip() for each in lines[number + 1 :] if each.startswith("E  ")]
            reason = reasons[-1] if reasons else lines[-1].strip()
            location = _location(lines[number + 1 :], innermost_first=False)
            return f"{found['path']} cannot be imported: {_with_location(reason, location)}"
    return ""


def _usage(lines: list[str]) -> str:
    """Return pytest's message on an invalid option or setting, adding the file if the message does not mention it."""
    starts = [number for number, line in enumerate(lines) if line.startswith("ERROR: ")]
    if not starts:
        return ""
    message = [line.removeprefix("ERROR: ").strip() for line in lines[starts[-1] :]]
    files = [line.removeprefix("inifile:").strip() for line in message if line.startswith("inifile:")]
    message = [line for line in message if not line.startswith(("inifile:", "rootdir:"))]
    wrong = [line.partition(": error: ")[2] for line in message if ": error: " in line]
    return _with_location(wrong[-1] if wrong else message[0], next((file for file in files if file != "None"), ""))


def _raised(lines: list[str]) -> str:
    """Return the message of an uncaught exception and the last repository file in its traceback."""
    plain = [re.sub(r"^INTERNALERROR> ?", "", line) for line in lines]
    frames = [number for number, line in enumerate(plain) if _FRAME.match(line)]
    if not frames:
        return ""
    after = [line for line in plain[frames[-1] + 1 :] if line.strip()]
    message = [line.strip() for line in after if not line.startswith("  ")]
    return _with_location(" ".join(message), _location(plain, innermost_first=False)) if message else ""


def _location(lines: list[str], *, innermost_first: bool) -> str:
    found = []
    for line in lines:
        frame = _FRAME.match(_DECORATION.sub("", line)) or _BRIEF_FRAME.match(line)
        if frame and not _NOT_OURS.search(frame["path"]):
            found.append(f"{frame['path']}, line {frame['line']}")
    return "" if not found else found[0] if innermost_first else found[-1]


def _with_location(reason: str, location: str) -> str:
    reason = reason.strip().rstrip(".")
    return f"{reason} ({location})" if location and location not in reason else reason
