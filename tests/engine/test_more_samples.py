"""More samples are asked of the evaluator that is named or meant, never of the one that happened to be asked last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.base.errors import UsageError
from workbench.orders import launching
from workbench.orders.rerun import RerunOrder
from workbench.plans.plan import Ask, RegenerationPlan
from workbench.session import SessionReader, SessionWriter, create

RUN = "regen-1"
FIRST, SECOND = "openai/gpt-5", "openai/gpt-5-mini"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run of which two paid models were asked, the cheaper one last, two samples of one task each."""
    for name in ("DATA", "STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"WORKBENCH_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("OPENAI_API_KEY", "none-is-asked")
    # What is ordered is what matters here; no engine is to take it up and ask.
    monkeypatch.setattr(launching, "launch", lambda *_: None)
    path = tmp_path / "demo.session"
    create(path)
    asks = (Ask(FIRST, 2, prompt="paper-1", context="prefix-1"), Ask(SECOND, 2, prompt="short-1", context="function-1"))
    plan = RegenerationPlan("word_counter", evaluator=SECOND, samples=2, asks=asks)
    with SessionWriter(path) as writer:
        writer.add_run(RUN, "regenerate", plan.to_json())
        writer.set_run(RUN, state="done")
        task = {
            "id": "task-1", "run_id": RUN, "position": 0, "snapshot": "s", "path": "a.py", "qualified_name": "f",
            "occurrence": 1, "start_line": 1, "end_line": 2, "tests": json.dumps(["t::a"]),
        }  # fmt: skip
        writer.insert("tasks", task)
        for evaluator in (FIRST, SECOND):
            for sample in range(2):
                row = {"id": f"{evaluator}-{sample}", "run_id": RUN, "task_id": "task-1", "evaluator": evaluator}
                writer.insert(
                    "candidates", {**row, "sample": sample, "control": 0, "state": "done", "verdict": "failed"}
                )
    return path


def asks(session: Path) -> dict[str, int]:
    """Return how many samples each evaluator of the run is asked for."""
    with SessionReader(session) as reader:
        (run,) = reader.runs()
    found: dict[str, int] = {}
    for ask in RegenerationPlan.from_json(run.config).asks:
        found[ask.evaluator] = max(found.get(ask.evaluator, 0), ask.samples)
    return found


@pytest.mark.parametrize("options", [{}, {"failed": True}, {"item": "f"}])
def test_which_of_several_evaluators_is_asked_and_nothing_is_billed_meanwhile(session: Path, options: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(UsageError, match=f"{FIRST} and {SECOND}; choose one with --model"):
        RerunOrder(session, samples=5, **options).begin()
    assert asks(session) == {FIRST: 2, SECOND: 2}


def test_the_named_evaluator_gets_more_with_its_own_wording(session: Path) -> None:
    (order,) = RerunOrder(session, model=FIRST, samples=5).begin().orders
    assert not isinstance(order, str)
    assert (order.ask.prompt, order.ask.context) == ("paper-1", "prefix-1")
    assert asks(session) == {FIRST: 5, SECOND: 2}


def test_a_candidate_says_whose_samples_are_meant(session: Path) -> None:
    RerunOrder(session, f"{FIRST}-1", samples=5).begin()
    assert asks(session) == {FIRST: 5, SECOND: 2}
