"""The stages of task building and every function that was dropped, with the stage and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from workbench.app.regeneration.wording import NOTHING, plural
from workbench.app.trajectory.virtual import Part
from workbench.app.widgets.row_list import RowList, fit
from workbench.session.rows import DroppedRow, StageRow
from workbench.text import one_line

_GLYPHS = {
    "waiting": ("·", "waiting"),
    "running": ("▸", "running"),
    "done": ("✓", "passed"),
    "failed": ("✗", "failed"),
    "interrupted": ("‖", "paused"),
}
_TITLES = {
    "fetch": "fetch the repository",
    "environment": "make its environment",
    "suite": "run its test suite",
    "trace": "trace tests to functions",
    "filter": "stub filter, both ways",
    "documentation": "documentation",
    "controls": "controls",
    "candidates": "candidates",
}


class BuildingList(RowList):
    """Stages on top, below them what was dropped, by stage."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = RowList.COMPONENT_CLASSES | {"row--heading"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.stages: tuple[StageRow, ...] = ()
        self.dropped: list[DroppedRow] = []
        self._rows: list[StageRow | DroppedRow | str] = []
        self._widths = (0, 0)

    def show(self, stages: Sequence[StageRow], dropped: Sequence[DroppedRow], empty: str, *, live: bool) -> None:
        """Show these; ``empty`` is said where nothing was dropped. In a run that is not ``live`` no stage runs."""
        stages = [row if live or row.state != "running" else replace(row, state="interrupted") for row in stages]
        self.stages, self.dropped = tuple(stages), list(dropped)
        rows: list[StageRow | DroppedRow | str] = [*stages]
        if dropped:
            counts = Counter(entry.stage for entry in dropped)
            by_stage = " · ".join(f"{one_line(stage, 20)} {count:,}" for stage, count in counts.most_common())
            rows += ["", f"Dropped {plural(len(dropped), 'function')}: {by_stage}"]
            order = {stage: place for place, stage in enumerate(counts)}
            by_place: list[DroppedRow] = sorted(dropped, key=lambda entry: order[entry.stage])
            rows += by_place
        elif empty:
            rows += ["", empty]
        self._rows = rows
        self._widths = (
            min(14, max((len(entry.stage) for entry in dropped), default=5)),
            min(60, max((len(_function(entry)) for entry in dropped), default=8)),
        )
        self.rows_changed()

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        """Let the cursor stand on stages and functions."""
        return not isinstance(self._rows[index], str)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a stage, a heading or a dropped function."""
        row = self._rows[index]
        if isinstance(row, str):
            return [(fit(f" {row}", width), "group")]
        if isinstance(row, StageRow):
            return _stage(row, width)
        first, second = self._widths
        second = max(14, min(second, width // 2 - first))
        return [
            (" ", ""),
            (fit(one_line(row.stage, 60), first), "dim"),
            ("  ", ""),
            (fit(_function(row), second), "strong"),
            ("  ", ""),
            (fit(one_line(row.reason, 600), width - first - second - 5), ""),
        ]


def _stage(row: StageRow, width: int) -> list[Part]:
    glyph, style = _GLYPHS.get(row.state, ("?", "unscored"))
    title = _TITLES.get(row.name, one_line(row.name, 30))
    known = f"{row.done:,}" if row.done else NOTHING
    count = f"{row.done:,} of {row.total:,}" if row.total else known
    long = width >= 70
    named = 26 if long else 16
    parts = [(f" {glyph} ", style), (fit(title, named), "strong" if row.state == "running" else "")]
    parts.append((fit(count, 16 if long else 14, right=True), "" if row.state != "waiting" else "dim"))
    if long:
        parts += [("  ", ""), (_bar(row), "bar"), (_rest(row), "bar-rest")]
    used = sum(len(text) for text, _ in parts)
    return [
        *parts,
        ("  ", ""),
        (fit(one_line(row.note or "", 400), width - used - 2), "failed" if row.state == "failed" else "dim"),
    ]


_BAR = 12


def _bar(row: StageRow) -> str:
    return "█" * _filled(row)


def _rest(row: StageRow) -> str:
    return "░" * (_BAR - _filled(row))


def _filled(row: StageRow) -> int:
    if row.state == "done":
        return _BAR
    return min(_BAR, _BAR * row.done // row.total) if row.total else 0


def _function(row: DroppedRow) -> str:
    again = f"#{row.occurrence}" if row.occurrence > 1 else ""
    return one_line(f"{row.path}::{row.qualified_name}{again}", 300)
