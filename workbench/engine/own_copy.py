"""Sessions that came with the program are only read: what would write into one works on a copy of the user's own."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from workbench import paths
from workbench.errors import WorkbenchError
from workbench.session import SUFFIX


def is_example(path: Path) -> bool:
    """Return whether a session came with the program; those are only read."""
    return path.resolve().parent == paths.bundled("sessions").resolve()


def is_writable(path: Path) -> bool:
    """Return whether a run may be added to a session file."""
    return not is_example(path) and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def new_session(name: str, day: date | None = None) -> Path:
    """Return the path for a new session, ``YYYY-MM-DD-NAME.session``; numbered where that exists."""
    stem = f"{(day or date.today()).isoformat()}-{_tidy(name)}"
    folder = paths.sessions_dir()
    path, number = folder / f"{stem}{SUFFIX}", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}{SUFFIX}", number + 1
    return path


def own_copy(session: Path) -> Path:
    """Return the session itself, or for an example a copy in the user's folder that may be written.

    Raises:
        WorkbenchError: The copy cannot be written.
    """
    if not is_example(session):
        return session
    target = new_session(session.stem)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(session, target)  # an example is closed and never written: one whole file
    except OSError as error:
        raise WorkbenchError(f"The example cannot be copied to {target}: {error.strerror}.") from None
    return target


@contextlib.contextmanager
def working_copy(session: Path) -> Iterator[Path]:
    """Give the session itself, or a copy of an example; when the block refuses, no useless copy stays behind.

    Raises:
        WorkbenchError: The copy cannot be written.
    """
    copy = own_copy(session)
    try:
        yield copy
    except WorkbenchError:
        if copy != session:
            for leftover in (copy, Path(f"{copy}-wal"), Path(f"{copy}-shm")):
                leftover.unlink(missing_ok=True)
        raise


def _tidy(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    return kept.strip("-")[:40] or "session"
