"""Textual's widgets that hold a text, without markup; see :mod:`workbench.app.toolkit.literal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import widgets
from textual.visual import VisualType

from workbench.app.toolkit.literal import literal
from workbench.text import clean

if TYPE_CHECKING:
    from textual.widgets.button import ButtonVariant


class Static(widgets.Static):
    """A text, literally; or content that was styled already."""

    def __init__(self, content: VisualType = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_shown(content), id=id, classes=classes, markup=False)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another text."""
        super().update(_shown(content), layout=layout)


class Label(Static):
    """A text as wide as it is, beside what it names."""

    DEFAULT_CSS = "Label { width: auto; height: auto; min-height: 1; }"


class TextArea(widgets.TextArea):
    """Text that a person edits; it is plain text, and control sequences of what it begins with are left out."""

    def __init__(self, text: str) -> None:
        super().__init__(clean(text), soft_wrap=True, show_line_numbers=True, tab_behavior="indent")


class Button(widgets.Button):
    """A button on one line."""

    def __init__(self, label: str, *, id: str, variant: ButtonVariant = "default") -> None:
        super().__init__(literal(label), variant, id=id, compact=True)


def _shown(content: VisualType) -> VisualType:
    return literal(content) if isinstance(content, str) else content
