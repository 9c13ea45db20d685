"""The frame around the table of tasks."""

from __future__ import annotations

from collections import Counter

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from workbench.app.key_table import key_of
from workbench.app.regeneration.loading import RunView
from workbench.app.regeneration.task_table import TaskTable
from workbench.app.regeneration.wording import share
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.texts import Static
from workbench.improving.kinds import Kind
from workbench.text import one_line


class TableHeading(Static):
    """The names of the columns; a click sorts by one."""

    class Clicked(Message):
        """A column's heading was clicked at a cell."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    def on_click(self, event: events.Click) -> None:
        """Tell where."""
        self.post_message(self.Clicked(event.x))


class TasksPane(Pane):
    """The table under the heading of its columns."""

    short = "Tasks"

    def compose(self) -> ComposeResult:
        """Compose heading and table."""
        yield TableHeading("", id="table-heading")
        yield TaskTable(id="table")

    def on_resize(self) -> None:
        """Fit the heading to the columns."""
        self.call_after_refresh(self._show_heading)

    def _show_heading(self) -> None:
        pieces = ((text, "bold $foreground" if by else "") for text, by in self.query_one(TaskTable).heading_pieces())
        self.query_one("#table-heading", Static).update(Content.assemble(*pieces))

    def show_run(self, view: RunView) -> None:
        """Show how many tasks there are, how many are shown, and what became of the others."""
        table = self.query_one(TaskTable)
        shown, known = len(table.shown), max(view.tasks, len(table.lines))
        if table.filter.active:
            title = f"Tasks {shown:,} of {known:,} · {table.filter.sentence()} · {key_of('regeneration.clear-filter')} clears"
            hidden = known - shown
        else:
            title, hidden = f"Tasks {known:,}", 0
        title += f" · {one_line(table.only_path, 60)}" if table.only_path else ""
        title += f" · {stands}" if (stands := table.arrangement.sentence()) else ""
        parts = []
        if table.filter.active and table.ks:
            mean, counted = table.mean_shown()
            of = f"of {counted:,} · m = {view.samples}"
            parts = [f"{hidden:,} filtered away", f"pass@{table.ks[0]} {share(mean)} {of}"]
        if not table.filter.active and (counts := Counter(line.documented_as for line in table.lines)).keys() - {None}:
            parts += [", ".join(f"{counts[kind]:,} {kind}" for kind in Kind if counts[kind]) + " documented"]
        parts += [f"{view.excluded:,} taken out"] if view.excluded else []
        parts += [f"{view.dropped:,} dropped · {key_of('regeneration.dropped')}"] if view.dropped else []
        self.titled(title, " · ".join(parts))
        self._show_heading()
