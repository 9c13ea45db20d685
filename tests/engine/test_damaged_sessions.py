"""An engine on a damaged session: the trial that cannot be read ends with that reason, what is done stays."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from faults.damaging import invoke, put, without_constraints
from samples.sessions import document_session

from workbench.session import SessionReader


@pytest.fixture
def damaged(tmp_path: Path, home: Path) -> tuple[Path, dict[str, str]]:
    """Return a session with a done trial whose case cannot be read, one that failed likewise, and one that is done."""
    names = document_session(tmp_path / "sound.session")
    path = tmp_path / "demo.session"
    without_constraints(tmp_path / "sound.session", path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE trials SET case_id = x'00' WHERE id IN (?, ?)", (names["first"], names["failed"]))
    connection.close()
    return path, names


def test_resume_names_what_it_cannot_run_and_leaves_what_is_done(damaged: tuple[Path, dict[str, str]]) -> None:
    path, names = damaged
    answer = invoke("resume", str(path), "--json")
    assert answer.code == 1
    assert f"damaged: trial {names['first']}: column case_id holds bytes" in answer.err
    with SessionReader(path) as reader:
        trials = {trial.id: trial for trial in reader.trials()}
        assert [trials[names[name]].state for name in ("first", "second", "failed")] == ["done", "done", "failed"]
        assert "There is no test case '?'" in (trials[names["failed"]].error or "")
        assert len(reader.steps(names["first"])) == 2
    closing = json.loads(answer.out.splitlines()[-1])
    assert {case["trial"] for case in closing["cases"]} == {names[name] for name in ("first", "second", "failed")}


def test_a_run_whose_plan_cannot_be_read_ends_with_that_reason(damaged: tuple[Path, dict[str, str]]) -> None:
    path, names = damaged
    put(path, "runs", "config", "garbage")
    answer = invoke("resume", str(path))
    assert answer.code == 1
    with SessionReader(path) as reader:
        (run,) = reader.runs()
        assert (run.state, run.config) == ("failed", "")
        assert "The plan of a run in this session is damaged" in (run.error or "")
        second = reader.trial(names["second"])
        assert second is not None
        assert second.state == "done"


def test_another_run_goes_on_beside_a_trial_of_a_state_that_is_none(tmp_path: Path, home: Path) -> None:
    names = document_session(tmp_path / "sound.session")
    path = tmp_path / "demo.session"
    without_constraints(tmp_path / "sound.session", path)
    put(path, "trials", "state", "garbage")
    invoke("resume", str(path))
    with SessionReader(path) as reader:
        first = reader.trial(names["first"])
        assert first is not None
        assert first.state == "done", "it has a README: it is not run over again"
        assert len(reader.steps(names["first"])) == 2
