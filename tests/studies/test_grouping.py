"""Rows of a study in groups: repositories by what they are, tasks by file and stratum; a group's mean is that of its rows."""

from __future__ import annotations

import random
import statistics
from pathlib import Path

import pytest
from studies.declared_studies import put_agents, put_matrix

from workbench.session import SessionReader, SessionWriter
from workbench.studies.grouping import FILE, UNKNOWN, RowFacts, facts_of, grouped, groupings
from workbench.studies.outcome import StudyOutcome
from workbench.studies.study_reader import read_study


@pytest.fixture
def docs(tmp_path: Path) -> tuple[StudyOutcome, RowFacts]:
    path = tmp_path / "matrix.session"
    put_matrix(path, 3, 2, 1, 3, 6, random.Random(4))
    with SessionWriter(path) as writer, writer.transaction() as connection:
        # What the engine notes of tasks; of the last function nothing.
        connection.execute(
            "UPDATE tasks SET start_line = 1, end_line = 1 + 8 * position, coverage = 1 - 0.15 * position"
        )
        connection.execute("UPDATE tasks SET start_line = NULL, coverage = NULL WHERE position = 5")
    with SessionReader(path) as reader:
        outcome = read_study(reader, "matrix")
        return outcome, facts_of(reader, outcome)


def test_files_stand_below_their_repository(docs: tuple[StudyOutcome, RowFacts]) -> None:
    outcome, facts = docs
    first = grouped(outcome, FILE, facts)[0]
    assert first.title == "repository00"
    assert [part.title for part in first.parts] == ["pkg/file0.py", "pkg/file1.py", "pkg/file2.py"]
    column = outcome.columns[0].name
    whole = outcome.cell("repository00", column)
    assert first.means[column]["pass@1"] == whole.means["pass@1"]
    assert sum(part.cells[column].means["pass@1"].items for part in first.parts) == whole.means["pass@1"].items == 6
    assert sum(part.cells[column].done for part in first.parts) == whole.done
    assert {part.cells[column].state for part in first.parts} == {"done"}
    assert {part.row for part in first.parts} == {"repository00"}


def test_strata_go_from_low_to_high_and_every_task_is_in_one(docs: tuple[StudyOutcome, RowFacts]) -> None:
    outcome, facts = docs
    assert groupings(outcome, facts) == (FILE, "function length", "coverage")
    groups = grouped(outcome, "function length", facts)
    assert [group.title for group in groups] == ["up to 5 lines", "6 to 15 lines", "more than 15 lines", UNKNOWN]
    column = outcome.columns[1].name
    assert sum(part.cells[column].means["pass@3"].items for group in groups for part in group.parts) == 18
    longest = groups[2]
    values = [part.cells[column].means["pass@1"].value for part in longest.parts]
    assert longest.means[column]["pass@1"].value == pytest.approx(statistics.fmean(value or 0.0 for value in values))
    assert longest.means[column]["pass@1"].rows == 3
    assert [group.title for group in grouped(outcome, "coverage", facts)][-2:] == ["all lines covered", UNKNOWN]


def test_cases_are_grouped_by_domain_kind_and_size(tmp_path: Path) -> None:
    path = tmp_path / "agents.session"
    put_agents(path, {(case, "white"): [70.0, 50.0] for case in ("word_counter", "python-dotenv", "/srv/mine")})
    with SessionWriter(path) as writer, writer.transaction():
        writer.add_snapshot("s" * 64, "folder:x", "", [("a.py", 900), ("b.py", 100)])
        for trial in writer_trials(path, "word_counter"):
            writer.set_trial(trial, snapshot="s" * 64)
    with SessionReader(path) as reader:
        outcome = read_study(reader, "agents")
        facts = facts_of(reader, outcome)
    assert facts.rows["word_counter"]["size"] == 1000
    assert groupings(outcome, facts) == ("domain", "kind", "size")
    kinds = {group.title: [part.title for part in group.parts] for group in grouped(outcome, "kind", facts)}
    assert kinds["synthetic"] == ["word_counter"]
    assert [group.title for group in grouped(outcome, "size", facts)] == ["up to 20 kB", UNKNOWN]


def writer_trials(path: Path, case: str) -> list[str]:
    with SessionReader(path) as reader:
        return [trial.id for trial in reader.trials() if trial.case_id == case]
