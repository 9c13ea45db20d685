"""The Regeneration mode: what documentation is worth, task by task and sample by sample, while it is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import BindingType

from workbench.app.key_table import key_of, with_keys
from workbench.app.location import Place
from workbench.app.regeneration import loading
from workbench.app.regeneration.actions import Actions
from workbench.app.regeneration.announcing import Announcing
from workbench.app.regeneration.evaluator_line import EvaluatorLine
from workbench.app.regeneration.figures_line import FiguresLine, headline
from workbench.app.regeneration.filters import EVERYTHING, TaskFilter
from workbench.app.regeneration.following import Following
from workbench.app.regeneration.improving.of_run import Improving
from workbench.app.regeneration.keys import KEYS, ON_THE_RUN, makes_sense
from workbench.app.regeneration.loading import Excluded, RunView
from workbench.app.regeneration.marking import Marking
from workbench.app.regeneration.problems import Problems
from workbench.app.regeneration.run_panes import RunPanes
from workbench.app.regeneration.standings import Comparing, Standings, beside
from workbench.app.regeneration.task_table import TasksPane, TaskTable
from workbench.app.toolkit.header import Part
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.typed_line import PromptLine
from workbench.results.tasks import Figures, TaskLine

if TYPE_CHECKING:
    from workbench.regeneration.failure_groups import FailedCandidate
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

ABREAST = (190, 48)
"""Cells from which on difference, docstring, prompt and failing tests stand next to one another, below the tasks."""
NO_SESSION = "No session is open.\n\nPress {regeneration.new} to test a repository's documentation by regeneration."
NO_RUN = "No regeneration run in this session.\n\nPress {regeneration.new} to test a repository's documentation by regeneration."
GONE = "This run is not in the open session: press {app.sessions} to choose another session."


class RegenerationScreen(RunPanes):
    """Figures on top, the table of tasks, and below it the selected sample with its failing tests."""

    mode_name = "Regeneration"
    actions: Actions
    CSS_PATH = "../styles/regeneration.tcss"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self) -> None:
        super().__init__()
        self.view: RunView | None = None
        self._goal: Place | None = None  # where somebody wanted to go in the run that is shown
        self._place: Place | None = None  # the same until it is reached
        self._problems = Problems()
        self.actions = Actions(self.workbench, self.doing, self)
        self.following = Following(self)
        self.marking = Marking(self)
        self.announcing = Announcing(self)
        self.comparing = Comparing(self)
        self.improving = Improving(self, self.app.push_screen, self._show_improving)
        self.standings = Standings()

    def on_mount(self) -> None:
        for pane in self.query(Pane):
            pane.titled(pane.short)
            pane.set_class(pane in self.building.query(Pane), "-off")
        self.focus_pane(self.query_one("#tasks"))
        self._show_nothing("Opening the session…" if self.workbench.session_path else with_keys(NO_SESSION))
        self.set_interval(1.0, self._tick)

    def _show_nothing(self, sentence: str) -> None:
        self.set_class(bool(sentence), "-nothing")
        self.query_one("#nothing", Static).update(sentence)
        if sentence:
            self.set_status("")
            self._show_trouble("")
            self.query_one(FiguresLine).view = self.query_one(EvaluatorLine).view = None
        self.refresh_bindings()

    def _show_trouble(self, text: str) -> None:
        trouble = self.query_one("#trouble", Static)
        trouble.update(text)
        trouble.set_class(bool(text), "-open")

    # -- the run

    def on_session_opened(self, reader: SessionReader | None) -> None:
        self.finder.forget()
        self.view = None
        self._problems.forget()
        self.announcing.forget()
        self.following.evaluator, self.following.group = "", None
        if reader is None:
            self._show_nothing("Opening the session…" if self.workbench.session_path else with_keys(NO_SESSION))
            if self.workbench.session_path is None:
                self.has_read()
            return
        # The run begins anew, perhaps after the goal was reached.
        self._place = self._goal
        self._load(reader, self.workbench.selected_run)

    def show_run(self, run_id: str, evaluator: str = "", place: Place | None = None) -> None:
        """Show another run of the open session, with the samples of an evaluator as soon as there are some, and a place in it."""
        self.workbench.selected_run = run_id
        self._goal = self._place = place
        if self.workbench.reader is not None:
            self._load(self.workbench.reader, run_id, evaluator)

    def _load(self, reader: SessionReader, run_id: str | None, evaluator: str = "") -> None:
        self.reading = True
        self.following.load(reader, run_id, evaluator)

    def show_nothing_here(self, *, asked_for: bool) -> None:
        """Say that there is no such run, or none at all."""
        self._show_nothing(with_keys(GONE if asked_for else NO_RUN))
        self._read_if_last()

    def show_reason(self, sentence: str) -> None:
        """Say why the run cannot be shown."""
        self._show_nothing(sentence)
        self._read_if_last()

    def _read_if_last(self) -> None:
        # A result that came too late is not what was asked for last.
        if self.reading and self.following.loading_run.idle:
            self.has_read()

    def begin(self, lines: list[TaskLine], ks: tuple[int, ...]) -> None:
        """Show the tasks of another run."""
        self._show_nothing("")
        self.show_figures(None)
        self.table.set_filter(EVERYTHING)
        self.table.put_tasks(lines, ks)
        self.marks_changed()
        self.table.sample = 0
        self.table.set_cursor(0)

    def show_figures(self, figures: Figures | None) -> None:
        self.query_one(FiguresLine).figures = figures
        self._show_header()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        if any(change.kind in {"label", "annotation"} and change.item == self.detail.candidate for change in changes):
            self.detail.read_again()
        if any(change.kind == "improvement" for change in changes):
            self.improving.read()
        if self.view is not None:
            self.following.take(changes, self.view)
            self.comparing.take(changes, self.table.knows)
        elif any(change.kind == "run" for change in changes) and self.following.loading_run.idle:
            self.on_session_opened(self.workbench.reader)

    def _tick(self) -> None:
        if self.view is not None and self.view.live:
            self.following.soon()  # rate and time left change by themselves

    def apply(self, view: RunView, excluded: Excluded) -> None:
        """Show how the run stands; its lines are in the table already."""
        self.announcing.look(self.view, view, self.following.evaluator)
        self.view = view
        self.improving.of(view.run.id)
        self.query_one(EvaluatorLine).begun = self.announcing.begun
        self._show_header()
        self._show_trouble(loading.trouble(view, self.size.width))
        self.query_one(FiguresLine).view = self.query_one(EvaluatorLine).view = view
        building = view.building or self.following.with_dropped or not view.tasks
        switched = self.has_class("-building") is not building
        self.set_class(building, "-building")
        self.query_one("#tasks").set_class(building, "-off")
        self.detail.switch(off=building, abreast=self.has_class("-abreast"))
        for pane in self.building.query(".pane"):
            pane.set_class(not building, "-off")
        self.building.set_class(not building, "-off")
        if building:
            self.building.show_run(view, excluded)
        else:
            self.query_one(TasksPane).show_run(view)
        if switched:
            self.focus_pane(self.query_one("#counts" if building else "#tasks"))
        self.show_sample()
        self.refresh_bindings()
        self._go_to_place()
        self.comparing.refresh()
        self._read_if_last()

    def _go_to_place(self) -> None:
        place = self._place
        # Another reading of the run may be under way, which would begin it anew.
        if place is None or not self.following.loading_run.idle or not self.table.knows(place.item):
            return
        self._place = None
        self.go_to(place.item, place.number)
        self.search_for(place.needle)

    @property
    def reads_run(self) -> bool:
        return not self.following.loading_run.idle

    def show_begun(self) -> None:
        """Say in the header, as long as it was not looked at, that another run began elsewhere."""
        self.query_one(EvaluatorLine).begun = self.announcing.begun
        self._show_header()

    def show_standings(self, standings: Standings) -> None:
        """Show how all evaluators and runs stand: pass@k in the line, and cells beside those of the one in front."""
        self.query_one(EvaluatorLine).standings = self.standings = standings
        self._show_beside()

    def _show_beside(self) -> None:
        if self.view is not None:
            self.table.show_beside(*beside(self.view, self.standings if self.has_class("-w-huge") else Standings()))
            self.title_tasks()

    def _show_header(self) -> None:
        if self.view is not None:
            said = loading.header(self.view, headline(self.query_one(FiguresLine).figures))
            begun = (Part(f"another run began: {key_of('regeneration.next-run')}"),) if self.announcing.begun else ()
            self.set_status((*said, *begun, *self.improving.parts()))

    def _show_improving(self) -> None:
        self._show_header()
        self.refresh_bindings()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self._show_header()
        self._show_beside()

    def _fit(self) -> None:
        abreast = self.app.size.width >= ABREAST[0] and self.app.size.height >= ABREAST[1]
        self.set_class(abreast, "-abreast")
        self.detail.switch(off=self.has_class("-building"), abreast=abreast)
        self.show_sample()

    # -- the line below

    def on_prompt_line_answered(self, message: PromptLine.Answered) -> None:
        self.on_prompt_line_left()
        if self.has_class("-building"):
            self.building.find(message.text)
        else:
            self.search_for(message.text)

    def on_prompt_line_left(self) -> None:
        self.focus_pane(self.query_one("#excluded" if self.has_class("-building") else "#tasks"))

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ON_THE_RUN:
            return self.offers(action)
        if action == "improvements":
            return bool(self.improving.said)
        return makes_sense(
            action,
            self.view,
            building=self.has_class("-building"),
            searching=self.finder.found is not None or self.workbench.goes_through_hits,
            # The keys are asked for before the table is there.
            filtered=any(table.filter.active for table in self.query(TaskTable)),
        )

    def action_sample(self, step: int) -> None:
        self.table.move_sample(step)
        self.show_sample()

    def action_mark(self) -> None:
        self.marking.mark()

    def action_mark_group(self) -> None:
        self.marking.mark_group()

    def action_compare(self) -> None:
        self.marking.compare()

    def action_task(self, step: int) -> None:
        self.table.move_task(step)

    def action_run(self, step: int) -> None:
        begun = self.announcing.begun
        if not (step > 0 and begun) and self.workbench.go_on(step):
            return
        if self.view is not None:
            order = self.view.order
            at = order.index(self.view.run.id) + step if self.view.run.id in order else -1
            if step > 0 and begun in order:
                at = order.index(begun)  # the one that was announced, however many are between
            if 0 <= at < len(order):
                self.leave_run()
                self.workbench.leave_place()
                self.show_run(order[at])

    def action_evaluator(self) -> None:
        if self.view is not None and self.view.evaluators:
            groups = self.view.groups
            self.following.again(groups[(groups.index(self.view.group) + 1) % len(groups)])

    def on_evaluator_line_chosen(self, message: EvaluatorLine.Chosen) -> None:
        if self.view is not None and message.group in self.view.groups:
            self.following.again(message.group)

    @work
    async def action_filter(self) -> None:
        from workbench.app.toolkit.filter_dialog import FilterDialog

        lines, names = tuple(self.table.rows), "a file or function"
        await self.app.push_screen_wait(FilterDialog(lines, self.table.filter, self.filter_tasks, "task", names))
        self.show_sample()

    def action_clear_filter(self) -> None:
        self.filter_tasks(EVERYTHING)
        self.show_sample()

    def filter_tasks(self, wanted: TaskFilter) -> int:
        """Show the tasks that a filter lets through; returns how many."""
        self.table.set_filter(wanted)
        self.title_tasks()
        self.refresh_bindings()
        return len(self.table.shown)

    @on(Table.Arranged)
    def show_arrangement(self) -> None:
        """Say how the tasks stand now, and show what is under the cursor."""
        self.title_tasks()
        self.show_sample()
        self.refresh_bindings()

    def action_what_went_wrong(self) -> None:
        from workbench.app.regeneration.went_wrong.screen import WentWrongScreen

        if self.view is not None:
            self.app.push_screen(WentWrongScreen(self.view, self._open_candidate))

    def _open_candidate(self, one: FailedCandidate) -> None:
        if self.view is not None and one.group != self.view.group:
            self._place = Place(one.sample, item=one.task)
            self.following.again(one.group)
        else:
            self.go_to(one.task, one.sample)

    def action_arrange(self, how: str) -> None:
        getattr(self.table, f"action_{how}")()

    def action_problem(self) -> None:
        found = self._problems.next(self.view.check.problems if self.view is not None else ())
        if found is None:
            return
        problem, said = found
        if self.following.with_dropped:
            self.action_dropped()
        other = self.view is not None and problem.group != self.view.group
        if problem.sample is not None and problem.group is not None and other:
            self.following.again(problem.group)
        self.go_to(problem.task, problem.sample)
        self.set_remark(said)

    def action_docs(self) -> None:
        self.sample.choose("Docstring")
        self.uncover(self.sample)

    @work
    async def action_improve(self) -> None:
        await self.improving.ask()

    def action_improvements(self) -> None:
        self.improving.open()

    def action_dropped(self) -> None:
        if self.view is None or self.view.building:
            return
        self.following.with_dropped = not self.following.with_dropped
        self.following.soon()

    def action_tab(self, step: int) -> None:
        self.sample.turn(step)

    def action_more(self) -> None:
        self.sample.more()

    def action_zoom(self) -> None:
        self.toggle_class("-zoomed")

    def action_leave(self) -> None:
        if self.workbench.goes_through_hits:
            self.workbench.go_back_to_list()
        elif self.finder.found is not None or self._problems.followed:
            self.finder.forget()
            self._problems.forget()
        elif self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.has_class("-building") and self.building.forget():
            return
        elif self.following.with_dropped:
            self.action_dropped()
        elif not self.workbench.go_back_to_list():
            self.focus_pane(self.query_one("#tasks"))

    @work
    async def action_new(self) -> None:
        plan = self.view.plan if self.view is not None else {}
        await self.workbench.ask_and_regenerate(str(plan.get("source") or ""), str(plan.get("docs") or ""))

    def action_rerun_failed(self) -> None:
        self.do("rerun_failed", self.actions.rerun_failed)

    def action_add_samples(self) -> None:
        self.do("add_samples", self.actions.add_samples)
