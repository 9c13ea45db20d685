"""Full disks: a small file system in memory, mounted for one test."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from needing_sandboxes import require


class SmallDisk:
    """A mounted file system of a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def room(self) -> int:
        """Free bytes."""
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize

    def fill(self, leave: int = 0) -> None:
        """Write until only ``leave`` bytes are free."""
        with (self.folder / "filler").open("ab") as filler, contextlib.suppress(OSError):
            while self.room > leave:
                filler.write(b"x" * min(65536, self.room - leave))
                filler.flush()

    def empty(self) -> None:
        """Remove what ``fill`` wrote."""
        (self.folder / "filler").unlink()


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[SmallDisk]:
    """Mount a file system of ``kilobytes`` at ``folder``; without the permission to mount the test is skipped, or fails in CI."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        problem = "" if mounted.returncode == 0 else mounted.stderr.strip() or f"status {mounted.returncode}"
    except OSError as error:
        problem = str(error)
    require(problem and f"no small disk can be mounted here: {problem}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
