"""Regeneration runs that cannot be: refused before anything is written, or failed with one sentence that says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.following import ended, error
from engine.regenerating import start
from engine.tiny_repository import SOURCE, SUITE, make_repository

from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader

Until = Callable[..., Any]
pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]


def plan_of(session: Path, run: str) -> RegenerationPlan:
    with SessionReader(session) as reader:
        row = reader.run(run)
    assert row is not None
    return RegenerationPlan.from_json(row.config)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "suite", "words"),
    [
        (SOURCE, SUITE.replace("==", "!="), "test"),
        (SOURCE, "def test_nothing():\n    assert True\n", "executed by no stable test"),
        ("def broken(:\n", SUITE, "test"),
    ],
    ids=["failing-suite", "tests-of-nothing", "syntax-error"],
)
def test_an_unusable_repository_is_one_sentence(session, tmp_path, until, source, suite, words):
    run = start(session, make_repository(tmp_path / "bad", source, suite), evaluator="reference")
    assert ended(session, run, until) == "failed"
    sentence = error(session, run)
    assert words in sentence, sentence
    assert "Traceback" not in sentence
    assert "defect" not in sentence
    with SessionReader(session) as reader:
        # All stages are done where the last one says that nothing is left.
        failed = "failed" in {stage.state for stage in reader.stages(run)}
    assert failed == ("no task" not in sentence)


@pytest.mark.slow
def test_a_repository_without_a_task_fails_for_good_until_another_order(session, tmp_path, until):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "values.py").write_text("ONE = 1\n")
    (bare / "test_values.py").write_text("from values import ONE\n\ndef test_one():\n    assert ONE == 1\n")
    run = start(session, bare, evaluator="reference")
    assert ended(session, run, until) == "failed"
    assert plan_of(session, run).permanent_failure
    with SessionReader(session) as reader:
        assert "no Python functions" in (reader.run(run).error or "")  # type: ignore[union-attr]
    assert order_regeneration(session, RegenerationPlan(str(bare), evaluator="stub")).run == run
    assert not plan_of(session, run).permanent_failure
