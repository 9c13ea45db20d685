"""Build the tasks of a source: fetch, environment, suite, trace, and stub filter.

Earlier results are reused from the cache.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from workbench.base import paths, typed_json
from workbench.base.errors import WorkbenchError
from workbench.base.files import replaced
from workbench.base.text import one_line
from workbench.catalog import TestCase, resolve_case, snapshot_of
from workbench.engine.stages import StageProgress
from workbench.orders.measured import note_build
from workbench.regeneration.building import build_tasks
from workbench.regeneration.environment import Environment, build_environment
from workbench.regeneration.suite import SUITE_FORMAT, Rules, Suite
from workbench.regeneration.tasks import STUB_VERSION, BuildProgress, Dropped, Task, TaskSet, is_skipped
from workbench.repository import Snapshot
from workbench.sandbox import Backend

Built = TypeVar("Built")
#: The maximum number of quarantined tests that the live view names.
_NAMED_TESTS = 500


class NoTasks(WorkbenchError):
    """The repository has no tasks; the message counts dropped functions by stage."""

    permanent = True

    def __init__(self, sentence: str, built: TaskSet) -> None:
        super().__init__(sentence)
        self.built = built


@dataclass(frozen=True, slots=True)
class Prepared:
    """A repository that is ready for regeneration."""

    case: TestCase
    snapshot: Snapshot
    environment: Environment
    built: TaskSet
    cached: bool


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def prepare(
    source: str,
    backend: Backend,
    progress: StageProgress,
    *,
    pinned: str = "",
    rebuild: bool = False,
    on_dropped: Callable[[Dropped], None] = lambda dropped: None,
    on_fetched: Callable[[Snapshot], None] = lambda snapshot: None,
    on_unused: Callable[[Sequence[Unused]], None] = lambda unused: None,
    workers: int = 0,
    rules: Rules | None = None,
) -> Prepared:
    """Fetch a repository, set up its environment and build its tasks.

    ``pinned`` is the content that an earlier part of the run worked on; it is used again if it still exists.
    ``on_dropped`` is called for every function that yields no task, and ``on_unused`` once with the tests that no
    verdict uses.
    """
    began = time.monotonic()
    case, snapshot = await fetch(source, progress, pinned)
    on_fetched(snapshot)
    environment = await set_up(case, snapshot, backend, progress)
    cache = TaskCache(snapshot, environment, backend.name, rules)
    if rebuild:
        await asyncio.to_thread(cache.forget)
    built = await asyncio.to_thread(cache.tasks)
    cached = built is not None
    if built is not None:
        note_build(source, cache.place, None)
        for dropped in built.dropped:
            on_dropped(dropped)
    else:
        # The duration of a continued build is not that of a complete build, so it is not recorded.
        whole = not await asyncio.to_thread(cache.is_begun)

        def on_progress(step: BuildProgress) -> None:
            if step.dropped is not None:
                on_dropped(step.dropped)
            if step.stage == "suite":
                progress.update("suite", note=step.text)
            elif step.stage == "functions":
                progress.update("suite", "done")
                progress.update("trace", "done", done=step.total, total=step.total, note=step.text)
                progress.update("filter", done=0, total=step.total)
            elif step.stage != "done":
                progress.update("filter", done=step.done, total=step.total, note=step.text)

        built = await build_tasks(
            snapshot.root,
            environment,
            backend,
            workers=workers or cores(),
            on_progress=on_progress,
            rules=rules,
            record=cache,
        )
        await asyncio.to_thread(cache.finish, built)
        note_build(source, cache.place, time.monotonic() - began if whole else None)
    environment = replace(environment, workspace=built.workspace(environment.workspace))
    on_unused(unused_tests(built))
    _report_all(progress, built, cached)
    if not built.tasks:
        raise NoTasks(f"{case.name} gives no task: {_why_none(built)}", built)
    return Prepared(case, snapshot, environment, built, cached)


async def fetch(source: str, progress: StageProgress, pinned: str) -> tuple[TestCase, Snapshot]:
    progress.update("fetch", note=source)
    case = resolve_case(source)
    snapshot = await asyncio.to_thread(_snapshot, case, pinned, progress)
    files, revision = len(snapshot.files), snapshot.revision.removeprefix("sha256:")[:12]
    progress.update("fetch", "done", done=files, total=files, note=f"{snapshot.source} {revision}".strip())
    return case, snapshot


async def set_up(case: TestCase, snapshot: Snapshot, backend: Backend, progress: StageProgress) -> Environment:
    progress.update("environment")
    environment = await build_environment(
        snapshot.root,
        install=case.install,
        test=case.test,
        on_progress=lambda line: progress.update("environment", note=line),
    )
    progress.update("environment", "done", note=f"{len(environment.installed)} packages, Python in {backend.name}")
    return environment


def _report_all(progress: StageProgress, built: TaskSet, cached: bool) -> None:
    functions = len(built.tasks) + len(built.dropped)
    again = "from the cache · " if cached else ""
    suite = f"{again}{built.stable} tests are stable" + (f", {built.quarantined}" if built.quarantined else "")
    tests = built.stable + len(built.unstable) + len(built.failing) + len(built.taken_out)
    progress.update("suite", "done", done=built.stable, total=tests, note=suite)
    progress.update("trace", "done", done=functions, total=functions, note=f"{again}{functions} functions")
    left = ", ".join(f"{number} {stage}" for stage, number in dropped_by_stage(built).items())
    note = f"{again}{len(built.tasks)} tasks" + (f"; dropped: {left}" if left else "")
    progress.update("filter", "done", done=functions, total=functions, note=note)


class Unused(NamedTuple):
    """A test that no verdict uses: ``kind`` is a short reason, ``why`` its message."""

    kind: str
    test: str
    why: str


def unused_tests(built: TaskSet) -> tuple[Unused, ...]:
    """Return the unused tests, unstable ones first, limited to a readable number."""
    kinds: dict[str, Mapping[str, str]] = {
        "unstable": {test: ", ".join(outcomes) for test, outcomes in built.unstable.items()},
        "hanging or fatal": built.taken_out,
        "not imported": built.not_collected,
        "skipped": {test: why for test, why in built.failing.items() if is_skipped(why)},
        "failing": {test: why for test, why in built.failing.items() if not is_skipped(why)},
    }
    found = [
        Unused(kind, one_line(test, 300), one_line(why, 300))
        for kind, tests in kinds.items()
        for test, why in tests.items()
    ]
    return tuple(found[:_NAMED_TESTS])


def dropped_by_stage(built: TaskSet) -> dict[str, int]:
    """Return the number of functions that each stage dropped."""
    return dict(Counter(entry.stage for entry in built.dropped))


def _why_none(built: TaskSet) -> str:
    if not built.dropped:
        return "it has no Python functions outside its tests."
    words = {
        "parse": "do not parse",
        "body": "are stubs already",
        "trace": "are executed by no stable test",
        "time": "have tests that take too long",
        "original": "fail their tests when these run alone",
        "stub": "pass their tests even with an empty body",
    }
    told = ", ".join(f"{number} {words.get(stage, stage)}" for stage, number in dropped_by_stage(built).items())
    return f"of its {len(built.dropped)} functions, {told}."


def _snapshot(case: TestCase, pinned: str, progress: StageProgress) -> Snapshot:
    if pinned:
        from workbench.repository.store import ResolvedSource, Store

        kept = Store(paths.cache_dir().absolute()).load(ResolvedSource(case.source or case.id, pinned, "", "", 0.0))
        if kept is not None:
            return kept
    return snapshot_of(case, progress=lambda line: progress.update("fetch", note=line))


#: Incremented whenever the same repository would yield different tasks.
TASKS_FORMAT = 3


class TaskCache:
    """The cached results for one repository, environment and sandbox.

    A write error costs time later, but does not fail the run.
    """

    def __init__(self, snapshot: Snapshot, environment: Environment, backend: str, rules: Rules | None = None) -> None:
        about = tested_as(snapshot, environment, backend)
        about += [asdict(rules)] if rules is not None and rules != Rules() else []
        self._suite = cached_file("suites", SUITE_FORMAT, *about)
        self._tasks = cached_file("tasks", TASKS_FORMAT, STUB_VERSION, *about)
        self._part = self._tasks.with_suffix(".part")

    @property
    def place(self) -> Path:
        return self._tasks

    def is_begun(self) -> bool:
        """Return whether there are partial results of an earlier build."""
        return self._suite.exists() or self._part.exists()

    def tasks(self) -> TaskSet | None:
        return read_cached(TaskSet, self._tasks)

    def finish(self, built: TaskSet) -> None:
        write_cached(self._tasks, built)
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)

    def forget(self) -> None:
        for path in (self._suite, self._tasks, self._part):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def suite(self) -> Suite | None:
        return read_cached(Suite, self._suite)

    def keep_suite(self, suite: Suite) -> None:
        """Store the suite's runs, and delete decisions that were based on earlier runs."""
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)
        write_cached(self._suite, suite)

    def decisions(self) -> Mapping[str, Task | Dropped]:
        found: dict[str, Task | Dropped] = {}
        with contextlib.suppress(OSError), self._part.open(encoding="utf-8") as lines:
            for line in lines:
                # The last line may be incomplete after a kill.
                with contextlib.suppress(ValueError, KeyError):
                    data = typed_json.decode(dict, line)
                    done = "stage" not in data
                    found[data["id"]] = typed_json.convert(Task, data) if done else typed_json.convert(Dropped, data)
        return found

    def keep(self, decision: Task | Dropped) -> None:
        with contextlib.suppress(OSError):
            self._part.parent.mkdir(parents=True, exist_ok=True)
            with self._part.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(decision)) + "\n")


def tested_as(snapshot: Snapshot, environment: Environment, backend: str) -> list[Any]:
    """Return a key for everything that the results of a repository's tests depend on."""
    workspace = environment.workspace
    return [snapshot.digest, environment.digest, backend, workspace.pytest_args, workspace.test_paths,
            workspace.import_roots, workspace.variables]  # fmt: skip


def cached_file(folder: str, *depends_on: Any) -> Path:
    key = hashlib.sha256(json.dumps(depends_on).encode()).hexdigest()[:40]
    return paths.cache_dir() / folder / f"{key}.json"


def read_cached(kind: type[Built], place: Path) -> Built | None:
    with contextlib.suppress(OSError, ValueError):
        return typed_json.decode(kind, place.read_bytes())
    return None


def write_cached(place: Path, built: Any) -> None:
    with contextlib.suppress(OSError), replaced(place) as part:
        part.write_text(json.dumps(asdict(built)), encoding="utf-8")
