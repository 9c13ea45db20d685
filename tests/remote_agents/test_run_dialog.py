"""The run dialog takes an agent by its address, and asks no model for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from textual.widgets import Input

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

from driving import screen_text

from workbench.app.app import WorkbenchApp
from workbench.app.cases.run_dialog import RunDialog
from workbench.base import settings
from workbench.base.errors import BadField


async def test_an_agent_is_named_by_its_address_and_its_model_is_its_own(home: Path) -> None:
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(100, 30)) as pilot:
        while app.is_opening:
            await pilot.pause()
        dialog = RunDialog(app, [("word_counter", "word_counter")])
        await app.push_screen(dialog)
        await pilot.pause()
        agent, model = list(dialog.query(Input))[:2]
        agent.value = "a2a:http://127.0.0.1:9002"
        model.focus()
        await pilot.pause()
        assert "its own model" in screen_text(app)
        agent.focus()
        await pilot.pause()
        assert "the agent at http://127.0.0.1:9002, over A2A" in screen_text(app)
        plan = dialog.answer(dialog.values)
        assert (plan.agent, plan.model) == ("a2a:http://127.0.0.1:9002", "")
        model.value = "replay:/no/such/recording.session"
        with pytest.raises(BadField) as refused:
            dialog.answer(dialog.values)
        assert refused.value.field == "model"
        model.value, agent.value = "local", "a2a:nonsense"
        with pytest.raises(BadField, match="not the address of an agent"):
            dialog.answer(dialog.values)
