"""What building a source's tasks took on this machine, and whether they are still in the cache. Cheap to import.

A note of each source lies in the state folder, so that it outlives an emptied cache: then the time is needed again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import paths


@dataclass(frozen=True, slots=True)
class Build:
    """The tasks of a source as they were built last."""

    source: str
    seconds: float | None  # From the start to the last task, None where no complete build was measured
    ready: bool  # Whether they are in the cache. A folder may have been changed since; then they are built anew
    tasks: Path | None = None  # The file that has them, None where it is gone


def note_build(source: str, tasks: Path, seconds: float | None) -> None:
    """Note where the cache keeps the tasks of a source; ``seconds`` None leaves what an earlier build took."""
    place = _place(source)
    before = _read(place)
    took = before.get("seconds") if seconds is None else seconds
    with contextlib.suppress(OSError, UnicodeError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"source": source, "tasks": str(tasks), "seconds": took}), encoding="utf-8")


def builds() -> dict[str, Build]:
    """Return what is known of each source; a note that cannot be read says nothing."""
    try:
        found = sorted((paths.state_dir() / "builds").glob("*.json"))
    except OSError:
        return {}
    notes = [note for note in map(_read, found) if isinstance(note.get("source"), str)]
    return {
        str(note["source"]): Build(note["source"], _seconds(note), place is not None, place)
        for note in notes
        for place in [_tasks(note)]
    }


def tasks_in_cache(build: Build | None) -> tuple[str, ...] | None:
    """Return the file of each task of a source in their order; None where the cache has none that can be read."""
    if build is None or build.tasks is None:
        return None
    try:
        changed = build.tasks.stat().st_mtime_ns
    except OSError:
        return None
    return _files_of_tasks(build.tasks, changed)


@functools.lru_cache(64)
def _files_of_tasks(place: Path, _: int) -> tuple[str, ...] | None:
    try:
        return tuple(str(task["path"]) for task in json.loads(place.read_text(encoding="utf-8"))["tasks"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _place(source: str) -> Path:
    return paths.state_dir() / "builds" / f"{hashlib.sha256(source.encode('utf-8', 'replace')).hexdigest()[:40]}.json"


def _read(place: Path) -> Mapping[str, Any]:
    try:
        note = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


def _seconds(note: Mapping[str, Any]) -> float | None:
    took = note.get("seconds")
    return float(took) if isinstance(took, int | float) and math.isfinite(took) and took > 0 else None


def _tasks(note: Mapping[str, Any]) -> Path | None:
    tasks = note.get("tasks")
    try:
        return Path(tasks) if isinstance(tasks, str) and Path(tasks).is_file() else None
    except (OSError, ValueError):
        return None
