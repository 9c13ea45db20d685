"""What was made under other conditions is not compared; figures of candidates say what they are of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from studies.declared_studies import PROMPT
from studies.partial_studies import (
    CASES,
    FAILED,
    FULL,
    PASSED,
    Agents,
    docs_of,
    mean_of,
    places,
    put_candidate,
    put_docs,
    report,
    tiers_of,
)

from workbench.session import SessionReader, SessionWriter
from workbench.studies.comparing import compare, not_ranked, rankings
from workbench.studies.declaration import StudyColumn, StudySettings
from workbench.studies.leaderboard import leaderboard
from workbench.studies.study_reader import StudyReader


def test_columns_of_others_are_not_compared_where_cases_or_limits_differ(tmp_path: Path) -> None:
    other = Agents(tmp_path / "other.session")
    mine = Agents(tmp_path / "mine.session", results=(f"session:{other.path}",))
    for case in CASES:
        mine.put("white", case, {"offline-4": FULL}, plan={"max_steps": 15, "read_limit": 1800}, content="c" * 40)
        other.put(
            "white", case, {"offline-4": tiers_of(90.0)}, plan={"max_steps": 30, "read_limit": 1800}, content="d" * 40
        )
    outcome = mine.read()
    own, theirs = outcome.columns
    found = compare(outcome, own, theirs)
    assert not found.comparable
    assert found.differing == ("limit of steps 15 and 30", f"content of the case {'c' * 12} and {'d' * 12}")
    assert (found.difference.value, found.values) == (None, [])
    assert places(outcome)["white"] in ((None, 3), (1, 3))
    assert [one.place for one in leaderboard(outcome)] == [1, None]
    assert not any(one.items for one in rankings(outcome))


def test_a_judge_of_others_is_named(tmp_path: Path) -> None:
    other = Agents(tmp_path / "other.session")
    mine = Agents(tmp_path / "mine.session", StudySettings(judges=("openai/gpt",)), results=(f"session:{other.path}",))
    for case in CASES:
        mine.put("white", case, {"openai/gpt": FULL})
        other.put("planner", case, {"offline-4": FULL})
    outcome = mine.read()
    cell = outcome.cell(CASES[0], outcome.columns[1])
    assert cell.problem == "1 unscored: scored by offline-4, this study by openai/gpt: rescore"
    assert any("scored by offline-4, this study by openai/gpt: rescore" in one for one in outcome.problems)


@pytest.mark.parametrize(
    ("otherwise", "differing"),
    [
        (
            {"scope": "target", "prompt": "short-1", "context": "tail-1", "samples": 1},
            {
                "docs scope repository and target",
                "prompt paper-content-1 and short-1",
                "context prefix-1 and tail-1",
                "samples a task 3 and 1",
            },
        ),
        (
            {"settings": '{"max_tokens":2048,"temperature":0.0}', "snapshot": "another of {}"},
            {"temperature 1.0 and 0.0", "top p 0.95 and not set", "snapshot snapshot of one and another of one"},
        ),
    ],
)
def test_a_column_of_others_that_was_made_otherwise_is_not_compared(tmp_path, otherwise, differing):
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    verdicts = PASSED[: int(str(otherwise.get("samples", 3)))]
    put_docs(other, {"original": [verdicts] * 4}, **otherwise)  # type: ignore[arg-type]
    put_docs(path, {"none": [PASSED, FAILED, FAILED, FAILED]}, results=(f"session:{other}",))
    outcome = docs_of(path)
    own, theirs = outcome.columns
    found = compare(outcome, own, theirs)
    assert not found.comparable
    assert {one.partition(" (")[0].partition(";")[0] for one in found.differing} == differing
    assert found.difference.value is None
    assert rankings(outcome) == ()
    assert [(left, right) for left, right, _ in not_ranked(outcome)] == [(own, theirs)]
    text = report(path, "docs").replace("\\", "")
    assert all(one in text for one in differing)
    assert outcome.by_row[0].best["pass@1"] == (own.name,)


def test_a_column_of_others_made_alike_is_compared_and_rows_made_otherwise_are_left_out(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED, PASSED, FAILED]})
    put_docs(path, {"none": [PASSED, FAILED, FAILED]}, results=(f"session:{other}",))
    assert compare(docs_of(path), *docs_of(path).columns).difference.value == pytest.approx(1 / 3)
    with SessionWriter(other) as writer, writer.transaction() as connection:
        connection.execute("UPDATE tasks SET snapshot = 'changed' WHERE run_id = 'one-original'")
    outcome = docs_of(path)
    found = compare(outcome, *outcome.columns)
    assert (found.comparable, found.apart, list(found.by_row)) == (True, {"one"}, ["two", "three"])
    assert found.differing == ("snapshot snapshot of one and changed (one)",)
    assert {one.items for one in rankings(outcome)} == {6}


def test_of_several_groups_of_others_the_one_that_was_made_alike_is_taken_and_the_rest_named(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED, FAILED]})
    with SessionReader(other) as reader:
        tasks = {run.id: [task.id for task in reader.tasks(run.id)] for run in reader.runs()}
    with SessionWriter(other) as writer, writer.transaction():
        for run, mine in tasks.items():
            for task in mine:
                for sample in range(5):
                    put_candidate(writer, run, task, sample, "passed", prompt="short-1")
    put_docs(path, {"none": [PASSED, FAILED]}, results=(f"session:{other}",))
    outcome = docs_of(path)
    assert mean_of(outcome, "original") == 0.5
    assert outcome.cell("one", outcome.columns[1]).work.left_out == (
        "10 samples with samples a task 5, prompt short-1",
    )


def test_the_method_names_what_each_column_was_made_under(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED]}, scope="target", prompt="short-1")
    put_docs(path, {"none": [PASSED]}, results=(f"session:{other}",))
    method = json.loads(report(path, "docs", "json"))["method"]
    made = {one["column"]: (one["docs scope"], one["prompt"]) for one in method["tables"]["Conditions of each column."]}
    assert made == {"none": ("repository", PROMPT), "original (other.session)": ("target", "short-1")}
    assert "docs scope" not in method["facts"]


def test_archived_runs_count_in_no_cell_of_docs(tmp_path: Path) -> None:
    path = tmp_path / "away.session"
    put_docs(path, {"original": [PASSED, FAILED], "none": [FAILED, FAILED]})
    with SessionReader(path) as reader:
        watching = StudyReader(reader, "docs")
        assert mean_of(watching.look(), "none") == 0.0
        with SessionWriter(path) as writer:
            for row in ("one", "two", "three"):
                writer.archive_run(f"{row}-none")
        outcome = watching.look()
        assert (mean_of(outcome, "original"), mean_of(outcome, "none")) == (0.5, None)
        assert (outcome.cell("one", "none · m").state, outcome.finished) == ("missing", False)
        assert outcome.cost_usd == pytest.approx(0.018)
        with SessionWriter(path) as writer:
            for row in ("one", "two", "three"):
                writer.unarchive_run(f"{row}-none")
        assert mean_of(watching.look(), "none") == 0.0
    assert "archived" not in report(path, "docs").replace("Archived runs are excluded", "")


def test_doubtful_and_repaired_passes_are_counted_and_ranked_with_and_without(tmp_path: Path) -> None:
    path = tmp_path / "doubt.session"
    put_docs(
        path,
        {"original": [PASSED, FAILED], "osa": [PASSED, PASSED]},
        extra={"doubtful": "it could have forged it", "repairs": 1},
    )
    outcome = docs_of(path)
    assert outcome.cell("one", "osa · m").doubts == {"doubtful": 6, "repaired": 6}
    found = {one.setting.without: one.words for one in rankings(outcome) if one.setting.weighting == "repositories"}
    assert found == {"": "osa > original", "doubtful": "original > osa", "repaired": "original > osa"}
    text = report(path, "docs")
    assert "6 doubtful, 6 repaired" in text
    assert "without doubtful" in text


def test_answers_cut_at_the_token_limit_are_counted_and_ranked_with_and_without(tmp_path: Path) -> None:
    path = tmp_path / "cut.session"
    put_docs(
        path, {"original": [PASSED, FAILED], "none": [("passed", "passed", "failed"), ("failed", "failed", "failed")]}
    )
    with SessionWriter(path) as writer, writer.transaction() as connection:
        connection.execute(
            "INSERT INTO calls (id, scope, purpose, model, digest, sample, nth, messages_blob, sampling, finish_reason, attempts, source, "
            "started_at) VALUES (1, '', 'evaluator', 'm', '', 0, 0, '', '{}', 'length', '[]', 'model', 0)"
        )
        connection.execute("UPDATE candidates SET call_id = 1 WHERE run_id LIKE '%-none' AND sample = 2")
    outcome = docs_of(path)
    assert outcome.cell("one", "none · m").doubts == {"cut": 2}
    found = {one.setting.without: one.words for one in rankings(outcome) if one.setting.weighting == "repositories"}
    assert found == {"": "original > none", "cut": "none = original"}


def test_a_mean_of_fewer_tasks_says_of_how_many_and_the_common_ones_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "partial.session"
    waiting: tuple[None, ...] = (None,) * 3
    put_docs(path, {"original": [PASSED, PASSED, FAILED], "osa": [PASSED, PASSED, waiting]}, state="cancelled")
    outcome = docs_of(path)
    assert outcome.common["pass@1"].to_json() == {"items": 6, "of": 9, "means": {"original · m": 1.0, "osa · m": 1.0}}
    text = report(path, "docs")
    assert "of 6 of 9 tasks" in text
    assert "mean of 6 common tasks" in text
    assert not outcome.finished


def test_own_columns_of_other_models_may_have_prompts_that_fit_these(tmp_path: Path) -> None:
    from workbench.studies.conditions import differing

    path = tmp_path / "models.session"
    put_docs(path, {"none": [PASSED]}, rows=("one",))
    work = docs_of(path).cell("one", "none · m").work
    other = replace(
        work, column=StudyColumn("none", "n"), conditions={**work.conditions, "prompt": "short-1", "temperature": "0.0"}
    )
    assert differing(work, other) == {}
    assert set(differing(work, replace(other, session="other.session"))) == {"prompt", "temperature"}
    assert set(differing(work, replace(other, column=work.column))) == {"prompt", "temperature"}


def test_errors_of_ours_leave_a_task_without_a_value_and_the_cell_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "errors.session"
    put_docs(path, {"none": [PASSED, ("error",) * 3]})
    outcome = docs_of(path)
    mean = outcome.by_column[0].means["pass@1"]
    assert (mean.value, mean.items, mean.undefined) == (1.0, 3, 3)
    assert "workbench errors" in mean.missing[0].why
    assert not outcome.finished
