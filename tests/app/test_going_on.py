"""Going on from a step, once more with another model, and the question before what takes much; engines are tested elsewhere."""

import os
from pathlib import Path

import pytest
import recorded
from driving import on, press, screen_text, sees, table_of_trials, trajectory, until

from workbench.app.toolkit.edit_screen import EditScreen, TextArea
from workbench.app.toolkit.form import Confirm
from workbench.app.trajectory.actions import ModelDialog
from workbench.app.trajectory.rescore_dialog import RescoreDialog
from workbench.orders import launching
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, engine_starts
from workbench.session.rows import TrialRow

PARENT = "t1aaaaaaaaaa"


@pytest.fixture
def recorder(tmp_path):
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run()
    recorded.word_counter(made, PARENT)
    yield made
    made.close()


@pytest.fixture
def launched(monkeypatch):
    """The runs that an engine was asked for."""
    found: list[str] = []

    def launch(session: Path, run: str, warm: object = None) -> None:
        engine_starts.started(run, os.getpid())
        found.append(run)

    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(launching, "launch", launch)
    return found


def words(app: object) -> str:
    """Return what a dialog says, without its frame and line breaks."""
    return " ".join(screen_text(app).replace("│", " ").split())


async def test_a_trial_is_scored_again_by_the_judges_of_a_dialog(recorder, launched):
    async with trajectory(recorder.path, trial=PARENT) as (pilot, screen):
        app = pilot.app
        await pilot.press("ctrl+g")
        await on(pilot, RescoreDialog)
        await until(pilot, lambda: "scores by offline = 1 trial" in words(app), "the estimate")
        app.screen.query_one("#rubrics").value = "nothing"
        await pilot.press("enter")
        await until(pilot, lambda: "There is no rubric 'nothing'" in words(app), "the refusal")
        app.screen.query_one("#rubrics").value = "strict"
        await pilot.press("enter")
        await until(pilot, lambda: launched, "the start")
    with SessionReader(recorder.path) as reader:
        run = reader.run(launched[0])
        plan = DocumentPlan.from_json(run.config)
    assert (plan.trials, plan.judges, plan.rubrics, plan.rescore) == ((PARENT,), ("offline",), ("strict",), "anew")


def trials(session: Path) -> list[TrialRow]:
    with SessionReader(session) as reader:
        return reader.trials()


async def test_a_step_is_edited_and_gone_on_from(recorder, launched):
    async with trajectory(recorder.path, trial=PARENT) as (pilot, screen):
        app = pilot.app
        await press(pilot, screen, "l", "l")
        await pilot.press("E")
        await on(pilot, EditScreen)
        area = app.screen.query_one(TextArea)
        assert area.text == recorded.CODE
        area.text = "print('one')\n"
        await pilot.press("ctrl+s")
        await on(pilot, ModelDialog)
        await until(pilot, lambda: "about 1 request, 9 seconds" in words(app), "the estimate")
        assert "3 steps" in words(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the way back")
        assert not launched

        await pilot.press("E")
        await on(pilot, EditScreen)
        assert app.screen.query_one(TextArea).text == "print('one')\n", "what was typed is kept"
        await pilot.press("ctrl+s")
        await on(pilot, ModelDialog)
        app.screen.query_one("#model").value = "nobody/model"
        await pilot.press("enter")
        await sees(pilot, "There is no provider")
        assert app.screen.query_one("#model").value == "nobody/model"
        app.screen.query_one("#model").value = "local"
        await pilot.press("enter")
        await until(pilot, lambda: launched, "the start")
        await sees(pilot, "fork of trial 1 at step 3")
    fork = trials(recorder.path)[-1]
    assert (fork.parent, fork.fork_step, fork.edited, fork.run_id) == (PARENT, 3, "observation", launched[0])
    with SessionReader(recorder.path) as reader:
        assert reader.text(fork.edit_blob) == "print('one')\n"


async def test_once_more_with_another_model(recorder, launched):
    async with trajectory(recorder.path, trial=PARENT) as (pilot, screen):
        app = pilot.app
        await pilot.press("ctrl+r")
        await on(pilot, ModelDialog)
        await until(pilot, lambda: "by 1 earlier trial" in words(app), "the estimate")
        app.screen.query_one("#model").value = "local/smollm2-135m-instruct"
        await pilot.press("enter")
        await until(pilot, lambda: launched, "the start")
    again = trials(recorder.path)[-1]
    assert (again.model, again.agent, again.case_id, again.repeat, again.parent) == (
        "local/smollm2-135m-instruct",
        "white",
        "word_counter",
        1,
        "",
    )


async def test_what_takes_more_than_allowed_is_asked_about(recorder, launched, monkeypatch):
    monkeypatch.setenv("WORKBENCH_ASK_ABOVE_MINUTES", "0.001")
    async with trajectory(recorder.path, trial=PARENT) as (pilot, screen):
        app = pilot.app
        await pilot.press("r")
        await on(pilot, Confirm)
        await until(pilot, lambda: "more than the 0.001 minutes of" in words(app), "its reason")
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen, "the way back")
        assert not launched
        await pilot.press("r")
        await on(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: launched, "the start")


async def test_forks_stand_below_their_parents_and_in_no_mean(recorder):
    recorded.word_counter(recorder, "t2bbbbbbbbbb", repeat=2)
    recorder.writer.add_run("run-2", "document", {"cases": ["word_counter"], "fork_of": PARENT, "fork_step": 3})
    recorder.writer.add_trial(
        "f1cccccccccc", "run-2", 0, ("word_counter", "word_counter"), "white", "local", 1,
        parent=PARENT, fork_step=3, edited="observation", edit_blob=recorder.writer.blob("x"),
    )  # fmt: skip
    poor = recorded.card(accuracy=0.0)
    recorder.score("f1cccccccccc", {**poor, "total": 1.0})
    recorder.writer.set_trial("f1cccccccccc", state="done")
    async with trajectory(recorder.path, trial="f1cccccccccc") as (pilot, screen):
        assert "fork of trial 1 at step 3" in screen_text(pilot.app)
        assert screen.state.place.previous == PARENT, "the difference is that to its parent"
        table = await table_of_trials(pilot)
        assert [line.id for line in table.table.trials.lines] == [PARENT, "f1cccccccccc", "t2bbbbbbbbbb"]
        await sees(pilot, "↳3 word_counter", "mean 79.0 ± 0.0 · 1 fork not in it")
        await pilot.press("b")
        await sees(pilot, "2 trials")


async def test_a_bell_when_a_run_ends(recorder, monkeypatch):
    monkeypatch.setenv("WORKBENCH_NOTIFY", "bell")
    recorder.run("run-2", state="queued")
    recorder.trial("t9dddddddddd", repeat=9, run_id="run-2")
    async with trajectory(recorder.path, trial=PARENT) as (pilot, _):
        rung: list[str] = []
        monkeypatch.setattr(pilot.app, "bell", lambda: rung.append("bell"))
        await until(pilot, lambda: pilot.app.facts is not None and pilot.app.facts.count("queued"), "the facts")
        recorder.writer.set_trial("t9dddddddddd", state="done")
        recorder.writer.set_run("run-2", state="done")
        await until(pilot, lambda: rung, "the bell")
