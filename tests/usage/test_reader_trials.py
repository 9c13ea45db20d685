"""The trials of reader agents hold their steps; no list, count or export takes them for trials that write READMEs."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

import recorded
from driving import on, regeneration, sees, trajectory, until

from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base.errors import WorkbenchError
from workbench.engine.merging import merge
from workbench.orders.measured import measured_in
from workbench.orders.order import resolve_trial
from workbench.results.contents import read_contents
from workbench.results.runs import load_runs
from workbench.results.sessions import gather, models_used, what_matters
from workbench.results.tables import table_rows
from workbench.results.trials import latest_trial, load_trials, trial_order, trials_by_run, trials_on
from workbench.search import SearchIndex, parse
from workbench.session import SessionReader, SessionWriter
from workbench.session.pending_work import is_missing
from workbench.session.rows import StepRow

CASE = ("word_counter", "word_counter")
ROUTE = "wc.count with README"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    recorder = recorded.Recorder(tmp_path / "both.session")
    recorder.run()
    recorded.word_counter(recorder, "first")
    recorder.close()
    return recorder.path


def add_reader(path: Path, run: str = "use", thought: str = "whatever", candidate: str = "answer") -> None:
    """Add a usage run with an answer of a reader agent and its steps."""
    with SessionWriter(path) as writer, writer.transaction():
        plan = {"source": CASE[0], "asks": [], "acceptances": []}
        writer.add_run(run, "usage", plan)
        writer.set_run(run, state="done")
        task = {"id": "task", "run_id": run, "position": 0, "snapshot": "", "path": "wc.py", "qualified_name": "wc.count",
                "occurrence": 1, "tests": "[]", "docs": "usage"}  # fmt: skip
        writer.insert("tasks", task, conflict="IGNORE")
        writer.insert("candidates", {"id": candidate, "run_id": run, "task_id": "task", "evaluator": "agent:gpt-4o", "sample": 0,
                                     "state": "done", "verdict": "passed", "prompt": "agent-1/8", "context": "README",
                                     "answer_blob": writer.blob(thought)})  # fmt: skip
        writer.add_trial(candidate, run, 0, CASE, "reader", "a-reader-model", 0)
        step = StepRow(candidate, 1, "tool", "run", thought, None, writer.blob(f"thinking {thought}"), writer.blob(thought), 3, None,
                       5, 7, 0.5, 1.0, "a-reader-model", "{}", 1.0)  # fmt: skip
        writer.add_step(step)
        writer.set_trial(
            candidate, state="running", started_at=9e9, seconds=3.0, readme_blob=writer.blob("# no README")
        )


def lists(path: Path, index: SearchIndex) -> dict[str, object]:
    """Return what lists, counts and exports say about trials, their models, agents and steps."""
    connection = sqlite3.connect(path)
    view = connection.execute("SELECT trial FROM trial_scores").fetchall()
    connection.close()
    with SessionReader(path) as reader:
        index.update(reader)
        facts = gather(reader)
        first = reader.trial("first")
        assert first is not None
        return {
            "trials": [row.id for row in reader.trials()],
            "of runs": {
                run.id: [row.id for row in reader.trials(run.id)] for run in reader.runs() if run.kind == "document"
            },
            "screen": [line.id for line in load_trials(reader).lines],
            "counts": (facts.trials, facts.trials_done, facts.trials_failed),
            "by run": trials_by_run(reader),
            "on a case": [row.id for row in trials_on(reader, [CASE[0]])],
            "latest": latest_trial(reader),
            "order": trial_order(reader, first),
            "first trials": {line.id: line.first_trial for line in load_runs(reader, 0.0) if line.kind == "document"},
            "report": [trial.row.id for trial in read_contents(reader).trials],
            "tables": [table_rows(reader, table).values for table in ("trials", "steps", "scores", "criteria")],
            "view": view,
            "rates": measured_in([path]).trials,
            "models": [model for model in models_used(reader) if "reader-model" in model],
            "search": {hit.item.kind for hit in index.search(parse("whatever")).hits},
        }


def test_lists_counts_and_exports_leave_out_the_trials_of_readers(session: Path, tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / "search.db")
    before = lists(session, index)
    add_reader(session)
    after = lists(session, index)
    index.close()
    assert after == before
    with SessionReader(session) as reader:
        run = reader.run("use")
        assert run is not None
        assert not is_missing(reader, run)
        assert reader.trials("use") == []
        assert reader.trial("answer") is None
        matters = what_matters(reader)
        assert matters is not None
        assert matters.trials == 1
        with pytest.raises(WorkbenchError):
            resolve_trial(session, reader, "answer")


def test_a_reader_agent_has_a_trajectory(session: Path) -> None:
    from workbench.app.trajectory.trial_state import first_snapshot, header

    add_reader(session)
    add_reader(session, "again", candidate="other")
    with SessionReader(session) as reader:
        snapshot = first_snapshot(reader, "answer")
        assert snapshot is not None
        assert [step.action for step in snapshot.steps] == ["run"]
        assert snapshot.state.place.order == ("answer",)
        assert "reader" in "".join(part.text for part in header(snapshot.state))
        assert not reader.damage


def test_a_merge_keeps_each_answer_with_its_steps(session: Path, tmp_path: Path) -> None:
    add_reader(session)
    copies = [tmp_path / f"{name}.session" for name in ("copy", "else")]
    with SessionReader(session) as reader:
        reader.copy_to(copies[0])
    recorder = recorded.Recorder(copies[1])
    recorder.close()
    add_reader(copies[1], "use2", thought="different")
    merged = tmp_path / "merged.session"
    merge([session, *copies], merged)
    with SessionReader(merged) as reader:
        rows = [row for run in reader.runs() if run.kind == "usage" for row in reader.candidates(run.id)]
        steps = {
            reader.text(row.answer_blob): [reader.text(step.observation_blob) for step in reader.steps(row.id)]
            for row in rows
        }
        assert steps == {"whatever": ["whatever"], "different": ["different"]}
        assert all((reader.trajectory(row.id) or row).run_id == row.run_id for row in rows)
        assert [row.id for row in reader.trials()] == ["first"]


async def test_the_screen_of_a_trajectory_shows_the_answer_of_a_reader(session: Path) -> None:
    add_reader(session, thought="```python\ndef answer(a):\n    return a\n```")
    async with trajectory(session, trial="answer") as (pilot, screen):
        await sees(pilot, "reader · a-reader-model", "return a", "Verdict: passed.")
        assert not screen.actions.can("fork")
        assert not screen.actions.can("rerun")


async def test_a_key_leads_from_a_sample_to_the_steps_of_its_agent(session: Path) -> None:
    add_reader(session)
    async with regeneration(session) as (pilot, screen):
        await until(pilot, lambda: screen.detail.candidate == "answer", "the sample")
        await pilot.press("e")
        shown = await on(pilot, TrajectoryScreen)
        await until(pilot, lambda: shown.state is not None, "the steps")
        assert shown.state.trial.id == "answer"
