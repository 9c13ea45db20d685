"""Find a text in a whole run, in names of tasks, candidates, docstrings and failing tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.results.samples import failing_tests, samples_of
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.app.toolkit.run_screen import Needle
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader


@dataclass(frozen=True, slots=True)
class Hit:
    """One place: a tab of a sample of a task, "" for the task's own row; ``ordinal`` counts the hits of the tab from 0.

    ``reach`` is how many characters must be shown to see it.
    """

    task: str
    sample: int | None
    tab: str
    ordinal: int = 0
    reach: int = 0


def hits_of(
    reader: SessionReader, lines: Sequence[TaskLine], group: Group, needle: Needle, stopped: Callable[[], bool]
) -> Iterator[Hit]:
    """Yield the hits in the tasks of a run."""
    for line in lines:
        if stopped():
            return
        if needle.in_text(f"{line.path}::{line.name}"):
            yield Hit(line.id, None, "")
        task = reader.task(line.id)
        for n, at in enumerate(needle.in_blob(task.docstring_blob if task is not None else None)):
            yield Hit(line.id, None, "Docstring", n, at)
        failing: dict[str, list[str]] = {}
        for failed in failing_tests(reader, line.id, group):
            failing.setdefault(failed.candidate_id, []).append(f"{failed.test_id}\n{failed.message}")
        for number, row in enumerate(samples_of(reader, line.id, group)):
            for n, at in enumerate(needle.in_blob(row.body_blob)):
                yield Hit(line.id, number, "Candidate", n, at)
            if needle.in_text("\n".join(failing.get(row.id, ()))):
                yield Hit(line.id, number, "Failing")
