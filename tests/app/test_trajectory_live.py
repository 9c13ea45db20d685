"""The Trajectory mode on runs of a real engine process: live, killed, resumed, run again, cancelled, exported."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from engine.author import Author
from loopback.server import LoopbackServer
from textual.widgets import Input
from trajectory_app import quiet, screen_text, trajectory, until

from workbench.app.toolkit.export_dialog import ReportDialog
from workbench.orders import launching
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan


@pytest.fixture
def author(loopback_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Author:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-worth")
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    scripted = Author(stop_at=3)
    loopback_server.answer = scripted
    return scripted


def begin(session: Path) -> str:
    plan = DocumentPlan(cases=("word_counter",), model="openai/scripted", judge="offline")
    run = plan_document(session, plan)
    launching.launch(session, run)
    return run


@pytest.mark.slow
async def test_live_killed_resumed_and_run_again(tmp_path: Path, author: Author) -> None:
    session = tmp_path / "live.session"
    run = begin(session)
    async with trajectory(session) as (pilot, screen):
        shown = lambda text: lambda: text in screen_text(screen.app)  # noqa: E731
        await until(pilot, shown("▸ live"), "a live run", 60)
        await until(pilot, lambda: author.reached.is_set() and len(screen.step_list.steps) == 3, "three steps", 60)
        await until(pilot, shown("▸ following"), "the newest step")
        assert screen.step_list.selected.target == "word_counter.py"
        os.kill(screen.workbench.reader.holder(run).pid, signal.SIGKILL)
        await until(pilot, shown("‖ interrupted — press u to resume"), "the interruption")
        author.stop_at = 0
        author.go.set()
        await pilot.press("u")
        await until(pilot, lambda: screen.state.trial.state == "done" and screen.state.cards, "the end", 60)
        await until(pilot, lambda: quiet(screen) and "✓ done" in screen_text(screen.app), "the last look")
        assert [step.kind for step in screen.step_list.steps] == ["tool", "invalid", "tool", "tool", "respond"]
        assert "Counts lines, words, characters and bytes" in screen.outcome.text.document.text
        await pilot.press("r")
        await until(pilot, shown("trial 2 of 2"), "the new trial", 60)
        await until(pilot, lambda: screen.state.trial.state == "done" and screen.state.cards, "its end", 60)
        assert screen.state.trial.repeat == 2
        screen.outcome.choose("Diff to previous")
        await until(pilot, lambda: "README  the same" in screen.outcome.text.document.text, "the comparison")
        await pilot.press("x")
        await until(pilot, lambda: isinstance(screen.app.screen, ReportDialog), "where to")
        report = tmp_path / "told.html"
        screen.app.screen.query_one("#file", Input).value = str(report)
        await pilot.press("enter")
        await until(pilot, lambda: report.exists() and "</html>" in report.read_text(), "the report", 60)


@pytest.mark.slow
async def test_cancel_stops_a_run(tmp_path: Path, author: Author) -> None:
    session = tmp_path / "live.session"
    begin(session)
    async with trajectory(session) as (pilot, screen):
        await until(pilot, lambda: author.reached.is_set() and len(screen.step_list.steps) == 3, "three steps", 60)
        await pilot.press("c")
        author.go.set()
        await until(pilot, lambda: "⊘ cancelled" in screen_text(screen.app), "the end of the run", 60)
        assert len(screen.step_list.steps) >= 3
