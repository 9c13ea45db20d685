"""The part of the Regeneration mode that follows a run: what is read when, in which thread, and how often."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.regeneration import loading
from workbench.app.regeneration.loading import Excluded, RunView
from workbench.app.toolkit.latest import Latest
from workbench.results.runs import latest_regeneration
from workbench.results.tasks import Figures, TaskLine, figures_of, load_lines

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

REFRESH_SECONDS = 0.05
"""Shortest time between two looks at a run that changes; looks that cost more are rarer."""
FIGURES_SECONDS = 0.25
NONE_EXCLUDED = Excluded((), ())
FIRST_TASKS = 200
"""Tasks that are read before the table is first shown; the rest follows."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at a run found; ``lines`` are all of its tasks if ``whole``, else those that changed."""

    view: RunView
    lines: list[TaskLine] | None
    whole: bool
    excluded: Excluded
    seconds: float


class Following:
    """Reads the run that the screen shows and keeps the screen in step with it.

    Args:
        screen: The view that is kept in step.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self.loading_run = Latest(screen, "regeneration-run")
        self.refreshing = Latest(screen, "regeneration-refresh")
        self.figuring = Latest(screen, "regeneration-figures")
        self.evaluator = ""  # whose samples are wanted; "" is the newest, which then stays
        self.group: Group | None = None  # which of its groups is shown; None is its newest, which then stays
        self.with_dropped = False  # a person looks at what was dropped
        self._changed: set[str] = set()
        self._whole = False  # every task of the run is in the table
        self._look_seconds = REFRESH_SECONDS
        self._figures_seconds = FIGURES_SECONDS
        self._figured: tuple[object, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether nothing is being read and nothing is about to be."""
        loaders = (self.loading_run, self.refreshing, self.figuring)
        return all(loader.idle and not loader.due for loader in loaders)

    def load(self, reader: SessionReader, run_id: str | None, evaluator: str = "") -> None:
        """Show a run from its beginning; None is the session's newest, ``evaluator`` whose samples are wanted from now on."""
        if evaluator:
            self.evaluator, self.group = evaluator, None
        screen, wanted, group = self._screen, self.evaluator, self.group
        self._changed.clear()

        def work() -> _Look | None:
            # Imported in the thread: the first paint does without.

            key = run_id or latest_regeneration(reader)
            view = loading.load_view(reader, key, group, wanted) if key else None
            if view is None:
                return None
            lines = load_lines(reader, view.run.id, view.group, view.ks, limit=FIRST_TASKS)
            excluded = loading.load_excluded(reader, view.run.id) if view.building or not view.tasks else NONE_EXCLUDED
            return _Look(view, lines, len(lines) >= view.tasks, excluded, 0.0)

        def done(look: _Look | None) -> None:
            if reader is not screen.reader:
                return
            if look is None:
                screen.show_nothing_here(asked_for=run_id is not None)
                return
            self.with_dropped, self._whole, self._figured = False, look.whole, ()
            screen.begin(look.lines or [], look.view.ks)
            self._show(look)

        self.loading_run.ask(work, done, screen.show_reason)

    def take(self, changes: tuple[Change, ...], view: RunView) -> None:
        """Look again soon at what changed of this run."""
        table, mine = self._screen.table, False
        for change in changes:
            if change.kind == "candidate" and change.part and table.knows(change.part):
                self._changed.add(change.part)
                mine = True
            elif (change.kind == "label" and table.knows(change.item)) or (
                change.kind == "task" and change.part == view.run.id
            ):
                self._changed.add(change.item)
                mine = True
            elif change.kind == "run" or (change.kind in {"stage", "dropped"} and change.item == view.run.id):
                mine = True
        if mine:
            self.soon()

    def again(self, group: Group) -> None:
        """Show the samples of another group."""
        self.evaluator, self.group = group.evaluator, group
        self._whole, self._figured = False, ()
        self._screen.show_figures(None)
        self.soon()

    def soon(self) -> None:
        """Look at the run again, at most as often as a person can see."""
        self.refreshing.soon(self._look, self._look_seconds)

    def _look(self) -> None:
        screen = self._screen
        reader, before = screen.reader, screen.view
        if reader is None or before is None:
            return
        changed, self._changed = self._changed, set()
        run_id, group, wanted = before.run.id, self.group, self.evaluator
        everything = not self._whole or not all(screen.table.knows(task) for task in changed)
        with_dropped = self.with_dropped or before.building or not before.tasks

        def work() -> _Look | None:
            began = time.perf_counter()
            view = loading.load_view(reader, run_id, group, wanted)
            if view is None:
                return None
            whole = everything or view.group != before.group
            ids = None if whole else sorted(changed)
            lines = load_lines(reader, run_id, view.group, view.ks, ids=ids) if whole or ids else None
            excluded = loading.load_excluded(reader, run_id) if with_dropped else NONE_EXCLUDED
            return _Look(view, lines, whole, excluded, time.perf_counter() - began)

        def done(look: _Look | None) -> None:
            shown = screen.view
            if look is None or shown is None or shown.run.id != run_id or reader is not screen.reader:
                return
            self._look_seconds = max(REFRESH_SECONDS, 3 * look.seconds)
            if look.lines is not None and look.whole:
                screen.table.put_tasks(look.lines, look.view.ks)
                self._whole = True
            elif look.lines is not None and not screen.table.update_rows(look.lines):
                self._whole = False
            self._show(look)

        self.refreshing.ask(work, done)

    def _show(self, look: _Look) -> None:
        if look.view.groups and self.evaluator in ("", look.view.evaluator):
            # Another one that is asked later does not take its place.
            self.evaluator, self.group = look.view.evaluator, look.view.group
        self._screen.apply(look.view, look.excluded)
        if not self._whole:
            self.soon()
        else:
            self.figuring.soon(self._figure, self._figures_seconds if self._figured else 0.001)

    def _figure(self) -> None:
        screen = self._screen
        reader, view = screen.reader, screen.view
        if reader is None or view is None:
            return
        group, run_id, ks = view.group, view.run.id, view.ks
        key = (run_id, group, screen.table.revision, view.live)
        if key == self._figured:
            return
        self._figured = key
        lines = tuple(screen.table.rows)

        def work() -> tuple[Figures, float]:
            began = time.perf_counter()
            return figures_of(reader, run_id, group, lines, ks), time.perf_counter() - began

        def done(made: tuple[Figures, float]) -> None:
            now = screen.view
            if now is not None and (now.run.id, now.group) == (run_id, group):
                self._figures_seconds = max(FIGURES_SECONDS, 4 * made[1])
                screen.show_figures(made[0])

        self.figuring.ask(work, done)
