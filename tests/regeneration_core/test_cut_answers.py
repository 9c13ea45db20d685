"""Answers that were cut at a token limit, and samples that are missing, stand beside pass@k on every face."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.regenerated import EVALUATOR, RUN, Recorder

from workbench.commands.closing import figures
from workbench.commands.closing import order_summary as summary
from workbench.pages import write_report
from workbench.results.contents import regenerated
from workbench.results.regeneration_runs import load_view
from workbench.session import SessionReader


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A run of five samples: of the first task all, one of them cut; of the second three."""
    made = Recorder(tmp_path / "a.session")
    made.run(samples=5)
    whole, less = made.task("whole", 0), made.task("less", 1)
    made.cells(whole, "✓✓✓✗✗")
    made.cells(less, "✓✗✗")
    call = made.writer.insert(
        "calls",
        {
            "run_id": RUN, "scope": "s", "purpose": "evaluator", "model": EVALUATOR, "digest": "d", "sample": 0, "nth": 0,
            "messages_blob": made.writer.blob("[]"), "sampling": "{}", "attempts": "[]", "source": "live", "started_at": 1.0,
            "finish_reason": "length",
        },
    )  # fmt: skip
    made.writer.update("candidates", {"task_id": whole, "sample": 4}, {"call_id": call})
    made.close()
    return made.path


def test_a_cut_answer_and_missing_samples_are_said_by_commands_and_reports(session: Path) -> None:
    closing = summary(session, RUN)
    (group,) = closing["groups"]
    assert (group["cut_at_token_limit"], group["samples_per_task"]) == (1, [3, 5])
    with SessionReader(session) as reader:
        row = reader.run(RUN)
        assert row is not None
        found = next(one.figures for one in regenerated(reader, row).groups if not one.control)
    line = figures(found, {**closing, "tasks": group["tasks"]})
    assert "3 to 5 of 5 samples a task" in line
    assert "1 answer cut at the token limit" in line
    for kind in ("md", "html"):
        text = str(write_report(session, kind, None))
        assert "cut at the token limit" in text
        assert "3 to 5" in text


def test_a_run_opens_on_the_evaluator_with_the_most_samples(session: Path) -> None:
    made = Recorder(session)
    made.cells(f"{RUN}-whole", "✓", evaluator="another/model", at=900.0)
    made.close()
    with SessionReader(session) as reader:
        view = load_view(reader, RUN, None)
        named = load_view(reader, RUN, None, "another/model")
    assert view is not None
    assert named is not None
    assert (view.group.evaluator, named.group.evaluator) == (EVALUATOR, "another/model")
