"""The dialog of a regeneration says what it will take, what the doc system asks before that included."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input
from trajectory_app import screen_text, until

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.new_run_dialog import RegenerationDialog
from workbench.base import settings


async def test_requests_of_the_doc_system_stand_beside_the_candidates(home: Path) -> None:
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("regeneration")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, RegenerationDialog), "the dialog")
        app.screen.query_one("#source", Input).value = "word_counter"
        await until(pilot, lambda: "word_counter: " in screen_text(app), "what it will take")
        assert "docs before that" not in screen_text(app), "the original docs ask for nothing"
        app.screen.query_one("#docs", Input).value = "llm:local"
        await until(pilot, lambda: "docs before that: up to" in screen_text(app), "its requests")
        app.screen.query_one("#docs", Input).value = "none"
        await until(pilot, lambda: "docs before that" not in screen_text(app), "another doc system")
