"""The Regeneration mode: what documentation is worth, task by task and sample by sample, while it is tested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.regeneration import loading
from workbench.app.regeneration.building import FallenList
from workbench.app.regeneration.building_panes import Building
from workbench.app.regeneration.deeds import Deeds
from workbench.app.regeneration.figures import Figures
from workbench.app.regeneration.figures_line import FiguresLine
from workbench.app.regeneration.filters import EVERYTHING, Filter
from workbench.app.regeneration.finding import Finder
from workbench.app.regeneration.following import Following
from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.loading import Fallen, RunView
from workbench.app.regeneration.panes import TasksPane
from workbench.app.regeneration.sample_pane import FailingPane, SamplePane
from workbench.app.regeneration.task_table import TaskTable
from workbench.app.screens.run_screen import RunScreen
from workbench.app.trajectory.panes import Pane
from workbench.app.trajectory.prompt_line import PromptLine
from workbench.app.trajectory.virtual import Painted
from workbench.app.widgets.panes import PaneTabs
from workbench.app.widgets.row_list import RowList
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

NO_SESSION = "No session is open.\n\nPress n to test a repository's documentation by regeneration."
NO_RUN = "No regeneration run in this session.\n\nPress n to test a repository's documentation by regeneration."
GONE = "This run is not in the open session: press 3 to choose another session."


class RegenerationScreen(RunScreen):
    """Figures on top, the table of tasks, and below it the selected sample with its failing tests."""

    mode_name = "Regeneration"
    CSS_PATH = "../styles/regeneration.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "resume", "resume", id="regeneration.resume"),
        Binding("tab", "next_pane(1)", "next pane", id="pane.next", show=False),
        Binding("F", "clear_filter", "clear filter", id="regeneration.clear-filter"),
        Binding("f", "filter", "filter", id="regeneration.filter"),
        Binding("r", "rerun", "rerun task", id="regeneration.rerun-task"),
        Binding("R", "rerun_failed", "rerun failed", id="regeneration.rerun-failed"),
        Binding("plus", "add_samples", "5 more samples", key_display="+", id="regeneration.samples"),
        Binding("exclamation_mark", "problem", "failed self-check", key_display="!", id="regeneration.problem"),
        Binding("c", "cancel", "cancel", id="regeneration.cancel"),
        Binding("d", "docs", "docs", id="regeneration.docs"),
        Binding("n", "hit(1)", "next hit", id="regeneration.next-hit"),
        Binding("N", "hit(-1)", "Previous hit", id="regeneration.previous-hit", show=False),
        Binding("n", "new", "new run", id="regeneration.new"),
        Binding("slash", "search", "search", key_display="/", id="regeneration.search"),
        Binding("D", "dropped", "stages, dropped", id="regeneration.dropped"),
        Binding("x", "export", "export", id="regeneration.export"),
        Binding("e", "open_outside", "open in editor", id="regeneration.open"),
        Binding("l,right", "sample(1)", "sample", key_display="h/l", id="regeneration.next-sample"),
        Binding("h,left", "sample(-1)", "Previous sample", id="regeneration.previous-sample", show=False),
        Binding("J", "task(1)", "Next task from any pane", id="regeneration.next-task", show=False),
        Binding("K", "task(-1)", "Previous task from any pane", id="regeneration.previous-task", show=False),
        Binding("L", "run(1)", "Next run", id="regeneration.next-run", show=False),
        Binding("H", "run(-1)", "Previous run", id="regeneration.previous-run", show=False),
        Binding("v", "evaluator", "next evaluator", id="regeneration.evaluator"),
        Binding("right_square_bracket", "tab(1)", "tab", key_display="[ ]", id="regeneration.next-tab"),
        Binding("left_square_bracket", "tab(-1)", "Previous tab", id="regeneration.previous-tab", show=False),
        Binding("z", "zoom", "zoom", id="regeneration.zoom", show=False),
        Binding("m", "more", "Show more of a long text", id="regeneration.more", show=False),
        Binding("y", "copy", "Copy", id="regeneration.copy", show=False),
        Binding("j,down", "move(1)", "Down", id="regeneration.down", show=False),
        Binding("k,up", "move(-1)", "Up", id="regeneration.up", show=False),
        Binding("ctrl+d,pagedown", "page(1)", "Page down", id="regeneration.page-down", show=False),
        Binding("ctrl+u,pageup", "page(-1)", "Page up", id="regeneration.page-up", show=False),
        Binding("g,home", "edge(False)", "First", id="regeneration.first", show=False),
        Binding("G,end", "edge(True)", "Last", id="regeneration.last", show=False),
        Binding("enter", "zoom", "Zoom the pane", id="regeneration.enter", show=False),
        Binding("escape", "leave", "Leave search, zoom, pane", id="regeneration.escape", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.view: RunView | None = None
        self._problem = -1  # which failed self-check was gone to last
        self.finder = Finder(self)
        self.deeds = Deeds(self)
        self.following = Following(self)

    # -- the widgets

    def compose(self) -> ComposeResult:
        """Compose the frame and the figures."""
        yield from super().compose()
        yield Vertical(FiguresLine(), Static("", id="trouble", markup=False), id="head")

    def compose_body(self) -> Iterable[Widget]:
        """Yield the panes."""
        yield TasksPane(id="tasks", classes="pane")
        yield Building(id="building", classes="pane-group -off")
        yield Container(
            SamplePane(id="sample", classes="pane"),
            FailingPane(id="failing", classes="pane"),
            id="detail",
            classes="pane-group",
        )
        yield Static("", id="nothing", classes="state", markup=False)

    def on_mount(self) -> None:
        """Begin at the table."""
        for pane in self.query(Pane):
            pane.titled(pane.short)
            pane.set_class(pane in self.building.query(Pane), "-off")
        self.focus_pane(self.query_one("#tasks"))
        self._show_nothing("Opening the session…" if self.workbench.session_path else NO_SESSION)
        self.set_interval(1.0, self._tick)

    def main_list(self) -> Painted:
        """Return the table, while tasks are built the list of what fell out."""
        return self.building.query_one(FallenList) if self.has_class("-building") else self.table

    def doer(self) -> Deeds:
        """Return who carries out deeds."""
        return self.deeds

    def seeker(self) -> Finder:
        """Return who searches."""
        return self.finder

    @property
    def table(self) -> TaskTable:
        """The table of tasks."""
        return self.query_one(TaskTable)

    @property
    def building(self) -> Building:
        """How the tasks were built."""
        return self.query_one(Building)

    @property
    def sample(self) -> SamplePane:
        """What the selected sample says."""
        return self.query_one(SamplePane)

    @property
    def failing(self) -> FailingPane:
        """The tests that it did not pass."""
        return self.query_one(FailingPane)

    def _make_current(self, current: Widget) -> None:
        super()._make_current(current)
        self.set_class(current is self.failing, "-at-failing")
        self.refresh_bindings()

    def _refresh_tabs(self) -> None:
        named = [(pane.short if isinstance(pane, Pane) else "", pane.has_class("-current")) for pane in self.panes]
        self.query_one(PaneTabs).show(named)

    def uncover(self, pane: Widget) -> None:
        """Bring a pane to the front where only some have room."""
        if not pane.display or self.has_class("-tabs", "-zoomed") or self.has_class("-w-narrow"):
            self.focus_pane(pane)

    def _show_nothing(self, sentence: str) -> None:
        self.set_class(bool(sentence), "-nothing")
        self.query_one("#nothing", Static).update(sentence)
        if sentence:
            self.set_status("")
            self._show_trouble("")
            self.query_one(FiguresLine).view = None
        self.refresh_bindings()

    def _show_trouble(self, text: str) -> None:
        trouble = self.query_one("#trouble", Static)
        trouble.update(text)
        trouble.set_class(bool(text), "-open")

    # -- the run

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Show the session's newest regeneration run, or the one that was asked for before."""
        self.finder.forget()
        self.view, self._problem = None, -1
        if reader is None:
            self._show_nothing("Opening the session…" if self.workbench.session_path else NO_SESSION)
            return
        self.following.load(reader, None)

    def show_run(self, run_id: str) -> None:
        """Show another run of the open session."""
        if self.workbench.reader is not None:
            self.following.load(self.workbench.reader, run_id)

    def show_nothing_here(self, *, asked_for: bool) -> None:
        """Say that there is no such run, or none at all."""
        self._show_nothing(GONE if asked_for else NO_RUN)

    def begin(self, lines: list[TaskLine], ks: tuple[int, ...]) -> None:
        """Show the tasks of another run."""
        self._show_nothing("")
        self.show_figures(None)
        self.table.set_filter(EVERYTHING)
        self.table.put(lines, ks)
        self.table.sample = 0
        self.table.set_cursor(0)

    def show_figures(self, figures: Figures | None) -> None:
        """Show pass@k."""
        self.query_one(FiguresLine).figures = figures

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Look again soon at what changed of this run."""
        if self.view is not None:
            self.following.take(changes, self.view)
        elif any(change.kind == "run" for change in changes) and self.following.loading_run.idle:
            self.on_session_opened(self.workbench.reader)

    def _tick(self) -> None:
        if self.view is not None and self.view.live:
            self.following.soon()  # rate and time left change by themselves

    def apply(self, view: RunView, fallen: Fallen) -> None:
        """Show how the run stands; its lines are in the table already."""
        self.view = view
        self._show_header()
        self._show_trouble(loading.trouble(view, self.size.width))
        self.query_one(FiguresLine).view = view
        building = view.building or self.following.with_dropped or not view.tasks
        switched = self.has_class("-building") is not building
        self.set_class(building, "-building")
        for selector in ("#tasks", "#sample", "#failing"):
            self.query_one(selector).set_class(building, "-off")
        for pane in self.building.query(".pane"):
            pane.set_class(not building, "-off")
        self.building.set_class(not building, "-off")
        if building:
            self.building.show_run(view, fallen)
        else:
            self.query_one(TasksPane).show_run(view)
        if switched:
            self.focus_pane(self.query_one("#counts" if building else "#tasks"))
        self._show_sample()
        self.refresh_bindings()

    def _show_header(self) -> None:
        if self.view is not None:
            self.set_status(one_line(loading.header(self.view, self.size.width - 2), 400))

    def on_resize(self, event: events.Resize) -> None:
        """Fit the header; Textual calls the frame's own handler as well."""
        self._show_header()

    # -- the selected task and sample

    def _show_sample(self) -> None:
        reader, view, line = self.workbench.reader, self.view, self.table.selected
        if reader is None or view is None:
            return
        if line is None:
            self.sample.show_nothing("No task passes this filter; F clears it, f changes it." if view.tasks else "")
            self.failing.show_nothing()
            return
        self.sample.show_sample(reader, line, view.evaluator, self.table.sample)
        self.failing.show_sample(reader, line, view.evaluator, self.table.sample)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Show the sample of the task under the cursor."""
        if message.row_list is self.table:
            self.table.move_sample(0)
            self._show_sample()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Go to the sample of the task."""
        if message.row_list is self.table:
            self.focus_pane(self.sample)

    def go_to(self, task: str, sample: int | None) -> None:
        """Select a task and one of its samples."""
        if self.table.go_to_task(task, sample):
            self._title_tasks()
            self._show_sample()

    def _title_tasks(self) -> None:
        if self.view is not None:
            self.query_one(TasksPane).show_run(self.view)

    def on_prompt_line_answered(self, message: PromptLine.Answered) -> None:
        """Search, while tasks are built among what fell out."""
        self.on_prompt_line_left()
        if self.has_class("-building"):
            self.building.find(message.text)
        else:
            self.finder.begin(message.text)

    def on_prompt_line_left(self) -> None:
        """Go back to the list."""
        self.focus_pane(self.query_one("#fallen" if self.has_class("-building") else "#tasks"))

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what makes sense now."""
        if action in {
            "resume",
            "cancel",
            "rerun",
            "rerun_failed",
            "add_samples",
            "export",
            "open_outside",
            "copy",
        }:
            return self.deeds.can(action)
        if action == "hit":
            return self.finder.found is not None
        if action == "new":
            return self.finder.found is None
        if action == "problem":
            return self.view is not None and bool(self.view.problems)
        if action == "evaluator":
            return self.view is not None and len(self.view.evaluators) > 1
        if action == "clear_filter":
            return self.table.filter.active and not self.has_class("-building")
        if action in {"filter", "docs", "sample", "tab"}:
            return self.view is not None and not self.has_class("-building")
        if action == "dropped":
            return self.view is not None and not self.view.building and bool(self.view.tasks)
        if action in {"run", "search"}:
            return self.view is not None
        return True

    def action_sample(self, step: int) -> None:
        """Go to the next or previous sample of the task."""
        self.table.move_sample(step)
        self._show_sample()

    def action_task(self, step: int) -> None:
        """Go to the next or previous task."""
        self.table.action_move_cursor(step)

    def action_run(self, step: int) -> None:
        """Go to the next or previous regeneration run of the session."""
        if self.view is not None:
            order = self.view.order
            at = order.index(self.view.run.id) + step if self.view.run.id in order else -1
            if 0 <= at < len(order):
                self.show_run(order[at])

    def action_evaluator(self) -> None:
        """Show the samples of the next evaluator."""
        if self.view is not None and self.view.evaluators:
            names = self.view.evaluators
            self.following.again(names[(names.index(self.view.evaluator) + 1) % len(names)])

    @work
    async def action_filter(self) -> None:
        """Choose which tasks are shown; the table follows at once."""
        from workbench.app.regeneration.filter_dialog import FilterDialog

        await self.app.push_screen_wait(FilterDialog(tuple(self.table.lines), self.table.filter, self.filter_tasks))
        self._show_sample()

    def action_clear_filter(self) -> None:
        """Show all tasks again."""
        self.filter_tasks(EVERYTHING)
        self._show_sample()

    def filter_tasks(self, wanted: Filter) -> int:
        """Show the tasks that a filter lets through; returns how many."""
        self.table.set_filter(wanted)
        self._title_tasks()
        self.refresh_bindings()
        return self.table.row_count()

    def action_problem(self) -> None:
        """Go to the next task on which a self-check failed, with the sample that shows it."""
        problems = self.view.problems if self.view is not None else ()
        if not problems:
            return
        if self.following.with_dropped:
            self.action_dropped()
        self._problem = (self._problem + 1) % len(problems)
        problem = problems[self._problem]
        if problem.sample is not None and self.view is not None and problem.evaluator != self.view.evaluator:
            self.following.again(problem.evaluator)
        self.go_to(problem.task, problem.sample)
        of = f"{self._problem + 1:,} of {len(problems):,}"
        self.set_remark(f"! {of} · {one_line(problem.name, 60)} · {problem.sentence} · ! next, esc ends")

    def action_docs(self) -> None:
        """Show the docstring from which the sample was made."""
        self.sample.choose("Docstring")
        self.uncover(self.sample)

    def action_dropped(self) -> None:
        """Show the stages and every function that was dropped, or the tasks again."""
        if self.view is None or self.view.building:
            return
        self.following.with_dropped = not self.following.with_dropped
        self.following.soon()

    def action_tab(self, step: int) -> None:
        """Turn the tabs of the sample."""
        self.sample.turn(step)

    def action_more(self) -> None:
        """Show more of a long text."""
        self.sample.more()

    def action_zoom(self) -> None:
        """Give the current pane all the room, or take it back."""
        self.toggle_class("-zoomed")

    def action_leave(self) -> None:
        """Forget the search; else end the zoom; else go back to the table."""
        if self.finder.found is not None or self._problem >= 0:
            self.finder.forget()
            self._problem = -1
        elif self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.has_class("-building") and self.building.forget():
            return
        elif self.following.with_dropped:
            self.action_dropped()
        else:
            self.focus_pane(self.query_one("#tasks"))

    @work
    async def action_new(self) -> None:
        """Ask what to regenerate and start."""
        from workbench.app.regeneration.starting import ask_and_start

        plan = self.view.plan if self.view is not None else {}
        await ask_and_start(self.workbench, str(plan.get("source") or ""), str(plan.get("docs") or ""))

    def action_rerun_failed(self) -> None:
        """Write and test every sample again that did not pass."""
        self.deeds.rerun_failed()

    def action_add_samples(self) -> None:
        """Ask for five more samples of every task."""
        self.deeds.add_samples()
