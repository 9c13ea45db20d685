"""Whether the tour was begun on this machine before: a file in the state folder remembers."""

from __future__ import annotations

import contextlib
from pathlib import Path

from workbench import paths


def was_shown() -> bool:
    """Return whether the tour was begun on this machine before; yes where that cannot be known."""
    try:
        return _file().exists()
    except OSError:
        return True


def remember() -> None:
    """Note that it was begun."""
    with contextlib.suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().touch()


def _file() -> Path:
    return paths.state_dir() / "tour-was-shown"
