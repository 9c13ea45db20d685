"""Build datasets from several repositories; cached tasks are reused, and a repository that fails is reported."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.base.errors import WorkbenchError
from workbench.catalog import resolve_case
from workbench.engine.stages import StageProgress
from workbench.engine.task_building import NoTasks, Prepared, dropped_by_stage, prepare
from workbench.regeneration.dataset import DatasetRow, Origin, make_rows, repository_name, write_dataset
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import TaskSet
from workbench.sandbox import Backend


@dataclass(frozen=True, slots=True)
class BuiltSource:
    """The result of building one source."""

    source: str  # As the user wrote it
    repo: str  # `owner/name` or a name; the source itself if neither is known
    error: str = ""  # why the source has no tasks, or "" if it has some
    built: TaskSet | None = None
    prepared: Prepared | None = None
    rows: tuple[DatasetRow, ...] = field(default=(), repr=False)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "source": self.source,
            "repo": self.repo,
            "state": "failed" if self.error else "built",
            "error": self.error or None,
            "seconds": round(self.seconds, 3),
        }
        if self.prepared is not None:
            snapshot, environment = self.prepared.snapshot, self.prepared.environment
            values |= {
                "base_commit": snapshot.revision or snapshot.digest,
                "snapshot": snapshot.digest,
                "environment": environment.digest,
                "installed": list(environment.installed),
                "missing_modules": list(environment.missing),
                "cached": self.prepared.cached,
            }
        if self.built is not None:
            built = self.built
            values |= {
                "sandbox": built.backend,
                "stub": built.stub,
                "counts": built.counts,
                "dropped": dropped_by_stage(built),
                "suite_seconds": list(built.suite_seconds),
                "tests": {
                    "unstable": {test: list(outcomes) for test, outcomes in built.unstable.items()},
                    "failing": dict(built.failing),
                    "taken_out": dict(built.taken_out),
                    "not_collected": dict(built.not_collected),
                },
            }
        return values


async def build_dataset(
    sources: Sequence[str],
    backend: Backend,
    progress: Callable[[str], StageProgress],
    folder: Path,
    formats: Sequence[str],
    *,
    rebuild: bool = False,
    workers: int = 0,
    rules: Rules | None = None,
    on_outcome: Callable[[BuiltSource], None] = lambda outcome: None,
) -> list[BuiltSource]:
    """Build the tasks of every source and write the dataset; an unusable source does not affect the others.

    The files are written after each source, so that an interrupted build preserves the finished sources.
    """
    outcomes: list[BuiltSource] = []
    for source in dict.fromkeys(sources):
        outcome = await _build(source, backend, progress(source), rebuild=rebuild, workers=workers, rules=rules)
        outcomes.append(outcome)
        await asyncio.to_thread(_write, folder, outcomes, formats)
        on_outcome(outcome)
    return outcomes


def summary_of(outcomes: Sequence[BuiltSource]) -> dict[str, Any]:
    totals: Counter[str] = Counter()
    for outcome in outcomes:
        totals.update(outcome.built.counts if outcome.built is not None else {})
    failed = sum(bool(outcome.error) for outcome in outcomes)
    return {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "workbench": __version__,
        "n_repositories": len(outcomes) - failed,
        "n_failed": failed,
        "totals": dict(totals),
        "repositories": [outcome.to_json() for outcome in outcomes],
    }


async def _build(
    source: str, backend: Backend, progress: StageProgress, *, rebuild: bool, workers: int, rules: Rules | None
) -> BuiltSource:
    began = time.monotonic()
    repo = source
    try:
        case = await asyncio.to_thread(resolve_case, source)
        repo = repository_name(case.name or case.id, case.source)
        prepared = await prepare(source, backend, progress, rebuild=rebuild, workers=workers, rules=rules)
        snapshot = prepared.snapshot
        origin = Origin(repo, snapshot.source, snapshot.revision, snapshot.digest, snapshot.root, prepared.environment)
        rows = await asyncio.to_thread(make_rows, origin, prepared.built)
        return BuiltSource(source, repo, "", prepared.built, prepared, tuple(rows), time.monotonic() - began)
    except NoTasks as nothing:
        return BuiltSource(source, repo, str(nothing), nothing.built, seconds=time.monotonic() - began)
    except WorkbenchError as error:
        return BuiltSource(source, repo, str(error), seconds=time.monotonic() - began)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return BuiltSource(source, repo, f"{error.strerror or error}{where}.", seconds=time.monotonic() - began)


def _write(folder: Path, outcomes: Sequence[BuiltSource], formats: Sequence[str]) -> None:
    dropped: list[Mapping[str, Any]] = [
        {"repo": outcome.repo, "task_id": entry.id, "stage": entry.stage, "reason": entry.reason}
        for outcome in outcomes
        if outcome.built is not None
        for entry in outcome.built.dropped
    ]
    rows = [row for outcome in outcomes for row in outcome.rows]
    write_dataset(folder, rows, summary_of(outcomes), dropped, formats)
