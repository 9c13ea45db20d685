"""Import files of other programs into a session, using one transaction per item.

Files and trajectories already in the session are skipped, based on the SHA-256 of their content, so repeating an
interrupted command resumes it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.files import Unreadable, shown
from workbench.base.text import plural
from workbench.interop.formats.reading import Read, own_formats, read_file, read_with
from workbench.interop.formats.recording import record, recorded_trajectory
from workbench.interop.formats.samples import ForeignTask, SampleRecorder
from workbench.interop.formats.trajectory import Trajectory, own_of
from workbench.interop.formats.values import ForeignProblem
from workbench.orders.import_files import file_key, files_of, importer_named, ordered_import
from workbench.plans.plan import ImportPlan
from workbench.session import SessionError, SessionReader, SessionWriter
from workbench.session.identity import imported_id, run_id
from workbench.session.pending_work import is_imported
from workbench.session.rows import RunRow

_MOST_PROBLEMS = 5
"""Maximum number of problems to report per file; further problems are only counted."""
_REPORT_SECONDS = 0.2  # seconds between progress reports


@dataclass
class Tally:
    """The result of an import: counts, problems, and remarks on incomplete files."""

    files: int = 0
    done: int = 0
    added: int = 0
    known: int = 0
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    run: str = ""
    stopped: bool = False

    def sentence(self) -> str:
        parts = [f"{self.added:,} imported"]
        if self.known:
            parts.append(f"{self.known:,} already present")
        if self.problems:
            parts.append(f"{len(self.problems):,} could not be read")
        left = (
            f"; stopped after {self.done:,} of {self.files:,} files; repeat the command to resume"
            if self.stopped
            else ""
        )
        return ", ".join(parts) + f" ({plural(self.files, 'file')}){left}."


def execute(session: Path, run: str) -> int:
    """Run an import as an engine would; the last printed line is the summary."""
    tally = import_files(session, run)
    print(*tally.problems, *tally.remarks, tally.sentence(), sep="\n", flush=True)
    return 130 if tally.stopped else 1 if tally.problems else 0


def import_files(session: Path, run: str, on_progress: Callable[[Tally], None] = lambda tally: None) -> Tally:
    """Import the files of an import run that are not yet in the session.

    ``on_progress`` is called at most five times a second. The run can be cancelled, and is deleted if nothing was new.
    Raises RunHeld, or SessionError if the session is not writable.
    """
    with SessionReader(session) as reader, SessionWriter(session) as writer:
        row = reader.run(run)
        plan = ordered_import(row) if row is not None else None
        if row is None or plan is None:
            raise SessionError(f"{session.name} has no import {run!r}.")
        files = files_of(plan)
        tally = Tally(files=len(files), run=run, stopped=row.state == "cancelled")
        if not tally.stopped:
            work = _Import(reader, writer, row, plan, tally, on_progress)
            state, error = "failed", None
            try:
                work.read(files)
                state = "cancelled" if tally.stopped else "done"
            except KeyboardInterrupt:
                state, tally.stopped = "cancelled", True
            except WorkbenchError as problem:
                error = str(problem)
                raise
            finally:
                work.end(state, error)
    on_progress(tally)
    return tally


class _Import:
    def __init__(
        self,
        reader: SessionReader,
        writer: SessionWriter,
        row: RunRow,
        plan: ImportPlan,
        tally: Tally,
        on_progress: Callable[[Tally], None],
    ) -> None:
        self._reader, self._writer, self._plan, self._tally = reader, writer, plan, tally
        self._on_progress, self._reported = on_progress, time.monotonic()
        self._importer = importer_named(plan.importer, plan.import_folders) if plan.importer else None
        self._formats = own_formats() if self._importer is None else []
        self._run, self._bad = row.id, 0
        self._leases = {row.id: writer.acquire(row.id)}
        writer.set_run(
            row.id,
            state="running",
            started_at=row.started_at or time.time(),
            finished_at=None,
            queue_position=None,
            paused=0,
        )
        # An interrupted import may have created a second run, for items of the other kind.
        self._of_kind: dict[str, str] = {}
        for run in reader.runs():
            beside = is_imported(run) and run.plan["imported"].get("order") == row.id
            if (run.id == row.id and (reader.trials(run.id) or reader.tasks(run.id))) or beside:
                self._of_kind[run.kind] = run.id
            if beside:
                self._leases[run.id] = writer.acquire(run.id)
        self._position = len(reader.trials(self._of_kind.get("document", "")))

    def read(self, files: Sequence[Path]) -> None:
        for path in files:
            self._bad = 0
            try:
                self._file(path)
            except (ForeignProblem, Unreadable) as problem:
                self._problem(path, problem)
            if self._bad > _MOST_PROBLEMS:
                more = self._bad - _MOST_PROBLEMS
                self._tally.problems.append(f"{shown(path.name)} has {more:,} more items that cannot be read.")
            self._tally.done += 1
            self._pause()
            if self._tally.stopped:
                return

    def _pause(self) -> None:
        if time.monotonic() - self._reported < _REPORT_SECONDS:
            return
        self._reported = time.monotonic()
        self._on_progress(self._tally)
        for run, lease in self._leases.items():
            self._writer.renew(lease)
            if "cancel" in self._writer.take_requests(run):
                self._tally.stopped = True

    def _problem(self, path: Path, problem: Exception, place: str = "") -> None:
        self._bad += 1
        if self._bad > _MOST_PROBLEMS:
            return
        # Unreadable already includes the file's name.
        name = f"{shown(path.name)} " if isinstance(problem, ForeignProblem) else ""
        message = str(problem).rstrip(".")
        self._tally.problems.append(f"{name}{message}{f' ({place})' if place else ''}.")

    def _file(self, path: Path) -> None:
        importer = self._importer
        try:
            key = file_key(path, self._plan.importer)
        except OSError as error:
            raise ForeignProblem(f"cannot be read: {(error.strerror or str(error)).lower()}") from None
        if self._reader.imported(key) is not None:
            self._tally.known += 1
            return
        origin = {"format": "", "source": path.name, "digest": key.split(":")[1]}
        sound = True
        recorder: SampleRecorder | None = None
        for found in read_file(path, self._formats) if importer is None else read_with(importer, path):
            origin["format"] = found.format or origin["format"]
            item = found.item
            if found.remark:
                self._tally.remarks.append(f"{shown(path.name)} {found.remark}.")
            elif item is None:
                sound = False
                self._problem(path, ForeignProblem(found.problem), found.place)
            elif isinstance(item, Trajectory):
                self._trajectory(path, origin, found, item)
            else:
                recorder = recorder or SampleRecorder(
                    self._reader, self._writer, partial(self._run_of_tasks, path, found.format), dict(origin)
                )
                new = recorder.task(item) if isinstance(item, ForeignTask) else recorder.candidate(item)
                self._tally.added += new
                self._tally.known += not new
            self._pause()
            if self._tally.stopped:
                return
        if sound:
            self._writer.insert("imported", {"item": key, **origin, "at": time.time()}, conflict="IGNORE")

    def _run_of_tasks(self, path: Path, format: str) -> str:
        plan = {"source": f"{format} {shown(path.name)}", "controls": False, "k": [1], "docs_scope": "target"}
        return self._run_of("regenerate", format, plan)

    def _run_of(self, kind: str, format: str, plan: Mapping[str, object]) -> str:
        """Return the run for items of a kind: the import run for the first kind seen, a second run for the other."""
        if kind not in self._of_kind:
            ordered = {**asdict(self._plan), "count": self._tally.files, "format": format}
            with self._writer.transaction():
                if not self._of_kind:
                    self._of_kind[kind] = self._run
                    config = json.dumps({**plan, "imported": ordered}, ensure_ascii=False, sort_keys=True)
                    self._writer.set_run(self._run, kind=kind, config=config)
                else:
                    self._of_kind[kind] = run = run_id()
                    row = self._reader.run(self._run)
                    self._writer.add_run(run, kind, {**plan, "imported": {"format": format, "order": self._run}})
                    self._writer.set_run(run, state="running", started_at=time.time(), name=row.name if row else None)
                    self._leases[run] = self._writer.acquire(run)
        return self._of_kind[kind]

    def _trajectory(self, path: Path, origin: Mapping[str, str], found: Read, trajectory: Trajectory) -> None:
        try:
            trial = imported_id(trajectory.digest)
            if self._reader.trial(trial) is not None or self._is_own(trajectory):
                self._tally.known += 1
                return
            record(
                self._writer,
                self._run_of("document", found.format, {"cases": [], "agent": ""}),
                self._position,
                trial,
                trajectory,
                {**origin, "format": found.format},
                case=self._plan.case,
                readme=last_message(trajectory) if self._plan.readme_is_last_message else None,
            )
        except ForeignProblem as problem:
            self._problem(path, problem, found.place)
        else:
            self._position += 1
            self._tally.added += 1

    def _is_own(self, trajectory: Trajectory) -> bool:
        """Return whether this is an unchanged export of a trial in the session; a matching id is not enough."""
        named = own_of(trajectory.extra).get("trial")
        trial = self._reader.trial(named) if isinstance(named, str) else None
        return trial is not None and recorded_trajectory(self._reader, trial).digest == trajectory.digest

    def end(self, state: str, error: str | None) -> None:
        note = "; ".join([*self._tally.problems, *self._tally.remarks][:3]) or None
        for run, lease in self._leases.items():
            with self._writer.transaction():
                self._writer.set_run(run, state=state, error=error, finished_at=time.time(), note=note)
                self._writer.release(lease)
                if state == "done" and not self._of_kind:
                    self._writer.delete_run(run)
                    self._tally.run = ""


def last_message(trajectory: Trajectory) -> str | None:
    return next(
        (step.text for step in reversed(trajectory.steps) if step.source == "agent" and step.text.strip()), None
    )
