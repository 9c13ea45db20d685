"""A replayed trial asks as the recorded one did: planner-2 asks the embedded model once, and others again for what lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base.errors import UsageError
from workbench.engine.document import AgentContext, Assignment
from workbench.engine.records import recorded_model
from workbench.plans.plan import DocumentPlan
from workbench.repository import View
from workbench.session import SessionWriter, create


def session_of(path: Path, model: str) -> str:
    create(path)
    with SessionWriter(path) as writer:
        writer.add_run("run", "document", DocumentPlan(cases=("word_counter",), model=model).to_json())
    return f"replay:{path}"


def test_the_recorded_model_decides_how_an_agent_asks(home: Path, tmp_path: Path) -> None:
    recorded = session_of(tmp_path / "first.session", "local")
    again = session_of(tmp_path / "second.session", recorded)
    assert recorded_model("openai/m") == "openai/m"
    assert recorded_model(recorded) == recorded_model(again) == "local"
    with pytest.raises(UsageError):
        recorded_model("replay:nowhere")

    def constrained(model: str, recorded: str = "") -> bool:
        assignment = Assignment("demo", "A project.")
        return AgentContext(assignment, View(tmp_path), None, None, model=model, recorded=recorded).is_constrained  # type: ignore[arg-type]

    assert constrained("local")
    assert constrained(again, recorded_model(again))
    assert not constrained(again, "openai/m")
