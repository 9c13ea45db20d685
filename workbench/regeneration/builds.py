"""What this machine knows of the tasks of a source before they are built: how long it took last, what the cache has, how many there are at most."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.base import paths
from workbench.base.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.repository import Snapshot


@dataclass(frozen=True, slots=True)
class Build:
    """The tasks of a source as they were built last."""

    seconds: float | None  # From the start to the last task; None if no complete build was measured
    # The file in the cache that has them; None if it is gone. A folder may have changed since; then they are built anew
    tasks: Path | None


def note_build(source: str, tasks: Path, seconds: float | None) -> None:
    """Note where the cache stores the tasks of a source; ``seconds`` None leaves what an earlier build took."""
    name = hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:40]
    place = paths.state_dir() / "builds" / f"{name}.json"
    took = _note(place).get("seconds") if seconds is None else seconds
    with contextlib.suppress(OSError, UnicodeError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"source": source, "tasks": str(tasks), "seconds": took}), encoding="utf-8")


def builds() -> dict[str, Build]:
    """Return what is known of each source; a note that cannot be read says nothing."""
    found = {}
    with contextlib.suppress(OSError):
        for note in map(_note, sorted((paths.state_dir() / "builds").glob("*.json"))):
            source, took, tasks = note.get("source"), note.get("seconds"), note.get("tasks")
            if isinstance(source, str):
                sound = isinstance(took, int | float) and math.isfinite(took) and took > 0
                found[source] = Build(took if sound else None, _file(tasks))
    return found


def _note(place: Path) -> Mapping[str, Any]:
    try:
        note = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


def _file(text: object) -> Path | None:
    with contextlib.suppress(OSError, ValueError):
        if isinstance(text, str) and Path(text).is_file():
            return Path(text)
    return None


def tasks_in_cache(build: Build | None) -> tuple[str, ...] | None:
    """Return the file of each task of a source in their order; None if the cache has none that can be read."""
    with contextlib.suppress(OSError):
        if build is not None and build.tasks is not None:
            return _files_of_tasks(build.tasks, build.tasks.stat().st_mtime_ns)
    return None


@functools.lru_cache(64)
def _files_of_tasks(place: Path, _: int) -> tuple[str, ...] | None:
    try:
        return tuple(str(task["path"]) for task in json.loads(place.read_text(encoding="utf-8"))["tasks"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def snapshot_here(source: str) -> Snapshot | None:
    """Return the content of a source as far as this machine has it; None if it would have to be fetched."""
    from workbench.repository import cached

    try:
        case = catalog.resolve_case(source)
        found = catalog.current_snapshot(case)
        if found is None and case.source:
            found = cached(case.source, expected_sha256=case.sha256.get(case.source))
    except (WorkbenchError, OSError):
        return None
    return found if found is not None and Path(found.root).is_dir() else None


def most_tasks(source: str, limit: int = 0) -> int | None:
    """Return the upper bound of a source's tasks: the number of its functions, or ``limit`` if there is one; None for neither."""
    snapshot = snapshot_here(source)
    functions = None if snapshot is None else _functions(snapshot)
    return min(filter(None, (functions, limit)), default=None)


@functools.lru_cache(64)
def _functions(snapshot: Snapshot) -> int:
    from workbench.regeneration.building import may_be_source
    from workbench.repository.functions import find_functions

    files = [one.path for one in snapshot.files if one.path.endswith(".py") and may_be_source(PurePosixPath(one.path))]
    return sum(len(find_functions((snapshot.root / path).read_bytes(), path)) for path in files)
