"""The run dialog takes an agent by its address, and asks no model for it."""

from __future__ import annotations

from pathlib import Path

from textual.app import App
from textual.widgets import Input

from workbench.app.cases.starting import RunChoice, RunDialog
from workbench.app.toolkit.form_dialog import Refused
from workbench.settings import Settings

ANSWERS = {"agent": "white", "model": "local", "judge": "offline", "repeats": "1"}


async def test_an_agent_is_named_by_its_address_and_its_model_is_its_own(home: Path) -> None:
    app: App[None] = App()
    async with app.run_test(size=(100, 30)) as pilot:
        dialog = RunDialog("word_counter", ["word_counter"], ANSWERS, ("local",), Settings())
        await app.push_screen(dialog)
        await pilot.pause()
        agent, model = list(dialog.query(Input))[:2]
        agent.value = "a2a:http://127.0.0.1:9002"
        await pilot.pause()
        assert "the agent at http://127.0.0.1:9002, over A2A" in dialog.about("agent")
        assert "a model of its own" in dialog.about("model")
        assert dialog.answer() == RunChoice("a2a:http://127.0.0.1:9002", "", "offline", 1)
        model.value = "replay:/no/such/recording.session"
        refused = dialog.answer()
        assert isinstance(refused, Refused)
        assert refused.field == "model"
        model.value, agent.value = "local", "a2a:nonsense"
        refused = dialog.answer()
        assert isinstance(refused, Refused)
        assert "is no address of an agent" in refused.sentence
