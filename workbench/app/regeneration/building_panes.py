"""How tasks are built: stages with progress, counts as in the paper's Table 2, and the dropped functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container, Horizontal

from workbench.app.keys import key_of
from workbench.app.regeneration.wording import words_of
from workbench.app.toolkit.columns import TableColumn, fit_end
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Grouping, VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import STATES
from workbench.base.text import NOTHING, one_line, plural
from workbench.results.regeneration_runs import (
    EXCLUDED,
    FOUND,
    NONE_EXCLUDED,
    TESTS,
    Count,
    Excluded,
    RunView,
    counts,
    counts_of_tests,
)
from workbench.session.rows import DroppedRow, StageRow, TaskRow

_GLYPHS = {
    "waiting": (STATES["queued"], "waiting"),
    "running": (STATES["running"], "running"),
    "done": (STATES["done"], "passed"),
    "failed": (STATES["failed"], "failed"),
    "interrupted": (STATES["interrupted"], "paused"),
}
_TITLES = {
    "fetch": ("fetch", "fetch the repository"),
    "environment": ("environment", "make its environment"),
    "suite": ("test suite", "run its test suite"),
    "trace": ("trace", "trace its functions"),
    "filter": ("stub filter", "stub filter, both ways"),
    "documentation": ("docs", "write documentation"),
    "rechecks": ("re-checks", "re-checks, cold"),
    "calls": ("calls", "record its calls"),
    "replays": ("replays", "replay the calls twice"),
}
"""The short and long titles of stages; other stages are titled by their names."""
_OF_USAGE = {"trace": "calls", "filter": "replays", "candidates": "answers", "documentation": ""}
"""Names of the stages that are named differently in a usage run; "" for a stage that usage runs do not have."""
_BAR = 8  # width in cells
REASONS = {
    "parse": "does not parse",
    "body": "is a stub already",
    "trace": "run by no stable test",
    "time": "tests take over 10 s",
    "original": "original fails alone",
    "stub": "passes with a stub",
    "documentation": "got no docstring",
    EXCLUDED: "a control failed",
    "literal": "no literal calls",
    "calls": "fewer than 3 calls",
    "results": "only one result",
    "limit": "beyond the limit",
    "replay": "replays differ",
}
"""A short reason why a function was dropped, by stage."""


def _stage(row: StageRow) -> Part:
    return _TITLES.get(row.name, (row.name,) * 2)[1], "strong" if row.state == "running" else ""


def _done(row: StageRow) -> Part:
    known = f"{row.done:,}" if row.done else NOTHING
    return f"{row.done:,} of {row.total:,}" if row.total else known, "waiting" if row.state == "waiting" else ""


def _bar(row: StageRow) -> list[Part]:
    full = _BAR if row.state == "done" else min(_BAR, _BAR * row.done // row.total) if row.total else 0
    return [("█" * full, "bar"), ("░" * (_BAR - full), "bar-rest")]


def _note(row: StageRow) -> Part:
    return one_line((row.note or "").partition("\n")[0], 400), "failed" if row.state == "failed" else "dim"


STAGES: tuple[TableColumn[StageRow], ...] = (
    TableColumn(title="", cell=lambda row: _GLYPHS.get(row.state, ("?", "unscored")), width=1, text=True),
    TableColumn(title="stage", cell=_stage, width=11, widest=22, text=True,
           brief=lambda row: (one_line(_TITLES.get(row.name, (row.name,))[0], 30), _stage(row)[1])),
    TableColumn(title="done", cell=_done, width=13),
    TableColumn(title="", cell=_bar, width=_BAR, text=True),
    TableColumn(title="", cell=_note, width=8, widest=400, text=True, priority=1),
)  # fmt: skip


class BuildingList(VirtualTable[Any]):
    """A table of stages, counts or dropped functions."""

    LEAD = 1


def _number(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


COUNTS: tuple[TableColumn[Count], ...] = (
    TableColumn(title="", cell=lambda count: (count.title, "strong" if count.key == FOUND else ""), width=12, widest=60, text=True),
    TableColumn(title="left", cell=lambda count: (_number(count.left), "" if count.left else "dim"), width=7),
    TableColumn(title="dropped", cell=lambda count: ("" if count.dropped is None else _number(count.dropped or None),
                                                "warn" if count.dropped else "dim"), width=8),
)  # fmt: skip


# -- dropped functions

DroppedEntry = tuple[str, str, str]
"""The stage, name and reason of a dropped function or test."""
ENTRIES: tuple[TableColumn[DroppedEntry], ...] = (
    TableColumn(title="dropped at", cell=lambda entry: (REASONS.get(entry[0], entry[0]), "warn"), width=13, widest=24, text=True,
           brief=lambda entry: (entry[0], "warn"), sort=lambda entry: entry[0]),
    TableColumn(title="name", cell=lambda entry: (entry[1], "strong"), width=20, widest=60, text=True, shorten=fit_end,
           sort=lambda entry: entry[1]),
    TableColumn(title="why", cell=lambda entry: entry[2], width=12, widest=600, text=True),
)  # fmt: skip
WHERE: Grouping[DroppedEntry] = Grouping("where they were dropped", lambda entry: REASONS.get(entry[0], entry[0]))


def entries_of(key: str, found: Excluded) -> list[DroppedEntry]:
    """Return the entries dropped at a count, or all dropped entries if nothing was dropped there."""
    if key.startswith(TESTS):
        rows = [
            (one_line(row.kind, 20), one_line(row.test_id, 400), one_line(row.message, 600)) for row in found.unused
        ]
        kind = key.removeprefix(TESTS)
        return [(f"{row[0]} test", row[1], row[2]) for row in rows if kind in {"", row[0]}]
    everything = key not in REASONS and all(row.stage != key for row in found.dropped)
    return [
        (one_line(row.stage, 22), _function(row), one_line(row.reason, 600))
        for row in found.dropped
        if everything or row.stage == key
    ] + [
        (EXCLUDED, _function(row), one_line(row.reason or "", 600))
        for row in found.taken_out
        if everything or key == EXCLUDED
    ]


def _function(row: DroppedRow | TaskRow) -> str:
    again = f"#{row.occurrence}" if row.occurrence > 1 else ""
    return one_line(f"{row.path}::{row.qualified_name}{again}", 300)


class BuildingPanes(Container):
    """Three panes with the stages, the counts, and the entries dropped at the selected count."""

    _view: RunView | None = None
    _excluded = NONE_EXCLUDED

    def compose(self) -> ComposeResult:
        stages = BuildingList(STAGES, key=lambda row: row.name, id="stage-list")
        counted = BuildingList(COUNTS, key=lambda count: count.key, id="count-list")
        listed = BuildingList(ENTRIES, key=lambda entry: entry, groupings=(WHERE,), id="excluded-list")
        yield Horizontal(
            Pane(stages, short="Stages", id="stages", classes="pane -off"),
            Pane(counted, short="Counts", id="counts", classes="pane -off"),
            id="building-top",
            classes="pane-group",
        )
        yield Pane(listed, Static("", id="excluded-reason"), short="Dropped", id="excluded", classes="pane -off")

    stages = getters.query_one("#stage-list", BuildingList)
    counted = getters.query_one("#count-list", BuildingList)
    listed = getters.query_one("#excluded-list", BuildingList)

    def show_run(self, view: RunView, found: Excluded) -> None:
        self._view, self._excluded = view, found
        stopped = {} if view.live else {"running": "interrupted"}
        names = _OF_USAGE if view.usage else {}
        stages = [(row, names.get(row.name, row.name)) for row in view.stages]
        self.stages.put(
            [replace(row, name=name, state=stopped.get(row.state, row.state)) for row, name in stages if name]
        )
        dropped = Counter(row.stage for row in found.dropped)
        rows = counts(view.stages, dropped, view.tasks, view.excluded, live=view.live, usage=view.usage)
        self.counted.put([*rows, *counts_of_tests(view.stages, found.unused)])
        self._title_stages(view)
        self.query_one("#counts", Pane).titled(plural(view.tasks, "task") if view.tasks else "Counts")
        self._show_excluded()

    def _title_stages(self, view: RunView) -> None:
        running = next((row for row in self.stages.rows if row.state == "running"), None)
        row = self.stages.selected if self.stages.has_focus else running
        title = "Building tasks" if view.building else "How the tasks were built"
        self.query_one("#stages", Pane).titled(title, one_line(_note(row)[0], 100) if row is not None else "")

    def find(self, text: str) -> None:
        self.listed.narrow(text)

    def forget(self) -> bool:
        """Clear the narrowing, or else the selected count. Returns False if there is neither."""
        if self.listed.narrowed:
            self.listed.narrow("")
        elif self.counted.cursor > 1:
            self.counted.set_cursor(1)
        else:
            return False
        return True

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if message.row_list is self.counted:
            self.listed.cursor = -1
            self._show_excluded()
        elif message.row_list is self.listed:
            self._show_reason()
        elif self._view is not None:
            self._title_stages(self._view)

    def on_row_list_narrowed(self) -> None:
        self._show_excluded()

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        if message.row_list is self.counted:
            self.listed.focus()

    def _show_excluded(self) -> None:
        view, found, listed = self._view, self._excluded, self.listed
        if view is None:
            return
        key = self.counted.selected.key if self.counted.selected is not None else FOUND
        of_tests = key.startswith(TESTS)
        entries, listed.empty = tuple(entries_of(key, found)), self._empty(view, key)
        if view.usage and not of_tests:  # the name of a callable has its module
            entries = tuple((stage, name.partition("::")[2], why) for stage, name, why in entries)
        if entries != listed.rows or listed.cursor < 0:
            listed.put(entries)
        shown = listed.narrow_counts()[0]
        everything = len(found.unused) if of_tests else len(found.dropped) + len(found.taken_out)
        what = f"Quarantined {plural(shown, 'test')}" if of_tests else f"Dropped {plural(shown, words_of(view).listed)}"
        narrowed = [f"stage: {REASONS[key]}"] if key in REASONS else []
        narrowed += [f"with “{one_line(listed.narrowed, 30)}”"] if listed.narrowed else []
        narrowed += [f"{key_of('regeneration.escape')} shows all"] if narrowed else []
        title = what + (f" of {everything:,}" if shown != everything else "")
        back = "" if view.building else f"{key_of('regeneration.dropped')} goes back"
        self.query_one("#excluded", Pane).titled(" · ".join([title, *narrowed]), back)
        self._show_reason()

    def _empty(self, view: RunView, key: str) -> str:
        if key.startswith(TESTS):
            return "The session has no list of these tests."
        if view.state == "queued":
            return "Waiting for the engine…"
        if view.live and not view.tasks:
            return "Nothing dropped so far."
        ended = view.tasks or any(stage.name == "filter" and stage.state == "done" for stage in view.stages)
        return "Nothing was dropped." if ended else "The run ended before any function was processed."

    def _show_reason(self) -> None:
        current = self.listed.selected
        text = f"{current[1]}\n{current[2]}" if current is not None else ""
        self.query_one("#excluded-reason", Static).update(text)
