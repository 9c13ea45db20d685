"""Find a text in a whole run, in names of tasks, candidates, docstrings and failing tests, and go from hit to hit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.document import prepared
from workbench.results.samples import failing_tests, samples_of
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen
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


class Finder:
    """Keeps the hits of the last search in the order of the table, None while there are none; ``at`` is the one shown."""

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self._stop = threading.Event()
        self._needle = self._more = ""
        self.found: list[Hit] | None = None
        self.at = -1

    def begin(self, needle: str) -> None:
        """Search in a thread and go to the first hit in the selected task or below it."""
        screen = self._screen
        reader, view = screen.reader, screen.view
        self.forget()
        if reader is None or view is None or not needle:
            return
        self._needle, self._stop = needle, threading.Event()
        stop, lines, group = self._stop, tuple(screen.table.rows), view.group

        def done(found: list[Hit]) -> None:
            if not stop.is_set():
                self.found, self._more = found[:HITS_LIMIT], "+" if len(found) > HITS_LIMIT else ""
                places = {line.id: place for place, line in enumerate(lines)}
                here = places.get(screen.selected_task.id, 0) if screen.selected_task is not None else 0
                self._go(next((n for n, hit in enumerate(self.found) if places.get(hit.task, 0) >= here), 0))

        screen.set_remark(f"/{needle}  searching…")
        screen.searching.ask(lambda: search(reader, lines, group, needle, stop.is_set), done)

    def forget(self) -> None:
        """Drop the search and its marks."""
        self._stop.set()
        self.found, self.at = None, -1
        self._screen.detail.mark("")
        self._screen.set_remark("")

    def go(self, step: int) -> None:
        if self.found:
            self._go((self.at + step) % len(self.found))

    def _go(self, index: int) -> None:
        found, screen = self.found or [], self._screen
        screen.detail.mark(self._needle)
        if not found:
            screen.set_remark(f"/{self._needle}  nothing found")
            return
        self.at, hit = index, found[index]
        keys = f"{key_of('regeneration.next-hit')} {key_of('regeneration.previous-hit')} go on, {key_of('regeneration.escape')} ends"
        screen.set_remark(
            f"/{self._needle}  {index + 1:,} of {len(found):,}{self._more} · {hit.tab.lower() or 'name'} · {keys}"
        )
        screen.go_to_hit(hit)


def search(
    reader: SessionReader, lines: Sequence[TaskLine], group: Group, needle: str, stopped: Callable[[], bool]
) -> list[Hit]:
    """Search the tasks of a run; a lower-case needle matches any case. Each distinct text is read once.

    It ends soon after :data:`HITS_LIMIT` hits.
    """
    places = _Places(reader, needle)
    hits: list[Hit] = []
    for line in lines:
        if stopped() or len(hits) > HITS_LIMIT:
            break
        if places.of_text(f"{line.path}::{line.name}"):
            hits.append(Hit(line.id, None, ""))
        task = reader.task(line.id)
        docstring = task.docstring_blob if task is not None else None
        hits += [Hit(line.id, None, "Docstring", n, at) for n, at in enumerate(places.of_blob(docstring))]
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
        if digest not in self._known:
            self._known[digest] = self.of_text(self._reader.kept(digest, "a text of this run") or "")
        return self._known[digest]

    def of_text(self, text: str) -> list[int]:
        text = prepared(text)
        text = text.lower() if self._fold else text
        found: list[int] = []
        at = text.find(self._needle)
        while at >= 0 and len(found) < HITS_LIMIT:
            found.append(at)
            at = text.find(self._needle, at + len(self._needle))
        return found
