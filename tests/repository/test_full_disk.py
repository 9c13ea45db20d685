"""A cache on a real disk that is really full: the sentence says so and names the folder, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from workbench.repository import FetchError, SourceUnavailable, fetch


def _project(folder: Path, kilobytes: int = 600) -> Path:
    folder.mkdir()
    (folder / "code.py").write_text("VALUE = 1\n")
    (folder / "data.bin").write_bytes(os.urandom(kilobytes * 1024))
    return folder


def _archive(folder: Path, file: Path) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        archive.add(folder, arcname="project-1.0")
    return file


def _refused(source: str, cache: Path) -> None:
    with pytest.raises(FetchError) as caught:
        fetch(source, cache=cache)
    assert str(caught.value) == (
        f"The disk is full: there is no room in the cache folder {cache / 'snapshots'}; free some space or set "
        "WORKBENCH_CACHE_DIR to another folder."
    )
    assert not isinstance(caught.value, SourceUnavailable)
    assert [file.name for file in cache.rglob("*") if file.is_file()] in ([], ["filler"])


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_a_folder_and_an_archive(small_disk, tmp_path: Path, packed: bool) -> None:
    project = _project(tmp_path / "project")
    source = _archive(project, tmp_path / "project-1.0.tar.gz") if packed else project
    _refused(str(source), small_disk(300).folder)


@pytest.mark.parametrize("kilobytes", [300, 900], ids=["the download", "the unpacking"])
def test_a_source_distribution(small_disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int) -> None:
    offered = tmp_path / "offered"
    offered.mkdir()
    _archive(_project(tmp_path / "project"), offered / "project-1.0.tar.gz")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))
    _refused("project==1.0", small_disk(kilobytes).folder)


@pytest.mark.parametrize("kilobytes", [300, 900], ids=["its objects", "its files"])
def test_a_git_repository(small_disk, tmp_path: Path, kilobytes: int) -> None:
    project = _project(tmp_path / "project")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(project)]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    _refused(f"git+{project.as_uri()}", small_disk(kilobytes).folder)


def test_with_room_again_it_is_fetched(small_disk, tmp_path: Path) -> None:
    disk = small_disk(2000)
    disk.fill(leave=200_000)
    project = _project(tmp_path / "project")
    with pytest.raises(FetchError, match="The disk is full"):
        fetch(str(project), cache=disk.folder)
    disk.empty()
    assert [file.path for file in fetch(str(project), cache=disk.folder).files] == ["code.py", "data.bin"]
