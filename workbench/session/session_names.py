"""Validate session names and find their files; choose names for new sessions, and copy the bundled examples."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import expanded, free_place, require_ordinary, shown

SUFFIX = ".session"  # same value as in workbench.session, which is too expensive to import for this constant
_LONGEST = 180  # bytes; file systems allow 255, but temporary files have longer names
_LONGEST_PATH = 3_500


def check_name(text: str) -> Path:
    """Return the path for a session's name or path, with only ``~`` expanded. Raises UsageError if it is invalid."""
    if not text.strip():
        raise UsageError("The session's name is empty (is a shell variable not set?); give a name or a file.")
    if not text.isprintable():
        raise UsageError(f"{shown(ascii(text))} cannot be a session's name: it contains control or broken characters.")
    path = expanded(text)
    if text.endswith("/") or path.name in ("", ".", "..") or text.rpartition("/")[2] in (".", ".."):
        raise UsageError(f"{shown(text)} names a folder, not a session; give a name or a file.")
    if path.name == SUFFIX:
        raise UsageError(f"{shown(text)} has no name before its extension; give a name or a file.")
    if len(path.name.encode()) > _LONGEST or len(str(path).encode()) > _LONGEST_PATH:
        raise UsageError(f"{text[:40]}… is too long for a session's name; at most {_LONGEST} bytes are allowed.")
    return path


def named(path: Path) -> Path:
    """Return the path with the suffix of session files."""
    return path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)


def resolve_session(text: str) -> Path:
    """Return the session file for a path or a bare name. Raises UsageError if it does not exist."""
    given = check_name(text)
    ending = named(given)
    places = [given, ending, paths.sessions_dir() / ending, paths.bundled("sessions") / ending]
    for place in places:
        if place.is_file():
            return place
    if given.exists():
        require_ordinary(given)
    raise UsageError(f"There is no session {text!r}; `workbench locate sessions` prints their folder.")


def new_place(text: str) -> Path:
    """Return the path for a new session: in the user's folder for a bare name, or the given path."""
    path = named(check_name(text))
    return path if "/" in text else paths.sessions_dir() / path


def plain_name(text: str) -> str:
    """Return a session name without its suffix. Raises UsageError if it is a path or not a valid name."""
    path = check_name(text.strip())
    if "/" in text or path.name.startswith((".", "~")):
        raise UsageError(f"{shown(text)} cannot be a name: leave out slashes, and the dot or ~ before it.")
    return path.name.removesuffix(SUFFIX)


def is_example(path: Path) -> bool:
    return path.resolve().parent == paths.bundled("sessions").resolve()


def is_writable(path: Path) -> bool:
    """Return whether runs can be added to a session file."""
    return not is_example(path) and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def new_session(name: str, day: date | None = None) -> Path:
    """Return the path for a new session, ``YYYY-MM-DD-NAME.session``, numbered if that exists."""
    stem = f"{(day or date.today()).isoformat()}-{_tidy(name)}"
    return free_place(paths.sessions_dir() / f"{stem}{SUFFIX}")


def writable_copy(session: Path) -> Path:
    """Return the session itself or, for a bundled example, a writable copy in the user's folder."""
    from workbench.session import SessionReader

    if not (is_example(session) and session.exists()):
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
    """Yield the session itself or, for an example, a copy that is deleted if the block fails."""
    copy = writable_copy(session)
    try:
        yield copy
    except WorkbenchError as error:
        if copy != session:
            for leftover in (copy, Path(f"{copy}-wal"), Path(f"{copy}-shm")):
                leftover.unlink(missing_ok=True)
            # The message must name the example, because its copy has been deleted.
            error.args = (str(error).replace(str(copy), str(session)).replace(copy.name, session.name),)
        raise


def _tidy(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    return kept.strip("-")[:40] or "session"
