"""The lists of the building view: stages with bars, the counts at every stage, and everything that was excluded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Container, Horizontal

from workbench.app.key_table import key_of
from workbench.app.regeneration import funnel
from workbench.app.regeneration.funnel import Count, Quarantined
from workbench.app.regeneration.loading import Excluded, RunView
from workbench.app.regeneration.wording import NOTHING, plural
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.table import Grouping, Table
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.session.rows import DroppedRow, StageRow, TaskRow
from workbench.text import one_line

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
    "controls": ("controls", "controls"),
    "candidates": ("candidates", "candidates"),
    "rechecks": ("re-checks", "re-checks, cold"),
}
_LONG = 58  # cells from which stages have their long titles
TESTS = "tests:"
"""Begins the key of a count of quarantined tests."""


class StageList(RowList):
    """A row per stage with how much of it is done."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.stages: tuple[StageRow, ...] = ()

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
        titles = _TITLES.get(row.name, (row.name, row.name))
        long = width >= _LONG
        title = fit(one_line(titles[long], 30), 22 if long else 11)
        known = f"{row.done:,}" if row.done else NOTHING
        count = f"{row.done:,} of {row.total:,}" if row.total else known
        room = 14 if long else 13
        bar = 8 if long else max(4, min(10, width - 32))
        full = bar if row.state == "done" else min(bar, bar * row.done // row.total) if row.total else 0
        parts: list[Part] = [
            (f" {glyph} ", style),
            (title, "strong" if row.state == "running" else ""),
            (" ", ""),
            (fit(count, room, right=True), "waiting" if row.state == "waiting" else ""),
            ("  ", ""),
            ("█" * full, "bar"),
            ("░" * (bar - full), "bar-rest"),
        ]
        rest = width - sum(len(text) for text, _ in parts) - 2
        if rest >= 8:
            note = one_line((row.note or "").partition("\n")[0], 400)
            parts += [("  ", ""), (fit(note, rest), "failed" if row.state == "failed" else "dim")]
        return parts


def _from_the_right(name: str, width: int) -> str:
    return fit(name if len(name) <= width else "…" + name[len(name) - width + 1 :], width)


COUNTS: tuple[Column[Count], ...] = (
    Column(title="", cell=lambda count: (count.title, "strong" if count.key == funnel.FOUND else ""), width=12, widest=60, text=True),
    Column(title="left", cell=lambda count: (_number(count.left), "" if count.left else "dim"), width=7),
    Column(title="dropped", cell=lambda count: ("" if count.dropped is None else _number(count.dropped or None),
                                                "warn" if count.dropped else "dim"), width=8),
)  # fmt: skip


def _number(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


class CountList(Table[Count]):
    """A row per count; the one under the cursor says what is listed of what was excluded."""

    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COUNTS, key=lambda count: count.key, id=id)

    @property
    def key(self) -> str:
        return self.selected.key if self.selected is not None else funnel.FOUND

    def show(self, counts: Sequence[Count], stages: Sequence[StageRow], tests: Sequence[Quarantined]) -> None:
        """Show the counts of functions, below them those of tests."""
        self.put([*counts, *_of_tests(stages, tests)])


Entry = tuple[str, str, str]
"""Stage, name and reason of what was excluded."""
ENTRIES: tuple[Column[Entry], ...] = (
    Column(title="dropped at", cell=lambda entry: (funnel.REASONS.get(entry[0], entry[0]), "warn"), width=13, widest=24, text=True,
           brief=lambda entry: (entry[0], "warn"), sort=lambda entry: entry[0]),
    Column(title="function or test", cell=lambda entry: (entry[1], "strong"), width=20, widest=60, text=True, shorten=_from_the_right,
           sort=lambda entry: entry[1]),
    Column(title="why", cell=lambda entry: entry[2], width=12, widest=600, text=True),
)  # fmt: skip


class ExcludedList(Table[Entry]):
    """Dropped functions, tasks that a control took out, and quarantined tests."""

    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        groupings: tuple[Grouping[Entry], ...] = (
            Grouping("where they were dropped", lambda entry: funnel.REASONS.get(entry[0], entry[0])),
        )
        super().__init__(ENTRIES, key=lambda entry: entry, groupings=groupings, id=id)

    def show(self, entries: Sequence[Entry], empty: str) -> None:
        """Show these; ``empty`` is said where there are none."""
        if tuple(entries) != self.rows or empty != self.empty or self.cursor < 0:
            self.empty = empty
            self.put(entries)


def excluded(
    key: str,
    dropped: Sequence[DroppedRow],
    taken_out: Sequence[TaskRow],
    tests: Sequence[Quarantined],
    needle: str,
) -> list[Entry]:
    """Return what stands in the list for a count: (stage, name, reason); all of it for counts at which nothing falls out."""
    entries: list[Entry] = []
    if key.startswith(TESTS):
        kind = key.removeprefix(TESTS)
        entries = [(f"{test.kind} test", test.test, test.why) for test in tests if kind in {"", test.kind}]
    else:
        stages = {row.stage for row in dropped}
        wanted = {key} if key in stages or key == funnel.EXCLUDED or key in funnel.REASONS else None
        entries = [
            (one_line(row.stage, 22), _function(row), one_line(row.reason, 600))
            for row in dropped
            if wanted is None or row.stage in wanted
        ]
        if wanted is None or funnel.EXCLUDED in wanted:
            entries += [(funnel.EXCLUDED, _function(row), one_line(row.reason or "", 600)) for row in taken_out]
    low = needle.lower()
    return [entry for entry in entries if low in " ".join(entry).lower()] if low else entries


def _of_tests(stages: Sequence[StageRow], tests: Sequence[Quarantined]) -> list[Count]:
    suite = next((stage for stage in stages if stage.name == "suite" and stage.total), None)
    if suite is None and not tests:
        return []
    found = suite.total if suite is not None else None
    rows = [Count(TESTS, "tests of the suite", found)]
    if suite is not None and found is not None:
        rows.append(Count(f"{TESTS}stable", "stable, used", suite.done, found - suite.done))
    rows += [
        Count(f"{TESTS}{kind}", f"  {kind}", None, number) for kind, number in Counter(t.kind for t in tests).items()
    ]
    return rows


def _function(row: DroppedRow | TaskRow) -> str:
    again = f"#{row.occurrence}" if row.occurrence > 1 else ""
    return one_line(f"{row.path}::{row.qualified_name}{again}", 300)


_NOTHING: Excluded = Excluded((), ())


class StagesPane(Pane):
    """How far each stage is."""

    short = "Stages"

    def compose(self) -> ComposeResult:
        yield StageList(id="stage-list")


class CountsPane(Pane):
    """How many functions were left after each stage."""

    short = "Counts"

    def compose(self) -> ComposeResult:
        yield CountList(id="count-list")


class ExcludedPane(Pane):
    """What was excluded, and below the list all of the reason of the row under the cursor."""

    short = "Dropped"

    def compose(self) -> ComposeResult:
        yield ExcludedList(id="excluded-list")
        yield Static("", id="excluded-reason")


class Building(Container):
    """The three panes; the count under the cursor says what is listed below."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._view: RunView | None = None
        self._excluded = _NOTHING
        self._tests: tuple[Quarantined, ...] = ()
        self.needle = ""

    def compose(self) -> ComposeResult:
        yield Horizontal(
            StagesPane(id="stages", classes="pane"),
            CountsPane(id="counts", classes="pane"),
            id="building-top",
            classes="pane-group",
        )
        yield ExcludedPane(id="excluded", classes="pane")

    def show_run(self, view: RunView, found: Excluded) -> None:
        """Show how the run's tasks are, or were, built."""
        self._view, self._excluded = view, found
        self._tests = funnel.quarantined(found.unused)
        self.query_one(StageList).show(view.stages, live=view.live)
        counts = funnel.counts(view.stages, funnel.by_stage(found.dropped), view.tasks, view.excluded, live=view.live)
        self.query_one(CountList).show(counts, view.stages, self._tests)
        self._title_stages()
        self.query_one(CountsPane).titled(plural(view.tasks, "task") if view.tasks else "Counts")
        self._show_excluded()

    def _title_stages(self) -> None:
        view, listed = self._view, self.query_one(StageList)
        if view is None:
            return
        at = listed.cursor if listed.has_focus else -1
        if at < 0:
            at = next((n for n, stage in enumerate(listed.stages) if stage.state == "running"), -1)
        note = listed.stages[at].note or "" if 0 <= at < len(listed.stages) else ""
        title = "Building tasks" if view.building else "How the tasks were built"
        self.query_one(StagesPane).titled(title, one_line(note.partition("\n")[0], 100))

    def find(self, needle: str) -> None:
        """List only what contains a text, "" for all."""
        self.needle = needle.strip()
        self._show_excluded()

    def forget(self) -> bool:
        """Take away the text or the stage by which the list is narrowed; False if it is not."""
        counts = self.query_one(CountList)
        if self.needle:
            self.find("")
        elif counts.cursor > 1:
            counts.set_cursor(1)
        else:
            return False
        return True

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.query_one(CountList):
            self._show_excluded(from_top=True)
        elif message.row_list is self.query_one(ExcludedList):
            self._show_reason()
        else:
            self._title_stages()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        if message.row_list is self.query_one(CountList):
            self.query_one(ExcludedList).focus()

    def _show_excluded(self, *, from_top: bool = False) -> None:
        view, found = self._view, self._excluded
        if view is None:
            return
        counts, listed = self.query_one(CountList), self.query_one(ExcludedList)
        key = counts.key
        entries = excluded(key, found.dropped, found.taken_out, self._tests, self.needle)
        if from_top:
            listed.cursor = -1
        listed.show(entries, self._empty(view, key))
        everything = len(self._tests) if key.startswith(TESTS) else len(found.dropped) + len(found.taken_out)
        what = "test" if key.startswith(TESTS) else "function"
        if key.startswith(TESTS):
            title = f"Quarantined {plural(len(entries), what)}"
        else:
            title = f"Dropped {plural(len(entries), what)}"
        title += f" of {everything:,}" if len(entries) != everything else ""
        narrowed = [f"stage: {funnel.REASONS[key]}"] if key in funnel.REASONS else []
        narrowed += [f"with “{one_line(self.needle, 30)}”"] if self.needle else []
        said = " · ".join([*narrowed, f"{key_of('regeneration.escape')} shows all"]) if narrowed else ""
        self.query_one(ExcludedPane).titled(
            f"{title} · {said}" if said else title,
            "" if view.building else f"{key_of('regeneration.dropped')} goes back",
        )
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
