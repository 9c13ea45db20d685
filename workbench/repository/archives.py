"""Unpack local archives and source distributions without trusting their content.

This module never uses ``extractall``. `TreeBuilder` writes only regular files and folders, and then links that stay
inside the tree. Sizes are counted from the data, not from the headers.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, NoReturn

from workbench.base.files import Unreadable, require_ordinary
from workbench.repository.sources import (
    ChecksumMismatch,
    FetchError,
    Source,
    SourceUnavailable,
    UnsafeArchive,
    reason,
    shown,
)
from workbench.repository.store import ResolvedSource, Snapshot, Store
from workbench.repository.tree import SnapshotLimits, SnapshotTree, TreeBuilder

_PIECE = 1 << 20
# The maximum size of one read: a tar header (a long name, a pax record) may declare gigabytes.
_LARGEST_READ = 16 << 20


def fetch_archive(
    source: Source, store: Store, limits: SnapshotLimits, pin: str, progress: Callable[[str], None]
) -> Snapshot:
    key = str(Source(source.kind, source.location, source.revision))
    if source.kind == "archive":
        file = Path(source.location)
        checksum = file_sha256(file)
        _require(checksum, pin, file.name)
        known = store.recall(key)
        if known is not None and known.revision == f"sha256:{checksum}" and (snapshot := store.load(known)) is not None:
            return snapshot
        return _unpack_into(store, file, file.name, key, checksum, limits, progress)
    known = store.recall(key)
    # If the pin differs from the cached archive, query the index again so that the message is up to date.
    if known is not None and (not pin or known.revision == f"sha256:{pin}"):
        snapshot = store.load(known)
        if snapshot is not None:
            return snapshot
    from workbench.repository import package_index

    with store.workspace() as workspace:
        file = package_index.download(source.location, source.revision, workspace, pin, limits.total_bytes, progress)
        return _unpack_into(
            store, file, f"{source.location}=={source.revision}", key, file_sha256(file), limits, progress
        )


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file in hex. Raises SourceUnavailable if it is unreadable, a pipe or a device."""
    try:
        require_ordinary(file, "The archive")
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except Unreadable as problem:
        raise SourceUnavailable(str(problem)) from None
    except OSError as error:
        raise SourceUnavailable(f"The archive {shown(str(file))} cannot be read: {reason(error)}.") from None


def _require(checksum: str, pin: str, name: str) -> None:
    if pin and checksum != pin:
        raise ChecksumMismatch(
            f"{shown(name)} was refused: its SHA-256 is {checksum[:12]}…, but {pin[:12]}… is pinned; it was changed in "
            "transit, or the pin is wrong."
        )


def _unpack_into(
    store: Store,
    file: Path,
    name: str,
    key: str,
    checksum: str,
    limits: SnapshotLimits,
    progress: Callable[[str], None],
) -> Snapshot:
    progress(f"Unpacking {shown(name)}…")
    with store.workspace() as workspace:
        tree = unpack(file, workspace / "tree", limits)
        return store.publish(workspace, tree, ResolvedSource(key, tree.digest, f"sha256:{checksum}", "", time.time()))


def unpack(file: Path, root: Path, limits: SnapshotLimits) -> SnapshotTree:
    """Unpack an archive into the empty folder ``root``, stripping a single top-level folder.

    Raises:
        UnsafeArchive: A path or link points outside the folder, or the archive contains a device, is encrypted or is
            too large.
        FetchError: The archive is damaged, or its format is unknown.
    """
    origin = f"The archive {shown(file.name)}"

    def refuse_link(path: str, target: str) -> NoReturn:
        raise UnsafeArchive(f"{origin} was refused: its link '{shown(path)}' leads out of it, to '{shown(target)}'.")

    builder = TreeBuilder(root, origin, refuse_link, limits, packed_bytes=file.stat().st_size)
    try:
        with file.open("rb") as stream:
            magic = stream.read(4)
            stream.seek(0)
            if magic.startswith(b"PK"):
                _unzip(stream, builder)
            else:
                _untar(stream, magic, builder)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, EOFError, ValueError) as error:
        raise FetchError(f"{origin} is damaged or of an unknown format ({shown(str(error), 60)}).") from None
    except (RuntimeError, NotImplementedError) as error:
        raise UnsafeArchive(f"{origin} was refused: it is encrypted or packed in an unknown way.") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise FetchError(f"{origin} is damaged ({shown(str(error), 60)}).") from None
    builder.unwrap()
    return builder.finish()


class _BoundedStream:
    """A decompressed stream that limits its total size and the size of each read."""

    def __init__(self, stream: IO[bytes], origin: str, limits: SnapshotLimits) -> None:
        self._stream = stream
        self._origin = origin
        # In addition to its content, every entry takes up to three blocks of 512 bytes.
        self._end = limits.total_bytes + 1536 * limits.entries

    def read(self, size: int) -> bytes:
        position = self._stream.tell()
        if size > _LARGEST_READ or position > self._end:
            raise UnsafeArchive(f"{self._origin} was refused: it or one of its headers is larger than allowed.")
        return self._stream.read(size)

    def seek(self, position: int) -> int:
        if not 0 <= position <= self._end:
            raise UnsafeArchive(f"{self._origin} was refused: it contains more than allowed, or its sizes are wrong.")
        return self._stream.seek(position)

    def tell(self) -> int:
        return self._stream.tell()


def _untar(stream: IO[bytes], magic: bytes, builder: TreeBuilder) -> None:
    if magic.startswith(b"\x1f\x8b"):
        stream = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]  # has read, seek and tell
    elif magic.startswith(b"BZh"):
        stream = bz2.BZ2File(stream)
    bounded = _BoundedStream(stream, builder.origin, builder.limits)
    with tarfile.open(fileobj=bounded, mode="r:") as archive:  # type: ignore[call-overload]
        for member in archive:
            if member.isdir():
                builder.add_folder(member.name)
            elif member.issym():
                builder.add_link(member.name, member.linkname)
            elif member.islnk():
                builder.copy_file(member.name, member.linkname, executable=bool(member.mode & stat.S_IXUSR))
            elif member.isreg() and not member.issparse():
                builder.announce(member.size)
                content = archive.extractfile(member)
                assert content is not None, "a plain member has content"
                pieces = iter(partial(content.read, _PIECE), b"")
                builder.add_file(member.name, pieces, executable=bool(member.mode & stat.S_IXUSR))
            else:
                raise _device(builder.origin, member.name)
            # Otherwise, tarfile would keep every member in memory.
            archive.members = []


def _unzip(stream: IO[bytes], builder: TreeBuilder) -> None:
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            mode = member.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if member.is_dir():
                builder.add_folder(member.filename)
                continue
            if kind not in {0, stat.S_IFREG, stat.S_IFLNK}:
                raise _device(builder.origin, member.filename)
            builder.announce(member.file_size)
            with archive.open(member) as content:
                if kind == stat.S_IFLNK:
                    builder.add_link(member.filename, content.read(4096).decode("utf-8", "replace"))
                else:
                    pieces = iter(partial(content.read, _PIECE), b"")
                    builder.add_file(member.filename, pieces, executable=bool(mode & stat.S_IXUSR))


def _device(origin: str, name: str) -> UnsafeArchive:
    return UnsafeArchive(f"{origin} was refused: '{shown(name)}' in it is a device, a pipe or a sparse file.")
