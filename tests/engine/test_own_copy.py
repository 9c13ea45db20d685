"""Bundled examples are never written to: operations that write work on a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base import paths
from workbench.session import SessionReader
from workbench.session.session_names import is_writable, new_session, writable_copy


def test_the_example_is_copied_and_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    example = next(paths.bundled("sessions").glob("*.session"))
    before = example.read_bytes()
    first, second = writable_copy(example), writable_copy(example)
    assert first != second
    assert first.parent == second.parent == paths.sessions_dir()
    assert example.read_bytes() == before
    # The copy is a file of the current schema, and nothing else was left beside it.
    assert sorted(item.name for item in first.parent.iterdir()) == sorted((first.name, second.name))
    with SessionReader(example) as there, SessionReader(first) as here:
        assert (there.runs(), there.trials(), there.scores()) == (here.runs(), here.trials(), here.scores())
    assert is_writable(first)
    assert not is_writable(example)


def test_a_session_of_ones_own_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    mine = new_session("mine")
    assert writable_copy(mine) == mine
