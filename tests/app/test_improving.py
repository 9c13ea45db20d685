"""Key i in Regeneration asks for better docstrings; key I steps through what was tried, before and after side by side."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import regenerated
from regeneration_app import regeneration
from textual.widgets import Input
from trajectory_app import screen_text, until

from workbench.app.compare_screen import SideBySide
from workbench.app.regeneration.improve_dialogs import ExportDocstringsDialog, ImprovementDialog
from workbench.app.regeneration.improvements_screen import ImprovementsScreen
from workbench.plans.plan import ImprovementPlan, RegenerationPlan
from workbench.session.rows import AttemptRow

ORDER, WRITER = "order-1", "openai/writer"
SOURCE = b'def add(a, b):\n    """Do it."""\n    return a + b\n'


def tried(path: Path, *, state: str = "done") -> None:
    """A run with a bad, a good and a taken out task, and three attempts at the bad one."""
    recorder = regenerated.Recorder(path)
    recorder.run(docs_scope="repository")
    with recorder.writer.transaction():
        source = recorder.writer.blob(SOURCE)
    bad = recorder.task("add", 0, path="sums.py", source_blob=source, docstring="Do it.")
    recorder.cells(bad, "✗✗✗")
    recorder.cells(recorder.task("shout", 1, path="sums.py"), "✓✓✗")
    recorder.task("broken", 2, path="sums.py", state="excluded", reason="Its own body does not pass.")
    base = RegenerationPlan("word_counter", evaluator=regenerated.EVALUATOR, samples=2, tasks=(bad,))
    recorder.writer.add_improvement(ORDER, ImprovementPlan(base, WRITER, held_out=3, attempts=4).to_json())
    recorder.writer.set_improvement(ORDER, run_id=regenerated.RUN, state=state, stage="docstrings of attempt 3")
    refusals = (("answer", "it is prose or code"), ("claims", "add has no parameter modulus"), None)
    with recorder.writer.transaction():
        for number, refusal in enumerate(refusals, 1):
            gate, reason = refusal or (None, None)
            text = recorder.writer.blob(f"Return the sum, text {number}.") if number > 1 else None
            held_out = ("[0, 3]", "[3, 3]", "openai/second") if refusal is None else (None, None, "")
            row = AttemptRow(
                ORDER, bad, number, "refused" if refusal else "accepted", gate, reason, text, None, None, *held_out, 1.0
            )
            recorder.writer.put_attempt(row)
    recorder.close()


async def test_every_attempt_is_stepped_through_beside_the_docstring_as_it_is(tmp_path: Path) -> None:
    tried(tmp_path / "demo.session")
    async with regeneration(tmp_path / "demo.session") as (pilot, mode):
        app = pilot.app
        await until(pilot, lambda: "✓ docstrings: I" in screen_text(app), "how the order stands")
        await pilot.press("I")
        await until(pilot, lambda: isinstance(app.screen, ImprovementsScreen) and app.screen.idle, "the attempts")
        screen = app.screen
        assert isinstance(screen, ImprovementsScreen)
        await pilot.press("g")
        await until(pilot, lambda: "The answer has no docstring." in screen_text(app), "the first attempt")
        shown = screen_text(app)
        assert "answer: it is prose or code" in shown
        assert "Do it." in shown
        assert "0 of 2 passed" in shown
        await pilot.press("j")
        await until(pilot, lambda: "Refused by claims" in screen_text(app), "the second attempt")
        assert "Return the sum, text 2." in screen_text(app)
        # From any pane, and what was kept names whose samples it holds for.
        await pilot.press("tab", "J")
        await until(pilot, lambda: "Return the sum, text 3." in screen_text(app), "the third attempt")
        assert re.search(r"0/3 → 3/3 +\+1\.00", screen_text(app))
        assert "samples of openai/second" in screen_text(app)
        await pilot.press("x")
        await until(
            pilot, lambda: isinstance(app.screen, ExportDocstringsDialog) and app.screen.query("#branch"), "the dialog"
        )
        app.screen.query_one("#patch", Input).value = str(tmp_path / "better.patch")
        app.screen.query_one("#branch", Input).value = "better"
        await pilot.press("enter")
        await until(pilot, lambda: "source in a git checkout" in screen_text(app), "why there is no branch")
        app.screen.query_one("#branch", Input).value = ""
        await pilot.press("enter")
        await until(pilot, (tmp_path / "better.patch").is_file, "the patch")
        await until(pilot, lambda: isinstance(app.screen, ImprovementsScreen), "the attempts")
        written = (tmp_path / "better.patch").read_text()
        assert '-    """Do it."""' in written
        assert "Return the sum, text 3." in written
        await pilot.press("x")
        await until(
            pilot, lambda: isinstance(app.screen, ExportDocstringsDialog) and app.screen.query("#branch"), "the dialog"
        )
        app.screen.query_one("#patch", Input).value = str(tmp_path / "better.patch")
        await pilot.press("enter")
        await until(pilot, lambda: "is there already" in screen_text(app), "that a patch is not replaced")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is mode, "the tasks")


async def test_an_order_that_nobody_executes_is_interrupted_and_can_be_cancelled_by_nobody(tmp_path: Path) -> None:
    tried(tmp_path / "demo.session", state="running")
    async with regeneration(tmp_path / "demo.session") as (pilot, _):
        app = pilot.app
        await until(pilot, lambda: "‖ docstrings: I" in screen_text(app), "how the order stands")
        await pilot.press("I")
        await until(pilot, lambda: isinstance(app.screen, ImprovementsScreen) and app.screen.idle, "the attempts")
        assert app.screen.check_action("resume", ())
        assert not app.screen.check_action("cancel", ())


async def test_the_dialog_says_in_one_sentence_why_a_task_is_not_improved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    tried(tmp_path / "demo.session")
    async with regeneration(tmp_path / "demo.session") as (pilot, mode):
        app = pilot.app
        text = screen_text(app)
        assert "documented" in text
        assert "1 well, 1 badly, 1 untestable documented" in text
        await pilot.press("j", "i")
        await until(pilot, lambda: isinstance(app.screen, ImprovementDialog), "the dialog")
        assert app.screen.query_one("#functions", Input).value == "all that failed"
        await until(pilot, lambda: "1 function: up to" in screen_text(app), "what it takes")
        app.screen.query_one("#functions", Input).value = "this task"
        said = "shout is well documented: 2 of 3 samples passed."
        await until(pilot, lambda: said in screen_text(app), "why not")
        app.screen.query_one("#functions", Input).value = "marked tasks"
        await until(pilot, lambda: "There are no marked tasks: space marks one." in screen_text(app), "why not")
        await pilot.press("enter")
        assert isinstance(app.screen, ImprovementDialog)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is mode, "the tasks")
        mode.filter_tasks(mode.table.filter.choosing("documented", "badly"))
        await until(pilot, lambda: "badly documented" in screen_text(app), "the filter")
        assert [line.name for line in mode.table.shown] == ["add"]


async def test_three_marked_tasks_are_improved_together_and_are_too_many_to_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third mark took the place of the first: no more than two marked tasks could be improved."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    recorder = regenerated.Recorder(tmp_path / "three.session")
    recorder.run(docs_scope="repository")
    for number, name in enumerate(("add", "clamp", "shout", "total")):
        recorder.cells(recorder.task(name, number, path="sums.py", docstring="Do it."), "✗✗✗")
    recorder.close()
    async with regeneration(tmp_path / "three.session") as (pilot, mode):
        app = pilot.app
        await pilot.press("g", "space", "j", "space", "j", "space")
        await until(pilot, lambda: "3 tasks are marked" in screen_text(app), "how many are marked")
        assert screen_text(app).count("■") == 3
        await pilot.press("C")
        said = "C compares two tasks, and 3 are marked"
        await until(pilot, lambda: any(said in one.message for one in app._notifications), "why not")
        assert app.screen is mode
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, ImprovementDialog), "the dialog")
        assert app.screen.query_one("#functions", Input).value == "marked tasks"
        await until(pilot, lambda: "3 functions: up to" in screen_text(app), "what it takes")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is mode, "the tasks")
        # One mark less, and there are two to be compared again.
        await pilot.press("space")
        await until(pilot, lambda: "are marked" not in screen_text(app) and "■" not in screen_text(app), "two marks")
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "two side by side")
