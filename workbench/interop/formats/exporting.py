"""Export a session for other programs, writing files atomically."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import named_class, names
from workbench.base.files import replaced, shown
from workbench.interop.formats.reading import Format
from workbench.interop.formats.samples import tasks_of
from workbench.interop.formats.trajectory import Trajectory
from workbench.rubric.scorecard import PASS_MARK
from workbench.session import SessionReader
from workbench.session.rows import ScoreRow, TaskRow, TrialRow

_WHY_NOT = ("not done", "without a score", "with unscored tiers", f"below {PASS_MARK:g} out of 100 points")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass
class Written:
    """The result of an export: what was written, how many items, and notes on omissions."""

    count: int
    what: str
    notes: list[str] = field(default_factory=list)


class Exporter(Protocol):
    """Writes sessions in one format."""

    name: str
    about: str  # a short description of the format

    def write(self, session: Path, output: Path, items: Sequence[str], accepted: bool) -> Written:
        """Write a session, or some of its trials or runs.

        ``accepted`` selects finished trials that have scores for all tiers and pass according to every judge. Raises
        UsageError if there is nothing to write or the output path is in use.
        """


def export(session: Path, to: str, output: Path, items: Sequence[str] = (), *, accepted: bool = False) -> Written:
    """Export a session in a format specified by name or dotted path. Raises WorkbenchError."""
    exporter: Exporter = named_class("exporter", to, Exporter)
    try:
        return exporter.write(session, output, items, accepted)
    except OSError as error:
        raise WorkbenchError(f"{shown(output)} cannot be written: {error.strerror or error}.") from None


def own_exporters() -> list[Exporter]:
    return [named_class("exporter", name, Exporter) for name in names("exporter", own=True)]


def write_text(path: Path, text: str) -> None:
    with replaced(path) as building:
        building.write_text(text, encoding="utf-8", errors="surrogatepass")


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Write objects as JSON lines, and return their number."""
    count = 0
    with replaced(path) as building, building.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count


def left_out(count: int, why: str) -> list[str]:
    return [f"{count:,} {why}"] if count else []


# -- tasks and candidates


class CandidateFormat(Format):
    """A format of tasks or candidates of runs of some kinds; ``items`` are runs."""

    kinds: tuple[str, ...] = ("regenerate",)

    def write(self, session: Path, output: Path, items: Sequence[str], accepted: bool) -> Written:
        with SessionReader(session) as reader:
            return self.put(reader, tasks_of(reader, session, items, self.kinds), output)

    def put(self, reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
        raise NotImplementedError


# -- trajectories


class TrajectoryFormat(Format):
    """A format of trajectories; ``items`` are trials."""

    def write(self, session: Path, output: Path, items: Sequence[str], accepted: bool) -> Written:
        refused: Counter[str] = Counter()

        def chosen(reader: SessionReader) -> Iterator[tuple[str, Trajectory]]:
            why_not = _refused(reader) if accepted else {}
            for trial, one in trajectories_in(reader, items):
                if trial in why_not:
                    refused[why_not[trial]] += 1
                else:
                    yield trial, one

        with SessionReader(session) as reader:
            written = self.put(reader, output, chosen(reader))
        reasons = ", ".join(f"{refused[why]:,} {why}" for why in _WHY_NOT if refused[why])
        if not written.count:
            what = f"that is accepted: {reasons}" if reasons else "to export"
            raise UsageError(f"{session.name} has no trial {what}.")
        if reasons:
            written.notes.append(f"Left out, because they are not accepted: {reasons}.")
        return written

    def put(self, reader: SessionReader, output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
        raise NotImplementedError


def trajectories_of(session: Path, items: Sequence[str] = ()) -> Iterator[tuple[str, Trajectory]]:
    with SessionReader(session) as reader:
        yield from trajectories_in(reader, items)


def trajectories_in(reader: SessionReader, items: Sequence[str] = ()) -> Iterator[tuple[str, Trajectory]]:
    """Yield the trials of a session (all, or those selected by id, prefix or case) with their trajectories.

    Raises UsageError if there is no such trial.
    """
    from workbench.interop.formats.recording import recorded_trajectory

    trials = reader.trials()

    def means(item: str, row: TrialRow) -> bool:
        return item in (row.id, row.case_id, row.case_name) or row.id.startswith(item)

    for item in items:
        if not any(means(item, row) for row in trials):
            raise UsageError(f"{reader.path.name} has no trial {item!r}; `workbench show {reader.path}` lists them.")
    for row in trials:
        if not items or any(means(item, row) for item in items):
            yield row.id, recorded_trajectory(reader, row)


def file_name(trajectory: Trajectory, trial: str) -> str:
    """Return a unique file name for a trajectory that is valid on every system."""
    words = _UNSAFE.sub("-", "-".join(part for part in (trajectory.task, trajectory.agent) if part)).strip("-.")
    return f"{words[:80] or 'trial'}-{trial}"


def _refused(reader: SessionReader) -> dict[str, str]:
    """Return the trials that are not accepted, each with a reason from :data:`_WHY_NOT`.

    A trial that no judge scored completely does not count as passed.
    """
    refused = {}
    scores: dict[str, list[ScoreRow]] = {}
    for score in reader.scores():
        scores.setdefault(score.trial_id, []).append(score)
    for row in reader.trials():
        mine = scores.get(row.id, [])
        points = [score.points for score in mine if score.points is not None]
        if row.state != "done":
            refused[row.id] = "not done"
        elif not points:
            refused[row.id] = "with unscored tiers" if mine else "without a score"
        elif min(points) < PASS_MARK:
            refused[row.id] = f"below {PASS_MARK:g} out of 100 points"
    return refused
