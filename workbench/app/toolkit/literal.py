"""The only module that styles text; text from files, models and users is shown literally.

Textual parses markup in most strings, and the terminal executes control sequences. So no other module of the app
imports Textual's text widgets or sets a border title, and :class:`ControlCharFilter` filters all painted text.
``tests/app/test_literal.py`` enforces this.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content
from textual.filter import LineFilter
from textual.geometry import Region
from textual.widget import Widget

from workbench.base import glyphs
from workbench.base.text import UNSEEN, clean, one_line

if TYPE_CHECKING:
    from textual.color import Color
    from textual.fuzzy import Matcher

WidgetT = TypeVar("WidgetT", bound=Widget)


def literal(text: str, style: str = "") -> Content:
    return Content.styled(clean(text), style) if style else Content(clean(text))


def set_title(widget: WidgetT, title: str, subtitle: str | None = None) -> WidgetT:
    """Set a widget's border title, and its subtitle unless that is None; repaints only if the text changed."""
    if title_of(widget) != (shown := one_line(title, 400)):
        widget._border_title = literal(shown)
        _repaint_border(widget, 0)
    if subtitle is not None:
        wanted = literal(one_line(subtitle, 400))
        if widget._border_subtitle is None or widget._border_subtitle.plain != wanted.plain:
            widget._border_subtitle = wanted
            _repaint_border(widget, -1)
    return widget


def _repaint_border(widget: Widget, row: int) -> None:
    """Repaint the first (0) or last (-1) row of a frame; setting Textual's attribute repaints the whole widget."""
    size, (left, top) = widget.outer_size, widget.content_offset
    if size:
        # Regions are relative to the content, inside the frame.
        widget.refresh(Region(-left, row % size.height - top, size.width, 1))


def title_of(widget: Widget) -> str:
    return widget._border_title.plain if widget._border_title is not None else ""


def highlighted(matcher: Matcher, text: str, offsets: Iterable[int] | None = None) -> Content:
    content = literal(text)
    if offsets is None:
        _, offsets = matcher.fuzzy_search.match(matcher.query, content.plain)
    for at in offsets:
        if not content.plain[at : at + 1].isspace():
            content = content.stylize(matcher.match_style, at, at + 1)
    return content


class ControlCharFilter(LineFilter):
    """Prevents control characters from reaching the terminal.

    With ``plain``, characters missing from the terminal's encoding are replaced with ASCII of the same width.
    """

    def __init__(self, plain: bool | None = None) -> None:
        super().__init__()
        encoding = getattr(sys.__stderr__, "encoding", None)  # the stream that Textual writes to
        shown = glyphs.shown_by(encoding) and glyphs.shown_in(os.environ)
        self.plain = not shown if plain is None else plain

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(text.isprintable() and (text.isascii() or not self.plain) for text, _, _ in segments):
            return segments
        return [Segment(_visible(text, self.plain), style, control) for text, style, control in segments]


# Control characters, line ends, invisible characters and surrogates; some of them take up a column.
_OBEYED = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{UNSEEN}]")


@lru_cache(4096)
def _visible(text: str, plain: bool) -> str:
    shown = _OBEYED.sub(lambda found: " " * cell_len(found[0]), text)
    return "".join(char if char.isascii() else glyphs.narrow(char) for char in shown) if plain else shown
