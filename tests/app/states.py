"""Sessions in the states in which every screen is looked at: empty, live, building tasks, failed, huge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import recorded
import regenerated
from compared import shorter_trial
from many_trials import many_trials
from samples.usage_runs import add_usage_run

from workbench.session import SessionReader, SessionWriter, create
from workbench.session.rows import StudyCellRow
from workbench.studies.declaration import AGENTS, Study, StudyColumn

_WHITE, _SINGLE = StudyColumn("white", "local"), StudyColumn("single-file", "local")
LONG = "a_rather_long_name_that_no_column_can_hold_" * 3
"""A name that has to be cut wherever it is shown."""


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
    found: dict[tuple[str, StudyColumn], tuple[str | None, list[str], str | None]] = {}
    with SessionReader(path) as reader:
        for trial in reader.trials():
            key = trial.case_name, StudyColumn(trial.agent, trial.model)
            found.setdefault(key, (trial.run_id, [], None))[1].append(trial.id)
    return dict(found)


def empty(path: Path) -> None:
    """A session without a run."""
    create(path)


def live(path: Path) -> None:
    """A trial that is done, one at work and one that waits; a regeneration with cells at work."""
    made = recorded.Recorder(path)
    made.run(state="running")
    recorded.word_counter(made, "t1")
    made.trial("t2", repeat=2, state="running")
    made.snapshot("t2")
    made.tool("t2", 1, "list_directory", ".", "[]", thought="I look around first.")
    made.trial("t3", repeat=3)
    made.close()
    again = regenerated.Recorder(path)
    again.run(state="running")
    tasks = [again.task(name, place) for place, name in enumerate(("count_text", "total", "format_stats"))]
    again.writer.update("runs", {"id": regenerated.RUN}, {"started_at": None})  # no time that grows
    again.controls(tasks)
    for task, cells in zip(tasks, ("✓✗✓", "✗▸·", "···"), strict=True):
        again.cells(task, cells)
    again.close()
    put_study(path, "agents", ("word_counter", "pyfiglet"), (_WHITE, _SINGLE), 3, by_cell(path))


def building(path: Path) -> None:
    """A regeneration whose tasks are being built."""
    made = regenerated.Recorder(path)
    regenerated.building(made)
    made.writer.update("runs", {"id": regenerated.RUN}, {"started_at": None})
    made.close()


def failed(path: Path) -> None:
    """A run whose trials failed, one of them after three steps; a regeneration whose self-checks fail."""
    made = recorded.Recorder(path)
    made.run(state="failed")
    made.writer.set_run(recorded.RUN, error="The key of openai/gpt-4o is refused: 401 Unauthorized.")
    recorded.word_counter(made, "t1", accuracy=None)
    shorter_trial(made, "t2", readme=None)
    made.close()
    again = regenerated.Recorder(path)
    regenerated.troubled(again)
    again.close()
    problem = {("pyfiglet", _SINGLE): (None, (), "The case pyfiglet cannot be fetched: there is no network.")}
    put_study(path, "agents", ("word_counter", "pyfiglet"), (_WHITE, _SINGLE), 2, {**by_cell(path), **problem})


def huge(path: Path) -> None:
    """120 trials, one of 120 steps; 60 tasks with five samples each; names that no column can hold."""
    many_trials(path, 120)
    made = recorded.Recorder(path)
    with made.writer.transaction():
        recorded.word_counter(made, "t1", repeat=400)
        made.writer.update("trials", {"id": "t1"}, {"case_name": LONG, "model": f"replay:/{LONG}/{LONG}.session"})
        for number in range(5, 120):
            made.tool("t1", number, "read_file", f"src/{LONG}/{number}.py", recorded.CODE, cost=0.001 * (number % 7))
    made.close()
    again = regenerated.Recorder(path)
    with again.writer.transaction():
        again.run(samples=5)
        tasks = [
            again.task(f"{LONG}{n}" if n % 3 else f"f{n}", n, path=f"src/{LONG}/{n // 20}.py", tests=1 + n % 30)
            for n in range(60)
        ]
        again.controls(tasks)
        for place, task in enumerate(tasks):
            again.cells(task, "✓✗✓✓!"[place % 5 :] + "✗⧖∅✓✓"[: place % 5])
    again.close()
    cells = by_cell(path)
    rows = [*dict.fromkeys(row for row, _ in cells), *(f"{n:02}_{LONG}" for n in range(40))]
    put_study(path, "agents", rows, list(dict.fromkeys(column for _, column in cells)), 7, cells)


def used(path: Path) -> None:
    """Two trials, one with a README that a usage run measured."""
    made = recorded.Recorder(path)
    made.run()
    recorded.word_counter(made, "t1", readme="# word_counter\n\nCounts.\n")
    recorded.word_counter(made, "t2", repeat=2)
    lines = recorded.README.splitlines()
    with made.writer.transaction():
        places = {
            "used": "python wordcount.py file.txt",
            "wrong": "## Features",
            "option": "| `--words` | only words |",
        }
        add_usage_run(made.writer, recorded.README, {name: lines.index(text) + 1 for name, text in places.items()})
    made.close()


STATES: dict[str, Callable[[Path], None]] = {
    "empty": empty,
    "live": live,
    "building": building,
    "failed": failed,
    "huge": huge,
    "used": used,
}


@contextmanager
def leased(path: Path, state: str) -> Iterator[None]:
    """Hold the leases of the runs of a session that is written, as the engine that works on them does."""
    runs = {"live": (recorded.RUN, regenerated.RUN), "building": (regenerated.RUN,)}.get(state)
    if runs is None:
        yield
        return
    with SessionWriter(path) as writer:
        leases = [writer.acquire(run) for run in runs]
        try:
            yield
        finally:
            for lease in leases:
                writer.release(lease)
