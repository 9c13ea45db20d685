"""The screen of the Regeneration mode, which shows live results by task and sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on, work

from workbench.app.keys import key_of
from workbench.app.location import Anchor, Location
from workbench.app.regeneration.evaluator_results import EvaluatorResults, other_samples
from workbench.app.regeneration.figures_line import EvaluatorLine, FiguresLine, headline
from workbench.app.regeneration.run_panes import RunPanes
from workbench.app.regeneration.run_watcher import RunWatcher
from workbench.app.regeneration.task_table import EVERYTHING, TaskFilter
from workbench.app.regeneration.wording import header, trouble, words_of
from workbench.app.toolkit.actions import RunActions
from workbench.app.toolkit.header import HeaderPart
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LiveLoader
from workbench.base.text import one_line
from workbench.orders.order import WorkOrder
from workbench.results.regeneration_runs import Excluded, RunView
from workbench.results.tasks import Figures, TaskLine
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from workbench.regeneration.failure_groups import FailedCandidate
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

MORE_SAMPLES = 5
ABREAST = (190, 48)
"""The minimum columns and rows for showing diff, texts and failing tests side by side below the tasks."""


class RegenerationActions(RunActions):
    """Runs the actions of the mode that involve the engine, the disk or another program."""

    def __init__(self, shown: RegenerationScreen) -> None:
        super().__init__(shown)
        self._shown = shown

    def rerun(self) -> None:
        line = self._shown.selected_task
        if line is not None:
            self._rerun("Retesting the samples of this task", line.id)

    def rerun_failed(self) -> None:
        self._rerun("Retesting all samples that did not pass", failed=True)

    def _rerun(self, text: str, item: str = "", *, failed: bool = False) -> None:
        from workbench.orders.rerun import RerunOrder

        if self._shown.view is not None:
            self._order(lambda own: RerunOrder(own, item, failed=failed), f"{text}; existing answers are kept.")

    def add_samples(self) -> None:
        from workbench.orders.regenerate import MoreSamplesOrder

        if (view := self._shown.view) is not None:
            wanted, group = view.samples + MORE_SAMPLES, view.group
            arguments = (view.run.id, wanted, group.evaluator, group.prompt, group.context)
            text = f"Requesting {MORE_SAMPLES} more samples: m = {wanted}."
            self._order(lambda own: MoreSamplesOrder(own, *arguments), text)

    def _order(self, order: Callable[[Path], WorkOrder], text: str) -> None:
        warm = self._host.warm
        self.after_confirmation(order, lambda: self._do(lambda own, _: order(own).begin(warm=warm), text))

    def resume(self) -> None:
        from workbench.orders import running

        warm = self._host.warm
        self._do(lambda own, view: running.resume(own, view.run.id, warm=warm), "Resuming the run.")

    def cancel(self) -> None:
        from workbench.orders import running

        text = "Cancelling the run; tested samples are kept."
        self._do(lambda own, view: running.cancel(own, view.run.id), text)

    def can(self, action: str) -> bool:
        view = self._shown.view
        if view is None or (action in {"rerun", "rerun_failed", "add_samples"} and self._shown.shows_building):
            return False
        match action:
            case "resume":
                unfinished = view.state in {"interrupted", "failed", "cancelled"}
                return not view.permanent_failure and (
                    unfinished or (view.state == "done" and view.totals.retesting > 0)
                )
            case "cancel":
                return view.live
            case "copy" | "open_outside":
                return bool(self._subject().text)
            case "rerun":
                return self._shown.selected_task is not None
            case "rerun_failed":
                return any(count for verdict, count in view.totals.verdicts.items() if verdict != "passed")
            case "add_samples":
                # Controls always give the same answer, and files have a fixed number of samples.
                fixed = view.evaluator in CONTROLS or "samples:" in view.evaluator
                return bool(view.totals.samples) and not fixed
            case _:
                return True

    def _do(self, work: Callable[[Path, RunView], object], text: str) -> None:
        view = self._shown.view
        if view is None:
            self._host.notify("No run is shown.")
        else:
            self.on_writable(
                lambda own: work(own, view), lambda _: text, lambda own, _: Location(own, "regeneration", view.run.id)
            )


class RegenerationScreen(RunPanes):
    """The screen with figures on top, then the table of tasks, then the selected sample with its failing tests."""

    actions: RegenerationActions
    no_session = "No session is open.\n\nPress {regeneration.new} to test a repository's documentation by regeneration."

    def __init__(self) -> None:
        super().__init__()
        self._problem = -1  # index of the failed self-check shown last
        self.actions = RegenerationActions(self)
        self.following = RunWatcher(self)
        read, show, failed = self._read_improvements, self._show_improvements, lambda sentence: None
        self.improving = LiveLoader(self, "improvement", read, show, failed, kinds={"improvement"})
        self.results = EvaluatorResults()

    def show_nothing(self, sentence: str) -> None:
        super().show_nothing(sentence)
        if sentence:
            self._show_trouble("")
            self.query_one(FiguresLine).view = self.query_one(EvaluatorLine).view = None

    def _show_trouble(self, text: str) -> None:
        line = self.query_one("#trouble", Static)
        line.update(text)
        line.set_class(bool(text), "-open")

    # -- the run

    def forget(self) -> None:
        self.view = None
        self._problem = -1
        self.following.forget()

    def show_run(self, run_id: str, evaluator: str = "", place: Anchor | None = None) -> None:
        """Show another run of the session, optionally with the samples of an evaluator, and go to ``place`` in it."""
        self.workbench.selected_run = run_id
        if evaluator:
            self.following.evaluator, self.following.group = evaluator, None
        self.load_at(place)

    def load_wanted(self, reader: SessionReader) -> None:
        self.following.load(reader, self.workbench.selected_run)

    def begin(self, lines: Sequence[TaskLine], ks: tuple[int, ...]) -> None:
        self.show_nothing("")
        self.show_figures(None)
        self.table.set_filter(EVERYTHING)
        self.table.put_tasks(lines, ks)
        self.marks_changed()
        self.table.sample = 0
        self.table.set_cursor(0)

    def show_figures(self, figures: Figures | None) -> None:
        self.query_one(FiguresLine).figures = figures
        self.show_header()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        if any(change.kind in {"label", "annotation"} and change.item == self.detail.candidate for change in changes):
            self.detail.reload()
        self.improving.on_changes(changes)
        if self.view is not None:
            self.following.on_changes(changes, self.view)
        elif any(change.kind == "run" for change in changes) and self.run_loader.idle:
            self.on_session_opened(self.workbench.reader)

    def tick(self) -> None:
        if self.view is not None and self.view.live:
            self.following.refreshing.refresh_soon()  # the rate and time left change over time

    def apply(self, view: RunView, excluded: Excluded) -> None:
        """Show the state of the run; the tasks are already in the table."""
        before, self.view = self.view, view
        if before is None or before.run.id != view.run.id:
            self.improvements = ""
            self.improving.refresh()
        self.show_header()
        self._show_trouble(trouble(view, self.size.width))
        self.query_one(FiguresLine).view = self.query_one(EvaluatorLine).view = view
        building = view.building or self.following.with_dropped or not view.tasks
        switched = self.shows_building is not building
        self.set_class(building, "-building")
        self.query_one("#tasks").set_class(building, "-off")
        self.detail.switch(off=building, abreast=self.has_class("-abreast"))
        for pane in self.building.query(".pane"):
            pane.set_class(not building, "-off")
        self.building.set_class(not building, "-off")
        if building:
            self.building.show_run(view, excluded)
        else:
            self.title_tasks()
        if switched:
            self.focus_pane(self.query_one("#counts" if building else "#tasks"))
        self.show_sample()
        self.refresh_bindings()
        self.go_on_to_place()
        self.has_read()

    def can_go(self, place: Anchor) -> bool:
        return self.table.knows(place.item)

    def go_to_place(self, place: Anchor) -> None:
        self.go_to(place.item, place.number)
        self.search_for(place.needle)

    def show_evaluator_results(self, results: EvaluatorResults) -> None:
        """Show the results of all evaluators and runs, with pass@k in the line and samples as columns."""
        self.query_one(EvaluatorLine).results = self.results = results
        self._show_beside()

    def _show_beside(self) -> None:
        if self.view is not None:
            self.table.show_beside(
                *other_samples(self.view, self.results if self.has_class("-w-huge") else EvaluatorResults())
            )
            self.title_tasks()

    def show_header(self) -> None:
        if self.view is None:
            return
        parts = list(header(self.view, headline(self.view, self.query_one(FiguresLine).figures)))
        if self.following.new_run:
            parts.append(HeaderPart(f"another run started: {key_of('regeneration.next-run')}"))
        if self.improvements:
            key = key_of("regeneration.improvements")
            short = f"{self.improvements[:1]} docstrings: {key}"
            parts.append(HeaderPart(f"{self.improvements}: {key}", rank=3, short=short))
        self.set_status(tuple(parts))

    def on_resize(self, event: events.Resize) -> None:
        abreast = self.app.size.width >= ABREAST[0] and self.app.size.height >= ABREAST[1]
        self.set_class(abreast, "-abreast")
        self.detail.switch(off=self.shows_building, abreast=abreast)
        self.show_sample()
        self.show_header()
        self._show_beside()

    # -- keys

    def action_sample(self, step: int) -> None:
        self.table.move_sample(step)
        self.show_sample()

    def action_task(self, step: int) -> None:
        self.table.move_task(step)

    def action_run(self, step: int) -> None:
        new_run = self.following.new_run
        if not (step > 0 and new_run) and self.workbench.go_on(step):
            return
        if self.view is not None:
            order = self.view.order
            at = order.index(self.view.run.id) + step if self.view.run.id in order else -1
            if step > 0 and new_run in order:
                at = order.index(new_run)  # go to the announced run
            if 0 <= at < len(order):
                self.leave_run()
                self.workbench.leave_place()
                self.show_run(order[at])

    def action_evaluator(self) -> None:
        if self.view is not None and self.view.groups:
            groups = self.view.groups
            self.following.show_group(groups[(groups.index(self.view.group) + 1) % len(groups)])

    def on_evaluator_line_evaluator_selected(self, message: EvaluatorLine.EvaluatorSelected) -> None:
        if self.view is not None and message.group in self.view.groups:
            self.following.show_group(message.group)

    @work
    async def action_filter(self) -> None:
        from workbench.app.toolkit.filters import FilterDialog

        lines, names = tuple(self.table.rows), f"a file or {words_of(self.view).task}"
        await self.app.push_screen_wait(FilterDialog(lines, self.table.filter, self.filter_tasks, "task", names))
        self.show_sample()

    def action_clear_filter(self) -> None:
        self.filter_tasks(EVERYTHING)
        self.show_sample()

    def filter_tasks(self, wanted: TaskFilter) -> int:
        """Apply a filter and return the number of matching tasks."""
        self.table.set_filter(wanted)
        self.title_tasks()
        self.refresh_bindings()
        return len(self.table.shown)

    @on(VirtualTable.Arranged)
    def show_arrangement(self) -> None:
        self.title_tasks()
        self.show_sample()
        self.refresh_bindings()

    def action_what_went_wrong(self) -> None:
        from workbench.app.regeneration.went_wrong import WentWrongScreen

        if self.view is not None:
            self.app.push_screen(WentWrongScreen(self.view, self._open_candidate))

    def _open_candidate(self, one: FailedCandidate) -> None:
        if self.view is not None and one.group != self.view.group:
            self._place = Anchor(one.sample, item=one.task)
            self.following.show_group(one.group)
        else:
            self.go_to(one.task, one.sample)

    def action_arrange(self, how: str) -> None:
        getattr(self.table, f"action_{how}")()

    def action_problem(self) -> None:
        view = self.view
        if view is None or not view.check.problems:
            return
        problems = view.check.problems
        self._problem = (self._problem + 1) % len(problems)
        problem = problems[self._problem]
        if self.following.with_dropped:
            self.action_dropped()
        other = problem.sample is not None and problem.group != view.group
        if other and problem.group is not None:
            self.following.show_group(problem.group)
        self.go_to(problem.task, problem.sample)
        of = f"{self._problem + 1:,} of {len(problems):,}"
        keys = f"{key_of('regeneration.problem')} next, {key_of('regeneration.escape')} ends"
        self.set_remark(f"! {of} · {one_line(problem.name, 60)} · {problem.sentence} · {keys}")

    def action_steps(self) -> None:
        self.workbench.leave_place()
        self.workbench.go_to(Location(self.workbench.session_path, "trajectory", self.detail.candidate))

    def action_docs(self) -> None:
        self.sample.choose(words_of(self.view).docs)
        self.uncover(self.sample)

    # -- improved docstrings

    def _read_improvements(self, reader: SessionReader) -> Callable[[], str] | None:
        from workbench.app.regeneration.improvements_screen import improvement_status

        return partial(improvement_status, reader, self.view.run.id) if self.view is not None else None

    def _show_improvements(self, text: str) -> None:
        self.improvements = text
        self.show_header()
        self.refresh_bindings()

    @work
    async def action_improve(self) -> None:
        from workbench.app.regeneration.improve_dialogs import FAILED, MARKED, THIS, ask_and_start

        host, view, this, every = self.workbench, self.view, self.selected_task, tuple(self.table.rows)
        if view is not None and host.session_path is not None:
            marked = host.marks.letters(host.session_path, "task")
            chosen = [line for line in every if line.id in marked]
            if await ask_and_start(host, view, {THIS: [this] if this else [], MARKED: chosen, FAILED: every}):
                self.action_improvements()

    def action_improvements(self) -> None:
        from workbench.app.regeneration.improvements_screen import ImprovementsScreen

        if self.view is not None:
            self.app.push_screen(ImprovementsScreen(self.view.run.id))

    # -- other keys

    def action_dropped(self) -> None:
        if self.view is None or self.view.building:
            return
        self.following.with_dropped = not self.following.with_dropped
        self.following.refreshing.refresh_soon()

    def action_tab(self, step: int) -> None:
        self.sample.turn(step)

    def action_more(self) -> None:
        self.sample.more()

    def action_zoom(self) -> None:
        self.toggle_class("-zoomed")

    def action_leave(self) -> None:
        if self.workbench.goes_through_hits:
            self.workbench.go_back_to_list()
        elif self.finder.found is not None or self._problem >= 0:
            self.finder.forget()
            self._problem = -1
        elif self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.shows_building and self.building.forget():
            return
        elif self.following.with_dropped:
            self.action_dropped()
        elif not self.workbench.go_back_to_list():
            self.focus_pane(self.query_one("#tasks"))

    @work
    async def action_new(self) -> None:
        plan = self.view.plan if self.view is not None else {}
        await self.workbench.ask_and_regenerate(str(plan.get("source") or ""), str(plan.get("docs") or ""))

    @work
    async def action_measure_use(self) -> None:
        plan = self.view.plan if self.view is not None else {}
        await self.workbench.ask_and_measure(str(plan.get("source") or ""))

    def action_rerun_failed(self) -> None:
        self.do("rerun_failed", self.actions.rerun_failed)

    def action_add_samples(self) -> None:
        self.do("add_samples", self.actions.add_samples)
