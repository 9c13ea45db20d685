"""The frame around the table of tasks."""

from __future__ import annotations

from collections import Counter

from textual.app import ComposeResult

from workbench.app.regeneration.loading import RunView
from workbench.app.regeneration.task_table import TaskTable
from workbench.app.regeneration.wording import share
from workbench.app.toolkit.pane import Pane
from workbench.improving.kinds import Kind
from workbench.text import one_line


class TasksPane(Pane):
    """The table of tasks."""

    short = "Tasks"

    def compose(self) -> ComposeResult:
        yield TaskTable(id="table")

    def show_run(self, view: RunView) -> None:
        """Show how many tasks there are, how many are shown, and what became of the others."""
        table = self.query_one(TaskTable)
        shown, known = len(table.shown), max(view.tasks, len(table.rows))
        if table.filter.active:
            title = f"Tasks {shown:,} of {known:,} · {table.filter.sentence()} · F clears"
            hidden = known - shown
        else:
            title, hidden = f"Tasks {known:,}", 0
        title += f" · {one_line(table.only_path, 60)}" if table.only_path else ""
        title = " · ".join([title, *table.arranged_by()])
        parts = []
        if table.filter.active and table.ks:
            mean, counted = table.mean_shown()
            of = f"of {counted:,} · m = {view.samples}"
            parts = [f"{hidden:,} filtered away", f"pass@{table.ks[0]} {share(mean)} {of}"]
        if not table.filter.active and (counts := Counter(line.documented_as for line in table.rows)).keys() - {None}:
            parts += [", ".join(f"{counts[kind]:,} {kind}" for kind in Kind if counts[kind]) + " documented"]
        parts += [f"{view.excluded:,} taken out"] if view.excluded else []
        parts += [f"{view.dropped:,} dropped · D"] if view.dropped else []
        self.titled(title, " · ".join(parts))
