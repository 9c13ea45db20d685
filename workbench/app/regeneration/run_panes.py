"""The panes of the Regeneration mode, and what is selected in them: what is shown of it, copied, labelled, or come back to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from workbench.app.key_table import key_of
from workbench.app.location import Location, Place
from workbench.app.regeneration.building import Building, ExcludedList
from workbench.app.regeneration.following import Following
from workbench.app.regeneration.head import EvaluatorLine, FiguresLine
from workbench.app.regeneration.loading import RunView
from workbench.app.regeneration.sample_pane import Detail, SamplePane
from workbench.app.regeneration.search import Hit
from workbench.app.regeneration.task_table import TasksPane, TaskTable
from workbench.app.toolkit.document import Subject
from workbench.app.toolkit.labelling import Labelled
from workbench.app.toolkit.pane import Pane, PaneTabs
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class RunPanes(RunScreen):
    """The widgets of a run; ``view`` is the one that is shown, None before one was read."""

    view: RunView | None = None
    following: Following

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Vertical(FiguresLine(), EvaluatorLine(), Static("", id="trouble"), id="head")

    def compose_body(self) -> Iterable[Widget]:
        yield TasksPane(id="tasks", classes="pane")
        yield Building(id="building", classes="pane-group -off")
        yield Detail(id="detail", classes="pane-group")
        yield Static("", id="nothing", classes="state")

    def main_list(self) -> VirtualView:
        return self.building.query_one(ExcludedList) if self.shows_building else self.table

    @property
    def reader(self) -> SessionReader | None:
        return self.workbench.reader

    @property
    def selected_task(self) -> TaskLine | None:
        return self.table.selected

    @property
    def shows_building(self) -> bool:
        return self.has_class("-building")

    @property
    def table(self) -> TaskTable:
        return self.query_one(TaskTable)

    @property
    def building(self) -> Building:
        return self.query_one(Building)

    @property
    def detail(self) -> Detail:
        return self.query_one(Detail)

    @property
    def sample(self) -> SamplePane:
        return self.detail.sample

    @property
    def on_tasks(self) -> bool:
        return not self.detail.has_class("-has-current")

    def _make_current(self, current: Widget) -> None:
        super()._make_current(current)
        self.set_class(current is self.detail.failing, "-at-failing")
        self.refresh_bindings()

    def _refresh_tabs(self) -> None:
        named = [(pane.short if isinstance(pane, Pane) else "", pane.has_class("-current")) for pane in self.panes]
        self.query_one(PaneTabs).show(named)

    def uncover(self, pane: Widget) -> None:
        """Bring a pane to the front where only some have room."""
        if not pane.display or self.has_class("-tabs", "-zoomed") or self.has_class("-w-narrow"):
            self.focus_pane(pane)

    # -- the selected task and sample

    def show_sample(self) -> None:
        """Show the sample of the task under the cursor, or why there is none."""
        reader, view = self.workbench.reader, self.view
        if reader is None or view is None:
            return
        line = self.table.selected
        if line is not None:
            self.detail.show(reader, view, line, self.table.sample)
        elif self.table.selected_group is not None:
            self.detail.show_nothing(f"A group of tasks: {key_of('regeneration.open-task')} shows or hides them.")
        else:
            keys = f"{key_of('regeneration.clear-filter')} clears it, {key_of('regeneration.filter')} changes it"
            self.detail.show_nothing(f"No task passes this filter; {keys}." if view.tasks else "")

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.table:
            self.table.move_sample(0)
            self.show_sample()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        if message.row_list is self.table:
            self.focus_pane(self.sample)

    def go_to(self, task: str, sample: int | None) -> None:
        if self.table.go_to_task(task, sample):
            self.title_tasks()
            self.show_sample()

    def go_to_hit(self, hit: Hit) -> None:
        """Select the task and the sample of a hit and bring it into sight."""
        self.go_to(hit.task, hit.sample)
        if hit.tab == "Failing":
            self.uncover(self.detail.failing)
        elif hit.tab:
            self.sample.choose(hit.tab, hit=hit.ordinal, reach=hit.reach)
            self.uncover(self.sample)

    def labels_written(self) -> None:
        self.detail.read_again()

    def title_tasks(self) -> None:
        if self.view is not None:
            self.query_one(TasksPane).show_run(self.view)

    def marks_changed(self) -> None:
        super().marks_changed()
        reader = self.reader
        self.table.show_marks(self.workbench.marks.letters(reader.path, "task") if reader is not None else {})

    # -- what a key is about

    def location(self) -> Location | None:
        if self.view is None:
            return None
        line = self.table.selected
        place = Place(self.table.sample, item=line.id) if line is not None else None
        return Location(self.workbench.session_path, "regeneration", self.view.run.id, place, self.following.evaluator)

    def labelled(self) -> Labelled | None:
        line = self.table.selected
        if line is None or self.shows_building:
            return None
        if self.detail.has_class("-has-current") and self.detail.candidate:
            return Labelled(f"{line.name} · sample {self.table.sample + 1}", self.detail.candidate)
        return Labelled(line.name, line.id)

    def subject(self) -> Subject:
        """Return what has the focus: what was excluded, the failing tests, else the sample."""
        if self.shows_building:
            listed = self.building.query_one(ExcludedList).rows
            return Subject("what was dropped", "\n".join("\t".join(entry) for entry in listed), ".tsv")
        return self.detail.subject()
