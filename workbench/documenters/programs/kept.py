"""What programs wrote about repositories and the cache keeps: listed, and forgotten so that it is written anew."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.documenters.programs.work_folder import Documented, kept_folder, read_documented, remove_tree
from workbench.errors import UsageError

_ID = 8


@dataclass(frozen=True, slots=True)
class Kept:
    """A work folder.

    Attributes:
        id: By what it is named, the first characters of the folder's name.
        folder: Where it is.
        documented: What the program wrote; None where it was interrupted, or what it left cannot be read.
        bytes: Size of all files in it.
        changed_at: When something in it changed last, in seconds since the epoch.
    """

    id: str
    folder: Path
    documented: Documented | None
    bytes: int
    changed_at: float


def kept() -> list[Kept]:
    """Return what there is, the newest first."""
    found = []
    with contextlib.suppress(OSError):
        for folder in kept_folder().iterdir():
            if folder.is_dir() and not folder.is_symlink():
                documented = read_documented(folder)
                changed = documented.made_at if documented is not None else folder.stat().st_mtime
                found.append(Kept(folder.name[:_ID], folder, documented, _size(folder), changed))
    return sorted(found, key=lambda one: (-one.changed_at, one.id))


def forget(names: Sequence[str]) -> list[Kept]:
    """Remove work folders, and return them.

    Args:
        names: First characters of their names, or "all".

    Raises:
        UsageError: A name fits none or several, or an engine is using one; nothing is removed then.
    """
    every = kept()
    chosen: dict[Path, Kept] = {}
    for name in names:
        fitting = every if name == "all" else [one for one in every if one.folder.name.startswith(name.lower())]
        if not fitting and name != "all":
            raise UsageError(f"Nothing that is kept has the name {name!r}; workbench docs kept lists what there is.")
        if len(fitting) > 1 and name != "all":
            raise UsageError(f"The name {name!r} fits {len(fitting)} that are kept; give more of its characters.")
        chosen |= {one.folder: one for one in fitting}
    with contextlib.ExitStack() as locked:
        for one in chosen.values():
            locked.enter_context(_alone(one))
        for one in chosen.values():
            remove_tree(one.folder)
    return list(chosen.values())


@contextlib.contextmanager
def _alone(one: Kept) -> Iterator[None]:
    lock = os.open(one.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise UsageError(f"{one.id} is being written by a run just now; nothing was forgotten.") from None
    try:
        yield
    finally:
        os.close(lock)


def _size(folder: Path) -> int:
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118
    return total
