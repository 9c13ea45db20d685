"""The base of all lists and texts. Rows are painted on demand, so that ten thousand rows cost no more than ten."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.dom import DOMNode
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.app.keys import bindings
from workbench.base.text import clean

Part = tuple[str, str]
"""A piece of a row: its text and the name of its style ("" for that of the widget).

The CSS rule of a style is ``.row--NAME``.
"""
_COPIED_CELLS = 240


class VirtualView(ScrollView, can_focus=True, inherit_bindings=False):
    """A scrollable widget that paints rows.

    A subclass returns the number of rows, and the parts and fill style of each row.
    """

    DEFAULT_CSS = """
    VirtualView {
        background: $background; color: $foreground; scrollbar-size-vertical: 0; overflow-x: hidden; overflow-y: scroll;
        & > .row--comment, & > .row--hidden { color: $text-dim; text-style: italic; }
        & > .row--dim { color: $text-dim; }
        & > .row--rule { color: $text-faint; }
        & > .row--string, & > .row--added { color: $text-success; }
        & > .row--removed { color: $text-error; }
        & > .row--number, & > .row--code, & > .row--warn { color: $text-warning; }
        & > .row--notice { color: $text-warning; text-style: italic; }
        & > .row--keyword, & > .row--bullet { color: $text-accent; }
        & > .row--role { color: $text-accent; text-style: bold; }
        & > .row--function, & > .row--heading { color: $text-primary; text-style: bold; }
        & > .row--link { color: $text-primary; text-style: underline; }
        & > .row--builtin, & > .row--hunk { color: $text-secondary; }
        & > .row--subheading { color: $text-secondary; text-style: bold; }
        & > .row--strong { text-style: bold; }
        & > .row--em { text-style: italic; }
        & > .row--s { text-style: strike; }
        & > .row--plain-code { color: $foreground; }
        & > .row--ok, & > .row--passed, & > .row--good { color: $verdict-passed; }
        & > .row--bad, & > .row--failed, & > .row--poor { color: $verdict-failed; }
        & > .row--running { color: $verdict-running; }
        & > .row--unscored, & > .row--paused { color: $verdict-unscored; }
        & > .row--invalid { color: $verdict-invalid; }
        & > .row--seen-read { color: $seen-read; }
        & > .row--seen-listed { color: $seen-listed; }
        & > .row--seen-unopened { color: $seen-unopened; }
        & > .row--block { background: $panel; }
        & > .row--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        & > .row--cursor-blurred { background: $panel; text-style: bold; }
        & > .row--hit { background: $warning-muted; color: $text-warning; }
        & > .row--hit-now { background: $warning; color: auto; text-style: bold; }
        & > .row--evidence { background: $accent-muted; color: $foreground; text-style: bold; }
        & > .row--waiting { color: $verdict-waiting; }
        & > .row--marked { color: $accent; text-style: bold; }
        & > .row--group { color: $primary; text-style: bold; }
        & > .row--score { color: $foreground; text-style: bold; }
        & > .row--only-a { color: $text-primary; text-style: bold; }
        & > .row--only-b { color: $text-warning; text-style: bold; }
        & > .row--bar { color: $primary; }
        & > .row--thumb { color: $foreground 35%; }
        & > .row--bar-rest { color: $foreground 20%; }
    }
    """

    BINDINGS = bindings("list")

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._styles_by_name: dict[str, Style] = {}

    def notify_style_update(self) -> None:
        self._styles_by_name.clear()
        super().notify_style_update()

    def style(self, name: str) -> Style:
        """Return the style with a name; it has a background only if its CSS rule sets one."""
        found = self._styles_by_name.get(name)
        if found is None:
            # Styles are resolved on first use. If they were component classes, Textual would resolve all styles of
            # all panes on each resize or focus change.
            found = self._styles_by_name[name] = self._blended(name) if name else self.rich_style
        return found

    def _blended(self, name: str) -> Style:
        """Return the Rich style with a name; colours are blended with the background, as Rich has no transparency."""
        piece = DOMNode(classes=f"row--{name}")
        piece._attach(self)
        self.app.stylesheet.apply(piece, animate=False)
        rules = piece.styles
        ground = self.background_colors[1]
        back = ground + rules.background if rules.has_rule("background") else None
        color = None
        if rules.has_rule("auto_color") and rules.auto_color and back is not None:
            color = back.get_contrast_text(1.0)
        elif rules.has_rule("color"):
            color = (back or ground) + rules.color
        text = rules.text_style if rules.has_rule("text_style") else Style.null()
        return text + Style.from_color(color.rich_color if color else None, back.rich_color if back else None)

    def set_size(self, rows: int) -> None:
        # The scroll bar's column is always reserved: showing it on demand would lay out the whole screen again.
        size = Size(self.scrollable_content_region.width, rows)
        if size != self.virtual_size:
            self.set_reactive(VirtualView.virtual_size, size)
            self._scroll_update(size)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        raise NotImplementedError

    def row_count(self) -> int:
        raise NotImplementedError

    def plain_text(self) -> str:
        """Return all rows as text for the clipboard, laid out for a wide screen."""
        width = max(_COPIED_CELLS, self.text_width)
        rows = (self.row_parts(y, width)[0] for y in range(int(self.virtual_size.height)))
        return "\n".join(clean("".join(text for text, _ in parts)).rstrip() for parts in rows)

    def missing_of(self, copied: str) -> str:
        """Return a note on the text that :meth:`plain_text` leaves out, or "" if it leaves out nothing."""
        cut = sum(line.endswith("…") for line in copied.split("\n"))
        return f"{cut:,} lines are cut (marked with …)" if cut else ""

    @property
    def text_width(self) -> int:
        """The width of a row in cells, without the last column, which is reserved for the scroll bar."""
        return max(1, self.scrollable_content_region.width - 1)

    def render_line(self, y: int) -> Strip:
        width = self.text_width
        row = y + self.scroll_offset.y
        base = self.style("")
        top, end = self._thumb()
        bar = Segment("▐", base + self.style("thumb")) if top <= y < end else Segment(" ", base)
        if row >= self.row_count():
            return Strip([Segment(" " * width, base), bar], width + 1)
        parts, fill = self.row_parts(row, width)
        ground = base + self.style(fill) if fill else base
        cursor = fill.startswith("cursor")
        segments = [
            Segment(
                text if text.isprintable() else _visible(text),
                ground if cursor or not name else ground + self.style(name),
            )
            for text, name in parts
            if text
        ]
        return Strip([*_ended(Strip(segments), width, ground), bar], width + 1)

    def _thumb(self) -> tuple[int, int]:
        """Return the rows of the scroll bar's thumb as (first, end), or (0, 0) if all rows are visible.

        This view paints its own scroll bar, because Textual's takes longer to paint than the text beside it.
        """
        rows, height = self.virtual_size.height, self.page_height()
        if rows <= height:
            return 0, 0
        length = max(1, height * height // rows)
        top = round((height - length) * self.scroll_offset.y / (rows - height))
        return top, top + length

    def grow_below(self, rows: int) -> None:
        """Set the number of rows after a change below the visible ones, and repaint only if the thumb moved."""
        before = self._thumb()
        self.set_size(rows)
        if self._thumb() != before:
            self.refresh()

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        await super()._on_mouse_down(event)
        height = self.page_height()
        if event.x >= self.text_width and self.virtual_size.height > height:
            event.stop()
            share = event.y / max(1, height - 1)
            self.scroll_to(y=round(share * (self.virtual_size.height - height)), animate=False, immediate=True)

    # -- scrolling, shared by all panes

    def page_height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def keep_in_sight(self, row: int, *, margin: int = 0) -> None:
        top, height = self.scroll_offset.y, self.page_height()
        wanted = max(0, row - margin) if row < top + margin else max(top, row - height + 1 + margin)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, immediate=True)

    # lists override these to move their cursor

    def action_move(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, immediate=True)

    def action_page(self, step: int) -> None:
        self.action_move(step * max(1, self.page_height() - 1))

    def action_edge(self, last: bool) -> None:
        self.scroll_to(y=self.row_count() if last else 0, animate=False, immediate=True)


def _ended(strip: Strip, width: int, ground: Style) -> Strip:
    """Pad or cut a row to exactly ``width`` cells, with an ellipsis if text was cut."""
    if strip.cell_length <= width or not strip.crop(width).text.strip() or strip.crop(0, width).text.endswith("…"):
        return strip.adjust_cell_length(width, ground)
    kept = strip.crop(0, width - 1)
    last = next((segment.style for segment in reversed(list(kept)) if segment.text.strip()), ground)
    return Strip([*kept, Segment("…", last)], kept.cell_length + 1).adjust_cell_length(width, ground)


def _visible(text: str) -> str:
    """Return a text without characters that control a terminal.

    This is the last filter, after :func:`workbench.base.text.clean`.
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else "" for char in clean(text))


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Pad ``text`` to exactly ``width`` cells, or cut it with an ellipsis."""
    if width <= 0:
        return ""
    size = len(text) if text.isascii() else cell_len(text)
    if size > width:
        text = set_cell_size(text, width - 1).rstrip() + "…"
        size = cell_len(text)
    return text.rjust(width + len(text) - size) if right else text.ljust(width + len(text) - size)
