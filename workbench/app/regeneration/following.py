"""The part of the Regeneration mode that follows a run: what is read when, in which thread, and how often."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.app.regeneration import loading
from workbench.app.regeneration.figures import LIVE_RESAMPLES, Figures, compute
from workbench.app.regeneration.lines import TaskLine, load_lines
from workbench.app.regeneration.loading import Fallen, RunView
from workbench.app.trajectory.latest import Latest

if TYPE_CHECKING:
    from workbench.app.screens.regeneration import RegenerationScreen
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

REFRESH_SECONDS = 0.05
"""Shortest time between two looks at a run that changes; looks that cost more are rarer."""
FIGURES_SECONDS = 0.25
NOTHING_FELL = Fallen((), ())
FIRST_TASKS = 200
"""Tasks that are read before the table is first shown; the rest follows."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at a run found; ``lines`` are all of its tasks if ``whole``, else those that changed."""

    view: RunView
    lines: list[TaskLine] | None
    whole: bool
    fallen: Fallen
    seconds: float


class Following:
    """Reads the run that the screen shows and keeps the screen in step with it.

    Args:
        screen: The mode; it is told through ``begin``, ``apply``, ``show_nothing_here`` and ``show_figures``.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self.loading_run = Latest(screen, "regeneration-run")
        self.refreshing = Latest(screen, "regeneration-refresh")
        self.figuring = Latest(screen, "regeneration-figures")
        self.evaluator = ""  # whose samples a person wants to see; "" is the newest
        self.with_dropped = False  # a person looks at what was dropped
        self._changed: set[str] = set()
        self._whole = False  # every task of the run is in the table
        self._refresh_due = False
        self._figures_due = False
        self._refresh_seconds = REFRESH_SECONDS
        self._figures_seconds = FIGURES_SECONDS
        self._figured: tuple[object, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether nothing is being read and nothing is about to be."""
        loaders = (self.loading_run, self.refreshing, self.figuring)
        return not self._refresh_due and not self._figures_due and all(loader.idle for loader in loaders)

    def load(self, reader: SessionReader, run_id: str | None) -> None:
        """Show a run from its beginning; None is the session's newest."""
        screen, evaluator = self._screen, self.evaluator
        self._changed.clear()

        def work() -> _Look | None:
            key = run_id or loading.choose_run(reader)
            view = loading.load_view(reader, key, evaluator) if key else None
            if view is None:
                return None
            lines = load_lines(reader, view.run.id, view.evaluator, view.ks, limit=FIRST_TASKS)
            fallen = loading.load_fallen(reader, view.run.id) if view.building or not view.tasks else NOTHING_FELL
            return _Look(view, lines, len(lines) >= view.tasks, fallen, 0.0)

        def done(look: _Look | None) -> None:
            if reader is not screen.workbench.reader:
                return
            if look is None:
                screen.show_nothing_here(asked_for=run_id is not None)
                return
            self.with_dropped, self._whole, self._figured = False, look.whole, ()
            screen.begin(look.lines or [], look.view.ks)
            self._show(look)

        self.loading_run.ask(work, done)

    def take(self, changes: tuple[Change, ...], view: RunView) -> None:
        """Look again soon at what changed of this run."""
        table, mine = self._screen.table, False
        for change in changes:
            if change.kind == "candidate" and change.part and table.knows(change.part):
                self._changed.add(change.part)
                mine = True
            elif change.kind == "task" and change.part == view.run.id:
                self._changed.add(change.item)
                mine = True
            elif change.kind == "run" or (change.kind in {"stage", "dropped"} and change.item == view.run.id):
                mine = True
        if mine:
            self.soon()

    def again(self, evaluator: str) -> None:
        """Show the samples of another evaluator."""
        self.evaluator, self._whole, self._figured = evaluator, False, ()
        self._screen.show_figures(None)
        self.soon()

    def soon(self) -> None:
        """Look at the run again, at most as often as a person can see."""
        if not self._refresh_due:
            self._refresh_due = True
            self._screen.set_timer(self._refresh_seconds, self._look)

    def _look(self) -> None:
        self._refresh_due = False
        screen = self._screen
        reader, before = screen.workbench.reader, screen.view
        if reader is None or before is None:
            return
        if not self.refreshing.idle:
            self.soon()
            return
        changed, self._changed = self._changed, set()
        run_id, evaluator = before.run.id, self.evaluator
        everything = not self._whole or not all(screen.table.knows(task) for task in changed)
        with_dropped = self.with_dropped or before.building or not before.tasks

        def work() -> _Look | None:
            began = time.perf_counter()
            view = loading.load_view(reader, run_id, evaluator)
            if view is None:
                return None
            whole = everything or view.evaluator != before.evaluator
            ids = None if whole else sorted(changed)
            lines = load_lines(reader, run_id, view.evaluator, view.ks, ids=ids) if whole or ids else None
            fallen = loading.load_fallen(reader, run_id) if with_dropped else NOTHING_FELL
            return _Look(view, lines, whole, fallen, time.perf_counter() - began)

        def done(look: _Look | None) -> None:
            shown = screen.view
            if look is None or shown is None or shown.run.id != run_id or reader is not screen.workbench.reader:
                return
            self._refresh_seconds = max(REFRESH_SECONDS, 3 * look.seconds)
            if look.lines is not None and look.whole:
                screen.table.put(look.lines, look.view.ks)
                self._whole = True
            elif look.lines is not None and not screen.table.update_lines(look.lines):
                self._whole = False
            self._show(look)

        self.refreshing.ask(work, done)

    def _show(self, look: _Look) -> None:
        self._screen.apply(look.view, look.fallen)
        if not self._whole:
            self.soon()
        elif not self._figures_due:
            self._figures_due = True
            self._screen.set_timer(self._figures_seconds if self._figured else 0.001, self._figure)

    def _figure(self) -> None:
        self._figures_due = False
        screen = self._screen
        reader, view = screen.workbench.reader, screen.view
        if reader is None or view is None:
            return
        evaluator, run_id, ks = view.evaluator, view.run.id, view.ks
        key = (run_id, evaluator, screen.table.revision, view.live)
        if key == self._figured:
            return
        if not self.figuring.idle:
            self._figures_due = True
            screen.set_timer(self._figures_seconds, self._figure)
            return
        first, self._figured = not self._figured, key
        lines = tuple(screen.table.lines)

        def work(draws: int | None) -> tuple[Figures, float]:
            began = time.perf_counter()
            figures = compute(lines, ks, resamples=draws)
            figures = replace(figures, development=loading.development(reader, run_id, evaluator))
            return figures, time.perf_counter() - began

        def done(made: tuple[Figures, float]) -> None:
            now = screen.view
            if now is not None and (now.run.id, now.evaluator) == (run_id, evaluator):
                self._figures_seconds = max(FIGURES_SECONDS, 4 * made[1])
                screen.show_figures(made[0])

        if first:
            self.figuring.ask(lambda: work(0), done)  # the interval takes longer than all the rest
        self.figuring.ask(lambda: work(LIVE_RESAMPLES if view.live else None), done)
