"""Completes what is typed into a field: a known name, or a path of this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from textual.suggester import Suggester

_MOST = 2_000
"""Entries of a folder that are looked at: completing must not take time."""
_PREFIXES = ("folder:", "source:", "samples:", "replay:")


def suggester(known: Sequence[str], *, paths: bool = False) -> Suggester:
    """Return what completes a field with one of ``known`` names, or with ``paths`` also with what is on the disk."""
    return _Completion(known, paths)


class _Completion(Suggester):
    def __init__(self, known: Sequence[str], paths: bool) -> None:
        # What is on the disk changes while the dialog is open.
        super().__init__(use_cache=False, case_sensitive=True)
        self._known, self._paths = tuple(known), paths

    async def get_suggestion(self, value: str) -> str | None:
        for name in self._known:
            if name.startswith(value) and name != value:
                return name
        return await asyncio.to_thread(completed_path, value) if self._paths else None


def completed_path(text: str) -> str | None:
    """Return a text that names the beginning of a path with the first entry that goes on so, None where nothing does.

    What stands before a path is kept: ``folder:``, ``source:``, ``samples:``, ``replay:``. Folders end in ``/``; hidden
    entries are named only where the dot was typed. A text without a slash or tilde is no path.
    """
    lead = next((prefix for prefix in _PREFIXES if text.startswith(prefix)), "")
    path = text[len(lead) :]
    if not path.startswith(("/", "~", ".")) and not (lead and path) and "/" not in path:
        return None
    folder, slash, begun = path.rpartition("/")
    if path.startswith("~") and not slash:
        return f"{lead}~/" if path == "~" else None
    try:
        base = Path(f"{folder}/").expanduser() if slash else Path()
        names = sorted(_entries(base, begun))
    except (OSError, ValueError, RuntimeError):
        return None
    if not names:
        return None
    end = "/" if (base / names[0]).is_dir() else ""
    found = f"{lead}{folder}{slash}{names[0]}{end}"
    return found if found != text and found.isprintable() else None


def _entries(folder: Path, begun: str) -> list[str]:
    with os.scandir(folder) as entries:
        found = []
        for number, entry in enumerate(entries):
            if number >= _MOST:
                break
            if entry.name.startswith(begun) and (begun.startswith(".") or not entry.name.startswith(".")):
                found.append(entry.name)
        return found


_PATH_MOST = 5_000
"""Entries of a folder that are looked at."""


class PathSuggester(Suggester):
    """Suggests the first entry of the folder, by name, that begins as what is typed; only where a path is begun."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        if "/" not in value or "://" in value:
            return None
        return await asyncio.to_thread(completed, value)


def completed(text: str) -> str | None:
    """Return a text with its last part completed to a file or folder (with a slash behind it) that is there."""
    folder, slash, begun = text.rpartition("/")
    try:
        place = Path(folder + slash).expanduser()
        names = []
        for number, entry in enumerate(place.iterdir()):
            if number >= _PATH_MOST:
                break
            hidden = entry.name.startswith(".") and not begun.startswith(".")
            if entry.name.startswith(begun) and entry.name != begun and entry.name.isprintable() and not hidden:
                names.append(entry.name)
        if not names or not begun:
            return None
        found = min(names)
        return f"{folder}{slash}{found}" + ("/" if (place / found).is_dir() else "")
    except (OSError, RuntimeError, ValueError):
        return None
