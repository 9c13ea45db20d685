"""A scatter plot: a dot for each of thousands of points, round ticks on both axes, one group of points marked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from workbench.app.keys import bind
from workbench.app.toolkit.canvas import Axis, Canvas, axis
from workbench.app.toolkit.virtual_view import Part, VirtualView, fit

_MARK = "●"
_TOP, _BELOW = 1, 3  # rows above the dots (name of the upright axis) and below them (line, ticks, name)


class ScatterPlot(VirtualView):
    """Points (group, x, y); those of the ``marked`` group are ● where they lie, the others dots."""

    class Stepped(Message):
        """The next (1) or previous (-1) group is asked for."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("plot.next", "step(1)", "next group", show=False),
        bind("plot.previous", "step(-1)", "previous group", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.points: Sequence[tuple[Hashable, float, float]] = ()
        self.names = "", ""
        self.marked: Hashable = None
        self.empty_text = ""
        self._drawn: tuple[tuple[int, int], list[list[Part]]] | None = None

    def put(
        self, points: Sequence[tuple[Hashable, float, float]], names: tuple[str, str], empty_text: str = ""
    ) -> None:
        """Show other points; ``names`` are those of the axes, ``empty_text`` is said where there are no points."""
        self.points, self.names, self.empty_text = points, names, empty_text
        self._again()

    def mark(self, group: Hashable) -> None:
        """Mark the points of a group."""
        if group != self.marked:
            self.marked = group
            self._again()

    def _again(self) -> None:
        self._drawn = None
        self.refresh()

    def action_step(self, step: int) -> None:
        """Ask for the group beside."""
        self.post_message(self.Stepped(step))

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._again()

    def on_focus(self) -> None:
        """The focus is shown by the frame."""

    # -- painting

    def row_count(self) -> int:
        """The plot fills the pane."""
        return self.page_height()

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Return a row of the plot."""
        size = width, self.page_height()
        if self._drawn is None or self._drawn[0] != size:
            self._drawn = size, self._draw(*size)
        rows = self._drawn[1]
        return rows[y] if y < len(rows) else [], ""

    def _draw(self, width: int, height: int) -> list[list[Part]]:
        tall = height - _TOP - _BELOW
        if not self.points:
            return [[(fit(f" {self.empty_text}", width), "dim")]]
        up = axis([y for _, _, y in self.points], max(1, tall // 3))
        labels = max(len(up.label(tick)) for tick in up.ticks) + 1
        wide = width - labels - 2
        if tall < 2 or wide < 10:
            return [[(fit(" There is no room for the plot.", width), "dim")]]
        across = axis([x for _, x, _ in self.points], max(1, min(8, wide // 12)))
        canvas, marks = self._dots(across, up, wide, tall)
        at = {canvas.cell_of(0, up.share(tick))[1]: up.label(tick) for tick in up.ticks}
        rows: list[list[Part]] = [[(fit(f" {self.names[1]}", width), "dim")]]
        for y in range(tall):
            sign = "┤" if y in at else "│"
            parts: list[Part] = [(at.get(y, "").rjust(labels), "dim"), (f"{sign}", "rule")]
            for x, char in enumerate(canvas.row(y)):
                style = "marked" if (x, y) in marks else "bar"
                text = _MARK if (x, y) in marks else char
                if parts[-1][1] == style:
                    parts[-1] = parts[-1][0] + text, style
                else:
                    parts.append((text, style))
            rows.append(parts)
        pad = " " * labels
        rows.append([(pad, ""), ("└" + "─" * wide, "rule")])
        rows.append([(pad + " ", ""), (across.written(wide), "dim")])
        rows.append([(pad + " ", ""), (fit(self.names[0], wide, right=True), "dim")])
        return rows

    def _dots(self, across: Axis, up: Axis, wide: int, tall: int) -> tuple[Canvas, set[tuple[int, int]]]:
        canvas, marks = Canvas(wide, tall), set()
        for group, x, y in self.points:
            place = across.share(x), up.share(y)
            canvas.dot(*place)
            if group == self.marked:
                marks.add(canvas.cell_of(*place))
        return canvas, marks
