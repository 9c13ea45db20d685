"""The table of tasks: a row per task, a cell per sample, painted row by row so that thousands cost what ten do."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.regeneration import columns
from workbench.app.regeneration.arrangement import Arrangement, order_of_column
from workbench.app.regeneration.columns import FLAKY, GAP, OTHER, Column, Needs, route_of
from workbench.app.regeneration.filters import EVERYTHING, TaskFilter
from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.standings import OtherSamples
from workbench.app.regeneration.wording import NOTHING, STYLES, plural, share, test_name
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import DOUBTFUL, VERDICTS
from workbench.text import one_line

LEAK, DISAGREES = "≈", "≠"
"""Marks before the name of a function: its docstring carries the code, unstable tests execute it, re-checks disagree."""


class TaskTable(RowList):
    """Keeps the lines of a run, which of them are shown, and the selected sample of the selected task."""

    ALLOW_SELECT = False
    ROW_STYLES: ClassVar[frozenset[str]] = RowList.ROW_STYLES | {
        *("timeout", "crashed", "invalid", "chosen", "chosen-blurred", "picked", "former"),
        *(f"former-{verdict}" for verdict in ("passed", "failed", "timeout", "crashed", "invalid", "unscored")),
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
        bind("regeneration.open-task", "choose", "open"),
        bind("regeneration.fold", "fold", "Fold the group", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[TaskLine] = []
        self.shown: list[int] = []
        self.arrangement = Arrangement()
        self._sizes: Counter[int] = Counter()  # how many tasks of each group are shown
        self._rows: list[int] = []  # places of lines; below zero: the heading of group ~n
        self._folded: set[str] = set()  # names of groups of which the heading alone is shown
        self.filter = EVERYTHING
        self.sample = 0
        self.ks: tuple[int, ...] = ()
        self._at: dict[str, int] = {}
        self._samples = 0
        self._needs = Needs()
        self._layout: tuple[tuple[Column, int], ...] = ()
        self._layout_of: tuple[object, ...] = ()
        self.others: tuple[
            OtherSamples, ...
        ] = ()  # of evaluators and docs that are not in front, where there is room for them
        self.shown_name = ""  # of what is in front, where others stand beside it
        self.only_path = ""  # of all tasks, where it needs no column
        self.revision = 0  # counts up whenever lines change
        self._letters: Mapping[object, str] = {}

    # -- what is in it

    def show_marks(self, letters: Mapping[object, str]) -> None:
        """Show which tasks are marked, by their ids."""
        if letters != self._letters:
            self._letters = letters
            self.refresh()

    @property
    def selected(self) -> TaskLine | None:
        """The task under the cursor."""
        row = self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else -1
        return self.lines[row] if row >= 0 else None

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
        kept, heading = self.selected, self._heading
        if {line.id for line in lines}.isdisjoint(self._at):
            self._folded = set()  # those of another run
        self.lines, self.ks = list(lines), ks
        self.revision += 1
        self._at = {line.id: index for index, line in enumerate(lines)}
        self._measure()
        self._filtered(kept, heading=heading)

    def update_lines(self, fresh: Sequence[TaskLine]) -> bool:
        """Put changed lines in the place of the old ones; False if there are some that are not in the table."""
        kept, heading = self.selected, self._heading
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
            self._filtered(kept, heading=heading)
        self.refresh()
        return known

    def show_beside(self, shown: str, others: Sequence[OtherSamples]) -> None:
        """Show the samples of other evaluators and doc variants beside those in front, called ``shown``; () shows none."""
        if (shown, tuple(others)) != (self.shown_name, self.others):
            self.shown_name, self.others = shown, tuple(others)
            self._measure()
            self.refresh()

    def set_filter(self, wanted: TaskFilter) -> None:
        """Show only the tasks that a filter lets through."""
        kept, heading = self.selected, self._heading
        self.filter = wanted
        self._filtered(kept, heading=heading, stays=False)

    def arrange_tasks(self, arrangement: Arrangement, *, from_top: bool = False) -> None:
        """Show the tasks in another order and in other groups; ``from_top`` goes to the first one.

        Groups that are new are folded where their tasks would not fit on the screen, so that all of them are seen first.
        """
        kept, heading = (None, "") if from_top else (self.selected, self._heading)
        if arrangement.grouping != self.arrangement.grouping:
            names = {group.name for group in arrangement.groups}
            # One group alone, folded, would hide everything and say nothing.
            many = len(names) > 1 and len(self.lines) + len(names) > self.page_height()
            self._folded = names if many else set()
        self.arrangement = arrangement
        self._filtered(kept, heading=heading)

    def action_fold(self) -> None:
        """Fold the group under the cursor, or unfold it; on a task, fold its group."""
        number = self._group_at(self.cursor)
        if number is not None:
            self._folded ^= {self.arrangement.groups[number].name}
            self._rows = self._with_headings(self.shown)
            self.rows_changed(cursor=self._rows.index(~number))
            self.post_message(self.Moved(self, self.cursor))

    def action_choose(self) -> None:
        """Open the task under the cursor; fold or unfold a group."""
        if self.selected is None:
            self.action_fold()
        else:
            super().action_choose()

    @property
    def on_group(self) -> bool:
        """Whether the cursor stands on the heading of a group."""
        return 0 <= self.cursor < len(self._rows) and self._rows[self.cursor] < 0

    @property
    def _heading(self) -> str:
        """The name of the group on whose heading the cursor stands, "" on a task."""
        number = self._group_at(self.cursor) if self.on_group else None
        return self.arrangement.groups[number].name if number is not None else ""

    def _group_at(self, index: int) -> int | None:
        """Return the number of the group whose heading or task is in a row, None without groups."""
        of = self.arrangement.group_of
        if not 0 <= index < len(self._rows) or len(of) != len(self.lines):
            return None
        row = self._rows[index]
        return ~row if row < 0 else of[row]

    def _filtered(self, kept: TaskLine | None, *, heading: str = "", stays: bool = True) -> None:
        # A task that stops matching stays under the cursor: what a person reads must not jump away.
        at = self._at.get(kept.id, -1) if kept is not None else -1
        passing = self.filter.passing(self.lines)
        place = bisect_left(passing, at)
        if stays and at >= 0 and at not in passing[place : place + 1]:
            passing.insert(place, at)
        arrangement = self.arrangement
        # Lines that came since are in no order yet: until they are, all stand as they were read.
        if len(arrangement.places) == len(self.lines) and not arrangement.plain:
            allowed = set(passing)
            passing = [one for one in arrangement.places if one in allowed]
        self.shown = passing
        self._rows = self._with_headings(passing)
        self.rows_changed(cursor=self._row_of(at, place, heading))
        self._clamp()

    def _row_of(self, at: int, place: int, heading: str) -> int:
        """Return the row of a task, else of its group's or the named group's heading, else one near where the task was."""
        rows = self._rows
        if at >= 0 and at in rows:
            return rows.index(at)
        of = self.arrangement.group_of
        if at >= 0 and len(of) == len(self.lines) and ~of[at] in rows:
            return rows.index(~of[at])
        if at >= 0:
            return max(0, min(place, len(rows)) - 1)
        named = next((~number for number, group in enumerate(self.arrangement.groups) if group.name == heading), 0)
        if heading and named in rows:
            return rows.index(named)
        # The first task rather than the heading above it.
        return 1 if len(rows) > 1 and rows[0] < 0 <= rows[1] else 0

    def _with_headings(self, shown: Sequence[int]) -> list[int]:
        """Return rows: the places of tasks, before those of each group its heading."""
        of = self.arrangement.group_of
        if len(of) != len(self.lines):
            return list(shown)
        self._sizes = Counter(of[place] for place in shown)
        rows: list[int] = []
        last = -1
        for place in shown:
            if of[place] != last:
                last = of[place]
                rows.append(~last)
            if self.arrangement.groups[last].name not in self._folded:
                rows.append(place)
        return rows

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
            documented=any(line.counted for line in lines),
            routes=max((len(route_of(line)) for line in lines), default=0),
            sandbox=max(map(len, sandboxes)) if len(sandboxes) > 1 else 0,
            tags=min(30, max((len(line.labels) for line in lines), default=0)),
            shown=self.shown_name if self.others else "samples",
            others=tuple(
                (one.name, min(20, max([7, len(one.name), *map(len, one.cells.values())]))) for one in self.others
            ),
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

    def move_task(self, step: int) -> None:
        """Go to the next or previous task, past the headings of groups; where none is shown, to the next heading."""
        after = range(self.cursor + step, len(self._rows) if step > 0 else -1, step)
        self.set_cursor(next((row for row in after if self._rows[row] >= 0), self.cursor + step), step)

    def go_to_task(self, task_id: str, sample: int | None = None) -> bool:
        """Select a task, through the filter if need be; False if it is not in the table."""
        at = self._at.get(task_id)
        if at is None:
            return False
        if at not in self.shown:
            self.filter = EVERYTHING
            self._filtered(None)
        group = self.arrangement.group_of[at] if len(self.arrangement.group_of) == len(self.lines) else None
        if group is not None and at not in self._rows:
            self._folded.discard(self.arrangement.groups[group].name)
            self._rows = self._with_headings(self.shown)
            self.rows_changed(cursor=self._rows.index(at))
        if sample is not None:
            self.sample = sample
        self.set_cursor(self._rows.index(at))
        self._clamp()
        self.refresh()
        return True

    # -- painting

    def row_count(self) -> int:
        """Return how many rows there are: tasks that are shown, and headings of groups."""
        return len(self._rows)

    def heading(self) -> str:
        """Return the heading of the columns for the present width."""
        return "".join(text for text, _ in self.heading_pieces())

    def heading_pieces(self) -> list[tuple[str, bool]]:
        """Return the heading of the columns for the present width, each piece with whether the tasks are sorted by it."""
        pieces: list[tuple[str, bool]] = [(" ", False)]
        for column, width in self._columns(self.text_width):
            by = not self.arrangement.plain and order_of_column(column.key) == self.arrangement.order
            pieces += [(fit(column.title, width, right=column.right), by), (" " * GAP, False)]
        return pieces[:-1]

    def column_at(self, x: int) -> str | None:
        """Return the key of the column at a cell of the heading."""
        end = 1
        for column, width in self._columns(self.text_width):
            end += width + GAP
            if x < end:
                return column.key
        return None

    def _columns(self, width: int) -> tuple[tuple[Column, int], ...]:
        key = (width, self._needs, self._samples)
        if key != self._layout_of:
            needs = replace(self._needs, samples=self._room_for_samples(width))
            self._layout, self._layout_of = columns.chosen(columns.wanted(needs), width - 1), key
        return self._layout

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return one task, or the heading of a group."""
        if self._rows[index] < 0:
            return self._group(~self._rows[index])
        line = self.lines[self._rows[index]]
        parts: list[Part] = [(self._letters.get(line.id, " "), "marked")]
        for column, size in self._columns(width):
            if len(parts) > 1:
                parts.append((" " * GAP, ""))
            if column.key == "samples":
                cells = self._cells(line, index == self.cursor)
                parts += [*cells, (" " * max(0, size - sum(len(text) for text, _ in cells)), "")]
            elif column.key.startswith(OTHER):
                parts += self._other(line, int(column.key.removeprefix(OTHER)), size)
            elif column.key == "file":
                parts.append((_from_the_right(one_line(line.path, 300), size), "dim"))
            else:
                text, style = column.cell(line) if column.cell is not None else self._cell(line, column.key)
                parts.append((fit(text, size, right=column.right), style))
        return parts

    def _group(self, number: int) -> list[Part]:
        group, there, shown = self.arrangement.groups[number], self.arrangement.sizes[number], self._sizes[number]
        count = f"{shown:,} of {plural(there, 'task')}" if shown != there else plural(there, "task")
        sign = "▸ " if group.name in self._folded else "▾ "
        parts: list[Part] = [(sign, "group"), (one_line(group.name, 200), "group"), (f"  {count}", "dim")]
        for estimate in group.pass_at:
            parts += [(f"  pass@{estimate.k} ", "dim"), (share(estimate.value), "strong")]
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

    def _other(self, line: TaskLine, number: int, size: int) -> list[Part]:
        cells = self.others[number].cells.get(line.id, "")
        if not cells:  # never asked of that evaluator, or no task of that run
            return [(fit(NOTHING, size), "dim")]
        if len(cells) > size:
            passed = cells.count(VERDICTS["passed"])
            return [(fit(f"{passed}/{len(cells)} {VERDICTS['passed']}", size), "passed" if passed else "failed")]
        return [*((cell, STYLES.get(cell, "")) for cell in cells), (" " * (size - len(cells)), "")]

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
            if self._rows[row] < 0:
                return
            line = self.lines[self._rows[row]]
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
