"""Find a text in a whole run: names of tasks, candidates, docstrings and failing tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.toolkit.document import prepared
from workbench.results.samples import failing_tests, samples_of
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

HITS_LIMIT = 10_000


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


@dataclass(frozen=True, slots=True)
class Found:
    """The hits in the order of the table; ``more`` says that the search stopped at :data:`HITS_LIMIT`."""

    needle: str
    hits: tuple[Hit, ...]
    more: bool

    def nearest(self, order: Sequence[str], task: str) -> int:
        """Return the first hit in ``task`` or below it in the table, 0 if there is none."""
        places = {key: place for place, key in enumerate(order)}
        here = places.get(task, 0)
        return next((n for n, hit in enumerate(self.hits) if places.get(hit.task, 0) >= here), 0)


def search(
    reader: SessionReader, lines: Sequence[TaskLine], group: Group, needle: str, stopped: Callable[[], bool]
) -> Found:
    """Search the tasks of a run; a lower-case needle matches any case. Each distinct text is read once."""
    places = _Places(reader, needle)
    hits: list[Hit] = []
    for line in lines:
        if stopped() or len(hits) > HITS_LIMIT:
            break
        if places.of_text(f"{line.path}::{line.name}"):
            hits.append(Hit(line.id, None, ""))
        hits += _of_task(reader, places, line, group)
    return Found(needle, tuple(hits[:HITS_LIMIT]), len(hits) > HITS_LIMIT)


def _of_task(reader: SessionReader, places: _Places, line: TaskLine, group: Group) -> list[Hit]:
    task = reader.task(line.id)
    docstring = task.docstring_blob if task is not None else None
    hits = [Hit(line.id, None, "Docstring", n, at) for n, at in enumerate(places.of_blob(docstring))]
    failing: dict[str, list[str]] = {}
    for failed in failing_tests(reader, line.id, group):
        failing.setdefault(failed.candidate_id, []).append(f"{failed.test_id}\n{failed.message}")
    for number, row in enumerate(samples_of(reader, line.id, group)):
        hits += [Hit(line.id, number, "Candidate", n, at) for n, at in enumerate(places.of_blob(row.body_blob))]
        if places.of_text("\n".join(failing.get(row.id, ()))):
            hits.append(Hit(line.id, number, "Failing"))
    return hits


class _Places:
    """Where the needle stands in texts."""

    def __init__(self, reader: SessionReader, needle: str) -> None:
        self._reader = reader
        self._needle = needle
        self._fold = needle == needle.lower()
        self._known: dict[str, list[int]] = {}

    def of_blob(self, digest: str | None) -> list[int]:
        if digest is None:
            return []
        found = self._known.get(digest)
        if found is None:
            found = self.of_text(self._reader.kept(digest, "a text of this run") or "")
            self._known[digest] = found
        return found

    def of_text(self, text: str) -> list[int]:
        text = prepared(text)
        text = text.lower() if self._fold else text
        found: list[int] = []
        at = text.find(self._needle)
        while at >= 0 and len(found) < HITS_LIMIT:
            found.append(at)
            at = text.find(self._needle, at + len(self._needle))
        return found
