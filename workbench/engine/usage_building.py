"""Build the usage tasks of a source: fetch, environment, recorded suite, and replays; earlier results are cached."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, replace

from workbench.base.errors import WorkbenchError
from workbench.catalog import TestCase
from workbench.engine.stages import StageProgress
from workbench.engine.task_building import cached_file, fetch, read_cached, set_up, tested_as, write_cached
from workbench.regeneration.environment import Environment
from workbench.repository import Snapshot
from workbench.sandbox import Backend
from workbench.usage.building import USAGE_TASKS_FORMAT, UsageTaskSet, build_usage_tasks


class NoUsageTasks(WorkbenchError):
    """The repository has no usage tasks; the message counts the dropped callables by stage."""

    permanent = True

    def __init__(self, sentence: str, built: UsageTaskSet) -> None:
        super().__init__(sentence)
        self.built = built


@dataclass(frozen=True, slots=True)
class PreparedUsage:
    """A repository whose documentation can be measured by usage tasks."""

    case: TestCase
    snapshot: Snapshot
    environment: Environment
    built: UsageTaskSet
    cached: bool


async def prepare_usage(
    source: str, backend: Backend, progress: StageProgress, *, pinned: str = "", rebuild: bool = False
) -> PreparedUsage:
    """Fetch a repository, set up its environment and build its usage tasks.

    ``pinned`` is the content that an earlier part of the run used; it is reused if it still exists. Raises NoUsageTasks
    if there are none, and SuiteFailed if the repository's tests cannot be used.
    """
    case, snapshot = await fetch(source, progress, pinned)
    environment = await set_up(case, snapshot, backend, progress)
    place = cached_file("usage-tasks", USAGE_TASKS_FORMAT, *tested_as(snapshot, environment, backend.name))
    if rebuild:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)
    built = await asyncio.to_thread(read_cached, UsageTaskSet, place)
    cached = built is not None
    if built is None:

        def on_progress(stage: str, done: int, total: int, note: str) -> None:
            if stage == "trace":
                progress.update("suite", "done")
                progress.update("trace", "done", done=done, total=total, note=note)
            else:
                progress.update(stage, done=done, total=total or None, note=note)

        built = await build_usage_tasks(snapshot.root, environment, backend, on_progress=on_progress)
        await asyncio.to_thread(write_cached, place, built)
    again = "from the cache · " if cached else ""
    found = built.stages["callables"]
    progress.update("suite", "done", done=built.tests, total=built.tests, note=f"{again}{built.tests} tests pass")
    progress.update("trace", "done", done=found, total=found, note=f"{again}{found} callables and forms of commands")
    left = ", ".join(f"{number} {stage}" for stage, number in dropped_usage(built).items())
    note = f"{again}{len(built.tasks)} tasks" + (f"; dropped: {left}" if left else "")
    progress.update("filter", "done", done=found, total=found, note=note)
    if not built.tasks:
        raise NoUsageTasks(f"{case.name} gives no usage task: {_why_none(built)}", built)
    # The tree in which answers are tested must not contain tests under other names.
    environment = replace(environment, workspace=replace(environment.workspace, test_paths=built.test_paths))
    return PreparedUsage(case, snapshot, environment, built, cached)


def dropped_usage(built: UsageTaskSet) -> dict[str, int]:
    """Return the number of callables and forms of commands that each stage dropped."""
    return dict(Counter(entry.stage for entry in built.dropped))


def _why_none(built: UsageTaskSet) -> str:
    if not built.dropped:
        return f"its {built.tests} tests call no public function, method or command of its own."
    words = {
        "literal": "take or return values that no literal can express",
        "calls": "are called with fewer than three different literals",
        "results": "give the same result for every call",
        "replay": "give different results outside of their tests",
        "original": "cannot be called outside of their tests",
    }
    counts = ", ".join(f"{number} {words.get(stage, stage)}" for stage, number in dropped_usage(built).items())
    return f"of its {len(built.dropped)} callables and forms of commands that tests call, {counts}."
