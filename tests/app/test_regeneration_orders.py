"""Orders out of the Regeneration mode: the dialog, keys that reach the engine, and what is shown until its answer is there."""

import os
from pathlib import Path

import pytest
import regenerated
from driving import on, opened, press, quiet, regeneration, screen_text, sees, until
from regenerated import RUN

from workbench.app.regeneration.new_run_dialog import RegenerationDialog
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.toolkit.form import Confirm
from workbench.base import paths
from workbench.orders import launching, running
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader, create, engine_starts


async def test_new_run_from_the_dialog(tmp_path, monkeypatch):
    """Two keys plan a run in the open session; the engine process itself is tested with the engine."""
    launched: list[tuple[Path, str]] = []

    def launch(session: Path, run: str, warm: object = None) -> None:
        engine_starts.started(run, os.getpid())
        launched.append((session, run))

    monkeypatch.setattr(launching, "launch", launch)
    path = tmp_path / "empty.session"
    create(path)
    async with regeneration(path) as (pilot, screen):
        await pilot.press("ctrl+n")
        await sees(pilot, "Test documentation by regeneration", "word_counter")
        await pilot.press("enter")
        await until(pilot, lambda: launched, "the launch")
        await until(pilot, lambda: screen.view is not None and quiet(screen), "the run")
        assert "waiting for the engine…" in screen_text(screen.app)
    with SessionReader(path) as reader:
        run = reader.runs()[0]
        plan = RegenerationPlan.from_json(run.config)
    assert launched == [(path, run.id)]
    assert (plan.source, plan.docs, plan.samples, plan.limit, plan.evaluator) == (
        "word_counter",
        "original",
        3,
        0,
        "local",
    )


async def test_the_dialog_says_what_it_takes_and_what_is_wrong(tmp_path):
    create(tmp_path / "empty.session")
    async with regeneration(tmp_path / "empty.session") as (pilot, screen):
        await pilot.press("ctrl+n")
        dialog = await on(pilot, RegenerationDialog)
        dialog.query_one("#source").value = "word_counter"
        await sees(pilot, "word_counter: ")
        assert "docs before that" not in screen_text(pilot.app), "the original docs ask for nothing"
        dialog.query_one("#docs").value = "llm:local"
        await sees(pilot, "docs before that: up to")
        dialog.query_one("#docs").value = "none"
        await until(pilot, lambda: "docs before that" not in screen_text(pilot.app), "another doc system")
        dialog.query_one("#samples").value = "0"
        await pilot.press("enter")
        await sees(pilot, "Samples must be a number from 1 to 1,000.")
        assert pilot.app.screen is dialog
        assert screen.view is None


async def test_keys_reach_the_engine(recorder, monkeypatch):
    """r, R, + and u write into the session what an engine then takes up."""
    launched: list[str] = []
    monkeypatch.setattr(launching, "launch", lambda session, run, warm=None: launched.append(run))
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await press(pilot, screen, "r")
        await until(pilot, lambda: screen.view.totals.retesting == 3, "the task waits again")
        assert launched == [RUN]
        await press(pilot, screen, "R")
        await until(pilot, lambda: screen.view.totals.retesting == 8, "what passed is left alone")
        assert screen.view.totals.decided == 12
        await press(pilot, screen, "plus")
        await until(pilot, lambda: screen.view.samples == 8, "m = 8")
        assert "m = 8" in screen_text(screen.app)
    with SessionReader(recorder.path) as reader:
        plan = RegenerationPlan.from_json(reader.runs()[0].config)
    assert [ask.samples for ask in plan.asks] == [8]
    assert launched == [RUN] * 3


def parts_of_figures(screen: RegenerationScreen) -> list[str]:
    """The line with the figures, without the interval."""
    line = next(line for line in screen_text(screen.app).splitlines() if "pass@1" in line and "pass@3" in line)
    return [part.partition("]")[2] or part for part in line.split(" [")]


async def test_former_verdicts_stay_marked_until_there_are_new_ones(recorder, monkeypatch):
    monkeypatch.setattr(launching, "launch", lambda session, run, warm=None: None)
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: quiet(screen) and "pass@1 0.50" in screen_text(screen.app), "the figures")
        figures = parts_of_figures(screen)
        await press(pilot, screen, "R")
        await until(pilot, lambda: screen.view.totals.retesting == 6 and quiet(screen), "what did not pass waits again")
        told = screen_text(screen.app)
        # The same figures, the same cells: nothing that was shown is gone, and what is not new is marked.
        assert parts_of_figures(screen) == figures
        assert "6 of 12 samples are being tested again" in told
        assert "✗⧖✗" in told
        cells = {style for at in range(4) for text, style in screen.table.parts_of(at, 100) if text in set("✓✗⧖!∅")}
        assert cells >= {"passed", "former-failed", "former-timeout", "former-crashed", "former-invalid"}
        assert {screen.table.style(name).underline for name in cells if name.startswith("former-")} == {True}
        await press(pilot, screen, "right")
        await sees(
            pilot,
            "sample 2 ✗ failed in 0.03 s, being tested again",
            "former verdict, until",
            "failing tests 1, by the former verdict",
        )

        # The new verdict comes; the former one goes into the history.
        key = f"{RUN}-count_text/{regenerated.EVALUATOR}/1"
        with recorder.writer.transaction():
            recorder.writer.insert(
                "former_verdicts",
                {"candidate_id": key, "number": 1, "verdict": "failed", "verdict_reason": "1 of 14 tests failed.",
                 "route": "hot", "tested_s": 0.03, "at": 101.0, "replaced_at": 200.0},
            )  # fmt: skip
            recorder.writer.update("candidates", {"id": key}, {"state": "done", "verdict": "passed", "at": 200.0})
        await sees(
            pilot, "sample 2 ✓ passed in 0.03 s ─", "before: ✗ failed on ", "5 of 12 samples are being tested again"
        )

        # An interrupted rerun says what is left, and that it can be resumed.
        recorder.writer.set_run(RUN, state="running")
        await sees(pilot, "interrupted with 12 of 12 · 5 to test again", "5 of 12 samples were to be tested again")
        assert screen.check_action("resume", ())
        recorder.writer.set_run(RUN, state="failed", error="No sandbox answers.")
        await sees(pilot, "The run failed: No sandbox answers.")
        await sees(pilot, "pass@1 0.58", "4 tasks")


async def test_resuming_the_example_works_on_a_copy(recorder, tmp_path, monkeypatch):
    """What came with the program is only read: u takes the run up in a copy, which is shown."""
    taken_up: list[Path] = []
    monkeypatch.setattr(running, "resume", lambda session, run=None, warm=None: taken_up.append(session) or [run])
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: tmp_path if name == "sessions" else bundled(name))
    regenerated.word_counter(recorder, state="running")
    recorder.cells(f"{RUN}-total", "✓··")
    recorder.writer.close()
    before = recorder.path.read_bytes()
    async with regeneration(recorder.path) as (pilot, screen):
        assert screen.check_action("resume", ())
        await pilot.press("u")
        await until(pilot, lambda: taken_up, "the resume")
        await until(pilot, lambda: screen.app.session_path == taken_up[0] and quiet(screen), "the copy")
        assert taken_up[0].parent == paths.sessions_dir()
        assert screen.view.run.id == RUN
        assert "interrupted at 10 of 12" in screen_text(screen.app)
    assert recorder.path.read_bytes() == before


@pytest.mark.parametrize(("answer", "sandboxes"), [("y", ["process"]), ("n", [])])
async def test_one_question_offers_the_plain_process_with_its_guarantees(answer, sandboxes, monkeypatch):
    monkeypatch.setattr("workbench.sandbox.choose.backends", list)
    monkeypatch.setattr("workbench.sandbox.bubblewrap.Bubblewrap.problem", lambda self: "There is no bwrap.")
    monkeypatch.setattr("workbench.sandbox.docker.is_there", lambda: False)
    monkeypatch.setattr("workbench.sandbox.bubblewrap.Bubblewrap.problem", lambda _: "there are no namespaces")
    monkeypatch.setattr("workbench.sandbox.docker.is_there", lambda: False)
    monkeypatch.setattr(launching, "launch", lambda *_: None)
    async with opened(None) as pilot:
        await pilot.app.switch_mode("regeneration")
        await pilot.press("ctrl+n")
        await on(pilot, RegenerationDialog)
        await pilot.press("enter")
        await on(pilot, Confirm)
        await sees(pilot, "No sandbox", "plain process")
        assert not [*paths.sessions_dir().rglob("*.session")]
        await pilot.press(answer)
        if sandboxes:
            await until(pilot, lambda: pilot.app.reader is not None, "the session")
            (run,) = pilot.app.reader.runs()
            assert RegenerationPlan.from_json(run.config).sandbox == "process"
        else:
            await on(pilot, RegenerationDialog)
            await sees(pilot, "No sandbox")
            assert not [*paths.sessions_dir().rglob("*.session")]
