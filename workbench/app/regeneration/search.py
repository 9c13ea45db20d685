"""Find a text in a whole run: names of tasks, candidates, docstrings and failing tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.regeneration.lines import TaskLine
from workbench.app.toolkit.document import prepared
from workbench.session.groups import OF_GROUP

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
    found = reader.query("SELECT docstring_blob FROM tasks WHERE id = ?", (line.id,))
    hits = [
        Hit(line.id, None, "Docstring", n, at) for n, at in enumerate(places.of_blob(found[0][0] if found else None))
    ]
    rows = reader.query(
        f"SELECT id, body_blob FROM candidates WHERE task_id = ? AND {OF_GROUP} AND control = 0 ORDER BY sample",
        (line.id, *group.arguments),
    )
    failing: dict[str, list[str]] = {}
    for key, test, message in reader.query(
        "SELECT candidate_id, test_id, message FROM failing_tests WHERE candidate_id IN "
        f"(SELECT id FROM candidates WHERE task_id = ? AND {OF_GROUP} AND control = 0) ORDER BY test_id",
        (line.id, *group.arguments),
    ):
        failing.setdefault(key, []).append(f"{test}\n{message}")
    for number, (key, body) in enumerate(rows):
        hits += [Hit(line.id, number, "Candidate", n, at) for n, at in enumerate(places.of_blob(body))]
        if places.of_text("\n".join(failing.get(key, ()))):
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
