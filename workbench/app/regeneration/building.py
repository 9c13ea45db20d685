"""How tasks are built: stages with bars, what is left after each as in the paper's Table 2, and everything that was excluded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from textual.app import ComposeResult
from textual.containers import Container, Horizontal

from workbench.app.key_table import key_of
from workbench.app.regeneration.wording import NOTHING
from workbench.app.toolkit.columns import Column, fit_end
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.table import Grouping, Table
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.results.regeneration_runs import NONE_EXCLUDED, PASSED, Excluded, RunView
from workbench.session.rows import DroppedRow, StageRow, TaskRow, UnusedTestRow
from workbench.text import one_line, plural

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
}
"""The short and the long title of a stage where these are not its name."""
_LONG = 58  # cells from which stages have their long titles

FOUND, UNDECIDED, ASKED, EXCLUDED = "found", "undecided", "asked", "control"
_ALWAYS = tuple(stage for stage in PASSED if stage != "documentation")
REASONS = {
    "parse": "does not parse",
    "body": "is a stub already",
    "trace": "run by no stable test",
    "time": "tests take over 10 s",
    "original": "original fails alone",
    "stub": "passes with a stub",
    "documentation": "got no docstring",
    EXCLUDED: "a control failed",
}
"""Why a function was excluded at a stage, in few words."""
TESTS = "tests:"
"""Begins the key of a count of quarantined tests."""


class StageList(RowList):
    """A row per stage with how much of it is done."""

    ALLOW_SELECT = False
    stages: tuple[StageRow, ...] = ()

    def show(self, stages: Sequence[StageRow], *, live: bool) -> None:
        """Show these; in a run that is not ``live`` no stage runs."""
        self.stages = tuple(
            row if live or row.state != "running" else replace(row, state="interrupted") for row in stages
        )
        self.rows_changed()

    def row_count(self) -> int:
        return len(self.stages)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        row = self.stages[index]
        glyph, style = _GLYPHS.get(row.state, ("?", "unscored"))
        long = width >= _LONG
        title = _TITLES.get(row.name, ("re-checks", "re-checks, cold") if row.name == "rechecks" else (row.name,) * 2)
        known = f"{row.done:,}" if row.done else NOTHING
        count = f"{row.done:,} of {row.total:,}" if row.total else known
        bar = 8 if long else max(4, min(10, width - 32))
        full = bar if row.state == "done" else min(bar, bar * row.done // row.total) if row.total else 0
        parts: list[Part] = [
            (f" {glyph} ", style),
            (fit(one_line(title[long], 30), 22 if long else 11), "strong" if row.state == "running" else ""),
            (" ", ""),
            (fit(count, 14 if long else 13, right=True), "waiting" if row.state == "waiting" else ""),
            ("  ", ""),
            ("█" * full, "bar"),
            ("░" * (bar - full), "bar-rest"),
        ]
        rest = width - sum(len(text) for text, _ in parts) - 2
        if rest >= 8:
            parts += [("  ", ""), (fit(_first_line(row, 400), rest), "failed" if row.state == "failed" else "dim")]
        return parts


def _first_line(row: StageRow, width: int) -> str:
    return one_line((row.note or "").partition("\n")[0], width)


# -- counts


@dataclass(frozen=True, slots=True)
class Count:
    """A row of the table: ``left`` functions passed this stage, ``dropped`` did not; None where it is not known."""

    key: str
    title: str
    left: int | None
    dropped: int | None = None


def counts(
    stages: Sequence[StageRow], dropped: Mapping[str, int], tasks: int, excluded: int, *, live: bool
) -> list[Count]:
    """Return the counts at every stage.

    Args:
        stages: The stages as the session has them.
        dropped: How many functions each stage dropped.
        tasks: Tasks in the session, those included that a control took out.
        excluded: How many of them a control took out.
        live: Whether an engine is at work.
    """
    gone = sum(dropped.values())
    left = max([stage.total or 0 for stage in stages if stage.name in {"trace", "filter"}] + [gone + tasks])
    known = next((stage for stage in stages if stage.name == "filter"), None)
    undecided = max(0, left - known.done) if live and known is not None and known.state == "running" else 0
    rows = [Count(FOUND, "functions found", left or None)]
    if not left:
        return rows
    # A stage that a newer engine knows is shown under its own name, before the stages that end the building.
    for stage in (*_ALWAYS, *(stage for stage in dropped if stage not in PASSED), "documentation"):
        gone = dropped.get(stage, 0)
        left -= gone
        if gone or stage in _ALWAYS:
            rows.append(Count(stage, PASSED.get(stage, one_line(stage, 24)), left, gone))
    if undecided:
        rows.append(Count(UNDECIDED, "still to decide", undecided))
    if tasks and tasks != left and not undecided:
        rows.append(Count(ASKED, "asked for", tasks))
    if tasks:
        rows.append(Count(EXCLUDED, "controls hold", tasks - excluded, excluded))
    return rows


def counts_of_tests(stages: Sequence[StageRow], unused: Sequence[UnusedTestRow]) -> list[Count]:
    suite = next((stage for stage in stages if stage.name == "suite" and stage.total), None)
    if suite is None and not unused:
        return []
    found = suite.total if suite is not None else None
    rows = [Count(TESTS, "tests of the suite", found)]
    if suite is not None and found is not None:
        rows.append(Count(f"{TESTS}stable", "stable, used", suite.done, found - suite.done))
    kinds = Counter(one_line(row.kind, 20) for row in unused)
    return rows + [Count(f"{TESTS}{kind}", f"  {kind}", None, number) for kind, number in kinds.items()]


def _number(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


COUNTS: tuple[Column[Count], ...] = (
    Column(title="", cell=lambda count: (count.title, "strong" if count.key == FOUND else ""), width=12, widest=60, text=True),
    Column(title="left", cell=lambda count: (_number(count.left), "" if count.left else "dim"), width=7),
    Column(title="dropped", cell=lambda count: ("" if count.dropped is None else _number(count.dropped or None),
                                                "warn" if count.dropped else "dim"), width=8),
)  # fmt: skip


class CountList(Table[Count]):
    """A row per count; the one under the cursor says what is listed of what was excluded."""

    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COUNTS, key=lambda count: count.key, id=id)


# -- what was excluded

Entry = tuple[str, str, str]
"""Stage, name and reason of what was excluded."""
ENTRIES: tuple[Column[Entry], ...] = (
    Column(title="dropped at", cell=lambda entry: (REASONS.get(entry[0], entry[0]), "warn"), width=13, widest=24, text=True,
           brief=lambda entry: (entry[0], "warn"), sort=lambda entry: entry[0]),
    Column(title="function or test", cell=lambda entry: (entry[1], "strong"), width=20, widest=60, text=True, shorten=fit_end,
           sort=lambda entry: entry[1]),
    Column(title="why", cell=lambda entry: entry[2], width=12, widest=600, text=True),
)  # fmt: skip
WHERE: Grouping[Entry] = Grouping("where they were dropped", lambda entry: REASONS.get(entry[0], entry[0]))


class ExcludedList(Table[Entry]):
    """Dropped functions, tasks that a control took out, and quarantined tests."""

    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(ENTRIES, key=lambda entry: entry, groupings=(WHERE,), id=id)


def entries_of(key: str, found: Excluded, needle: str) -> list[Entry]:
    """Return what is listed for a count; all of it for counts at which nothing falls out."""
    if key.startswith(TESTS):
        rows = [(one_line(row.kind, 20), one_line(row.test_id, 400), one_line(row.why, 600)) for row in found.unused]
        kind = key.removeprefix(TESTS)
        entries = [(f"{row[0]} test", row[1], row[2]) for row in rows if kind in {"", row[0]}]
    else:
        everything = key not in REASONS and all(row.stage != key for row in found.dropped)
        entries = [
            (one_line(row.stage, 22), _function(row), one_line(row.reason, 600))
            for row in found.dropped
            if everything or row.stage == key
        ]
        if everything or key == EXCLUDED:
            entries += [(EXCLUDED, _function(row), one_line(row.reason or "", 600)) for row in found.taken_out]
    low = needle.lower()
    return [entry for entry in entries if low in " ".join(entry).lower()] if low else entries


def _function(row: DroppedRow | TaskRow) -> str:
    again = f"#{row.occurrence}" if row.occurrence > 1 else ""
    return one_line(f"{row.path}::{row.qualified_name}{again}", 300)


class Building(Container):
    """The three panes; the count under the cursor says what is listed below."""

    needle = ""
    _view: RunView | None = None
    _excluded = NONE_EXCLUDED

    def compose(self) -> ComposeResult:
        stages = Pane(StageList(id="stage-list"), short="Stages", id="stages", classes="pane -off")
        numbers = Pane(CountList(id="count-list"), short="Counts", id="counts", classes="pane -off")
        listed = ExcludedList(id="excluded-list")
        yield Horizontal(stages, numbers, id="building-top", classes="pane-group")
        yield Pane(listed, Static("", id="excluded-reason"), short="Dropped", id="excluded", classes="pane -off")

    def show_run(self, view: RunView, found: Excluded) -> None:
        """Show how the run's tasks are, or were, built."""
        self._view, self._excluded = view, found
        self.query_one(StageList).show(view.stages, live=view.live)
        dropped = Counter(row.stage for row in found.dropped)
        rows = counts(view.stages, dropped, view.tasks, view.excluded, live=view.live)
        self.query_one(CountList).put([*rows, *counts_of_tests(view.stages, found.unused)])
        self._title_stages(view)
        self.query_one("#counts", Pane).titled(plural(view.tasks, "task") if view.tasks else "Counts")
        self._show_excluded()

    def _title_stages(self, view: RunView) -> None:
        listed = self.query_one(StageList)
        at = listed.cursor if listed.has_focus else -1
        if at < 0:
            at = next((n for n, stage in enumerate(listed.stages) if stage.state == "running"), -1)
        note = _first_line(listed.stages[at], 100) if 0 <= at < len(listed.stages) else ""
        title = "Building tasks" if view.building else "How the tasks were built"
        self.query_one("#stages", Pane).titled(title, note)

    def find(self, needle: str) -> None:
        """List only what contains a text, "" for all."""
        self.needle = needle.strip()
        self._show_excluded()

    def forget(self) -> bool:
        """Take away the text or the stage by which the list is narrowed; False if it is not."""
        numbers = self.query_one(CountList)
        if self.needle:
            self.find("")
        elif numbers.cursor > 1:
            numbers.set_cursor(1)
        else:
            return False
        return True

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if isinstance(message.row_list, CountList):
            self._show_excluded(from_top=True)
        elif isinstance(message.row_list, ExcludedList):
            self._show_reason()
        elif self._view is not None:
            self._title_stages(self._view)

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        if isinstance(message.row_list, CountList):
            self.query_one(ExcludedList).focus()

    def _show_excluded(self, *, from_top: bool = False) -> None:
        view, found = self._view, self._excluded
        if view is None:
            return
        count, listed = self.query_one(CountList).selected, self.query_one(ExcludedList)
        key = count.key if count is not None else FOUND
        entries, empty = entries_of(key, found, self.needle), self._empty(view, key)
        if from_top:
            listed.cursor = -1
        if tuple(entries) != listed.rows or empty != listed.empty or listed.cursor < 0:
            listed.empty = empty
            listed.put(entries)
        if key.startswith(TESTS):
            title, everything = f"Quarantined {plural(len(entries), 'test')}", len(found.unused)
        else:
            title = f"Dropped {plural(len(entries), 'function')}"
            everything = len(found.dropped) + len(found.taken_out)
        title += f" of {everything:,}" if len(entries) != everything else ""
        narrowed = [f"stage: {REASONS[key]}"] if key in REASONS else []
        narrowed += [f"with “{one_line(self.needle, 30)}”"] if self.needle else []
        back = "" if view.building else f"{key_of('regeneration.dropped')} goes back"
        said = [title, *narrowed, f"{key_of('regeneration.escape')} shows all"] if narrowed else [title]
        self.query_one("#excluded", Pane).titled(" · ".join(said), back)
        self._show_reason()

    def _empty(self, view: RunView, key: str) -> str:
        if self.needle:
            return f"Nothing here contains that; {key_of('regeneration.escape')} shows all."
        if key.startswith(TESTS):
            return "The session does not name such tests."
        if view.state == "queued":
            return "Waiting for the engine…"
        if view.live and not view.tasks:
            return "Nothing was dropped so far."
        ended = view.tasks or any(stage.name == "filter" and stage.state == "done" for stage in view.stages)
        return "Nothing was dropped." if ended else "The run ended before any function was looked at."

    def _show_reason(self) -> None:
        current = self.query_one(ExcludedList).selected
        text = f"{current[1]}\n{current[2]}" if current is not None else ""
        self.query_one("#excluded-reason", Static).update(text)
