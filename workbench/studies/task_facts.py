"""What is known of the functions of a study besides their verdicts: size, coverage of their tests, length and leakage of docs.

Lengths are those that the session has of each text, so that no text is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workbench.results.studies import TaskFacts, task_facts
from workbench.session.reader import SessionReader
from workbench.studies.cells import Cell, pass_of
from workbench.studies.outcome import StudyOutcome


@dataclass(slots=True)
class FunctionFacts:
    """A function of a row under all columns that have it: its facts by name of the column, and pass@k by that and measure."""

    row: str
    file: str
    name: str
    tests: int
    facts: dict[str, TaskFacts] = field(default_factory=dict)
    passed: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def first(self, of: str) -> float | None:
        """Return a fact that is the same under every doc system, of the first column that has it."""
        return next((value for one in self.facts.values() if (value := getattr(one, of)) is not None), None)


def function_facts(reader: SessionReader, outcome: StudyOutcome) -> tuple[FunctionFacts, ...]:
    """Return the functions of a study of docs, row by row."""
    known = _facts(reader, outcome.cells.values())
    found: dict[tuple[str, str, str], FunctionFacts] = {}
    for row in outcome.rows:
        for column in outcome.columns:
            work = outcome.cell(row, column).work
            for task in work.tasks:
                key = (row, task.file, task.name)
                mine = found.setdefault(key, FunctionFacts(*key, task.tests))
                told = known[work.session].get(task.task, TaskFacts(task.task))
                mine.facts[column.name] = told._replace(documented=bool(task.documented))
                mine.passed[column.name] = {f"pass@{k}": pass_of(task, k) for k in outcome.study.k}
    return tuple(found.values())


def _facts(reader: SessionReader, cells: Iterable[Cell]) -> dict[str, dict[str, TaskFacts]]:
    found: dict[str, dict[str, TaskFacts]] = defaultdict(dict)
    for session, runs in runs_by_session(cells).items():
        with session_of(reader, session) as place:
            found[session] = task_facts(place, runs)
    return found


def runs_by_session(cells: Iterable[Cell]) -> Mapping[str, list[str]]:
    """Return the runs of cells by the session that has them, "" for the study's own."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.run:
            found.setdefault(cell.work.session, {})[cell.run] = None
    return {session: list(runs) for session, runs in found.items()}


@contextmanager
def session_of(reader: SessionReader, session: str) -> Iterator[SessionReader]:
    """Open the session of a cell; "" is the one that is open already."""
    if not session:
        yield reader
        return
    with SessionReader(Path(session), surveyed=False) as other:
        yield other
