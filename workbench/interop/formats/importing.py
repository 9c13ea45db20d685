"""Import files of other programs into a session: file by file, item by item, each whole or not at all.

What the session has already is skipped: a file by the SHA-256 of its bytes, a trajectory by that of its content. So
repeating an interrupted command continues it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import Unreadable, shown
from workbench.interop.formats.reading import ENDINGS, Read, file_digest, own_formats, read_file, read_with
from workbench.interop.formats.recording import record, recorded_trajectory
from workbench.interop.formats.samples import ForeignTask, SampleRecorder
from workbench.interop.formats.trajectory import Trajectory, own_of
from workbench.interop.formats.values import ForeignProblem
from workbench.session import SessionReader, SessionWriter
from workbench.session.identity import imported_id, run_id
from workbench.session.importer import Importer
from workbench.session.lease import Lease
from workbench.session.pending_work import is_imported

KIND = "imported"
"""The key of a run's config that says that it was imported, and from where."""
_MOST_PROBLEMS = 5
"""Sentences about one file; how many more there would be is another one."""
_TOLD_EVERY = 0.2  # seconds between two words on the progress


@dataclass
class Tally:
    """The result of an import: counts, a sentence for each unreadable thing, and on files that report gaps."""

    files: int = 0
    done: int = 0
    added: int = 0
    known: int = 0
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    run: str = ""
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """How files are read: for which test case ("": as the files say), and whether each last message is the README."""

    case: str = ""
    readme: bool = False
    importer: Importer | None = None


def files_in(paths: Iterable[Path], endings: tuple[str, ...] = ENDINGS) -> list[Path]:
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = [one for one in path.rglob("*") if one.name.lower().endswith(endings) and one.is_file()]
            if not inside:
                raise UsageError(f"In the folder {shown(path)} there is no file that ends in {', '.join(endings)}.")
            found |= dict.fromkeys(sorted(inside))
        else:
            found[path] = None
    return list(found)


def import_files(
    session: Path, files: list[Path], options: Options, tell: Callable[[Tally], None] = lambda tally: None
) -> Tally:
    """Read files into a session as trials of one run, which can be cancelled (``workbench cancel``, the app).

    ``tell`` gets the progress, several times a second at most. SessionError: the session cannot be written.
    """
    tally = Tally(files=len(files))
    with SessionReader(session) as reader, SessionWriter(session) as writer:
        work = _Importing(reader, writer, options, tally, tell)
        try:
            work.all(files)
        except KeyboardInterrupt:
            tally.stopped = True
        finally:
            work.end()
    tell(tally)
    return tally


class _Importing:
    def __init__(
        self,
        reader: SessionReader,
        writer: SessionWriter,
        options: Options,
        tally: Tally,
        tell: Callable[[Tally], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._options = options
        self._tally = tally
        self._tell = tell
        self._position = 0
        self._told = time.monotonic()
        self._held: dict[str, Lease] = {}
        self._tasks_run = ""
        self._bad = 0
        self._files: list[Path] = []
        self._formats = own_formats() if options.importer is None else []

    def all(self, files: list[Path]) -> None:
        self._files = files
        self._go_on()
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

    def _go_on(self) -> None:
        """Resume runs left by an interrupted import."""
        for run in self._reader.runs():
            if not is_imported(run) or self._reader.run_state(run) != "interrupted":
                continue
            self._held[run.id] = self._writer.acquire(run.id)
            if run.kind == "document":
                self._tally.run, self._position = run.id, len(self._reader.trials(run.id))
            else:
                self._tasks_run = run.id

    def _pause(self) -> None:
        if time.monotonic() - self._told < _TOLD_EVERY:
            return
        self._told = time.monotonic()
        self._tell(self._tally)
        for run, held in self._held.items():
            self._writer.renew(held)
            if "cancel" in self._writer.take_requests(run):
                self._tally.stopped = True

    def _problem(self, path: Path, problem: Exception, place: str = "") -> None:
        self._bad += 1
        if self._bad > _MOST_PROBLEMS:
            return
        # Whatever is unreadable names the file itself.
        name = f"{shown(path.name)} " if isinstance(problem, ForeignProblem) else ""
        said = str(problem).rstrip(".")
        self._tally.problems.append(f"{name}{said}{f' ({place})' if place else ''}.")

    def _file(self, path: Path) -> None:
        digest = file_digest(path)
        importer = self._options.importer
        # Another importer may find more in a file than we, or the first one, did.
        key = f"file:{digest}" if importer is None else f"file:{digest}:{importer.name}"
        if self._reader.imported(key) is not None:
            self._tally.known += 1
            return
        origin = {"format": "", "source": path.name, "digest": digest}
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
        if not self._tasks_run:
            plan = {"source": f"{format} {shown(path.name)}", "controls": False, "k": [1], "docs_scope": "target"}
            self._tasks_run = self._plan("regenerate", {**plan, KIND: {"format": format}}, path)
        return self._tasks_run

    def _trajectory(self, path: Path, origin: Mapping[str, str], found: Read, trajectory: Trajectory) -> None:
        try:
            trial = imported_id(trajectory.digest)
            if self._reader.trial(trial) is not None or self._is_own(trajectory):
                self._tally.known += 1
                return
            self._begin(found.format)
            record(
                self._writer,
                self._tally.run,
                self._position,
                trial,
                trajectory,
                {**origin, "format": found.format},
                case=self._options.case,
                readme=last_message(trajectory) if self._options.readme else None,
            )
        except ForeignProblem as problem:
            self._problem(path, problem, found.place)
        else:
            self._position += 1
            self._tally.added += 1

    def _is_own(self, trajectory: Trajectory) -> bool:
        """Return whether this is an exported trial of the session: the id alone proves nothing."""
        named = own_of(trajectory.extra).get("trial")
        trial = self._reader.trial(named) if isinstance(named, str) else None
        return trial is not None and recorded_trajectory(self._reader, trial).digest == trajectory.digest

    def _begin(self, format: str) -> None:
        """Plan the run once the first trajectory is there: a folder of nothing new leaves no empty run behind."""
        if not self._tally.run:
            config = {"cases": [], "agent": "", KIND: {"format": format, "case": self._options.case}}
            self._tally.run = self._plan("document", config)

    def _plan(self, kind: str, config: Mapping[str, object], path: Path | None = None) -> str:
        run = run_id()
        files = self._files
        name = shown((path or files[0]).name) if path is not None or len(files) == 1 else f"{len(files):,} files"
        with self._writer.transaction():
            self._writer.add_run(run, kind, config)
            self._writer.set_run(run, state="running", started_at=time.time())
            self._writer.name_run(run, f"import: {name}")
            self._held[run] = self._writer.acquire(run)
        return run

    def end(self) -> None:
        state = "cancelled" if self._tally.stopped else "done"
        note = "; ".join([*self._tally.problems, *self._tally.remarks][:3]) or None
        for run, held in self._held.items():
            with self._writer.transaction():
                self._writer.set_run(run, state=state, finished_at=time.time(), note=note)
                self._writer.release(held)


def last_message(trajectory: Trajectory) -> str | None:
    return next(
        (step.text for step in reversed(trajectory.steps) if step.source == "agent" and step.text.strip()), None
    )
