"""Studies over the trials that the sessions of :mod:`states` have already, so that nothing else in these looks different."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.session import SessionWriter
from workbench.session.rows import StudyCellRow
from workbench.studies.declaration import AGENTS, Study, StudyColumn

Cells = Mapping[tuple[str, StudyColumn], tuple[str | None, Sequence[str], str | None]]
"""Run, trials and problem by row and column."""


def put_study(
    path: Path, name: str, rows: Sequence[str], columns: Sequence[StudyColumn], repeats: int, cells: Cells
) -> None:
    """Record a study of agents whose cells point to trials that are there."""
    study = Study(
        name, AGENTS, tuple(rows), tuple(columns), repeats=repeats, title="Which agent writes the best README?"
    )
    found = [
        StudyCellRow(name, row, column.name, place, run, json.dumps({"trials": list(trials)}), problem)
        for place, ((row, column), (run, trials, problem)) in enumerate(cells.items())
    ]
    with SessionWriter(path) as writer:
        writer.put_study(name, study.to_json())
        writer.update("studies", {"name": name}, {"created_at": 1.7e9})
        writer.put_study_cells(found, instead_of=name)


def by_cell(path: Path) -> dict[tuple[str, StudyColumn], tuple[str | None, Sequence[str], str | None]]:
    """Return the trials of a session by case, and agent with model."""
    from workbench.session import SessionReader

    found: dict[tuple[str, StudyColumn], tuple[str | None, list[str], str | None]] = {}
    with SessionReader(path) as reader:
        for trial in reader.trials():
            key = trial.case_name, StudyColumn(trial.agent, trial.model)
            found.setdefault(key, (trial.run_id, [], None))[1].append(trial.id)
    return dict(found)
