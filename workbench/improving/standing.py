"""Which functions of a repository their docstrings carry, which not, and of which nobody can say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.improving.attempts import Share, share_of
from workbench.results.kinds import Kind, kind_of
from workbench.session.rows import CandidateRow, DroppedRow, TaskRow
from workbench.session.task_names import readable_id, row_id


@dataclass(frozen=True, slots=True)
class Standing:
    """A function."""

    name: str  # Its readable id, `path::qualified_name`
    kind: Kind
    task: TaskRow | None
    seen: Share
    why: str = ""  # Why it is untestable, "" where it is not


def standings(
    tasks: Sequence[TaskRow],
    candidates: Mapping[str, Sequence[CandidateRow]],
    dropped: Iterable[DroppedRow],
    *,
    below: float,
    samples: int,
) -> tuple[Standing, ...]:
    """Return every function, those that became no task last; samples of numbers from ``samples`` on are held out."""
    found = []
    for task in tasks:
        seen = share_of(candidates.get(task.id, ()), range(samples))
        kind = kind_of(seen.passed, seen.counted, excluded=task.state == "excluded", below=below)
        if task.state == "excluded":
            found.append(Standing(row_id(task), Kind.UNTESTABLE, task, seen, task.reason or "taken out"))
        elif kind is Kind.UNTESTABLE:
            found.append(
                Standing(row_id(task), Kind.UNTESTABLE, task, seen, "no sample of the evaluator has a verdict")
            )
        else:
            found.append(Standing(row_id(task), kind, task, seen))
    for row in dropped:
        name = readable_id(row.path, row.qualified_name, row.occurrence)
        found.append(Standing(name, Kind.UNTESTABLE, None, Share(0, 0), row.reason))
    return tuple(found)
