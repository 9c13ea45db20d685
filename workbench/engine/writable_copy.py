"""Bundled example sessions are read-only: operations that write work on a copy in the user's folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from workbench import paths
from workbench.errors import WorkbenchError
from workbench.session import SUFFIX, SessionReader


def is_example(path: Path) -> bool:
    return path.resolve().parent == paths.bundled("sessions").resolve()


def is_writable(path: Path) -> bool:
    """Return whether a run may be added to a session file."""
    return not is_example(path) and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def new_session(name: str, day: date | None = None) -> Path:
    """Return the path for a new session, ``YYYY-MM-DD-NAME.session``, numbered if that already exists."""
    stem = f"{(day or date.today()).isoformat()}-{_tidy(name)}"
    folder = paths.sessions_dir()
    path, number = folder / f"{stem}{SUFFIX}", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}{SUFFIX}", number + 1
    return path


def writable_copy(session: Path) -> Path:
    """Return the session itself or, for a bundled example, a writable copy in the user's folder."""
    if not is_example(session):
        return session
    target = new_session(session.stem)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with SessionReader(session, surveyed=False) as reader:
            reader.copy_to(target)
    except OSError as error:
        raise WorkbenchError(f"The example cannot be copied to {target}: {error.strerror}.") from None
    return target


@contextlib.contextmanager
def working_copy(session: Path) -> Iterator[Path]:
    """Provide the session itself, or a copy of an example, which is deleted if the block fails."""
    copy = writable_copy(session)
    try:
        yield copy
    except WorkbenchError as error:
        if copy != session:
            for leftover in (copy, Path(f"{copy}-wal"), Path(f"{copy}-shm")):
                leftover.unlink(missing_ok=True)
            # The message must name the example, because the copy no longer exists.
            error.args = (str(error).replace(str(copy), str(session)).replace(copy.name, session.name),)
        raise


def _tidy(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    return kept.strip("-")[:40] or "session"
