"""Read a study, once or repeatedly while it runs; unchanged parts are neither read nor computed again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.files import expanded
from workbench.results.studies import runs_of_tasks
from workbench.session.reader import SessionReader
from workbench.session.rows import StudyCellRow
from workbench.studies.cell_work import (
    CellWork,
    snapshots_of,
    state_of,
    task_cells,
    tasks_of_others,
    trial_cells,
    trials_of_others,
)
from workbench.studies.conditions import nearest
from workbench.studies.declaration import AGENTS, SESSION, BadStudy, Study
from workbench.studies.outcome import StudyOutcome


def read_study(reader: SessionReader, name: str) -> StudyOutcome:
    """Read a study and compute its figures; to follow a running one, see :class:`StudyReader`. Raises BadStudy."""
    return StudyReader(reader, name).look()


class StudyReader:
    """Reads a study repeatedly while it runs. Raises BadStudy like :func:`declared`."""

    def __init__(self, reader: SessionReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._seen = -1
        self._cells: dict[tuple[str, str], CellWork] | None = None
        self._outcome: StudyOutcome | None = None
        self._others: dict[str, tuple[tuple[object, ...], list[CellWork]]] = {}
        declared(reader, name)

    def look(self) -> StudyOutcome:
        """Return the current state of the study; if nothing has changed, this is the same object as before."""
        newest = self._reader.last_change()
        changed = self._changed_runs(newest)
        if changed is not None:
            changed |= (left := self._left_runs())
            if self._outcome is not None and not left and newest == self._seen:
                return self._outcome
        self._outcome = self._read(changed)
        self._seen = newest
        return self._outcome

    def _left_runs(self) -> set[str]:
        """Return the runs whose state changed without a write, because an engine started or died."""
        known: dict[str, str] = {}
        for cell in (self._cells or {}).values():
            if cell.run and not cell.session and cell.run_state in ("running", "queued", "interrupted"):
                known[cell.run] = cell.run_state
        rows = [row for run in known if (row := self._reader.run(run)) is not None]
        return {row.id for row in rows if state_of(self._reader, row) != known[row.id]}

    def _changed_runs(self, newest: int) -> set[str] | None:
        """Return the runs that changed since the last read, or None for all."""
        if self._cells is None:
            return None
        found: set[str] = set()
        since = self._seen
        tasks: set[str] = set()
        while since < newest and (changes := self._reader.changes(since)):
            for change in changes:
                if change.kind == "study":
                    return None
                if change.kind == "candidate" and change.part:
                    tasks.add(change.part)
                elif change.kind == "run":
                    found.add(change.item)
                elif change.kind in ("task", "stage") and change.part:
                    found.add(change.part if change.kind == "task" else change.item)
            since = changes[-1].seq
        return found | runs_of_tasks(self._reader, tasks)

    def _read(self, changed: set[str] | None) -> StudyOutcome:
        study = declared(self._reader, self._name)
        row = self._reader.study(self._name)
        pointed = self._reader.study_cells(self._name)
        before = self._cells or {}
        if study.kind == AGENTS:
            cells = trial_cells(self._reader, study, pointed)
        else:
            keyed = {(one.row_name, one.column_name): one for one in pointed}
            stale = [one for key, one in keyed.items() if changed is None or one.run_id in changed or key not in before]
            known = {**before, **task_cells(self._reader, study, stale)}
            cells = {key: known[key] for key in keyed if key in known}
        columns = list(study.columns)
        problems: list[str] = []
        own = dict(cells)
        for source in study.results:
            try:
                others = nearest(self._of_others(study, source, pointed), own)
            except WorkbenchError as error:
                problems.append(f"The results of {source} cannot be read: {error}")
                continue
            columns += dict.fromkeys(one.column for one in others)
            cells.update({(one.row, one.column.name): one for one in others})
            if not others:
                problems.append(f"{source} has no result for a row of this study.")
        if row is not None and row.problem:
            problems.append(row.problem)
        self._cells = cells
        return StudyOutcome.of(study, columns, cells, problems, self._outcome)

    def _of_others(self, study: Study, source: str, pointed: Sequence[StudyCellRow]) -> list[CellWork]:
        path = expanded(source.removeprefix(SESSION))
        state = _file_state(path)
        if source not in self._others or self._others[source][0] != state:
            with SessionReader(path) as other:
                read = trials_of_others if study.kind == AGENTS else tasks_of_others
                snapshots = {} if study.kind == AGENTS else snapshots_of(self._reader, pointed)
                self._others[source] = state, read(other, study, source, snapshots)
        return self._others[source][1]


def declared(reader: SessionReader, name: str) -> Study:
    """Return the declaration of a study. Raises BadStudy if it is damaged or the session has no such study."""
    row = reader.study(name)
    if row is None:
        known = ", ".join(one.name for one in reader.studies())
        raise BadStudy(
            f"{reader.path.name} has no study {name!r}; "
            + (f"it has {known}." if known else "`workbench study` starts one.")
        )
    return Study.from_json(row.declaration)


def _file_state(path: Path) -> tuple[object, ...]:
    try:
        status = path.stat()
        return (status.st_mtime_ns, status.st_size)
    except OSError:
        return ()
