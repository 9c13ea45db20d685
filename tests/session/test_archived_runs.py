"""A run that was archived counts nowhere, nothing of it is erased, and it comes back with everything."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from workbench.orders import launching
from workbench.orders.regenerate import order_regeneration
from workbench.orders.rerun import RerunTrialOrder
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan, RegenerationPlan
from workbench.results.contents import read_contents
from workbench.results.runs import latest_regeneration
from workbench.results.sessions import gather
from workbench.results.trials import latest_trial, load_trials
from workbench.session import SessionReader, SessionWriter, create


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A good run of two trials, then one that failed."""
    path = tmp_path / "two.session"
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        for run, state in (("good", "done"), ("bad", "failed")):
            writer.add_run(run, "document", {"cases": ["word_counter"], "agent": "white", "model": "gpt-4o"})
            writer.set_run(run, state=state, spend_usd=0.25)
            for number in (1, 2):
                name = f"{run}-{number}"
                writer.add_trial(name, run, number, ("word_counter", "word_counter"), "white", "gpt-4o", number)
                writer.set_trial(name, state=state)
    return path


def change(path: Path, what: str, run: str = "bad") -> None:
    with SessionWriter(path) as writer, writer.transaction():
        getattr(writer, what)(run)


def test_it_counts_nowhere_and_comes_back(session: Path) -> None:
    def seen() -> tuple[object, ...]:
        with SessionReader(session) as reader:
            facts, contents = gather(reader), read_contents(reader)
            connection = sqlite3.connect(session)
            in_sql = connection.execute("SELECT count(*) FROM trial_scores").fetchone()[0]
            connection.close()
            return (
                facts.state, facts.trials, facts.spend_usd, len(load_trials(reader).lines), len(contents.trials),
                [run.row.id for run in contents.runs], latest_trial(reader), in_sql,
            )  # fmt: skip

    before = seen()
    assert before[:3] == ("failed", 4, 0.5)
    change(session, "archive_run")
    assert seen() == ("done", 2, 0.25, 2, 2, ["good"], "good-1", 2)
    with SessionReader(session) as reader:
        assert [run.id for run in reader.all_runs()] == ["good", "bad"]
        assert len(reader.trials("bad")) == 2
        assert reader.trial("bad-1") is not None
    change(session, "unarchive_run")
    assert seen() == before


def test_trials_of_a_run_whose_row_is_lost_still_count(session: Path) -> None:
    connection = sqlite3.connect(session)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DELETE FROM runs WHERE id = 'bad'")
    connection.commit()
    connection.close()
    with SessionReader(session) as reader:
        assert len(reader.trials()) == 4


def test_the_next_repeat_is_counted_on_from_archived_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "launch", lambda session, run, warm=None: None)
    path = tmp_path / "repeats.session"
    plan = DocumentPlan(cases=("word_counter",), model="local", judge="offline", repeats=2, first_repeat=0)
    first = plan_document(path, plan)
    change(path, "archive_run", first)
    second = plan_document(path, plan)
    with SessionReader(path) as reader:
        assert [trial.repeat for trial in reader.trials(second)] == [3, 4]
        assert [run.id for run in reader.runs()] == [second]
        third = RerunTrialOrder(path, reader.trials(second)[0].id).begin().trial
    change(path, "archive_run", second)
    with SessionReader(path) as reader:
        found = reader.trial(third)
    assert found is not None
    assert found.repeat == 5


def test_asking_for_the_same_trials_again_brings_their_run_back(tmp_path: Path) -> None:
    path = tmp_path / "same.session"
    plan = DocumentPlan(cases=("word_counter",), model="local", judge="offline")
    first = plan_document(path, plan)
    change(path, "archive_run", first)
    plan_document(path, plan)
    with SessionReader(path) as reader:
        assert len(reader.runs()) == 2
        assert len(reader.trials()) == 1


@pytest.mark.sandbox
def test_ordering_the_same_regeneration_brings_its_run_back(needs_bubblewrap: None, tmp_path: Path) -> None:
    path = tmp_path / "again.session"
    plan = RegenerationPlan("word_counter", evaluator="stub", limit=1)
    run = order_regeneration(path, plan).run
    change(path, "archive_run", run)
    with SessionReader(path) as reader:
        assert latest_regeneration(reader) is None
    assert order_regeneration(path, plan).run == run
    with SessionReader(path) as reader:
        assert latest_regeneration(reader) == run
