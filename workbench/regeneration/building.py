"""Build tasks: trace a repository's suite, and select the functions whose tests tell a stub from the original."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Protocol

from workbench.base.task_groups import task_group
from workbench.regeneration.environment import Environment
from workbench.regeneration.project_layout import is_test_file
from workbench.regeneration.suite import Rules, Suite, run_suite
from workbench.regeneration.tasks import (
    STAGES,
    BuildProgress,
    Dropped,
    Task,
    TaskSet,
    is_published_file,
    missed_lines,
    stubs,
    usable,
    why_not_published,
)
from workbench.repository.functions import Function, find_functions
from workbench.repository.splicing import body_text, splice
from workbench.sandbox import Backend, Job, Limits, Pool, Report, Verdict, Workspace, pool
from workbench.sandbox.worker import is_left_out

_NOT_SOURCES = frozenset({"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks"})
_NOT_FILES = frozenset({"setup.py", "conftest.py", "noxfile.py"})

#: Number of tests of T_i to run first with a stub. One failure is enough, and running all of T_i may take long.
_FIRST_TESTS = 3


class BuildCache(Protocol):
    """Stores intermediate results, so that an interrupted build can continue where it stopped."""

    def suite(self) -> Suite | None: ...

    def keep_suite(self, suite: Suite) -> None: ...

    def decisions(self) -> Mapping[str, Task | Dropped]:
        """Return the stored decisions by function id."""

    def keep(self, decision: Task | Dropped) -> None: ...


async def build_tasks(
    snapshot_root: Path,
    environment: Environment,
    backend: Backend,
    *,
    limits: Limits | None = None,
    workers: int = 2,
    on_progress: Callable[[BuildProgress], None] = lambda step: None,
    rules: Rules | None = None,
    record: BuildCache | None = None,
) -> TaskSet:
    """Build the tasks of the pristine tree at ``snapshot_root``.

    ``limits`` apply to each candidate; ``record`` contains the results of an interrupted build and stores new ones.

    Raises:
        SuiteFailed: The repository's tests cannot be used; the message says why.
        SandboxError: The sandbox does not start.
    """
    limits = limits or Limits()
    rules = rules or Rules()
    workspace = replace(environment.workspace, root=snapshot_root)
    suite = await asyncio.to_thread(record.suite) if record is not None else None
    if suite is not None:
        workspace = usable(workspace, suite.not_collected, suite.test_paths)
    async with pool(backend, workspace, workers=workers, limits=limits) as workers_pool:
        if suite is None:
            suite_limits = replace(
                limits, seconds=max(limits.seconds, rules.suite_seconds), output_kb=limits.output_kb * 8
            )
            suite = await run_suite(
                workers_pool, suite_limits, rules, lambda line: on_progress(BuildProgress("suite", 0, 0, line))
            )
            if record is not None:
                await asyncio.to_thread(record.keep_suite, suite)
        on_progress(BuildProgress("suite", 0, 0, suite.sentence))
        is_source = await asyncio.to_thread(
            source_rule, replace(workspace, test_paths=suite.test_paths or workspace.test_paths)
        )
        is_selected = is_published_file if rules.selection == "published" else is_source
        sources = await asyncio.to_thread(_sources, snapshot_root, is_selected)
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
    """Decides for every function whether it becomes a task; results are in file order."""

    def __init__(
        self,
        workers: Pool,
        limits: Limits,
        suite: Suite,
        rules: Rules,
        record: BuildCache | None,
        on_progress: Callable[[BuildProgress], None],
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
        self._done = 0
        self._total = 0

    async def build(self, sources: Mapping[str, bytes]) -> None:
        found = [(function, source) for path, source in sources.items() for function in find_functions(source, path)]
        self._total = len(found)
        self.on_progress(BuildProgress("functions", 0, self._total, f"{self._total} functions in {len(sources)} files"))
        traces: dict[str, FunctionTrace] = {}
        published = self.rules.selection == "published"
        for path, source in sources.items():
            here = [function for function, _ in found if function.path == path]
            traces |= trace_functions(self.suite, here, source, path, published=published)
        known = await asyncio.to_thread(self.record.decisions) if self.record is not None else {}
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
        remaining = self._total
        self.stages = {"functions": remaining}
        for stage in STAGES:
            remaining -= sum(1 for entry in self.dropped if entry.stage == stage)
            self.stages[stage] = remaining
        text = f"{len(self.tasks)} tasks of {self._total} functions"
        self.on_progress(BuildProgress("done", self._total, self._total, text))

    async def _decide(
        self, function: Function, source: bytes, trace: FunctionTrace | None, known: Task | Dropped | None
    ) -> Task | Dropped:
        decision = known or self._before_running(function, source, trace)
        if decision is None:
            assert trace is not None
            decision = await self._by_running(function, source, trace)
            if self.record is not None:
                self.record.keep(decision)
        self._done += 1
        if isinstance(decision, Task):
            text = f"{decision.id}: {len(decision.tests)} tests"
            self.on_progress(BuildProgress("stub", self._done, self._total, text, task=decision))
        else:
            text = f"{decision.id} dropped: {decision.reason}"
            self.on_progress(BuildProgress(decision.stage, self._done, self._total, text, dropped=decision))
        return decision

    def _before_running(self, function: Function, source: bytes, trace: FunctionTrace | None) -> Dropped | None:
        if function.has_syntax_error:
            return Dropped(function.id, "parse", "The function does not parse.")
        published = self.rules.selection == "published"
        body = body_text(source, function)
        if splice(source, function, body) != source:
            return Dropped(function.id, "parse", "Its body cannot be replaced without changing other bytes.")
        if not published and (
            body.strip() in ("", "pass", "...")
            or any(splice(source, function, stub) == source for stub in stubs(function))
        ):
            return Dropped(function.id, "body", "Its body is a stub already.")
        if trace is None or not trace.tests:
            return Dropped(function.id, "trace", _why_untested(trace))
        if published and (why := why_not_published(function, trace.tests, missed_lines(source))):
            return Dropped(function.id, "trace", why)
        seconds = self._seconds(trace.tests)
        if seconds > self.rules.slowest_tests:
            return Dropped(
                function.id, "time", f"Its tests take {seconds:.1f} s, more than {self.rules.slowest_tests:g} s."
            )
        return None

    async def _by_running(self, function: Function, source: bytes, trace: FunctionTrace) -> Task | Dropped:
        if self.rules.selection == "published":
            # The published counts require only that the tests pass with the original body as part of the suite.
            return self._task(function, source, trace, self._seconds(trace.tests))
        original = await self._original(function, source, trace)
        if original.verdict is not Verdict.PASSED:
            return Dropped(
                function.id, "original", f"In isolation its tests do not pass with the original. {original.detail}"
            )
        for stub in stubs(function):
            content = splice(source, function, stub)
            first = trace.tests[:_FIRST_TESTS]
            report = await self._test(function, content, trace, first)
            if report.verdict is Verdict.PASSED and len(first) < len(trace.tests):
                report = await self._test(function, content, trace, trace.tests)
            stage, why = {
                Verdict.PASSED: ("stub", f"Its {len(trace.tests)} tests also pass with the body {stub!r}."),
                Verdict.ERROR: ("stub", f"The stub could not be tested. {report.detail}"),
                Verdict.INVALID: ("parse", f"With the body {stub!r} the file does not parse. {report.detail}"),
            }.get(report.verdict, ("", ""))
            if stage:
                return Dropped(function.id, stage, why)
        seconds = max(self._seconds(trace.tests), sum(test.seconds for test in original.tests))
        return self._task(function, source, trace, seconds)

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
            # Patching has no effect on a module that pytest has already collected.
            import_time=trace.import_time or in_a_test_file,
            body=body_text(source, function),
            docstring=function.docstring,
            source_sha256=hashlib.sha256(source).hexdigest(),
            branches=trace.branches,
            branches_covered=trace.branches_covered,
            unstable=trace.unstable,
        )

    async def _original(self, function: Function, source: bytes, trace: FunctionTrace) -> Report:
        """Test the original body; functions with the same tests share one report, since the tree is identical.

        Even a body that runs at import may be patched here, because it is replaced with itself.
        """
        if trace.tests not in self._originals:
            testing = self._test(function, source, replace(trace, import_time=False), trace.tests)
            self._originals[trace.tests] = asyncio.create_task(testing)
        return await self._originals[trace.tests]

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
        return f"No stable test executes it, but {len(trace.unstable)} unstable tests do."
    if trace is not None and trace.import_time:
        return "It runs only while modules are imported, so it belongs to no test."
    return "No stable test executes it."


def _sources(root: Path, is_selected: Callable[[PurePosixPath], bool]) -> dict[str, bytes]:
    return {
        str(relative): path.read_bytes()
        for path in sorted(root.rglob("*.py"))
        for relative in [PurePosixPath(path.relative_to(root).as_posix())]
        if path.is_file() and not is_left_out(relative) and is_selected(relative)
    }


def may_be_source(path: PurePosixPath) -> bool:
    """Return whether a file may contain tasks, judging by its name alone."""
    return not (
        _NOT_SOURCES.intersection(path.parts[:-1])
        or path.name in _NOT_FILES
        or path.name.startswith("test_")
        or path.name.endswith("_test.py")
    )


def source_rule(workspace: Workspace) -> Callable[[PurePosixPath], bool]:
    """Return a predicate for the project's source files; it excludes tests, documentation and examples."""
    is_test = is_test_file(workspace.root, workspace.import_roots, workspace.own_modules)

    def is_source(path: PurePosixPath) -> bool:
        return may_be_source(path) and not (str(path) in workspace.test_paths or is_test(path))

    return is_source


@dataclass(frozen=True, slots=True)
class FunctionTrace:
    """The tests that execute a function."""

    tests: tuple[str, ...]  # T_i: stable tests that execute at least one line of the body
    unstable: tuple[str, ...]  # quarantined tests that execute the function
    statements: int  # number of executable statements in the body, including nested functions
    covered: int  # number of statements that T_i executes
    branches: int
    branches_covered: int  # number of branches that T_i takes
    import_time: bool  # whether the body also runs while modules are imported or tests are collected

    @property
    def coverage(self) -> float:
        return self.covered / self.statements if self.statements else 0.0


def trace_functions(
    suite: Suite, functions: Sequence[Function], source: bytes, path: str, *, published: bool = False
) -> dict[str, FunctionTrace]:
    """Return the trace of each function of one file, by function id.

    A line belongs to the innermost function around it. The statements and branches of a nested function also count for
    the outer one, because its body contains them. If ``published`` is True, any executed line between the function's
    header and its end counts, including lines of nested functions.
    """
    recorded = suite.trace.get("files", {}).get(path)
    if recorded is None:
        return {}
    contexts = suite.trace["contexts"]
    # A set of tests is an integer in which bit n stands for the n-th context; "" is the context outside of tests.
    bits = {name: number for number, name in enumerate(contexts)}
    masks = [int(mask, 16) for mask in suite.trace["masks"]]
    lines = {int(line): masks[number] for line, number in recorded["lines"].items()}
    no_test = 1 << bits[""] if "" in bits else 0
    stable = sum(1 << bits[test] for test in suite.stable if test in bits)
    unstable = sum(1 << bits[test] for test in suite.unstable if test in bits)
    statements = set(recorded["statements"])
    bodies = {function.id: _body_lines(function, source) for function in functions}
    # Coverage reports two exits for a one-line definition: past it, and out of its body.
    inline = {line for each in functions if (line := _line(source, each.header.end)) in bodies[each.id]}
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
        executed_by = 0
        import_time = False
        for line in body - inner:
            # A one-line body shares its line with the header, which runs at import even if the body does not.
            import_time |= bool(lines.get(line, 0) & no_test) and line > _line(source, function.header.end)
            executed_by |= lines.get(line, 0)
        around = [other for other in functions if other.body.start <= function.span.start < other.body.end]
        # A function created at import by an enclosing function keeps the original code.
        import_time |= any(lines.get(line, 0) & no_test for other in around for line in bodies[other.id])
        if published:
            for line in range(function.start_line, function.end_line + 1):
                executed_by |= lines.get(line, 0)
        tests = executed_by & stable
        own = body & statements
        branches = [number for start, _, number in recorded["branches"] if start in own - inline]
        traces[function.id] = FunctionTrace(
            tests=tuple(test for test in suite.stable if tests >> bits.get(test, len(contexts)) & 1),
            unstable=tuple(
                test for test in suite.unstable if (executed_by & unstable) >> bits.get(test, len(contexts)) & 1
            ),
            statements=len(own),
            covered=sum(1 for line in own if lines.get(line, 0) & tests),
            branches=len(branches),
            branches_covered=sum(1 for number in branches if number >= 0 and masks[number] & tests),
            import_time=import_time,
        )
    return traces


def _body_lines(function: Function, source: bytes) -> set[int]:
    start = function.body.start
    text = source[start : function.body.end]
    start += len(text) - len(text.lstrip())
    return set(range(_line(source, start), function.end_line + 1))


def _line(source: bytes, offset: int) -> int:
    return source.count(b"\n", 0, offset) + 1
