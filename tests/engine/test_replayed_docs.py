"""Whose answers a doc system gets that replays a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.plan import RegenerationPlan
from workbench.engine.regeneration_client import plan_regeneration
from workbench.engine.replayed_docs import recorded_documenter


def test_the_recorded_model_is_that_of_the_same_kind_of_doc_system(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "never-used")
    session = tmp_path / "recorded.session"
    for docs in ("llm:openai/gpt-4o", "llm:local", "none"):
        plan_regeneration(session, RegenerationPlan("word_counter", docs=docs, evaluator="reference"))
    assert recorded_documenter(f"llm:replay:{session}") == "local"
    assert recorded_documenter(f"repoagent:replay:{session}") == ""
    assert recorded_documenter("llm:local") == recorded_documenter("none") == ""
