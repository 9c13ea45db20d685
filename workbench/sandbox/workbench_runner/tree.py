"""The tree that a candidate sees: written to a tmpfs, and restored after each candidate.

The pristine bytes live in memory that a forked child does not inherit (``MADV_DONTFORK``), so that neither the disk nor
the candidate's own memory holds the original body. Changes are found by inode, size, mode and ctime (which a user
process cannot set), so a reset walks the tree instead of copying it.
"""

from __future__ import annotations

import base64
import contextlib
import mmap
import os
import secrets
import stat
from collections.abc import Iterable
from typing import Any


class Tree:
    """The repository's files below ``root``, and the other writable folders (``scratch``) that are emptied."""

    def __init__(self, root: str, scratch: Iterable[str], mounts: Iterable[str] = ()) -> None:
        self.root = root
        self._mounts = frozenset(mounts)  # read-only folders that may be inside a scratch folder
        self.scratch = list(scratch)
        self._stores: list[mmap.mmap] = []
        self._entries: dict[
            str, tuple[mmap.mmap, int, int, int, int]
        ] = {}  # relative path -> (store, offset, length, mode, mtime_ns)
        self._folders: set[str] = set()
        self._signatures: dict[str, tuple[int, int, int, int]] = {}

    def load(self, files: list[Any]) -> None:
        """Store ``[path, mode, base64]`` entries as the pristine tree and write them."""
        self._add([(path, mode, base64.b64decode(data)) for path, mode, data in files], None)
        self.reset()

    def _add(self, files: list[Any], mtimes: dict[str, int] | None) -> None:
        store = mmap.mmap(-1, max(1, sum(len(content) for _, _, content in files)))
        if hasattr(mmap, "MADV_DONTFORK"):
            store.madvise(mmap.MADV_DONTFORK)
        self._stores.append(store)
        offset = 0
        for path, mode, content in files:
            store[offset : offset + len(content)] = content
            # Whole seconds, the same for every process: bytecode files record the source's mtime in seconds.
            mtime = mtimes[path] if mtimes else 1_600_000_000 * 10**9
            self._entries[path] = (store, offset, len(content), mode, mtime)
            offset += len(content)
            folder = os.path.dirname(path)
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = os.path.dirname(folder)

    def source(self, path: str) -> bytes | None:
        entry = self._entries.get(path)
        return None if entry is None else entry[0][entry[1] : entry[1] + entry[2]]

    def harvest(self) -> int:
        """Store the bytecode files of a run on the pristine tree, so that later candidates import faster."""
        found, mtimes = [], {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, self.root)
                if name.endswith(".pyc") and relative not in self._entries and not os.path.islink(path):
                    with open(path, "rb") as file:
                        found.append((relative, 0o644, file.read()))
                    mtimes[relative] = os.stat(path).st_mtime_ns
        if found:
            self._add(found, mtimes)
        return len(found)

    def strangers(self) -> list[str]:
        """Return the files that were added to the tree or the scratch folders, except bytecode."""
        found = []
        for folder in (self.root, *self.scratch):
            for here, _, names in os.walk(folder):
                for name in names:
                    path = os.path.join(here, name)
                    inside = folder == self.root and os.path.relpath(path, folder) in self._entries
                    if not inside and not name.endswith(".pyc") and not any(path.startswith(m) for m in self._mounts):
                        found.append(path)
        return found

    def place(self, path: str, content: bytes) -> None:
        """Replace the original file by the candidate's, and remove the original's bytecode."""
        target = os.path.join(self.root, path)
        self._remove(target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
        self._signatures.pop(path, None)
        folder, name = os.path.split(path)
        stem = name.rsplit(".", 1)[0] + "."
        cache = os.path.join(folder, "__pycache__")
        for relative in self._entries:
            if os.path.dirname(relative) == cache and os.path.basename(relative).startswith(stem):
                self._remove(os.path.join(self.root, relative))
                self._signatures.pop(relative, None)

    def reset(self) -> None:
        with contextlib.suppress(PermissionError):  # created by Podman; a candidate cannot change it
            os.chmod(self.root, 0o755)
        self._sweep(self.root, "")
        for folder in sorted(self._folders):
            os.makedirs(os.path.join(self.root, folder), mode=0o755, exist_ok=True)
        for path in self._entries:
            if path not in self._signatures:
                self._restore(path)
        for folder in self.scratch:
            with contextlib.suppress(PermissionError):  # owned by another user; a candidate cannot change it
                os.chmod(folder, 0o1777 if folder in ("/tmp", "/dev/shm") else 0o755)
            self._empty(folder)

    def _empty(self, folder: str) -> None:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if path in self._mounts:
                continue
            if any(mount.startswith(path + "/") for mount in self._mounts):
                self._empty(path)
            else:
                self._remove(path)

    def _sweep(self, folder: str, prefix: str) -> None:
        """Remove files that do not belong to the tree; forget the signatures of files that changed or are missing."""
        pending = [(folder, prefix)]
        seen = set()
        while pending:
            folder, prefix = pending.pop()
            with os.scandir(folder) as listing:
                entries = list(listing)
            for entry in entries:
                relative = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if relative in self._folders:
                        if stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode) != 0o755:
                            os.chmod(entry.path, 0o755)
                        pending.append((entry.path, relative + "/"))
                    else:
                        self._remove(entry.path)
                elif relative in self._entries:
                    if self._signatures.get(relative) == _signature(entry.stat(follow_symlinks=False)):
                        seen.add(relative)
                else:
                    self._remove(entry.path)
        for relative in [path for path in self._signatures if path not in seen]:
            del self._signatures[relative]

    def _restore(self, path: str) -> None:
        store, offset, length, mode, mtime = self._entries[path]
        target = os.path.join(self.root, path)
        self._remove(target)
        content = store[offset : offset + length]
        if stat.S_ISLNK(mode):
            os.symlink(content.decode("utf-8", "surrogateescape"), target)
        else:
            with open(target, "wb") as file:
                file.write(content)
            os.chmod(target, 0o755 if mode & 0o111 else 0o644)
            os.utime(target, ns=(mtime, mtime))
        self._signatures[path] = _signature(os.lstat(target))

    @staticmethod
    def _remove(path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except (IsADirectoryError, PermissionError):
            _remove_folder(path)


def _remove_folder(path: str) -> None:
    """Remove a folder of any depth; its content is moved up first, so that neither path length nor memory is exceeded."""
    beside = os.path.join(os.path.dirname(path), "." + secrets.token_hex(8) + "-")
    number, pending = 0, [path]
    while pending:
        folder = pending.pop()
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    number += 1
                    os.chmod(entry.path, 0o700)
                    os.rename(entry.path, beside + str(number))
                    pending.append(beside + str(number))
                else:
                    os.unlink(entry.path)
        os.rmdir(folder)


def _signature(status: os.stat_result) -> tuple[int, int, int, int]:
    return (status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode)
