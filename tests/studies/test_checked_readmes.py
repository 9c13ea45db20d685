"""Measures of checked READMEs in a study, against the numbers that were recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from studies.declared_studies import put_agents

from workbench.session import SessionReader, SessionWriter
from workbench.session.identity import trial_id
from workbench.studies.comparing import compare
from workbench.studies.declaration import StudyColumn, StudySettings, in_points
from workbench.studies.outcome import StudyOutcome
from workbench.studies.study_reader import read_study

WHITE, SINGLE = StudyColumn("white", "local"), StudyColumn("single-file", "local")
SCORES = {("a", "white"): [80.0], ("b", "white"): [60.0], ("a", "single-file"): [70.0], ("b", "single-file"): [50.0]}
COUNTS = ("works", "fails", "differs", "not_run", "claims_true", "claims_untrue", "claims_unknown")


def put_check(
    writer: SessionWriter, agent: str, case: str, counts: tuple[object, ...], executed: int = 1, rules: int = 1
) -> None:
    key = (trial_id(agent, "local", case, 1), executed, 10.0, rules)
    writer.put_check(key, "checks")
    blob = writer.blob("{}")
    writer.set_check(key, state="done", result_blob=blob, **dict(zip(COUNTS, counts, strict=True)))


@pytest.fixture
def outcome(tmp_path: Path) -> StudyOutcome:
    path = tmp_path / "checked.session"
    study = put_agents(path, SCORES)
    study = replace(study, settings=StudySettings(checks=True))
    with SessionWriter(path) as writer:
        writer.put_study(study.name, study.to_json())
        put_check(writer, "white", "a", (3, 1, 0, 2, 9, 1, 5))
        put_check(writer, "white", "b", (0, 0, 0, 4, 4, 0, 0))  # nothing was run: no share, and no 0
        put_check(writer, "single-file", "a", (1, 0, 1, 0, 1, 1, 0), rules=0)
        put_check(writer, "single-file", "a", (1, 0, 0, 0, 2, 0, 0))  # newer rules count
        put_check(writer, "single-file", "a", (0, 9, 0, 0, 0, 9, 0), executed=0, rules=2)  # claims alone count less
        put_check(writer, "single-file", "b", ("many", 0, 0, 0, 1, 0, 0))  # damaged
    with SessionReader(path) as reader:
        return read_study(reader, study.name)


def test_works_and_claims_are_shares_in_points_of_100(outcome: StudyOutcome) -> None:
    assert outcome.study.measures == ("score", "works", "claims")
    assert all(map(in_points, outcome.study.measures))
    cell = outcome.cell("a", WHITE)
    assert cell.means["works"].value == pytest.approx(75.0)
    assert cell.means["claims"].value == pytest.approx(90.0)
    nothing_run = outcome.cell("b", WHITE).means["works"]
    assert (nothing_run.value, nothing_run.items, nothing_run.undefined) == (None, 0, 1)
    assert outcome.cell("b", WHITE).means["claims"].value == pytest.approx(100.0)


def test_the_check_that_counts_is_the_one_that_ran_by_the_newest_rules(outcome: StudyOutcome) -> None:
    assert outcome.cell("a", SINGLE).means["works"].value == pytest.approx(100.0)
    assert outcome.cell("b", SINGLE).means["works"].value is None


def test_points_are_untouched_and_columns_compare_by_each_measure(outcome: StudyOutcome) -> None:
    assert outcome.cell("a", WHITE).means["score"].value == pytest.approx(80.0)
    by_works = compare(outcome, WHITE, SINGLE, "works")
    assert [(pair.row, pair.difference) for pair in by_works.pairs if pair.difference is not None] == [("a", 25.0)]
