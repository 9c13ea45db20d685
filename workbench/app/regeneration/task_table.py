"""The table of tasks: a row per task, a cell per sample, painted row by row so that thousands cost what ten do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from workbench.app.regeneration import filters
from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.wording import NOTHING, STYLES, VERDICTS, percent, share, test_name
from workbench.app.trajectory.virtual import Part
from workbench.app.widgets.row_list import RowList, fit
from workbench.text import one_line

_LEAK = "≈"


class TaskTable(RowList):
    """Keeps the lines of a run, which of them are shown, and the selected sample of the selected task."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = RowList.COMPONENT_CLASSES | {
        f"row--{name}" for name in ("timeout", "crashed", "invalid", "chosen", "chosen-blurred", "picked")
    }
    DEFAULT_CSS = """
    TaskTable {
        & > .row--timeout { color: $verdict-timeout; }
        & > .row--crashed { color: $verdict-crashed; }
        & > .row--invalid { color: $verdict-invalid; }
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
        self.filter = filters.ALL
        self.sample = 0
        self.ks: tuple[int, ...] = ()
        self._at: dict[str, int] = {}
        self._samples = 0
        self._widths = (0, 0)
        self.only_path = ""  # of all tasks, where it needs no column
        self.revision = 0  # counts up whenever lines change

    # -- what is in it

    @property
    def selected(self) -> TaskLine | None:
        """The task under the cursor."""
        return self.lines[self.shown[self.cursor]] if 0 <= self.cursor < len(self.shown) else None

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
        most = max((len(line.cells) for line in fresh), default=0)
        if most > self._samples:
            self._measure()
        if self.filter != filters.ALL:
            self._filtered(kept)
        self.refresh()
        return known

    def set_filter(self, name: str) -> None:
        """Show only the tasks that a filter lets through."""
        kept = self.selected
        self.filter = name
        self._filtered(kept, stays=False)

    def _filtered(self, kept: TaskLine | None, *, stays: bool = True) -> None:
        # A task that stops matching stays under the cursor: what a person reads must not jump away.
        here = kept.id if kept is not None and stays else None
        self.shown = [
            index for index, line in enumerate(self.lines) if filters.matches(self.filter, line) or line.id == here
        ]
        at = self._at.get(kept.id, -1) if kept is not None else -1
        before = [place for place, index in enumerate(self.shown) if index <= at]
        self.rows_changed(cursor=before[-1] if before else 0)
        self._clamp()

    def _measure(self) -> None:
        self._samples = max((len(line.cells) for line in self.lines), default=0)
        paths = {line.path for line in self.lines}
        self.only_path = next(iter(paths)) if len(paths) == 1 else ""
        self._widths = (
            min(26, max(map(len, paths))) if len(paths) > 1 else 0,
            min(34, max((len(line.name) for line in self.lines), default=8)),
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
            self.filter = filters.ALL
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
        width = self.text_width
        at = [f"pass@{k}" for k in self.ks]
        parts = self._columns(width, "file", "function", "tests", "cover", [("samples", "")], at, "failing first")
        return "".join(text for text, _ in parts)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return one task."""
        line = self.lines[self.shown[index]]
        cells = self._cells(line, index == self.cursor)
        name = one_line(line.name, 200)
        at = [share(value) for value in line.at] or [NOTHING] * len(self.ks)
        if line.excluded:
            failing = f"taken out: {one_line(line.reason or 'a control does not hold', 300)}"
        else:
            failing = test_name(one_line(line.failing, 300))
            failing += f" ({line.failing_count})" if line.failing_count > 1 else ""
        if line.leaking:
            name = f"{_LEAK} {name}"
        return self._columns(
            width, one_line(line.path, 300), name, f"{line.tests:,}", percent(line.coverage), cells, at, failing,
            bad=line.excluded, settled=line.decided,
        )  # fmt: skip

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Return a row; under the cursor it has one colour, but for the selected sample."""
        parts = list(self.parts_of(y, width))
        if y != self.cursor:
            return parts, ""
        return (
            [(text, style if style == "picked" else "") for text, style in parts],
            "chosen" if self.has_focus else "chosen-blurred",
        )

    def _room_for_samples(self, width: int) -> int:
        return max(7, min(self._samples, max(10, width // 4)))

    def _cells(self, line: TaskLine, here: bool) -> list[Part]:
        if len(line.cells) > self._room_for_samples(self.text_width):
            passed = f"{line.passed}/{len(line.cells)} {VERDICTS['passed']}"
            return [(passed, "passed" if line.passed else "failed")]
        return [
            (cell, "picked" if here and index == self.sample else STYLES.get(cell, ""))
            for index, cell in enumerate(line.cells)
        ] or [("·", "waiting")]

    def _columns(
        self,
        width: int,
        path: str,
        name: str,
        tests: str,
        cover: str,
        cells: list[Part],
        at: Sequence[str],
        failing: str,
        *,
        bad: bool = False,
        settled: bool = True,
    ) -> list[Part]:
        room = self._room_for_samples(width)
        used = 6 + room + 2 + 8 * len(at)  # tests, samples, pass@k
        with_cover = width >= 64
        used += 7 if with_cover else 0
        file_width, name_width = self._widths
        if width < 90:
            file_width = 0
        used += file_width + 2 if file_width else 0
        name_width = max(12, min(name_width + 2, width - used - (18 if width >= 70 else 0)))
        failing_width = width - used - name_width - 3
        parts: list[Part] = [(" ", "")]
        if file_width:
            parts += [(_from_the_right(path, file_width), "dim"), ("  ", "")]
        parts += [(fit(name, name_width), "strong"), (fit(tests, 6, right=True), "")]
        if with_cover:
            parts.append((fit(cover, 7, right=True), ""))
        parts.append(("  ", ""))
        parts += cells
        parts.append((" " * max(0, room - sum(len(text) for text, _ in cells)), ""))
        parts += [(fit(value, 8, right=True), "" if settled else "dim") for value in at]
        if failing_width >= 8:
            parts += [("  ", ""), (fit(failing, failing_width), "failed" if bad else "dim")]
        return parts

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


_CELL_STYLES = frozenset(STYLES.values()) | {"picked"}


def _from_the_right(path: str, width: int) -> str:
    return fit(path if len(path) <= width else "…" + path[len(path) - width + 1 :], width)
