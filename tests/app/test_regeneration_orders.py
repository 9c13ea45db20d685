"""Orders out of the Regeneration mode: the dialog, keys that reach the engine, and what is shown until its answer is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import regenerated
from regenerated import RUN, Recorder
from regeneration_app import press, quiet, regeneration
from trajectory_app import screen_text, until

from workbench.app.regeneration.screen import RegenerationScreen
from workbench.session import create


async def test_a_run_that_no_engine_took_up_says_so(recorder: Recorder) -> None:
    recorder.run(state="queued", samples=3, coming=False)
    async with regeneration(recorder.path) as (_, screen):
        assert "no engine started — press u" in screen_text(screen.app)
        assert screen.actions.can("resume")


async def test_new_run_from_the_dialog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two keys plan a run in the open session; the engine process itself is tested with the engine."""
    from workbench.orders import launching
    from workbench.plans.plan import RegenerationPlan
    from workbench.session import SessionReader, engine_starts

    launched: list[tuple[Path, str]] = []

    def launch(session: Path, run: str, warm: object = None) -> None:
        engine_starts.started(run, os.getpid())
        launched.append((session, run))

    monkeypatch.setattr(launching, "launch", launch)
    path = tmp_path / "empty.session"
    create(path)
    async with regeneration(path) as (pilot, screen):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "Test documentation by regeneration" in screen_text(screen.app), "the dialog")
        assert "word_counter" in screen_text(screen.app)
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


async def test_dialog_names_what_is_wrong(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    async with regeneration(tmp_path / "empty.session") as (pilot, screen):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "Test documentation by regeneration" in screen_text(screen.app), "the dialog")
        field = screen.app.screen.query_one("#samples")
        field.value = "0"
        await pilot.press("enter")
        await until(pilot, lambda: "Samples must be a number from 1 to 1,000." in screen_text(screen.app), "the note")
        field.value = "2"
        screen.app.screen.query_one("#source").value = "no such thing"
        await pilot.press("enter")
        await until(pilot, lambda: "no such thing" in screen_text(screen.app), "the notice")
        assert screen.view is None
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "Test documentation by regeneration" in screen_text(screen.app), "the dialog again")
        await pilot.press("escape")
        await until(pilot, lambda: screen.app.screen is screen, "the mode")


async def test_keys_reach_the_engine(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """r, R, + and u write into the session what an engine then takes up."""
    from workbench.orders import launching
    from workbench.plans.plan import RegenerationPlan
    from workbench.session import SessionReader

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


async def test_former_verdicts_stay_marked_until_there_are_new_ones(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.orders import launching

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
        await until(
            pilot, lambda: "sample 2 ✗ failed in 0.03 s, being tested again" in screen_text(screen.app), "the pane"
        )
        assert "former verdict, until" in screen_text(screen.app)
        assert "failing tests 1, by the former verdict" in screen_text(screen.app)

        # The new verdict comes; the former one goes into the history.
        key = f"{RUN}-count_text/{regenerated.EVALUATOR}/1"
        with recorder.writer.transaction():
            recorder.writer.insert(
                "former_verdicts",
                {"candidate_id": key, "number": 1, "verdict": "failed", "verdict_reason": "1 of 14 tests failed.",
                 "route": "hot", "tested_s": 0.03, "at": 101.0, "replaced_at": 200.0},
            )  # fmt: skip
            recorder.writer.update("candidates", {"id": key}, {"state": "done", "verdict": "passed", "at": 200.0})
        await until(pilot, lambda: "sample 2 ✓ passed in 0.03 s ─" in screen_text(screen.app), "the new verdict")
        assert "before: ✗ failed on " in screen_text(screen.app)
        assert "5 of 12 samples are being tested again" in screen_text(screen.app)

        # An interrupted rerun says what is left, and that it can be resumed.
        recorder.writer.set_run(RUN, state="running")
        await until(
            pilot, lambda: "interrupted with 12 of 12 · 5 to test again" in screen_text(screen.app), "the state"
        )
        assert "5 of 12 samples were to be tested again" in screen_text(screen.app)
        assert screen.check_action("resume", ())
        recorder.writer.set_run(RUN, state="failed", error="No sandbox answers.")
        await until(pilot, lambda: "The run failed: No sandbox answers." in screen_text(screen.app), "the failure")
        await until(pilot, lambda: "pass@1 0.58" in screen_text(screen.app), "excluded from all figures")
        assert "4 tasks" in screen_text(screen.app)


async def test_resuming_the_example_works_on_a_copy(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came with the program is only read: u takes the run up in a copy, which is shown."""
    from workbench.base import paths
    from workbench.orders import running

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
