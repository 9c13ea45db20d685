"""What the list of stars, tags and remarks shows: a line for each, the newest first; no widget in sight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.location import Place
from workbench.results.plan_title import plan_title
from workbench.session.labels import SESSION, STAR, part_in_words

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A star, a tag or a remark.

    Attributes:
        kind: ``star``, ``tag`` or ``remark``.
        text: The tag or the remark.
        what: ``run``, ``trial``, ``step``, ``criterion``, ``task``, ``sample`` or ``session``; "" where the item is no longer in the session.
        title: What it belongs to, as a person calls it.
        at: When it was given, in unix seconds.
        trial: The trial to go to, "" where it belongs to none.
        run: The run to go to otherwise.
        place: Where in it.
    """

    kind: str
    text: str
    what: str
    title: str
    at: float
    trial: str = ""
    run: str = ""
    place: Place | None = None


def load_marked(reader: SessionReader) -> tuple[MarkedLine, ...]:
    """Read all stars, tags and remarks of a session, the newest first."""
    owners: dict[tuple[str, str], MarkedLine] = {}
    found: list[MarkedLine] = []
    rows = [("star" if row.label == STAR else "tag", row.label, row.item, row.part, row.at) for row in reader.labels()]
    rows += [("remark", note.text, note.item, note.of, note.at) for note in reader.annotations()]
    for kind, text, item, part, at in rows:
        owner = owners.get((item, part))
        if owner is None:
            owner = owners[item, part] = _owner(reader, item, part)
        found.append(MarkedLine(kind, text, owner.what, owner.title, at, owner.trial, owner.run, owner.place))
    return tuple(sorted(found, key=lambda line: -line.at))


def _owner(reader: SessionReader, item: str, part: str) -> MarkedLine:
    """Return where a mark belongs: a line without kind and text."""
    if item == SESSION:
        return MarkedLine("", "", "session", f"the session {reader.path.stem}", 0.0)
    trial = reader.trial(item)
    if trial is not None:
        title = f"{trial.case_name or trial.case_id} · {trial.agent} · {trial.model} · repeat {trial.repeat}"
        if part.isdecimal():
            return MarkedLine("", "", "step", f"step {part} of {title}", 0.0, trial.id, place=Place(int(part)))
        if part:
            return MarkedLine(
                "", "", "criterion", f"{part_in_words(part)} of {title}", 0.0, trial.id, place=Place(item=part)
            )
        return MarkedLine("", "", "trial", title, 0.0, trial.id)
    task = reader.task(item)
    if task is not None:
        title = f"{task.path}::{task.qualified_name}"
        return MarkedLine("", "", "task", title, 0.0, run=task.run_id, place=Place(item=task.id))
    candidate = reader.candidate(item)
    if candidate is not None:
        of = reader.task(candidate.task_id)
        title = f"{of.qualified_name if of is not None else candidate.task_id} · sample {candidate.sample + 1}"
        place = Place(candidate.sample, item=candidate.task_id)
        return MarkedLine("", "", "sample", title, 0.0, run=candidate.run_id, place=place)
    run = reader.run(item)
    if run is not None:
        trials = reader.trials(item)
        return MarkedLine("", "", "run", run.name or plan_title(run), 0.0, trials[0].id if trials else "", run.id)
    return MarkedLine("", "", "", f"{item}, which is no longer in the session", 0.0)
