"""Put a report where it was asked for: whole or not at all, and never over a session."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import building_beside

_SQLITE = b"SQLite format 3\x00"


class ReportError(WorkbenchError):
    """A report could not be written."""


def encoded(text: str) -> bytes:
    r"""Return UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes ``\udXXX`` (what JSON writes for it too)."""
    return text.encode("utf-8", "backslashreplace")


def check_place(out: Path, session: Path | None) -> None:
    """Refuse a folder, a session and its side files, which a report would destroy."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; name a file in it, for example {out / 'report.html'}.")
    same = False
    if session is not None:
        own = {session.resolve(), Path(f"{session.resolve()}-wal"), Path(f"{session.resolve()}-shm")}
        same = out.resolve() in own
        with contextlib.suppress(OSError):
            same = same or (out.exists() and out.samefile(session))
    if same or _is_database(out):
        raise UsageError(f"{out} is a session file; a report would overwrite it. Choose another name.")


def _is_database(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def write_atomically(out: Path, chunks: Iterable[str | bytes]) -> Path:
    """Write ``chunks`` beside ``out`` and rename; a device or pipe is written to directly.

    Raises:
        ReportError: The disk is full, the folder is missing or may not be written.
    """
    place = out.resolve()
    direct = place.exists() and not place.is_file()
    building = place if direct else building_beside(place, "new")
    try:
        with building.open("wb") as file:
            for chunk in chunks:
                file.write(chunk if isinstance(chunk, bytes) else encoded(chunk))
            file.flush()
            if not direct:
                os.fsync(file.fileno())
        if not direct:
            building.replace(place)
    except OSError as error:
        raise ReportError(_sentence(out, error)) from None
    finally:
        if not direct:
            with contextlib.suppress(OSError):
                building.unlink(missing_ok=True)
    return out


def _sentence(out: Path, error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return f"The disk is full: the report {out} was not written; free some space or choose another place."
    if error.errno == errno.ENOENT:
        return f"The folder {out.parent} does not exist; make it first or choose another place."
    return f"The report {out} could not be written: {error.strerror or error}."
