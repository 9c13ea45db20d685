"""From a repository to tasks: functions whose tests fail with a stub and pass with the original.

Every function that is dropped says at which stage and why; the stages are those of the paper's Table 2.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.regeneration.environment import Environment
from workbench.regeneration.stubs import STUB_VERSION, stubs
from workbench.regeneration.tracing import FunctionTrace, Suite, run_suite, trace_functions
from workbench.repository.functions import Function, find_functions
from workbench.repository.splicing import body_text, splice
from workbench.sandbox import Backend, Job, Limits, Pool, Report, Verdict, pool
from workbench.sandbox.worker import is_left_out

#: Functions whose tests take longer are left out, as in the paper; seconds.
SLOWEST_TESTS = 10.0

#: The suite as a whole may take this long; seconds.
SUITE_SECONDS = 900.0

_NOT_SOURCES = frozenset({"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks"})
_NOT_FILES = frozenset({"setup.py", "conftest.py", "noxfile.py"})


@dataclass(frozen=True, slots=True)
class Task:
    """One function to be written again from its documentation.

    Attributes:
        id: ``path::qualified_name``, with ``#n`` from the second definition of the name on.
        path: The file, posix, relative to the repository.
        qualified_name: Python's ``__qualname__``.
        occurrence: Which definition of that name in the file, from 1.
        kind: ``function``, ``method`` or ``nested``.
        signature: The header as one line.
        start_line: Line of ``def``, from 1.
        end_line: Last line of the body.
        tests: T_i, node ids in pytest's order.
        statements: Executable lines of the body.
        covered: How many of them T_i executes.
        seconds: What T_i takes with the original, setup and teardown included.
        import_time: Whether the body also runs at import (a fast path must not patch it).
        body: The original body, exactly what a splice replaces.
        docstring: The original docstring's value, or None.
        source_sha256: Of the file.
    """

    id: str
    path: str
    qualified_name: str
    occurrence: int
    kind: str
    signature: str
    start_line: int
    end_line: int
    tests: tuple[str, ...]
    statements: int
    covered: int
    seconds: float
    import_time: bool
    body: str
    docstring: str | None
    source_sha256: str

    @property
    def coverage(self) -> float:
        """Share of the body's statements that T_i executes, 0 to 1."""
        return self.covered / self.statements if self.statements else 0.0

    def limits(self, base: Limits) -> Limits:
        """Return what a candidate may use: ten times the time of the original and five seconds, at most ``base.seconds``."""
        return replace(base, seconds=min(base.seconds, 10 * self.seconds + 5.0))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping."""
        return {**asdict(self), "tests": list(self.tests)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Task:
        """Rebuild from :meth:`to_json`; unknown names are ignored."""
        values = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(**{**values, "tests": tuple(data["tests"])})


@dataclass(frozen=True, slots=True)
class Dropped:
    """A function that is no task: ``stage`` is ``parse``, ``body``, ``trace``, ``time``, ``original`` or ``stub``."""

    id: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of the building, for a live view.

    Attributes:
        stage: ``suite``, ``functions``, ``original``, ``stub`` or ``done``.
        done: Functions decided so far.
        total: Functions to decide; 0 while that is unknown.
        text: What happened, as one line.
        task: The task that was found, if this step found one.
        dropped: The function that was dropped, if this step dropped one.
    """

    stage: str
    done: int
    total: int
    text: str
    task: Task | None = None
    dropped: Dropped | None = None


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one repository, and how they came about.

    Attributes:
        tasks: In the order of files and lines.
        dropped: Every function that is no task.
        stages: How many functions were left after each stage, as in Table 2.
        stable: Number of tests that passed in every run.
        unstable: Tests that passed only sometimes, with their outcomes.
        failing: Tests that never passed, with why.
        taken_out: Tests that hang or kill the process, with why.
        suite_seconds: Wall-clock seconds of the suite's runs.
        backend: The sandbox's name.
        environment: The environment's digest.
        stub: Version of the stubs.
    """

    tasks: tuple[Task, ...]
    dropped: tuple[Dropped, ...]
    stages: Mapping[str, int]
    stable: int
    unstable: Mapping[str, tuple[str, ...]]
    failing: Mapping[str, str]
    taken_out: Mapping[str, str]
    suite_seconds: tuple[float, ...]
    backend: str
    environment: str
    stub: str = STUB_VERSION

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        data["tasks"] = [task.to_json() for task in self.tasks]
        data["dropped"] = [asdict(entry) for entry in self.dropped]
        data["unstable"] = {test: list(outcomes) for test, outcomes in self.unstable.items()}
        data |= {name: dict(data[name]) for name in ("stages", "failing", "taken_out")}
        return {**data, "suite_seconds": list(self.suite_seconds)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TaskSet:
        """Rebuild from :meth:`to_json`."""
        values = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        values["tasks"] = tuple(Task.from_json(task) for task in data["tasks"])
        values["dropped"] = tuple(Dropped(**entry) for entry in data["dropped"])
        values["unstable"] = {test: tuple(outcomes) for test, outcomes in data["unstable"].items()}
        return cls(**{**values, "suite_seconds": tuple(data["suite_seconds"])})


async def build_tasks(
    snapshot_root: Path,
    environment: Environment,
    backend: Backend,
    *,
    limits: Limits | None = None,
    workers: int = 2,
    on_progress: Callable[[Progress], None] = lambda step: None,
) -> TaskSet:
    """Build the tasks of the repository at ``snapshot_root``.

    Args:
        snapshot_root: Folder of the pristine tree.
        environment: Its environment.
        backend: The sandbox in which everything runs.
        limits: What one candidate may use at most.
        workers: Sandboxes at once.
        on_progress: Called for every step, from the event loop.

    Raises:
        SuiteFailed: The repository's tests cannot be used; the sentence says why.
        SandboxError: The sandbox does not start.
    """
    limits = limits or Limits()
    workspace = replace(environment.workspace, root=snapshot_root)
    async with pool(backend, workspace, workers=workers, limits=limits) as workers_pool:
        suite_limits = replace(limits, seconds=max(limits.seconds, SUITE_SECONDS), output_kb=limits.output_kb * 8)
        suite = await run_suite(workers_pool, suite_limits, lambda line: on_progress(Progress("suite", 0, 0, line)))
        text = f"{len(suite.stable)} tests are stable, {len(suite.unstable)} unstable, {len(suite.failing)} do not pass"
        on_progress(Progress("suite", 0, 0, text))
        sources = await asyncio.to_thread(_sources, snapshot_root)
        builder = _Builder(workers_pool, limits, suite, on_progress)
        await builder.build(sources)
    return TaskSet(
        tasks=tuple(builder.tasks),
        dropped=tuple(builder.dropped),
        stages=builder.stages,
        stable=len(suite.stable),
        unstable=suite.unstable,
        failing=suite.failing,
        taken_out=suite.taken_out,
        suite_seconds=suite.runs,
        backend=backend.name,
        environment=environment.digest,
    )


class _Builder:
    """Decides about every function; keeps what it decided in the order of the files."""

    def __init__(self, workers: Pool, limits: Limits, suite: Suite, on_progress: Callable[[Progress], None]) -> None:
        self.pool = workers
        self.limits = limits
        self.suite = suite
        self.on_progress = on_progress
        self.tasks: list[Task] = []
        self.dropped: list[Dropped] = []
        self.stages: dict[str, int] = {}
        self._done = 0
        self._total = 0

    async def build(self, sources: Mapping[str, bytes]) -> None:
        found = [(function, source) for path, source in sources.items() for function in find_functions(source, path)]
        self._total = len(found)
        self.on_progress(Progress("functions", 0, self._total, f"{self._total} functions in {len(sources)} files"))
        traces: dict[str, FunctionTrace] = {}
        for path, source in sources.items():
            here = [function for function, _ in found if function.path == path]
            traces |= trace_functions(self.suite, here, source, path)
        decisions = await asyncio.gather(
            *(self._decide(function, source, traces.get(function.id)) for function, source in found)
        )
        self.tasks = [decision for decision in decisions if isinstance(decision, Task)]
        self.dropped = [decision for decision in decisions if isinstance(decision, Dropped)]
        left = self._total
        self.stages = {"functions": left}
        for stage in ("parse", "body", "trace", "time", "original", "stub"):
            left -= sum(1 for entry in self.dropped if entry.stage == stage)
            self.stages[stage] = left
        text = f"{len(self.tasks)} tasks of {self._total} functions"
        self.on_progress(Progress("done", self._total, self._total, text))

    async def _decide(self, function: Function, source: bytes, trace: FunctionTrace | None) -> Task | Dropped:
        early = self._before_running(function, source, trace)
        decision = early if early is not None or trace is None else await self._by_running(function, source, trace)
        assert decision is not None
        self._done += 1
        if isinstance(decision, Task):
            text = f"{decision.id}: {len(decision.tests)} tests"
            self.on_progress(Progress("stub", self._done, self._total, text, task=decision))
        else:
            text = f"{decision.id} dropped: {decision.reason}"
            self.on_progress(Progress(decision.stage, self._done, self._total, text, dropped=decision))
        return decision

    def _before_running(self, function: Function, source: bytes, trace: FunctionTrace | None) -> Dropped | None:
        if function.has_syntax_error:
            return Dropped(function.id, "parse", "The file does not parse here.")
        body = body_text(source, function)
        if splice(source, function, body) != source:
            return Dropped(function.id, "parse", "Its body cannot be put back byte for byte.")
        if body.strip() in ("", "pass", "...") or any(
            splice(source, function, stub) == source for stub in stubs(function)
        ):
            return Dropped(function.id, "body", "Its body is a stub already.")
        if trace is None or not trace.tests:
            return Dropped(function.id, "trace", "No stable test executes it.")
        seconds = self._seconds(trace)
        if seconds > SLOWEST_TESTS:
            return Dropped(function.id, "time", f"Its tests take {seconds:.1f} s, more than {SLOWEST_TESTS:.0f} s.")
        return None

    async def _by_running(self, function: Function, source: bytes, trace: FunctionTrace) -> Task | Dropped:
        original = await self._test(function, source, trace, "original")
        if original.verdict is not Verdict.PASSED:
            return Dropped(
                function.id, "original", f"Alone, its tests do not pass with the original. {original.detail}"
            )
        for stub in stubs(function):
            report = await self._test(function, splice(source, function, stub), trace, f"stub {stub}")
            if report.verdict is Verdict.PASSED:
                return Dropped(function.id, "stub", f"Its {len(trace.tests)} tests also pass with the body {stub!r}.")
            if report.verdict is Verdict.ERROR:
                return Dropped(function.id, "stub", f"The stub could not be tested. {report.detail}")
            if report.verdict is Verdict.INVALID:
                return Dropped(function.id, "parse", f"With the body {stub!r} the file does not parse. {report.detail}")
        seconds = max(self._seconds(trace), sum(test.seconds for test in original.tests))
        return Task(
            id=function.id,
            path=function.path,
            qualified_name=function.qualified_name,
            occurrence=function.occurrence,
            kind=function.kind,
            signature=function.signature,
            start_line=function.start_line,
            end_line=function.end_line,
            tests=trace.tests,
            statements=trace.statements,
            covered=trace.covered,
            seconds=round(seconds, 6),
            import_time=trace.import_time,
            body=body_text(source, function),
            docstring=function.docstring,
            source_sha256=hashlib.sha256(source).hexdigest(),
        )

    async def _test(self, function: Function, content: bytes, trace: FunctionTrace, what: str) -> Report:
        seconds = min(self.limits.seconds, 10 * self._seconds(trace) + 5.0)
        job = Job(
            id=f"{function.id} {what}",
            tests=trace.tests,
            path=function.path,
            content=content,
            limits=replace(self.limits, seconds=seconds),
            function=None if trace.import_time else (function.qualified_name, function.occurrence),
        )
        return await self.pool.run(job)

    def _seconds(self, trace: FunctionTrace) -> float:
        return sum(self.suite.seconds[test] for test in trace.tests)


def _sources(root: Path) -> dict[str, bytes]:
    """Return the project's own Python files, tests and documentation left out."""
    return {
        str(relative): path.read_bytes()
        for path in sorted(root.rglob("*.py"))
        for relative in [PurePosixPath(path.relative_to(root).as_posix())]
        if path.is_file() and not is_left_out(relative) and _is_source(relative.parts)
    }


def _is_source(parts: Sequence[str]) -> bool:
    name = parts[-1]
    return not (
        _NOT_SOURCES.intersection(parts[:-1])
        or name in _NOT_FILES
        or name.startswith("test_")
        or name.endswith("_test.py")
    )
