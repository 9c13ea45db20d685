"""The bundled example is never written: what would write into it works on a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import paths
from workbench.engine.own_copy import is_writable, new_session, own_copy


def test_the_example_is_copied_and_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    example = next(paths.bundled("sessions").glob("*.session"))
    before = example.read_bytes()
    first, second = own_copy(example), own_copy(example)
    assert first != second
    assert first.parent == second.parent == paths.sessions_dir()
    assert first.read_bytes() == before == example.read_bytes()
    assert is_writable(first)
    assert not is_writable(example)


def test_a_session_of_ones_own_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    mine = new_session("mine")
    assert own_copy(mine) == mine
