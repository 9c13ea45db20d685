"""Archives are unpacked without trusting a byte of them."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.repository import ChecksumMismatch, FetchError, SourceUnavailable, UnsafeArchive, fetch
from workbench.repository.archives import file_sha256, unpack
from workbench.repository.tree import SnapshotLimits

Member = tuple[str, bytes | Callable[[tarfile.TarInfo], None]]


def _tar(file: Path, *members: Member, mode: str = "w:gz") -> Path:
    with tarfile.open(file, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                content(info)
                archive.addfile(info)
    return file


def _link(target: str) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = tarfile.SYMTYPE, target

    return change


def _hard(target: str) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = tarfile.LNKTYPE, target

    return change


def _device(info: tarfile.TarInfo) -> None:
    info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 1, 3


def _pipe(info: tarfile.TarInfo) -> None:
    info.type = tarfile.FIFOTYPE


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w"])
def test_a_release_is_unpacked_without_its_top_folder(tmp_path: Path, mode: str) -> None:
    suffix = {"w:gz": ".tar.gz", "w:bz2": ".tar.bz2", "w": ".tar"}[mode]
    file = _tar(
        tmp_path / f"p-1.0{suffix}",
        ("p-1.0/a.py", b"x = 1\n"),
        ("p-1.0/sub/b.py", b"y"),
        ("p-1.0/sub/l.py", _link("../a.py")),
        ("p-1.0/h.py", _hard("p-1.0/a.py")),
        mode=mode,
    )
    snapshot = fetch(str(file), cache=tmp_path / "cache")
    assert [entry.path for entry in snapshot.files] == ["a.py", "h.py", "sub/b.py", "sub/l.py"]
    assert (snapshot.root / "sub" / "l.py").read_text() == (snapshot.root / "h.py").read_text() == "x = 1\n"
    assert snapshot.revision == f"sha256:{file_sha256(file)}"
    progress: list[str] = []
    assert fetch(str(file), cache=tmp_path / "cache", progress=progress.append) == snapshot
    assert progress == []


@pytest.mark.parametrize(
    "members",
    [
        [("../evil", b"x")],
        [("p/../../evil", b"x")],
        [("/evil", b"x")],
        [("p/l", _link("/etc/passwd"))],
        [("p/l", _link("../../evil"))],
        [("p/a", _link("b")), ("p/b", _link("../.."))],
        [("p/l", _link("..")), ("p/l/evil", b"x")],
        [("p/d", _link(".")), ("p/d2", _link("d/../..")), ("p/d2/evil", b"x")],
        [("p/h", _hard("/etc/passwd"))],
        [("p/h", _hard("../../etc/passwd"))],
        [("p/h", _hard("p/missing"))],
        [("p/null", _device)],
        [("p/pipe", _pipe)],
        [("p/a", b"x"), ("p/a/b", b"x")],
        [("p/a\udcff", b"x")],
    ],
    ids=lambda members: " ".join(name.encode("ascii", "replace").decode() for name, _ in members),
)
def test_what_would_leave_is_refused(tmp_path: Path, members: list[Member]) -> None:
    place = tmp_path / "deep" / "er"
    place.mkdir(parents=True)
    # A good file first, so that there is no single folder which would be taken away.
    file = _tar(tmp_path / "bad.tar.gz", ("p/good.py", b"x"), ("q.py", b"y"), *members)
    with pytest.raises(UnsafeArchive, match=r"bad\.tar\.gz was refused") as caught:
        fetch(str(file), cache=place / "cache")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("evil"))
    assert list((place / "cache" / "snapshots").iterdir()) == []


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil"])
def test_zips_that_leave_are_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "bad.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(UnsafeArchive, match="outside its folder"):
        fetch(str(file), cache=tmp_path / "cache")


def _zip_entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def test_zip_links_devices_and_modes(tmp_path: Path) -> None:
    good = tmp_path / "good.zip"
    with zipfile.ZipFile(good, "w") as archive:
        archive.writestr(_zip_entry("p/run.sh", stat.S_IFREG | 0o755), "#!/bin/sh\n")
        archive.writestr(_zip_entry("p/link", stat.S_IFLNK | 0o777), "run.sh")
        archive.writestr(_zip_entry("p/suid", stat.S_IFREG | 0o6777), "x")
    snapshot = fetch(str(good), cache=tmp_path / "cache")
    assert [entry.path for entry in snapshot.files] == ["link", "run.sh", "suid"]
    assert os.access(snapshot.root / "link", os.X_OK)
    assert not (snapshot.root / "suid").stat().st_mode & 0o6000
    for name, mode, content in (
        ("l", stat.S_IFLNK, "/etc/passwd"),
        ("dev", stat.S_IFCHR, ""),
        ("fifo", stat.S_IFIFO, ""),
    ):
        bad = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(bad, "w") as archive:
            archive.writestr(_zip_entry(name, mode | 0o644), content)
        with pytest.raises(UnsafeArchive, match="refused"):
            fetch(str(bad), cache=tmp_path / "cache")


def test_bombs_are_refused(tmp_path: Path) -> None:
    zeros = b"\0" * 30_000_000
    tar = _tar(tmp_path / "bomb.tar.gz", ("p/zeros", zeros))
    with pytest.raises(UnsafeArchive, match="200 times its size"):
        fetch(str(tar), cache=tmp_path / "cache")
    packed = tmp_path / "bomb.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", zeros)
    with pytest.raises(UnsafeArchive, match="200 times its size"):
        fetch(str(packed), cache=tmp_path / "cache")


def test_limits_on_size_and_number(tmp_path: Path) -> None:
    file = _tar(tmp_path / "many.tar", *((f"p/{n}", b"12345") for n in range(20)), mode="w")
    with pytest.raises(UnsafeArchive, match="more than 19 files"):
        unpack(file, tmp_path / "a", SnapshotLimits(entries=19))
    with pytest.raises(UnsafeArchive, match="contains more than"):
        unpack(file, tmp_path / "b", SnapshotLimits(total_bytes=99))
    assert len(unpack(file, tmp_path / "c", SnapshotLimits(entries=20, total_bytes=100)).entries) == 20


def test_a_huge_header_is_not_read_into_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 2_000_000_000
    file = tmp_path / "header.tar.gz"
    with gzip.open(file, "wb") as out:
        out.write(info.tobuf(tarfile.GNU_FORMAT))
        out.write(b"x" * 4096)
    with pytest.raises(UnsafeArchive, match="header"):
        fetch(str(file), cache=tmp_path / "cache")


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    good = _tar(tmp_path / "good.tar.gz", ("p/a.py", os.urandom(200_000)))
    for name, data in {
        "cut.tar.gz": good.read_bytes()[:60_000],
        "noise.tar.gz": b"\x1f\x8b" + b"noise" * 100,
        "noise.zip": b"PK\x03\x04" + b"noise" * 100,
        "noise.tar.bz2": b"BZh9" + b"noise" * 100,
        "noise.tar": b"noise" * 1_000,
        "empty.tar": b"",
    }.items():
        file = tmp_path / name
        file.write_bytes(data)
        with pytest.raises(FetchError) as caught:
            fetch(str(file), cache=tmp_path / "cache")
        assert name in str(caught.value), name
    with pytest.raises(SourceUnavailable):
        fetch(str(tmp_path / "missing.tar.gz"), cache=tmp_path / "cache")


def test_the_checksum_is_verified_also_from_the_cache(tmp_path: Path) -> None:
    file = _tar(tmp_path / "p.tar.gz", ("p/a.py", b"x"))
    checksum = file_sha256(file)
    assert fetch(f"{file}#sha256={checksum}", cache=tmp_path / "cache").files[0].path == "a.py"
    with pytest.raises(ChecksumMismatch, match="pinned"):
        fetch(str(file), cache=tmp_path / "cache", expected_sha256="0" * 64)
    with pytest.raises(ChecksumMismatch, match="two different"):
        fetch(f"{file}#sha256={checksum}", cache=tmp_path / "cache", expected_sha256="0" * 64)
