"""Read files chosen by the user, and build files that appear complete or not at all.

Only regular files of limited size are read, because opening a pipe could block forever, and reading a device may never
end.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.text import one_line

MOST_BYTES = 20_000_000
_DEEPEST = 64
_KINDS = {
    stat.S_IFIFO: "is a pipe; save its output to a file and name that file",
    stat.S_IFSOCK: "is a socket, not a file",
    stat.S_IFCHR: "is a device, not a file",
    stat.S_IFBLK: "is a device, not a file",
}


class Unreadable(UsageError):
    """A file cannot be read; the message states the reason."""


class TooDeep(ValueError):
    """JSON is nested too deeply."""

    def __init__(self) -> None:
        super().__init__(f"its brackets are nested more than {_DEEPEST} deep")


def expanded(text: str | Path) -> Path:
    """Return a path with ``~`` and ``~user`` resolved. Raises UsageError for an unknown user or an invalid path."""
    if "\0" in str(text):
        raise UsageError(f"{shown(text)} cannot be a path: it contains a NUL character.")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise UsageError(f"The home folder in {shown(text)} is unknown; write the full path.") from None


def shown(path: str | Path) -> str:
    """Return a path that is safe to display on one line of a message."""
    return one_line(str(path).encode("utf-8", "backslashreplace").decode("utf-8"), 200)


def free_place(place: Path, is_taken: Callable[[Path], bool] = Path.exists) -> Path:
    """Return a path that is not taken, numbered if necessary: ``NAME-2.session``, ``NAME-3.session``."""
    found, number = place, 2
    while is_taken(found):
        found, number = place.with_name(f"{place.stem}-{number}{place.suffix}"), number + 1
    return found


def put_in_place(built: Path, place: Path) -> None:
    """Move a finished file to its place. Unlike a rename, raises FileExistsError if the place was taken meanwhile."""
    try:
        os.link(built, place)
    except FileExistsError:
        raise
    except OSError:
        # There are no hard links here (FAT, some network shares).
        if place.exists():
            raise FileExistsError from None
        built.rename(place)


def building_beside(place: Path, what: str) -> Path:
    """Return a hidden path beside ``place`` for building it, and remove leftovers of killed processes.

    The file name ends in ``what``.
    """
    with contextlib.suppress(OSError), os.scandir(place.parent) as beside:
        for entry in beside:
            found = _BUILT.fullmatch(entry.name)
            if found is None or _lives(int(found[2])):
                continue
            # On a shared disk, a leftover with another name may belong to another machine.
            if found[1] == place.name or time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                left = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    left.unlink(missing_ok=True)
    return place.with_name(f".{place.name}.{os.getpid()}-{threading.get_ident()}.{what}")


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` if the block succeeds; a device or pipe is written directly."""
    import tempfile

    if path.is_dir():
        raise UsageError(f"{shown(path)} is a folder; name a file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    written_into = path.exists() and not path.is_file()
    folder = None if written_into else path.parent
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=path.suffix, dir=folder)
    os.close(handle)
    building = Path(name)
    try:
        yield building
        if written_into:
            with building.open("rb") as made, path.open("wb") as file:
                shutil.copyfileobj(made, file)
        else:
            mask = os.umask(0o077)
            os.umask(mask)
            building.chmod(0o666 & ~mask)
            building.replace(path)
    finally:
        building.unlink(missing_ok=True)


_BUILT = re.compile(r"\.(.+)\.(\d{1,9})(?:-\d+)?\.(?:new|merging|moving|copy)(?:-wal|-shm|-journal)?")
_STALE_SECONDS = 86_400.0


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def require_ordinary(path: Path, what: str = "", *, most: int | None = None) -> None:
    """Check that a path is a regular file of at most ``most`` bytes, without opening it. Raises Unreadable.

    ``what`` describes the file as the subject of messages: ``The samples file``.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise _refused(path, what, error) from None
    _check(status, path, what, most)


def read_bytes(path: Path, what: str = "", *, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file, see :func:`require_ordinary`. Raises Unreadable."""
    require_ordinary(path, what, most=most)
    try:
        # The path may have become a pipe since the check, and opening it must not block.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123  a descriptor, not a path
            _check(os.fstat(file.fileno()), path, what, most)
            data = file.read(most + 1)
    except OSError as error:
        raise _refused(path, what, error) from None
    if len(data) > most:
        raise Unreadable(f"{_name(path, what)} has more than {most:,} bytes, which is too large.")
    return data


def read_text(path: Path, what: str = "", *, most: int = MOST_BYTES) -> str:
    """Return the UTF-8 text of a regular file without a byte order mark. Raises Unreadable."""
    try:
        return read_bytes(path, what, most=most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(f"{_name(path, what)} is not text in UTF-8.") from None


def parse_json(text: str) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is invalid, or nested too deeply for recursion."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise TooDeep from None
    if not is_shallow(value):
        raise TooDeep
    return value


def is_shallow(value: object) -> bool:
    """Return whether a JSON value has at most `_DEEPEST` levels, so that it can be processed recursively."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return False


def _check(status: os.stat_result, path: Path, what: str, most: int | None) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        raise Unreadable(f"{_name(path, what)} is a folder; name a file.")
    if kind != stat.S_IFREG:
        raise Unreadable(f"{_name(path, what)} {_KINDS.get(kind, 'is not a regular file')}.")
    if most is not None and status.st_size > most:
        raise Unreadable(f"{_name(path, what)} has {status.st_size:,} bytes; at most {most:,} are allowed.")


def _refused(path: Path, what: str, error: OSError | ValueError) -> Unreadable:
    if isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Unreadable(f"{_name(path, what)} cannot be read: it does not exist.")
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Unreadable(f"{_name(path, what)} cannot be read: {message[:1].lower() + message[1:]}.")


def _name(path: Path, what: str) -> str:
    return f"{what} {shown(path)}" if what else shown(path)
