"""Export a session for other programs: files appear complete or not at all."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import replaced, shown
from workbench.interop.formats.formats import OUT, TABLES, TRAJECTORIES
from workbench.interop.formats.trajectory import Trajectory
from workbench.rubric.scorecard import PASS_MARK

if TYPE_CHECKING:
    from workbench.session.rows import ScoreRow

_WHY_NOT = ("not done", "without a score", "with unscored tiers", f"below {PASS_MARK:g} of 100 points")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass
class Written:
    """What was written and how many, and sentences on what was left out."""

    count: int
    what: str
    notes: list[str] = field(default_factory=list)


def export(session: Path, to: str, output: Path, items: Sequence[str] = (), *, accepted: bool = False) -> Written:
    """Write a session, or some trials or runs of it, in a format of :data:`workbench.interop.formats.formats.OUT`.

    ``accepted`` takes only trials that are done, with all tiers scored, and that pass by every judge. UsageError: there
    is nothing to write, or the place is taken by something else; WorkbenchError: the session or the place is
    inaccessible.
    """
    assert to in OUT, to
    try:
        if to in TRAJECTORIES:
            return _trajectories(session, to, output, items, accepted)
        if to in TABLES:
            from workbench.interop.formats.tables import write_tables

            return write_tables(session, to, output)
        from workbench.interop.formats.candidates_out import write_candidates

        return write_candidates(session, to, output, items)
    except OSError as error:
        raise WorkbenchError(f"{shown(output)} cannot be written: {error.strerror or error}.") from None


def write_text(path: Path, text: str) -> None:
    with replaced(path) as building:
        building.write_text(text, encoding="utf-8", errors="surrogatepass")


def _trajectories(session: Path, to: str, output: Path, items: Sequence[str], accepted: bool) -> Written:
    from workbench.interop.formats.importing import trajectories_of

    refused = _refused(session) if accepted else {}
    left_out: Counter[str] = Counter()

    def accepted_ones() -> Iterator[tuple[str, Trajectory]]:
        for trial, one in trajectories_of(session, items):
            if trial in refused:
                left_out[refused[trial]] += 1
            else:
                yield trial, one

    if to == "openai":
        written = _openai(session, output, accepted_ones())
    else:
        written = {"atif": _atif, "inspect": _inspect}[to](output, accepted_ones())
    said = ", ".join(f"{left_out[why]:,} {why}" for why in _WHY_NOT if left_out[why])
    if not written.count:
        what = f"that is accepted: {said}" if said else "to export"
        raise UsageError(f"{session.name} has no trial {what}.")
    if said:
        written.notes.append(f"Left out, because they are not accepted: {said}.")
    return written


def _refused(session: Path) -> dict[str, str]:
    """Return the trials that are not accepted, with the reason: one of :data:`_WHY_NOT`.

    A trial that no judge scored in full is not known to pass.
    """
    from workbench.session import SessionReader

    refused = {}
    with SessionReader(session) as reader:
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
                refused[row.id] = f"below {PASS_MARK:g} of 100 points"
    return refused


def _atif(output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
    """Write a file for one trajectory; for several, or if the place is a folder, a file each in a folder."""
    from workbench.interop.formats.atif import to_atif

    written = Written(0, "trajectories")
    first: tuple[str, Trajectory] | None = None
    folder = output.is_dir() or output.suffix != ".json"
    for trial, one in found:
        if not folder and first is None:
            first = trial, one
        elif not folder:
            raise UsageError(
                f"These are several trajectories, and {shown(output)} is one file; name a folder or one trial."
            )
        else:
            write_text(output / f"{file_name(one, trial)}.json", json.dumps(to_atif(one), ensure_ascii=False, indent=2))
        written.count += 1
    if first is not None:
        write_text(output, json.dumps(to_atif(first[1]), ensure_ascii=False, indent=2))
    return written


def file_name(trajectory: Trajectory, trial: str) -> str:
    """Return a file name for a trajectory: valid on any system and unique."""
    words = _UNSAFE.sub("-", "-".join(part for part in (trajectory.task, trajectory.agent) if part)).strip("-.")
    return f"{words[:80] or 'trial'}-{trial}"


def _inspect(output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
    from workbench.interop.formats.inspect_log import KEY
    from workbench.interop.formats.inspect_writing import sample_name, write_log

    groups: dict[str, list[Trajectory]] = {}
    for _, one in found:
        kept = one.extra.get(KEY)
        log = kept.get("log") if isinstance(kept, dict) else None
        named = json.dumps(log, sort_keys=True) if isinstance(log, dict) else json.dumps([one.agent, one.model])
        # A log has one sample of an id and epoch; of another trial of the same the log is another one.
        place, number = named, 1
        while any(
            (sample_name(one), one.repeat) == (sample_name(other), other.repeat) for other in groups.get(place, ())
        ):
            number += 1
            place = f"{named}#{number}"
        groups.setdefault(place, []).append(one)
    for number, group in enumerate(groups.values(), 1):
        path = output
        if len(groups) > 1:
            if output.suffix in {".eval", ".json"}:
                raise UsageError(
                    f"These are {len(groups)} logs (agents, models or logs of Inspect), and {shown(output)} is one file; name a folder."
                )
            path = output / f"{number:03d}-{_UNSAFE.sub('-', group[0].agent)[:60]}.eval"
        elif output.is_dir() or output.suffix not in {".eval", ".json"}:
            path = output / "001.eval"
        with replaced(path) as building:
            write_log(building, group)
    return Written(
        sum(map(len, groups.values())), f"trajectories in {len(groups)} log{'' if len(groups) == 1 else 's'}"
    )


def _openai(session: Path, output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
    from workbench.interop.formats.atif import without_copies
    from workbench.interop.formats.chat import exact_chat, to_chat
    from workbench.session import SessionReader

    count = 0
    with (
        SessionReader(session) as reader,
        replaced(output) as building,
        building.open("w", encoding="utf-8", errors="surrogatepass") as file,
    ):
        for trial, one in found:
            line = exact_chat(reader, trial) or to_chat(without_copies(one))
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return Written(count, "conversations")
