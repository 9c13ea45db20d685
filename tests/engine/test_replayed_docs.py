"""Whose answers a doc system gets that replays a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.records import has_docs_of, recorded_documenter
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader


def test_the_recorded_model_is_that_of_the_same_kind_of_doc_system(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
