"""What a killed process was building is removed by the next one that builds there; what a living one builds stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.base.files import building_beside
from workbench.engine.merging import merge
from workbench.pages.writing import write_atomically
from workbench.session import create


@pytest.fixture(scope="module")
def gone() -> int:
    """The id of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_of_the_dead_go_at_the_next_start_of_the_same(tmp_path: Path, gone: int) -> None:
    for name in ("all", "one", "two"):
        (tmp_path / f".{name}.session.{gone}-7.new").write_bytes(b"x")
        (tmp_path / f".{name}.session.{gone}.copy-wal").write_bytes(b"x")
    (tmp_path / f".all.session.{gone}.merging").mkdir()
    (tmp_path / f".all.session.{gone}.merging" / "merged.session").write_bytes(b"x")
    create(tmp_path / "one.session")
    create(tmp_path / "two.session")
    merge([tmp_path / "one.session", tmp_path / "two.session"], tmp_path / "all.session")
    (tmp_path / f".all.md.{gone}.new").write_bytes(b"x")
    write_atomically(tmp_path / "all.md", ["text"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.md", "all.session", "one.session", "two.session"]


def test_what_may_still_be_built_stays(tmp_path: Path, gone: int) -> None:
    mine, others, old = (
        tmp_path / f".{name}.{pid}.new" for name, pid in (("a", os.getpid()), ("b", gone), ("c", gone))
    )
    for path in (mine, others, old, tmp_path / ".hidden.12345.txt"):
        path.write_bytes(b"x")
    os.utime(old, (time.time() - 200_000,) * 2)
    assert not building_beside(tmp_path / "a", "new").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([mine.name, others.name, ".hidden.12345.txt"])
