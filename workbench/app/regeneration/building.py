"""The lists of the building view: stages with bars, the counts at every stage, and everything that was excluded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from workbench.app.regeneration import funnel
from workbench.app.regeneration.funnel import Count, Quarantined
from workbench.app.regeneration.wording import NOTHING
from workbench.app.toolkit.row_list import RowList, fit
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
        """Return the number of stages."""
        return len(self.stages)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a stage: state, title, count, bar, note."""
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


class CountList(RowList):
    """A row per count; the one under the cursor says what is listed of what was excluded."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.counts: list[Count] = []

    @property
    def key(self) -> str:
        """The stage under the cursor."""
        return self.counts[self.cursor].key if 0 <= self.cursor < len(self.counts) else funnel.FOUND

    def show(self, counts: Sequence[Count], stages: Sequence[StageRow], tests: Sequence[Quarantined]) -> None:
        """Show the counts of functions, below them those of tests."""
        key = self.key
        self.counts = [*counts, *_of_tests(stages, tests)]
        self.rows_changed(cursor=next((at for at, count in enumerate(self.counts) if count.key == key), 0))

    def row_count(self) -> int:
        """Return the number of counts."""
        return len(self.counts)

    def selectable(self, index: int) -> bool:
        """Pass over the line between functions and tests."""
        return bool(self.counts[index].title)

    def heading(self, width: int) -> str:
        """Return the heading of the columns."""
        return " " + fit("", width - 17) + fit("left", 7, right=True) + fit("dropped", 9, right=True)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a count."""
        count = self.counts[index]
        if not count.title:
            return [("", "")]
        left = NOTHING if count.left is None else f"{count.left:,}"
        dropped = "" if count.dropped is None else f"{count.dropped:,}" if count.dropped else NOTHING
        return [
            (" ", ""),
            (fit(count.title, width - 17), "strong" if index == 0 else ""),
            (fit(left, 7, right=True), "" if count.left else "dim"),
            (fit(dropped, 9, right=True), "warn" if count.dropped else "dim"),
        ]


class ExcludedList(RowList):
    """Dropped functions, tasks that a control took out, and quarantined tests; the stage and the reason of each."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: list[tuple[str, str, str]] = []  # stage, name, reason
        self.empty = ""

    @property
    def current(self) -> tuple[str, str, str] | None:
        """Stage, name and reason under the cursor."""
        return self.entries[self.cursor] if 0 <= self.cursor < len(self.entries) else None

    def show(self, entries: list[tuple[str, str, str]], empty: str) -> None:
        """Show these; ``empty`` is said where there are none."""
        same = entries == self.entries and empty == self.empty
        self.entries, self.empty = entries, empty
        if not same or self.cursor < 0:
            self.rows_changed()

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self.entries) or 1

    def selectable(self, index: int) -> bool:
        """Let the cursor stand on what was excluded, not on the sentence that nothing did."""
        return bool(self.entries)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return what was excluded: why in few words, which, and the reason."""
        if not self.entries:
            return [(fit(f" {self.empty}", width), "dim")]
        stage, name, reason = self.entries[index]
        first = 22 if width >= 90 else 13
        stage = funnel.REASONS.get(stage, stage) if width >= 90 else stage
        second = min(60, max(20, (width - first - 5) * 2 // 5))
        return [
            (" ", ""),
            (fit(stage, first), "warn"),
            ("  ", ""),
            (_from_the_right(name, second), "strong"),
            ("  ", ""),
            (fit(reason, width - first - second - 5), ""),
        ]


def excluded(
    key: str,
    dropped: Sequence[DroppedRow],
    taken_out: Sequence[TaskRow],
    tests: Sequence[Quarantined],
    needle: str,
) -> list[tuple[str, str, str]]:
    """Return what stands in the list for a count: (stage, name, reason); all of it for counts at which nothing falls out."""
    entries: list[tuple[str, str, str]] = []
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
    rows = [Count("", "", None), Count(TESTS, "tests of the suite", found)]
    if suite is not None and found is not None:
        rows.append(Count(f"{TESTS}stable", "stable, used", suite.done, found - suite.done))
    rows += [
        Count(f"{TESTS}{kind}", f"  {kind}", None, number) for kind, number in Counter(t.kind for t in tests).items()
    ]
    return rows


def _function(row: DroppedRow | TaskRow) -> str:
    again = f"#{row.occurrence}" if row.occurrence > 1 else ""
    return one_line(f"{row.path}::{row.qualified_name}{again}", 300)


def _from_the_right(name: str, width: int) -> str:
    return fit(name if len(name) <= width else "…" + name[len(name) - width + 1 :], width)
