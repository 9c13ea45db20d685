"""The rules by which samples become figures, and what stands beside them on every face."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from app.regenerated import EVALUATOR, RUN, Recorder

from workbench.app.regeneration.wording import progress
from workbench.commands.summaries import figures
from workbench.commands.summaries import order_summary as summary
from workbench.pages import write_report
from workbench.regeneration.outcome import TaskResult, group_outcomes, ks_of, pass_figures, totals
from workbench.regeneration.self_check import self_check
from workbench.results.contents import regenerated
from workbench.results.regeneration_runs import load_view
from workbench.session import SessionReader
from workbench.session.groups import Group
from workbench.session.sample_counts import SampleCount

ONE, OTHER = Group("original", "model-a", "paper-1", "prefix-1"), Group("original", "model-b", "paper-1", "prefix-1")
DONE = SampleCount(ONE, False, "t", False, True, "done", "passed", began=100.0, ended=110.0)


def test_a_group_that_is_done_takes_no_more_time_while_another_works() -> None:
    """The run's end was the end of every group: hours that a second model took were told of the first."""
    assert totals([DONE], now=5000.0).elapsed_s == 10.0
    waiting = replace(DONE, group=OTHER, state="queued", verdict="", began=None, ended=None)
    assert totals([replace(DONE, group=OTHER), waiting], now=5000.0).elapsed_s == 4900.0
    # Nobody works on it any more.
    assert totals([replace(DONE, group=OTHER), waiting], now=None).elapsed_s == 10.0
    assert totals([waiting], now=5000.0).elapsed_s is None


def test_in_the_app_each_group_has_its_own_time(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "two.session")
    recorder.run(state="done", evaluator="model-b")
    task = recorder.task("f", 0)
    recorder.cells(task, "✓✓✓", evaluator="model-a", at=100.0)
    recorder.cells(task, "✓✓✓", evaluator="model-b", at=9000.0)
    recorder.writer.set_run(RUN, started_at=90.0, finished_at=9010.0)
    with SessionReader(recorder.path) as reader:
        view = load_view(reader, RUN, Group("original", "model-a"))
    assert view is not None
    assert view.totals.elapsed_s == pytest.approx(2 + 3.1 + 0.03)
    assert progress(view).endswith("done, 3 samples in 5 s")
    recorder.close()


def test_samples_that_are_tested_again_count_with_the_whole_group(tmp_path: Path) -> None:
    """The headline counted what was left, "2 of 6 to test again", as if the group had shrunk to it."""
    recorder = Recorder(tmp_path / "again.session")
    recorder.run(state="done")
    for place, name in enumerate("fg"):
        recorder.cells(recorder.task(name, place), "✓✗✗", state="queued" if place else "done")
    with SessionReader(recorder.path) as reader:
        view = load_view(reader, RUN)
    assert view is not None
    assert (view.totals.decided, view.totals.samples, view.totals.retesting) == (6, 6, 3)
    assert dict(view.totals.verdicts) == {"passed": 2, "failed": 4}
    assert "6 of 6 · 3 to test again" in progress(view)
    recorder.close()


def test_samples_of_a_task_that_was_taken_out_count_only_in_the_controls() -> None:
    out = replace(DONE, task="u", excluded=True, verdict="failed")
    assert dict(totals([DONE, out]).verdicts) == {"passed": 1}
    control = replace(out, group=Group("original", "stub"), control=True, verdict="passed")
    check = self_check([DONE, control], 2)
    assert (check.controls[0].wrong, check.suspect) == (1, True)


def test_doubtful_passes_are_figures_of_their_own() -> None:
    results = [
        TaskResult(f"t{n}", "r", "f.py", leaking=False, counted=2, passed=2, doubtful=n % 2, waiting=0)
        for n in range(6)
    ]
    figures = pass_figures(results, (1, 2))
    assert [estimate.value for estimate in figures.pass_at] == [1.0, 1.0]
    assert (figures.doubtful, figures.without_doubtful) == (3, (0.75, 1.0))


def test_repairs_and_undocumented_functions_are_figures_of_their_own() -> None:
    results = [
        TaskResult(f"t{n}", "r", "f.py", False, counted=2, passed=n % 3, repaired=min(1, n % 3), documented=n < 2)
        for n in range(6)
    ]
    figures = pass_figures(results, (1, 2))
    # By hand: 0, 1, 2, 0, 1, 2 of 2 pass; without repairs 0, 0, 1, 0, 0, 1; of the documented ones 0 and 1.
    assert [estimate.value for estimate in figures.pass_at] == [0.5, pytest.approx(4 / 6)]
    assert (figures.repaired, figures.without_repairs) == (4, (pytest.approx(1 / 6), pytest.approx(2 / 6)))
    assert (figures.documented, figures.of_documented) == (2, (0.25, 0.5))
    assert figures.more_json()["documented_share"] == pytest.approx(2 / 6)


def test_our_errors_are_no_samples() -> None:
    rows = [DONE, replace(DONE, verdict="error"), replace(DONE, verdict="failed")]

    class Task:
        id, snapshot, path, leak, docstring_blob, state = "t", "r", "f.py", 0.0, None, "ready"

    (outcome,) = group_outcomes(rows, [Task()], (1, 2, 3))  # type: ignore[list-item]
    assert [estimate.value for estimate in outcome.figures.pass_at] == [0.5, 1.0, None]
    assert outcome.to_json()["pass_at_k"]["1"]["interval"] == "No interval: 1 task is too few (3 are needed)."


@pytest.mark.parametrize(
    ("plan", "ks"), [({"k": [3, 1, 3]}, (1, 3)), ({"k": 2}, (2,)), ({"k": [0, True, "x"]}, (1, 3))]
)
def test_ks_are_read_from_a_plan(plan: dict[str, object], ks: tuple[int, ...]) -> None:
    assert ks_of(plan) == ks


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


def test_commands_and_reports_mark_cut_answers_and_missing_samples(session: Path) -> None:
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
