"""Textual's text widgets without markup; see :mod:`workbench.app.toolkit.literal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual import widgets
from textual.content import Content
from textual.strip import Strip
from textual.visual import VisualType

from workbench.app.toolkit.literal import literal

if TYPE_CHECKING:
    from textual.widgets.button import ButtonVariant


class Static(widgets.Static):
    """A widget that shows literal text or styled content."""

    def __init__(self, content: VisualType = "", *, id: str | None = None, classes: str | None = None) -> None:
        self._now = _shown(content)
        super().__init__(self._now, id=id, classes=classes, markup=False)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        before, self._now = self._now, _shown(content)
        # Updating with the same text would lay out and repaint the whole screen.
        if not (isinstance(before, Content) and isinstance(self._now, Content) and before.is_same(self._now)):
            super().update(self._now, layout=layout)

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        width, height = self.size
        if y != height - 1 or self.get_content_height(self.size, self.size, width) <= height:
            return line
        kept = line.crop(0, min(len(line.text.rstrip()), width - 1))
        style = next((segment.style for segment in reversed(list(kept))), None)
        return Strip([*kept, Segment("…", style)]).adjust_cell_length(width, style)


class Label(Static):
    """A short text next to another widget, only as wide as its content."""

    DEFAULT_CSS = "Label { width: auto; height: auto; min-height: 1; }"


class Button(widgets.Button):
    """A button that is one line high."""

    def __init__(self, label: str, *, id: str, variant: ButtonVariant = "default") -> None:
        super().__init__(literal(label), variant, id=id, compact=True)


def _shown(content: VisualType) -> VisualType:
    return literal(content) if isinstance(content, str) else content
