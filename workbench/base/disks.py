"""Detect full disks from an error, from another program's output, or by checking the free space."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Sequence
from pathlib import Path

#: With less free space than this (bytes), a failure is attributed to a full disk, because any environment needs more.
LITTLE = 1 << 20

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_WORDS = re.compile(
    r"no space left on device|disk quota exceeded|out of disk ?space|\benospc\b|disk is full|not enough (?:disk )?space",
    re.I,
)


def is_full(folder: Path, room: int = LITTLE) -> bool:
    """Return whether the disk of ``folder`` (or of its nearest existing parent) has less than ``room`` bytes free."""
    for place in (folder, *folder.absolute().parents):
        with contextlib.suppress(OSError):
            disk = os.statvfs(place)
            return disk.f_bavail * disk.f_frsize < room or (disk.f_files > 0 and disk.f_favail == 0)
    return False


def says_full(error: OSError | str) -> bool:
    """Return whether an error, or another program's output, says that a disk or quota is full."""
    return _WORDS.search(error) is not None if isinstance(error, str) else error.errno in _FULL


def full_folder(folders: Sequence[Path]) -> Path:
    """Return the first of ``folders`` on a full disk, or the first one if no disk is full any more."""
    return next((folder for folder in folders if is_full(folder)), folders[0])
