"""Keys act on what is shown and has the focus; what begins elsewhere says so and does not take the place of what is shown."""

import json
import os
import signal
import sys
import threading

import pytest
import recorded
import regenerated
from driving import press, regeneration, screen_text, sees, trajectory, until
from regenerated import EVALUATOR, RUN
from textual.widgets import Input

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration import run_watcher as following
from workbench.base import settings
from workbench.orders import launching
from workbench.plans.plan import Ask, RegenerationPlan
from workbench.session import SessionReader

OTHER = "openai/gpt-5"


def notices(app: object) -> str:
    return "\n".join(notice.message for notice in app._notifications)


def held_back(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Have every reading of a run wait for the event that is returned."""
    gate, real = threading.Event(), following.load_view
    monkeypatch.setattr(following, "load_view", lambda *given: (gate.wait(120), real(*given))[1])
    return gate


async def test_a_second_evaluator_says_so_and_the_first_stays(recorder):
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        assert "evaluators" not in screen_text(screen.app)
        recorder.cells(f"{RUN}-count_text", "✗✗·", evaluator=OTHER, at=200.0)
        await sees(pilot, "[gpt-5-mini 0.50 12/12] gpt-5 0.00 2/3 ")
        assert screen.view.evaluator == EVALUATOR
        assert "gpt-5" in notices(screen.app)
        await press(pilot, screen, "v")
        await sees(pilot, "gpt-5-mini 0.50 12/12 [gpt-5 0.00 2/3]")
        assert await pilot.click("EvaluatorLine", offset=(20, 0))
        await until(pilot, lambda: screen.view.evaluator == EVALUATOR, "the click")


async def test_two_wordings_of_one_evaluator_are_two_and_more_is_asked_in_the_one_that_is_shown(recorder, monkeypatch):
    monkeypatch.setattr(launching, "launch", lambda *_: None)
    monkeypatch.setenv("OPENAI_API_KEY", "none-is-asked")
    asks = [Ask(EVALUATOR, 3, prompt=prompt, context="prefix-1") for prompt in ("paper-1", "short-1")]
    asks.append(Ask(OTHER, 3, prompt="paper-1", context="prefix-1"))
    plan = RegenerationPlan("word_counter", evaluator=OTHER, samples=3, asks=tuple(asks), k=(1, 3))
    recorder.run(state="done")
    recorder.writer.set_run(RUN, config=json.dumps(plan.to_json()))
    task = recorder.task("count_text", 0)
    for place, (prompt, cells) in enumerate((("paper-1", "✓✓✓"), ("short-1", "✗✗·"))):
        for sample, glyph in enumerate(cells):
            recorder.sample(task, sample, glyph, at=100.0 + place, id=f"{prompt}-{sample}")
            recorder.writer.update(
                "candidates", {"id": f"{prompt}-{sample}"}, {"prompt": prompt, "context": "prefix-1"}
            )
    async with regeneration(recorder.path, size=(140, 40)) as (pilot, screen):
        line = "evaluators  gpt-5-mini · paper-1 1.00 3/3 [gpt-5-mini · short-1 0.00 2/3] gpt-5 ·"
        await sees(pilot, line)
        assert screen.view.group.prompt == "short-1"
        await press(pilot, screen, "v")
        await sees(pilot, "[gpt-5-mini · paper-1 1.00 3/3]", "pass@1 1.00")
        await press(pilot, screen, "plus")
    with SessionReader(recorder.path) as reader:
        run = reader.run(RUN)
        asked = RegenerationPlan.from_json(run.config).asks
    assert [(ask.evaluator, ask.prompt, ask.samples) for ask in asked] == [
        (EVALUATOR, "paper-1", 8),
        (EVALUATOR, "short-1", 3),
        (OTHER, "paper-1", 3),
    ]


async def test_rerun_failed_waits_until_the_run_is_read(recorder, monkeypatch):
    monkeypatch.setattr(launching, "launch", lambda *_: None)
    regenerated.word_counter(recorder)
    gate = held_back(monkeypatch)

    def waiting() -> int:
        with SessionReader(recorder.path) as reader:
            return int(reader.query("SELECT count(*) FROM candidates WHERE state = 'queued'")[0][0])

    app = WorkbenchApp(recorder.path, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("regeneration")
        await until(pilot, lambda: app.reader is not None, "the session")
        await pilot.press("R")
        # Not by its notice, which is gone after some seconds: a busy machine may take longer.
        await until(pilot, lambda: "rerun_failed" in app.screen._once_read, "that it waits")
        assert not waiting()
        gate.set()
        await until(pilot, lambda: waiting() == 6, "all samples that did not pass")


async def test_what_waits_for_a_run_is_not_done_to_another(recorder, monkeypatch):
    monkeypatch.setattr(launching, "launch", lambda *_: None)
    regenerated.word_counter(recorder)
    for number in (2, 3):
        recorder.run(run_id=f"regen-{number}")
        recorder.cells(recorder.task("a", 0, run_id=f"regen-{number}"), "✗✗✗", run_id=f"regen-{number}")
    async with regeneration(recorder.path) as (pilot, screen):
        await press(pilot, screen, "H")
        gate = held_back(monkeypatch)
        await pilot.press("L", "R", "H")
        gate.set()
        await until(pilot, lambda: "another run is shown now" in notices(screen.app), "that it is not done")
        await until(pilot, lambda: screen.view.run.id == RUN and screen.following.idle, "the other run")
        assert not screen.workbench.reader.query("SELECT 1 FROM candidates WHERE state = 'queued'")


async def test_enter_on_a_failed_regeneration_opens_that_run(start, tmp_path):
    from workbench.base import paths

    folder = paths.sessions_dir()
    folder.mkdir(parents=True, exist_ok=True)
    trials = recorded.Recorder(folder / "demo.session")
    trials.run()
    recorded.word_counter(trials, "t1")
    for run, state in (("regen-old", "done"), ("regen-new", "done"), ("regen-bad", "failed")):
        trials.writer.add_run(run, "regenerate", {"source": "word_counter", "evaluator": "stub", "samples": 1})
        trials.writer.set_run(run, state=state, error="No test is stable." if state == "failed" else None)
    trials.close()
    async with start() as person:
        await person.press("3")
        await person.sees("✗ failed")
        await person.press("enter")
        await person.sees("No test is stable.")
        assert person.app.current_mode == "regeneration"
        # Opening reads the run a second time; meanwhile the text of the first time stands there.
        await person.until(lambda: person.app.screen.view is not None)
        assert person.app.screen.view.run.id == "regen-bad"


async def test_copy_and_remark_are_of_the_scores_while_these_have_the_focus(tmp_path):
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run()
    recorded.word_counter(made, "t1")
    made.close()
    async with trajectory(made.path, trial="t1") as (pilot, screen):
        await press(pilot, screen, "s", "j", "y")
        copied = screen.app.clipboard
        assert "1 Structural" in copied
        assert "def count_text" not in copied
        title = screen.score_pane.selected.title
        await press(pilot, screen, "a")
        await sees(pilot, f"Remark on {title}")
        await press(pilot, screen, *"odd", "enter")
        await sees(pilot, "✎ odd")
        part = screen.score_pane.chosen_part[1]
        remarks = screen.workbench.reader.annotations("t1")
        assert [(row.item, row.step, row.text, row.part) for row in remarks] == [("t1", None, "odd", part)]
        assert f"✎ {title}"[:10] in screen_text(screen.app)
        assert screen.focused is screen.score_pane


async def test_ctrl_c_copies_what_is_selected_and_leaves_only_when_pressed_twice(start):
    async with start() as person:
        await person.press("1")
        await person.press("ctrl+c")
        await person.until(lambda: "ctrl+c again" in notices(person.app))
        await person.sees("Cases")
        await person.press("ctrl+n")
        await person.until(lambda: isinstance(person.app.focused, Input))
        await person.type("abc")
        await person.press("shift+home", "ctrl+c")
        await person.until(lambda: person.app.clipboard == "abc")
        assert person.app.is_running
        await person.press("end", "ctrl+c", "ctrl+c")
        await person.until(lambda: person.app._exit)


def test_ctrl_c_in_a_pager_does_not_end_the_app_that_waits_for_it(tmp_path):
    from workbench.app.toolkit.actions import run_in_front

    mark = tmp_path / "mark"
    ours = signal.getsignal(signal.SIGINT)
    # As the terminal does it: the signal reaches the pager and who waits for it; the pager lives on, as less does.
    program = (
        "import os, signal, sys, pathlib\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        f"os.kill({os.getpid()}, signal.SIGINT)\n"
        "pathlib.Path(sys.argv[1]).write_text('read to the end')\n"
    )
    run_in_front([sys.executable, "-c", program, str(mark)])
    assert mark.read_text() == "read to the end"
    assert signal.getsignal(signal.SIGINT) is ours
