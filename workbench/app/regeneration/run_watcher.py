"""Keeps the Regeneration mode up to date with a run, deciding what to load and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workbench.app.keys import key_of, with_keys
from workbench.app.regeneration.evaluator_results import EvaluatorResults, load_evaluator_results
from workbench.app.regeneration.wording import model_name
from workbench.app.toolkit.workers import LiveLoader
from workbench.results.regeneration_runs import NONE_EXCLUDED, Excluded, RunView, load_excluded, load_view
from workbench.results.runs import latest_regeneration
from workbench.results.tasks import Figures, TaskLine, figures_of, load_lines

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

FIRST_TASKS = 200
"""The number of tasks loaded before the table is first shown."""
OTHER_RUN_SECONDS = 1.0
"""The delay before announcing the start of another run, unless that run is displayed by then."""
NO_RUN = "No regeneration run in this session.\n\nPress {regeneration.new} to test a repository's documentation by regeneration."
GONE = "This run is not in the open session: press {app.sessions} to choose another session."
_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _RunSnapshot:
    """The state of a run; ``lines`` contains all tasks if ``whole`` is true, otherwise only the changed tasks."""

    view: RunView
    lines: Sequence[TaskLine]
    whole: bool
    excluded: Excluded


class RunWatcher:
    """Loads the run that the screen displays, and its changes.

    Attributes:
      evaluator: The evaluator whose samples are shown; "" selects the newest evaluator, which then stays selected.
      group: The group to show; None selects the newest group, which then stays selected.
      with_dropped: Whether the dropped functions are shown.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self.refreshing = LiveLoader(screen, "regeneration-refresh", self._load_changes, self._apply, seconds=0.05)
        self.figuring = LiveLoader(screen, "regeneration-figures", self._count, self._counted, seconds=0.25)
        self.comparing = LiveLoader(screen, "standings", self._compare, self._compared)
        self.evaluator = ""
        self.group: Group | None = None
        self.with_dropped = False
        self._changed: set[str] = set()
        self._whole = False  # whether the table has all tasks
        self._figures_of: _Key = ()
        self._standings_of: _Key = ()
        self._news = 0  # number of change batches from other runs
        self._started: list[str] = []  # runs started elsewhere that have not been shown yet

    @property
    def idle(self) -> bool:
        """Whether nothing is loading or about to load."""
        return self._screen.run_loader.idle and all(
            live.settled for live in (self.refreshing, self.figuring, self.comparing)
        )

    @property
    def new_run(self) -> str:
        """The newest run that was started elsewhere and has not been shown yet, or "" if there is none."""
        return self._started[-1] if self._started else ""

    def forget(self) -> None:
        self.evaluator, self.group, self._started = "", None, []

    def load(self, reader: SessionReader, run_id: str | None) -> None:
        """Load a run from scratch, by default the newest of the session."""
        screen, wanted, group = self._screen, self.evaluator, self.group
        self._changed.clear()

        def work() -> _RunSnapshot | None:
            key = run_id or latest_regeneration(reader)
            view = load_view(reader, key, group, wanted) if key else None
            if view is None:
                return None
            lines = load_lines(reader, view.run.id, view.group, view.ks, limit=FIRST_TASKS)
            excluded = load_excluded(reader, view.run.id) if view.building or not view.tasks else NONE_EXCLUDED
            return _RunSnapshot(view, lines, len(lines) >= view.tasks, excluded)

        def done(snapshot: _RunSnapshot | None) -> None:
            if reader is not screen.reader:
                return
            if snapshot is None:
                screen.show_reason(with_keys(GONE if run_id is not None else NO_RUN))
                return
            self.with_dropped, self._whole, self._figures_of = False, snapshot.whole, ()
            screen.begin(snapshot.lines, snapshot.view.ks)
            self._show(snapshot)

        screen.run_loader.ask(work, done, screen.show_reason)

    def on_changes(self, changes: tuple[Change, ...], view: RunView) -> None:
        """Schedule updates for the changed tasks and for other evaluators and runs."""
        knows, mine, other = self._screen.table.knows, False, False
        for change in changes:
            if change.kind == "candidate" and change.part and not knows(change.part):
                other = True
            elif change.kind == "candidate" and change.part:
                self._changed.add(change.part)
                mine = True
            elif (change.kind == "label" and knows(change.item)) or (
                change.kind == "task" and change.part == view.run.id
            ):
                self._changed.add(change.item)
                mine = True
            elif change.kind == "run" or (change.kind in {"stage", "dropped"} and change.item == view.run.id):
                mine = True
        if mine:
            self.refreshing.refresh_soon()
        if other:
            self._news += 1
            self._compare_soon()

    def show_group(self, group: Group) -> None:
        """Show the samples of another group."""
        self.evaluator, self.group = group.evaluator, group
        self._whole, self._figures_of = False, ()
        self._screen.show_figures(None)
        self.refreshing.refresh_soon()

    # -- the run and its tasks

    def _load_changes(self, reader: SessionReader) -> Callable[[], _RunSnapshot | None] | None:
        screen, before = self._screen, self._screen.view
        if before is None:
            return None
        changed, self._changed = self._changed, set()
        run_id, group, wanted = before.run.id, self.group, self.evaluator
        everything = not self._whole or not all(screen.table.knows(task) for task in changed)
        with_dropped = self.with_dropped or before.building or not before.tasks

        def work() -> _RunSnapshot | None:
            view = load_view(reader, run_id, group, wanted)
            if view is None:
                return None
            whole = everything or view.group != before.group
            ids = None if whole else sorted(changed)
            lines = load_lines(reader, run_id, view.group, view.ks, ids=ids) if whole or ids else ()
            return _RunSnapshot(view, lines, whole, load_excluded(reader, run_id) if with_dropped else NONE_EXCLUDED)

        return work

    def _apply(self, snapshot: _RunSnapshot | None) -> None:
        shown, table = self._screen.view, self._screen.table
        if snapshot is None or shown is None or shown.run.id != snapshot.view.run.id:
            return
        if snapshot.whole:
            table.put_tasks(snapshot.lines, snapshot.view.ks)
            self._whole = True
        elif snapshot.lines and not table.update_rows(snapshot.lines):
            self._whole = False
        self._show(snapshot)

    def _show(self, snapshot: _RunSnapshot) -> None:
        before, view = self._screen.view, snapshot.view
        if view.groups and self.evaluator in ("", view.evaluator):
            # Keep this evaluator selected when samples of another evaluator arrive later.
            self.evaluator, self.group = view.evaluator, view.group
        self._announce_started(before, view)
        self._screen.apply(view, snapshot.excluded)
        self._compare_soon()
        if not self._whole:
            self.refreshing.refresh_soon()
        else:
            self.figuring.refresh_soon(at_once=not self._figures_of)

    def _announce_started(self, before: RunView | None, view: RunView) -> None:
        """Announce evaluators and runs that were started elsewhere: an evaluator once, a run until it has been shown."""
        self._started = [run for run in self._started if run != view.run.id and run in view.order]
        if before is None or before.run.id != view.run.id:
            return
        known = {one.evaluator for one in before.progress} | {view.evaluator, self.evaluator}
        for evaluator in dict.fromkeys(one.evaluator for one in view.progress if one.evaluator not in known):
            self._screen.notify(
                f"{model_name(evaluator)} writes samples for this run, too: {key_of('regeneration.evaluator')} shows them."
            )
        for run in view.order:
            if run not in before.order:
                self._screen.set_timer(OTHER_RUN_SECONDS, lambda run=run: self._announce_run(run))

    def _announce_run(self, run: str) -> None:
        # A run that was started from this screen is already displayed by now.
        view = self._screen.view
        if view is not None and view.run.id != run and run in view.order and self._screen.run_loader.idle:
            self._started.append(run)
            self._screen.notify(f"Another run started in this session: {key_of('regeneration.next-run')} shows it.")
            self._screen.show_header()

    # -- pass@k

    def _count(self, reader: SessionReader) -> Callable[[], Figures] | None:
        view, table = self._screen.view, self._screen.table
        key = (view.run.id, view.group, table.revision, view.live) if view is not None else ()
        if view is None or key == self._figures_of:
            return None
        self._figures_of = key
        return partial(figures_of, reader, view.run.id, view.group, tuple(table.rows), view.ks)

    def _counted(self, figures: Figures) -> None:
        if self._figures_of:  # only then do the figures belong to this group
            self._screen.show_figures(figures)

    # -- other evaluators and runs

    def _beside(self) -> _Key:
        view = self._screen.view
        if view is None or (len(view.groups) < 2 and len(view.order) < 2):
            return ()
        states = tuple((one.group, one.decided, one.total) for one in view.progress)
        return view.run.id, view.groups, view.group.evaluator, view.order, view.live, states, self._news

    def _compare_soon(self) -> None:
        if (key := self._beside()) != self._standings_of:
            self.comparing.refresh_soon(at_once=key[:1] != self._standings_of[:1])

    def _compare(self, reader: SessionReader) -> Callable[[], EvaluatorResults] | None:
        view, self._standings_of = self._screen.view, self._beside()
        if view is None or not self._standings_of:
            self._screen.show_evaluator_results(EvaluatorResults())
            return None
        return partial(load_evaluator_results, reader, view)

    def _compared(self, standings: EvaluatorResults) -> None:
        if self._standings_of[:1] == self._beside()[:1]:
            self._screen.show_evaluator_results(standings)
