"""The suite, run several times in the sandbox, and which of its tests execute which function.

Three runs: as given, in random order, and traced. A test counts as stable when it passed in all three; what passed only
sometimes is quarantined and reported, because every verdict that rests on it would be a coin's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import WorkbenchError
from workbench.repository.functions import Function
from workbench.sandbox import Job, Limits, Pool, Reason, Report, Verdict

#: How many tests that hang or kill the process are taken out before the suite is given up.
_MOST_TAKEN_OUT = 10


#: A suite that has not begun its first test by then hangs at import; seconds.
IMPORT_SECONDS = 120.0


class SuiteFailed(WorkbenchError):
    """The repository's tests cannot be used at all; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Suite:
    """What the runs of the whole suite showed.

    Attributes:
        stable: Tests that passed in every run, in the order in which pytest collects them.
        unstable: Tests that passed in some runs only, with their outcome in each.
        failing: Tests that never passed, with why: ``outcome: message``.
        taken_out: Tests that hang or kill the process, with why; no later run includes them.
        seconds: Of each test, the longest of the untraced runs.
        runs: Wall-clock seconds of each run.
        trace: The traced run's contexts and lines; see ``workbench_runner.trace``.
    """

    stable: tuple[str, ...]
    unstable: Mapping[str, tuple[str, ...]]
    failing: Mapping[str, str]
    taken_out: Mapping[str, str]
    seconds: Mapping[str, float]
    runs: tuple[float, ...]
    trace: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionTrace:
    """The tests that execute one function.

    Attributes:
        tests: T_i: stable tests that execute at least one line of the body.
        statements: Executable lines of the body, nested functions included.
        covered: How many of them T_i executes.
        import_time: Whether the body also runs while modules are imported or tests collected.
    """

    tests: tuple[str, ...]
    statements: int
    covered: int
    import_time: bool

    @property
    def coverage(self) -> float:
        """Share of the body's statements that T_i executes, 0 to 1."""
        return self.covered / self.statements if self.statements else 0.0


async def run_suite(pool: Pool, limits: Limits, on_progress: Callable[[str], None] = lambda line: None) -> Suite:
    """Run the whole suite three times: as given, in random order, traced.

    Raises:
        SuiteFailed: There are no tests, they cannot be imported, or none passes in every run.
        SandboxError: The sandbox does not start.
    """
    taken_out: dict[str, str] = {}
    reports = []
    for number, (order, trace) in enumerate((("given", False), ("random:1", False), ("given", True)), 1):
        name = "traced" if trace else "in random order" if order != "given" else "as given"
        on_progress(f"suite run {number} of 3, {name}")
        reports.append(
            await _whole_run(pool, Job(f"suite-{number}", limits=limits, order=order, trace=trace), taken_out)
        )
        if not any(test.outcome == "passed" for test in reports[0].tests):
            failing = {test.id: f"{test.outcome}: {test.message}" for test in reports[0].tests}
            raise SuiteFailed(_why_nothing_passes(reports[0], failing, taken_out))
    outcomes = [{test.id: test for test in report.tests} for report in reports]
    stable, unstable, failing = [], {}, {}
    for test in dict.fromkeys(test.id for report in (reports[0], reports[2], reports[1]) for test in report.tests):
        if test in taken_out:
            continue
        seen = tuple(run[test].outcome if test in run else "missing" for run in outcomes)
        if set(seen) == {"passed"}:
            stable.append(test)
        elif "passed" in seen:
            unstable[test] = seen
        else:
            first = next(run[test] for run in outcomes if test in run)
            failing[test] = f"{first.outcome}: {first.message}"
    if not stable:
        raise SuiteFailed(_why_nothing_passes(reports[0], failing, taken_out))
    seconds = {test: max(run[test].seconds for run in outcomes[:2] if test in run) for test in stable}
    runs = tuple(report.seconds for report in reports)
    return Suite(tuple(stable), unstable, failing, taken_out, seconds, runs, reports[2].trace or {})


async def _whole_run(pool: Pool, job: Job, taken_out: dict[str, str]) -> Report:
    """Run the suite to its end; tests that hang or kill the process are taken out, one after the other.

    The first try is short: what has not come to its first test by then hangs at import and will not end later either.
    """
    short = replace(job, limits=replace(job.limits, seconds=min(job.limits.seconds, IMPORT_SECONDS)))
    report = await pool.run(replace(short, deselect=tuple(taken_out)))
    if report.verdict is Verdict.TIMEOUT and report.running and job.limits.seconds > IMPORT_SECONDS:
        report = await pool.run(replace(job, deselect=tuple(taken_out)))
    while True:
        if report.verdict not in (Verdict.TIMEOUT, Verdict.CRASHED) or report.reason is Reason.COLLECTION:
            return report
        culprit = report.running
        if not culprit or culprit in taken_out or len(taken_out) >= _MOST_TAKEN_OUT:
            return report
        taken_out[culprit] = report.detail
        report = await pool.run(replace(job, deselect=tuple(taken_out)))


def _why_nothing_passes(report: Report, failing: Mapping[str, str], taken_out: Mapping[str, str]) -> str:
    if report.verdict is Verdict.TIMEOUT and not report.running:
        return f"The repository hangs while it is imported or its tests are collected. {report.detail}"
    if report.verdict is Verdict.TIMEOUT:
        return f"The repository's test suite did not finish. {report.detail}"
    if report.reason is Reason.WRONG_COPY:
        return report.detail
    if report.notes and not failing:
        return f"The repository's tests cannot be imported: {report.notes[0]}"
    if report.verdict is Verdict.CRASHED:
        return f"The repository's test suite does not run. {report.detail}"
    if taken_out and not failing:
        return f"Every test of the repository hangs or kills its process; the first is {next(iter(taken_out))}."
    if not failing:
        return "The repository has no tests that pytest finds."
    test, why = next(iter(failing.items()))
    return f"None of the repository's {len(failing)} tests passes; {test} {why}"


def trace_functions(suite: Suite, functions: Sequence[Function], source: bytes, path: str) -> dict[str, FunctionTrace]:
    """Return the trace of each function of one file, by function id.

    A line belongs to the innermost function around it; the statements of a nested function count for the coverage of
    the outer one as well, because the outer body contains them.
    """
    recorded = suite.trace.get("files", {}).get(path)
    if recorded is None:
        return {}
    contexts = suite.trace["contexts"]
    stable = {test: number for number, test in enumerate(suite.stable)}
    statements = set(recorded["statements"])
    lines = {int(line): [contexts[number] for number in numbers] for line, numbers in recorded["lines"].items()}
    bodies = {function.id: _body_lines(function, source) for function in functions}
    traces = {}
    for function in functions:
        body = bodies[function.id]
        inner: set[int] = set()
        for other in functions:
            if (
                other is not function
                and function.body.start <= other.span.start
                and other.span.end <= function.body.end
            ):
                inner |= bodies[other.id]
        tests: set[str] = set()
        import_time = False
        for line in body - inner:
            # On one line with its header, a body shares the line that runs at import: only tests can tell.
            import_time |= "" in lines.get(line, ()) and line > _line(source, function.header.end)
            tests |= {context for context in lines.get(line, ()) if context in stable}
        around = [other for other in functions if other.body.start <= function.span.start < other.body.end]
        # Whatever an enclosing function made at import holds the original code already.
        import_time |= any("" in lines.get(line, ()) for other in around for line in bodies[other.id])
        own = body & statements
        covered = sum(1 for line in own if tests.intersection(lines.get(line, ())))
        ordered = tuple(sorted(tests, key=lambda test: stable[test]))
        traces[function.id] = FunctionTrace(ordered, len(own), covered, import_time)
    return traces


def _body_lines(function: Function, source: bytes) -> set[int]:
    start = function.body.start
    text = source[start : function.body.end]
    start += len(text) - len(text.lstrip())
    return set(range(_line(source, start), function.end_line + 1))


def _line(source: bytes, offset: int) -> int:
    return source.count(b"\n", 0, offset) + 1
