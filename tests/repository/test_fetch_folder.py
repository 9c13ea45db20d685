"""A folder becomes an immutable, content-addressed snapshot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.repository import BadSource, ChecksumMismatch, SourceUnavailable, fetch
from workbench.repository.fetching import scan
from workbench.repository.sources import UnsafeArchive
from workbench.repository.tree import SnapshotLimits


def _project(folder: Path) -> Path:
    for path, text in {
        "main.py": "x = 1\n",
        "pkg/__init__.py": "",
        "pkg/run.sh": "#!/bin/sh\n",
        ".gitignore": "*.pyc\n",
        ".git/config": "no",
        "pkg/__pycache__/a.cpython-311.pyc": "no",
        "env/pyvenv.cfg": "no",
        "env/lib/big.py": "no",
        "node_modules/x/index.js": "no",
        "x.egg-info/PKG-INFO": "no",
        "build/lib/main.py": "no",
        "dist/x.whl": "no",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "pkg" / "run.sh").chmod(0o755)
    return folder


def test_the_project_is_copied_without_what_tools_left(tmp_path: Path) -> None:
    project = _project(tmp_path / "project")
    snapshot = fetch(str(project), cache=tmp_path / "cache")
    assert [file.path for file in snapshot.files] == [".gitignore", "main.py", "pkg/__init__.py", "pkg/run.sh"]
    assert (snapshot.root / "main.py").read_text() == "x = 1\n"
    assert os.access(snapshot.root / "pkg" / "run.sh", os.X_OK)
    assert snapshot.source == str(project)
    assert snapshot.revision == ""
    (project / "main.py").write_text("x = 2\n")
    assert (snapshot.root / "main.py").read_text() == "x = 1\n"


def test_the_digest_is_of_the_content_and_nothing_else(tmp_path: Path) -> None:
    one = fetch(str(_project(tmp_path / "one")), cache=tmp_path / "cache")
    two = fetch(str(_project(tmp_path / "elsewhere" / "two")), cache=tmp_path / "cache")
    assert (one.digest, one.root) == (two.digest, two.root)
    (tmp_path / "one" / "pkg" / "run.sh").chmod(0o644)
    plain = fetch(str(tmp_path / "one"), cache=tmp_path / "cache")
    assert plain.digest != one.digest
    (tmp_path / "one" / "main.py").write_text("x = 3\n")
    assert fetch(str(tmp_path / "one"), cache=tmp_path / "cache").digest not in {one.digest, plain.digest}


def test_an_edit_right_after_fetching_is_seen(tmp_path: Path) -> None:
    project = _project(tmp_path / "project")
    for number in range(5):
        (project / "main.py").write_text(f"x = {number}\n")
        os.utime(project / "main.py", (1, 1))
        snapshot = fetch(str(project), cache=tmp_path / "cache")
        assert (snapshot.root / "main.py").read_text() == f"x = {number}\n"


def test_links_that_leave_are_left_out_and_reported(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    (project / "a.py").write_text("x")
    (project / "good").symlink_to("sub/../a.py")
    (project / "sub" / "up").symlink_to("../a.py")
    (project / "evil").symlink_to("/etc/passwd")
    (project / "sly").symlink_to("sub/../../outside")
    (tmp_path / "outside").write_text("secret")
    os.mkfifo(project / "pipe")
    reported: list[str] = []
    snapshot = fetch(str(project), cache=tmp_path / "cache", progress=reported.append)
    assert [file.path for file in snapshot.files] == ["a.py", "good", "sub/up"]
    assert (snapshot.root / "sub" / "up").read_text() == "x"
    assert sum("leads out" in line for line in reported) == 2


def test_a_damaged_snapshot_is_made_anew(tmp_path: Path) -> None:
    project = _project(tmp_path / "project")
    first = fetch(str(project), cache=tmp_path / "cache")
    (first.root / "main.py").unlink()
    (first.root / "stray.txt").write_text("x")
    again = fetch(str(project), cache=tmp_path / "cache")
    assert (again.root / "main.py").read_text() == "x = 1\n"
    assert not (again.root / "stray.txt").exists()


def test_pins_and_wrong_folders(tmp_path: Path) -> None:
    project = _project(tmp_path / "project")
    digest = fetch(str(project), cache=tmp_path / "cache").digest
    assert fetch(str(project), cache=tmp_path / "cache", expected_sha256=digest.upper()).digest == digest
    with pytest.raises(ChecksumMismatch, match="pinned"):
        fetch(str(project), cache=tmp_path / "cache", expected_sha256="0" * 64)
    with pytest.raises(SourceUnavailable, match="does not exist"):
        fetch("/nowhere/at/all", cache=tmp_path / "cache")
    with pytest.raises(BadSource):
        fetch("-x", cache=tmp_path / "cache")


def test_an_oversized_folder_is_refused_before_copying(tmp_path: Path) -> None:
    project = _project(tmp_path / "project")
    for limits in (SnapshotLimits(entries=2), SnapshotLimits(total_bytes=3)):
        with pytest.raises(UnsafeArchive, match="has more than"):
            scan(project, without=tmp_path / "cache", limits=limits, progress=lambda _: None)


def test_two_processes_at_once_both_succeed(tmp_path: Path) -> None:
    project = _project(tmp_path / "project")
    for number in range(60):
        (project / f"m{number}.py").write_text("x" * number)
    code = "import sys; from pathlib import Path; from workbench.repository import fetch\n"
    code += "print(fetch(sys.argv[1], cache=Path(sys.argv[2])).digest)"
    command = [sys.executable, "-c", code, str(project), str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()) for _ in range(2)]
    answers = [process.communicate(timeout=60)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0] * 2
    assert set(answers) == {fetch(str(project), cache=tmp_path / "cache").digest}
    assert [path.name for path in (tmp_path / "cache" / "snapshots").iterdir()] == [answers[0]]
