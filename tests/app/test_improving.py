"""Key i in Regeneration asks for better docstrings; key I steps through what was tried, before and after side by side."""

import re
from pathlib import Path

import regenerated
from driving import on, regeneration, screen_text, sees, until
from textual.widgets import Input

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


async def test_every_attempt_is_stepped_through_beside_the_docstring_as_it_is(tmp_path):
    tried(tmp_path / "demo.session")
    async with regeneration(tmp_path / "demo.session") as (pilot, mode):
        app = pilot.app
        await sees(pilot, "✓ docstrings: I")
        await pilot.press("I")
        screen = await on(pilot, ImprovementsScreen)
        await until(pilot, lambda: screen.idle, "the attempts")
        await pilot.press("g")
        await sees(pilot, "The answer has no docstring.", "answer: it is prose or code", "Do it.", "0 of 2 passed")
        await pilot.press("j")
        await sees(pilot, "Refused by claims", "Return the sum, text 2.")
        # From any pane, and what was kept names whose samples it holds for.
        await pilot.press("tab", "J")
        await sees(pilot, "Return the sum, text 3.")
        assert re.search(r"0/3 → 3/3 +\+1\.00", screen_text(app))
        assert "samples of openai/second" in screen_text(app)
        await pilot.press("x")
        await on(pilot, ExportDocstringsDialog)
        await until(pilot, lambda: app.screen.query("#branch"), "the dialog")
        app.screen.query_one("#patch", Input).value = str(tmp_path / "better.patch")
        app.screen.query_one("#branch", Input).value = "better"
        await pilot.press("enter")
        await sees(pilot, "source in a git checkout")
        app.screen.query_one("#branch", Input).value = ""
        await pilot.press("enter")
        await until(pilot, (tmp_path / "better.patch").is_file, "the patch")
        await on(pilot, ImprovementsScreen)
        written = (tmp_path / "better.patch").read_text()
        assert '-    """Do it."""' in written
        assert "Return the sum, text 3." in written
        await pilot.press("x")
        await on(pilot, ExportDocstringsDialog)
        await until(pilot, lambda: app.screen.query("#branch"), "the dialog")
        app.screen.query_one("#patch", Input).value = str(tmp_path / "better.patch")
        await pilot.press("enter")
        await sees(pilot, "already exists")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is mode, "the tasks")


async def test_the_dialog_says_in_one_sentence_why_a_task_is_not_improved(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    tried(tmp_path / "demo.session")
    async with regeneration(tmp_path / "demo.session") as (pilot, mode):
        app = pilot.app
        await sees(pilot, "documented", "1 well, 1 badly, 1 untestable documented")
        await pilot.press("j", "i")
        await on(pilot, ImprovementDialog)
        assert app.screen.query_one("#functions", Input).value == "all that failed"
        await sees(pilot, "1 function: up to")
        app.screen.query_one("#functions", Input).value = "this task"
        said = "2 of 3 samples"
        await sees(pilot, said)
        app.screen.query_one("#functions", Input).value = "marked tasks"
        await sees(pilot, "There are no marked tasks: space marks one.")
        await pilot.press("enter")
        assert isinstance(app.screen, ImprovementDialog)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is mode, "the tasks")
        mode.filter_tasks(mode.table.filter.choosing("documented", "badly"))
        assert [line.name for line in mode.table.shown] == ["add"]
