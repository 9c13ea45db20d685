"""A replay asks as the recorded trial did, and takes answers from runs that had the same docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base.errors import UsageError
from workbench.engine.document import AgentContext, Assignment
from workbench.engine.records import has_docs_of, recorded_documenter, recorded_model
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import DocumentPlan, RegenerationPlan
from workbench.repository import View
from workbench.session import SessionReader, SessionWriter, create


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


def test_the_recorded_model_is_that_of_the_same_kind_of_doc_system(home, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "never-used")
    session = tmp_path / "recorded.session"
    for docs in ("llm:openai/gpt-4o", "llm:local", "none"):
        order_regeneration(session, RegenerationPlan("word_counter", docs=docs, evaluator="reference"))
    assert recorded_documenter(f"llm:replay:{session}") == "local"
    assert recorded_documenter(f"repoagent:replay:{session}") == ""
    assert recorded_documenter("llm:local") == recorded_documenter("none") == ""


def test_answers_are_taken_from_runs_that_had_the_same_docs(home: Path, tmp_path: Path) -> None:
    session, again = tmp_path / "recorded.session", tmp_path / "again.session"
    for docs in ("original", "none", "llm:local"):
        order_regeneration(session, RegenerationPlan("word_counter", docs=docs, evaluator="reference"))
        replayed = docs.replace("local", f"replay:{session}")
        order_regeneration(again, RegenerationPlan("word_counter", docs=replayed, evaluator="reference"))
    with SessionReader(session) as recorded, SessionReader(again) as replay:
        recorded_runs = recorded.runs()
        alike = [[test(one) for one in recorded_runs] for run in replay.runs() if (test := has_docs_of(run))]
    assert alike == [[number == place for number in range(3)] for place in range(3)]
