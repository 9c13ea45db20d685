"""Completes the path of a file or folder while it is typed; → takes what is suggested."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.suggester import Suggester

_MOST = 5_000
"""Entries of a folder that are looked at."""


class PathSuggester(Suggester):
    """Suggests the first entry of the folder, by name, that begins as what is typed; only where a path is begun."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed text, None where nothing begins like it."""
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
            if number >= _MOST:
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
