"""The table of tasks: a row per task, a cell per sample, painted row by row so that thousands cost what ten do."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from workbench.app.regeneration import columns
from workbench.app.regeneration.columns import FLAKY, GAP, Column, Needs, route_of
from workbench.app.regeneration.filters import EVERYTHING, TaskFilter
from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.wording import STYLES, share, test_name
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import DOUBTFUL, VERDICTS
from workbench.text import one_line

LEAK, DISAGREES = "≈", "≠"
"""Marks before the name of a function: its docstring carries the code, unstable tests execute it, re-checks disagree."""


class TaskTable(RowList):
    """Keeps the lines of a run, which of them are shown, and the selected sample of the selected task."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = RowList.COMPONENT_CLASSES | {
        f"row--{name}"
        for name in (
            *("timeout", "crashed", "invalid", "chosen", "chosen-blurred", "picked", "former"),
            *(f"former-{verdict}" for verdict in ("passed", "failed", "timeout", "crashed", "invalid", "unscored")),
        )
    }
    DEFAULT_CSS = """
    TaskTable {
        & > .row--timeout { color: $verdict-timeout; }
        & > .row--crashed { color: $verdict-crashed; }
        & > .row--invalid { color: $verdict-invalid; }
        & > .row--former { text-style: underline; }
        & > .row--former-passed { color: $verdict-passed 70%; text-style: underline; }
        & > .row--former-failed { color: $verdict-failed 70%; text-style: underline; }
        & > .row--former-timeout { color: $verdict-timeout 70%; text-style: underline; }
        & > .row--former-crashed { color: $verdict-crashed 70%; text-style: underline; }
        & > .row--former-invalid { color: $verdict-invalid 70%; text-style: underline; }
        & > .row--former-unscored { color: $verdict-unscored 70%; text-style: underline; }
        & > .row--chosen { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        & > .row--chosen-blurred { background: $panel; text-style: bold; }
        & > .row--picked { background: $foreground; color: $background; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="regeneration.open-task"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[TaskLine] = []
        self.shown: list[int] = []
        self.filter = EVERYTHING
        self.sample = 0
        self.ks: tuple[int, ...] = ()
        self._at: dict[str, int] = {}
        self._samples = 0
        self._needs = Needs()
        self._layout: tuple[tuple[Column, int], ...] = ()
        self._layout_of: tuple[object, ...] = ()
        self.only_path = ""  # of all tasks, where it needs no column
        self.revision = 0  # counts up whenever lines change

    # -- what is in it

    @property
    def selected(self) -> TaskLine | None:
        """The task under the cursor."""
        return self.lines[self.shown[self.cursor]] if 0 <= self.cursor < len(self.shown) else None

    def mean_shown(self) -> tuple[float | None, int]:
        """Return pass@k for the first k over the decided tasks that are shown, and over how many."""
        values = [
            line.at[0] for line in map(self.lines.__getitem__, self.shown)
            if line.at and line.at[0] is not None and not line.excluded
        ]  # fmt: skip
        return (sum(values) / len(values) if values else None), len(values)

    def knows(self, task_id: str) -> bool:
        """Return whether a task is in the table."""
        return task_id in self._at

    def put(self, lines: Sequence[TaskLine], ks: tuple[int, ...]) -> None:
        """Show these lines in place of all others; cursor and filter stay."""
        kept = self.selected
        self.lines, self.ks = list(lines), ks
        self.revision += 1
        self._at = {line.id: index for index, line in enumerate(lines)}
        self._measure()
        self._filtered(kept)

    def update_lines(self, fresh: Sequence[TaskLine]) -> bool:
        """Put changed lines in the place of the old ones; False if there are some that are not in the table."""
        kept = self.selected
        known = True
        self.revision += 1
        for line in fresh:
            at = self._at.get(line.id)
            if at is None:
                known = False
            else:
                self.lines[at] = line
        if not self._has_room_for(fresh):
            self._measure()
        if self.filter.active:
            self._filtered(kept)
        self.refresh()
        return known

    def set_filter(self, wanted: TaskFilter) -> None:
        """Show only the tasks that a filter lets through."""
        kept = self.selected
        self.filter = wanted
        self._filtered(kept, stays=False)

    def _filtered(self, kept: TaskLine | None, *, stays: bool = True) -> None:
        # A task that stops matching stays under the cursor: what a person reads must not jump away.
        at = self._at.get(kept.id, -1) if kept is not None else -1
        self.shown = self.filter.passing(self.lines)
        place = bisect_left(self.shown, at)
        if stays and at >= 0 and at not in self.shown[place : place + 1]:
            self.shown.insert(place, at)
        self.rows_changed(cursor=max(0, bisect_right(self.shown, at) - 1))
        self._clamp()

    def _measure(self) -> None:
        lines = self.lines
        self._samples = max((len(line.cells) for line in lines), default=0)
        paths = {line.path for line in lines}
        self.only_path = next(iter(paths)) if len(paths) == 1 else ""
        sandboxes = {name for line in lines for name in line.sandboxes}
        self._needs = Needs(
            path=max(map(len, paths)) if len(paths) > 1 else 0,
            name=max((len(line.name) + len(_marks(line)) for line in lines), default=8),
            ks=self.ks,
            branches=any(line.branches is not None for line in lines),
            unstable=any(line.unstable for line in lines),
            routes=max((len(route_of(line)) for line in lines), default=0),
            sandbox=max(map(len, sandboxes)) if len(sandboxes) > 1 else 0,
            tags=min(30, max((len(line.labels) for line in lines), default=0)),
        )

    def _has_room_for(self, fresh: Sequence[TaskLine]) -> bool:
        """Whether changed lines need no more room than there is."""
        needs = self._needs
        return all(
            len(line.cells) <= self._samples
            and len(route_of(line)) <= needs.routes
            and (bool(needs.sandbox) or len(line.sandboxes) <= 1)
            and len(line.labels) <= needs.tags
            for line in fresh
        )

    def _clamp(self) -> None:
        line = self.selected
        self.sample = max(0, min(self.sample, len(line.cells) - 1)) if line is not None else 0

    def move_sample(self, step: int) -> None:
        """Select the next or previous sample of the task; at the ends it stays."""
        self.sample += step
        self._clamp()
        self.refresh()

    def go_to_task(self, task_id: str, sample: int | None = None) -> bool:
        """Select a task, through the filter if need be; False if it is not in the table."""
        at = self._at.get(task_id)
        if at is None:
            return False
        if at not in self.shown:
            self.filter = EVERYTHING
            self.shown = list(range(len(self.lines)))
            self.rows_changed()
        if sample is not None:
            self.sample = sample
        self.set_cursor(self.shown.index(at))
        self._clamp()
        self.refresh()
        return True

    # -- painting

    def row_count(self) -> int:
        """Return how many tasks are shown."""
        return len(self.shown)

    def heading(self) -> str:
        """Return the heading of the columns for the present width."""
        columns_shown = self._columns(self.text_width)
        return " " + (" " * GAP).join(fit(column.title, width, right=column.right) for column, width in columns_shown)

    def _columns(self, width: int) -> tuple[tuple[Column, int], ...]:
        key = (width, self._needs, self._samples)
        if key != self._layout_of:
            needs = replace(self._needs, samples=self._room_for_samples(width))
            self._layout, self._layout_of = columns.chosen(columns.wanted(needs), width - 1), key
        return self._layout

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return one task."""
        line = self.lines[self.shown[index]]
        parts: list[Part] = [(" ", "")]
        for column, size in self._columns(width):
            if len(parts) > 1:
                parts.append((" " * GAP, ""))
            if column.key == "samples":
                cells = self._cells(line, index == self.cursor)
                parts += [*cells, (" " * max(0, size - sum(len(text) for text, _ in cells)), "")]
            elif column.key == "file":
                parts.append((_from_the_right(one_line(line.path, 300), size), "dim"))
            else:
                text, style = column.cell(line) if column.cell is not None else self._cell(line, column.key)
                parts.append((fit(text, size, right=column.right), style))
        return parts

    def _cell(self, line: TaskLine, key: str) -> Part:
        """Return what a column says of a task."""
        match key:
            case "name":
                marks = _marks(line)
                return f"{marks}{one_line(line.name, 200)}", "bad" if DISAGREES in marks else "strong"
            case "failing":
                return self._failing(line)
            case _:
                place = [f"at{k}" for k in self.ks].index(key)
                return share(line.at[place] if place < len(line.at) else None), "" if line.decided else "dim"

    def _failing(self, line: TaskLine) -> Part:
        if line.excluded:
            return f"taken out: {one_line(line.reason or 'a control does not hold', 300)}", "failed"
        failing = test_name(one_line(line.failing, 300))
        return failing + (f" ({line.failing_count})" if line.failing_count > 1 else ""), "dim"

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Return a row; under the cursor it has one colour, but for the selected sample."""
        parts = list(self.parts_of(y, width))
        if y != self.cursor:
            return parts, ""
        return (
            [(text, _under_the_cursor(style)) for text, style in parts],
            "chosen" if self.has_focus else "chosen-blurred",
        )

    def _room_for_samples(self, width: int) -> int:
        return max(7, min(self._samples, max(10, width // 4)))

    def _cells(self, line: TaskLine, here: bool) -> list[Part]:
        if len(line.cells) > self._room_for_samples(self.text_width):
            passed = f"{line.passed}/{len(line.cells)} {VERDICTS['passed']}"
            return [(passed, _marked("passed" if line.passed else "failed", "f" in line.former))]
        return [
            (
                cell,
                "picked"
                if here and index == self.sample
                else _marked(STYLES.get(cell, ""), line.former[index : index + 1] == "f"),
            )
            for index, cell in enumerate(line.cells)
        ] or [("·", "waiting")]

    def on_click(self, event: events.Click) -> None:
        """Select the sample under the mouse, too."""
        row = event.y + self.scroll_offset.y
        if 0 <= row < self.row_count():
            x = 0
            line = self.lines[self.shown[row]]
            parts = self.parts_of(row, self.text_width)
            first = next((n for n, (_, style) in enumerate(parts) if style in _CELL_STYLES), len(parts))
            for number, (text, _) in enumerate(parts):
                if number - first >= len(line.cells):
                    break
                if x <= event.x < x + len(text) and number >= first:
                    self.sample = number - first
                    self.refresh()
                    self.post_message(self.Moved(self, row))
                    break
                x += len(text)


_FORMER = "former-"
_CELL_STYLES = frozenset(STYLES.values()) | {f"{_FORMER}{style}" for style in STYLES.values()} | {"picked"}


def _marked(style: str, former: bool) -> str:
    """Return the style of a cell; a former verdict, whose sample is being tested again, has its own."""
    return f"{_FORMER}{style}" if former else style


def _under_the_cursor(style: str) -> str:
    return "former" if style.startswith(_FORMER) else style if style == "picked" else ""


def _marks(line: TaskLine) -> str:
    marks = (DISAGREES if line.disagreeing else "") + (DOUBTFUL if line.doubtful else "")
    marks += (FLAKY if line.unstable else "") + (LEAK if line.leaking else "")
    return f"{marks} " if marks else ""


def _from_the_right(path: str, width: int) -> str:
    return fit(path if len(path) <= width else "…" + path[len(path) - width + 1 :], width)
