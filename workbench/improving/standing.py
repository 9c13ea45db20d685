"""Which functions of a repository their docstrings carry, which not, and of which nobody can say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.improving.gain import Share, share_of
from workbench.results.kinds import Kind, kind_of
from workbench.session.rows import CandidateRow, DroppedRow, TaskRow
from workbench.session.task_names import readable_id, row_id


@dataclass(frozen=True, slots=True)
class Standing:
    """A function.

    Attributes:
        name: Its readable id, ``path::qualified_name``.
        kind: How it is documented.
        task: Its task; None where it became none.
        seen: Its samples.
        why: Why it is untestable, "" where it is not.
    """

    name: str
    kind: Kind
    task: TaskRow | None
    seen: Share
    why: str = ""


def standings(
    tasks: Sequence[TaskRow],
    candidates: Mapping[str, Sequence[CandidateRow]],
    dropped: Iterable[DroppedRow],
    *,
    below: float,
    samples: int,
) -> tuple[Standing, ...]:
    """Return every function in the order of the tasks, those that became none last.

    Args:
        tasks: The tasks with the original docstrings; one is taken out where its original body does not pass.
        candidates: The evaluator's samples by task.
        dropped: Functions that became no task.
        below: A pass@1 below this is a bad one.
        samples: Samples of numbers below this count; the others are held out.
    """
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
