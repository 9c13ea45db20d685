"""Build tasks: trace a repository's suite, and keep functions whose tests distinguish a stub from the original."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Protocol

from workbench.base.task_groups import task_group
from workbench.regeneration.environment import Environment
from workbench.regeneration.project_layout import is_test_file
from workbench.regeneration.selections import is_published_file, missed_lines, why_not_published
from workbench.regeneration.stubs import stubs
from workbench.regeneration.suite import Rules, Suite, run_suite
from workbench.regeneration.tasks import STAGES, Dropped, Progress, Task, TaskSet, usable
from workbench.regeneration.tracing import FunctionTrace, trace_functions
from workbench.repository.functions import Function, find_functions
from workbench.repository.splicing import body_text, splice
from workbench.sandbox import Backend, Job, Limits, Pool, Report, Verdict, Workspace, pool
from workbench.sandbox.worker import is_left_out

_NOT_SOURCES = frozenset({"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks"})
_NOT_FILES = frozenset({"setup.py", "conftest.py", "noxfile.py"})

#: Number of tests of T_i that are run first with a stub: if one of them fails, T_i as a whole fails.
_FIRST_TESTS = 3


class Record(Protocol):
    """Stores intermediate results, so that an interrupted build continues where it stopped."""

    def suite(self) -> Suite | None: ...

    def keep_suite(self, suite: Suite) -> None: ...

    def decisions(self) -> Mapping[str, Task | Dropped]:
        """Return the stored decisions by function id."""

    def keep(self, decision: Task | Dropped) -> None: ...


class NoRecord:
    """Stores nothing."""

    def suite(self) -> Suite | None:
        return None

    def keep_suite(self, suite: Suite) -> None: ...

    def decisions(self) -> Mapping[str, Task | Dropped]:
        return {}

    def keep(self, decision: Task | Dropped) -> None: ...


async def build_tasks(
    snapshot_root: Path,
    environment: Environment,
    backend: Backend,
    *,
    limits: Limits | None = None,
    workers: int = 2,
    on_progress: Callable[[Progress], None] = lambda step: None,
    rules: Rules | None = None,
    record: Record | None = None,
) -> TaskSet:
    """Build the tasks of the pristine tree at ``snapshot_root``.

    ``limits`` are those of one candidate; ``record`` gives the results of an interrupted build and stores those of this
    one.

    Raises:
        SuiteFailed: The repository's tests cannot be used; the message says why.
        SandboxError: The sandbox does not start.
    """
    limits = limits or Limits()
    rules = rules or Rules()
    record = record or NoRecord()
    workspace = replace(environment.workspace, root=snapshot_root)
    suite = await asyncio.to_thread(record.suite)
    if suite is not None:
        workspace = usable(workspace, suite.not_collected, suite.test_paths)
    async with pool(backend, workspace, workers=workers, limits=limits) as workers_pool:
        if suite is None:
            suite_limits = replace(
                limits, seconds=max(limits.seconds, rules.suite_seconds), output_kb=limits.output_kb * 8
            )
            suite = await run_suite(
                workers_pool, suite_limits, rules, lambda line: on_progress(Progress("suite", 0, 0, line))
            )
            await asyncio.to_thread(record.keep_suite, suite)
        on_progress(Progress("suite", 0, 0, suite.sentence))
        is_source = await asyncio.to_thread(
            source_rule, replace(workspace, test_paths=suite.test_paths or workspace.test_paths)
        )
        wanted = is_published_file if rules.selection == "published" else is_source
        sources = await asyncio.to_thread(_sources, snapshot_root, wanted)
        builder = _Builder(workers_pool, limits, suite, rules, record, on_progress, is_source)
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
        not_collected=suite.not_collected,
        test_paths=suite.test_paths,
    )


class _Builder:
    """Decides for every function whether it becomes a task; results are in the order of the files."""

    def __init__(
        self,
        workers: Pool,
        limits: Limits,
        suite: Suite,
        rules: Rules,
        record: Record,
        on_progress: Callable[[Progress], None],
        is_source: Callable[[PurePosixPath], bool],
    ) -> None:
        self.is_source = is_source
        self.pool = workers
        self.limits = limits
        self.suite = suite
        self.rules = rules
        self.record = record
        self.on_progress = on_progress
        self.tasks: list[Task] = []
        self.dropped: list[Dropped] = []
        self.stages: dict[str, int] = {}
        self._originals: dict[tuple[str, ...], asyncio.Task[Report]] = {}
        self._missed_lines: dict[str, frozenset[int]] = {}
        self._done = 0
        self._total = 0

    async def build(self, sources: Mapping[str, bytes]) -> None:
        found = [(function, source) for path, source in sources.items() for function in find_functions(source, path)]
        self._total = len(found)
        self.on_progress(Progress("functions", 0, self._total, f"{self._total} functions in {len(sources)} files"))
        traces: dict[str, FunctionTrace] = {}
        published = self.rules.selection == "published"
        for path, source in sources.items():
            here = [function for function, _ in found if function.path == path]
            traces |= trace_functions(self.suite, here, source, path, published=published)
        known = await asyncio.to_thread(self.record.decisions)
        async with task_group() as group:
            decisions = [
                group.create_task(self._decide(function, source, traces.get(function.id), known.get(function.id)))
                for function, source in found
            ]
        for decision in (task.result() for task in decisions):
            if isinstance(decision, Task):
                self.tasks.append(decision)
            else:
                self.dropped.append(decision)
        left = self._total
        self.stages = {"functions": left}
        for stage in STAGES:
            left -= sum(1 for entry in self.dropped if entry.stage == stage)
            self.stages[stage] = left
        text = f"{len(self.tasks)} tasks of {self._total} functions"
        self.on_progress(Progress("done", self._total, self._total, text))

    async def _decide(
        self, function: Function, source: bytes, trace: FunctionTrace | None, known: Task | Dropped | None
    ) -> Task | Dropped:
        decision = known or self._before_running(function, source, trace)
        if decision is None:
            assert trace is not None
            decision = await self._by_running(function, source, trace)
            self.record.keep(decision)
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
        published = self.rules.selection == "published"
        body = body_text(source, function)
        if splice(source, function, body) != source:
            return Dropped(function.id, "parse", "Its body cannot be put back byte for byte.")
        if not published and (
            body.strip() in ("", "pass", "...")
            or any(splice(source, function, stub) == source for stub in stubs(function))
        ):
            return Dropped(function.id, "body", "Its body is a stub already.")
        if trace is None or not trace.tests:
            return Dropped(function.id, "trace", _why_untested(trace))
        if published and (why := why_not_published(function, trace.tests, self._missed(function.path, source))):
            return Dropped(function.id, "trace", why)
        seconds = self._seconds(trace.tests)
        if seconds > self.rules.slowest_tests:
            return Dropped(
                function.id, "time", f"Its tests take {seconds:.1f} s, more than {self.rules.slowest_tests:g} s."
            )
        return None

    async def _by_running(self, function: Function, source: bytes, trace: FunctionTrace) -> Task | Dropped:
        if self.rules.selection == "published":
            # Its tests pass with the original in the suite, which is all that the published counts ask for.
            return self._task(function, source, trace, self._seconds(trace.tests))
        original = await self._original(function, source, trace)
        if original.verdict is not Verdict.PASSED:
            return Dropped(
                function.id, "original", f"Alone, its tests do not pass with the original. {original.detail}"
            )
        for stub in stubs(function):
            report = await self._stubbed(function, splice(source, function, stub), trace)
            if report.verdict is Verdict.PASSED:
                return Dropped(function.id, "stub", f"Its {len(trace.tests)} tests also pass with the body {stub!r}.")
            if report.verdict is Verdict.ERROR:
                return Dropped(function.id, "stub", f"The stub could not be tested. {report.detail}")
            if report.verdict is Verdict.INVALID:
                return Dropped(function.id, "parse", f"With the body {stub!r} the file does not parse. {report.detail}")
        seconds = max(self._seconds(trace.tests), sum(test.seconds for test in original.tests))
        return self._task(function, source, trace, seconds)

    def _missed(self, path: str, source: bytes) -> frozenset[int]:
        if path not in self._missed_lines:
            self._missed_lines[path] = missed_lines(source)
        return self._missed_lines[path]

    def _task(self, function: Function, source: bytes, trace: FunctionTrace, seconds: float) -> Task:
        in_a_test_file = not self.is_source(PurePosixPath(function.path))
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
            # What pytest has collected is not patched.
            import_time=trace.import_time or in_a_test_file,
            body=body_text(source, function),
            docstring=function.docstring,
            source_sha256=hashlib.sha256(source).hexdigest(),
            branches=trace.branches,
            branches_covered=trace.branches_covered,
            unstable=trace.unstable,
        )

    async def _original(self, function: Function, source: bytes, trace: FunctionTrace) -> Report:
        """Test the original body; functions with the same tests share the report, as the tree is the same.

        Even a body that runs at import may be patched here, because it is replaced by itself.
        """
        if trace.tests not in self._originals:
            testing = self._test(function, source, replace(trace, import_time=False), trace.tests)
            self._originals[trace.tests] = asyncio.create_task(testing)
        return await self._originals[trace.tests]

    async def _stubbed(self, function: Function, content: bytes, trace: FunctionTrace) -> Report:
        """Test a stub with the first tests of T_i and, if they pass, with all of T_i."""
        first = trace.tests[:_FIRST_TESTS]
        report = await self._test(function, content, trace, first)
        if report.verdict is Verdict.PASSED and len(first) < len(trace.tests):
            report = await self._test(function, content, trace, trace.tests)
        return report

    async def _test(self, function: Function, content: bytes, trace: FunctionTrace, tests: tuple[str, ...]) -> Report:
        seconds = min(self.limits.seconds, 10 * self._seconds(tests) + 5.0)
        job = Job(
            id=function.id,
            tests=tests,
            path=function.path,
            content=content,
            limits=replace(self.limits, seconds=seconds),
            function=None if trace.import_time else (function.qualified_name, function.occurrence),
        )
        return await self.pool.run(job)

    def _seconds(self, tests: Sequence[str]) -> float:
        return sum(self.suite.seconds[test] for test in tests)


def _why_untested(trace: FunctionTrace | None) -> str:
    if trace is not None and trace.unstable:
        return f"No stable test executes it; {len(trace.unstable)} unstable ones do."
    if trace is not None and trace.import_time:
        return "It runs only while modules are imported, so that it belongs to no test."
    return "No stable test executes it."


def _sources(root: Path, wanted: Callable[[PurePosixPath], bool]) -> dict[str, bytes]:
    return {
        str(relative): path.read_bytes()
        for path in sorted(root.rglob("*.py"))
        for relative in [PurePosixPath(path.relative_to(root).as_posix())]
        if path.is_file() and not is_left_out(relative) and wanted(relative)
    }


def may_be_source(path: PurePosixPath) -> bool:
    """Return whether a file may hold tasks, by its name alone."""
    return not (
        _NOT_SOURCES.intersection(path.parts[:-1])
        or path.name in _NOT_FILES
        or path.name.startswith("test_")
        or path.name.endswith("_test.py")
    )


def source_rule(workspace: Workspace) -> Callable[[PurePosixPath], bool]:
    """Return a predicate for the project's own files: no tests, documentation or examples."""
    is_test = is_test_file(workspace.root, workspace.import_roots, workspace.own_modules)

    def is_source(path: PurePosixPath) -> bool:
        return may_be_source(path) and not (str(path) in workspace.test_paths or is_test(path))

    return is_source
