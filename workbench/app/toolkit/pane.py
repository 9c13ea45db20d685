"""The frame around a widget, with its tabs, and the lines around all frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import RenderResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.key_table import key_of
from workbench.app.toolkit.document import Document
from workbench.app.toolkit.latest import Latest, sentence_of
from workbench.app.toolkit.lifecycle import Lasting
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.text_pane import GROWTH, TextPane
from workbench.app.toolkit.virtual_view import fit


class Pane(Vertical, Lasting):
    """A frame; ``short`` is its name where panes are tabs."""

    short = ""

    def __init__(self, *children: Widget, short: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(*children, id=id, classes=classes)
        self.short = short or self.short
        set_title(self, self.short)

    def titled(self, title: str, subtitle: str = "") -> None:
        set_title(self, title, subtitle)

    def on_latest_reported(self, message: Latest.Reported) -> None:
        self.on_latest_finished(message)

    def on_latest_finished(self, message: Latest.Finished) -> None:
        message.stop()
        error = message.loader.settle(message)
        if error is not None:
            self.notify(sentence_of(error), title=self.short, severity="error", timeout=10)


_LEAST = 6  # cells of a name that is shortened


class PaneTabs(Widget):
    """One line with the names of the panes, shown where only one pane has room; a click goes there."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    PaneTabs { dock: top; height: 1; display: none; background: $surface; padding: 0 1; margin: 1 0 0 0; }
    """

    class Chosen(Message):
        """The name of a pane was clicked; ``index`` is its place."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    tabs: reactive[tuple[tuple[str, bool], ...]] = reactive(())

    def show(self, tabs: list[tuple[str, bool]]) -> None:
        self.tabs = tuple(tabs)

    def _shown(self) -> list[tuple[str, bool]]:
        """The tabs with names as long as there is room, the longest shortened first; some room is left for each."""
        room = self.size.width - 3 * len(self.tabs)
        sizes = [cell_len(name) for name, _ in self.tabs]
        while sum(sizes) > room and max(sizes) > _LEAST:
            sizes[sizes.index(max(sizes))] -= 1
        return [(fit(name, size), current) for (name, current), size in zip(self.tabs, sizes, strict=True)]

    def render(self) -> RenderResult:
        parts: list[tuple[str, str]] = []
        for name, current in self._shown():
            parts.append((f"[{name}]", "bold $primary") if current else (f" {name} ", "$text-muted"))
            parts.append((" ", ""))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        x = 1
        for index, (name, _) in enumerate(self._shown()):
            x += cell_len(name) + 3
            if event.x < x:
                self.post_message(self.Chosen(index))
                return


class TooSmall(Widget):
    """One sentence in place of everything where nothing has room."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TooSmall { display: none; width: 1fr; height: 1fr; content-align: center middle; text-align: center; }
    """

    def render(self) -> RenderResult:
        width, height = self.app.size
        return Content(
            f"The terminal is {width}×{height}; the workbench needs 40×12. Enlarge it, or press {key_of('app.quit')} to quit."
        )


class TourPanel(Widget):
    """Shows a step of the tour, nothing while there is none; a click goes on."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TourPanel {
        display: none; width: 1fr; height: auto; max-height: 7; padding: 0 1; background: $panel; color: $foreground;
        border-top: solid $accent;
    }
    TourPanel.-open { display: block; }
    """

    class Clicked(Message):
        """The panel was clicked."""

    heading: reactive[str] = reactive("", layout=True)
    text: reactive[str] = reactive("", layout=True)

    def say(self, heading: str, text: str) -> None:
        """Show a step, or with "" nothing."""
        self.heading, self.text = heading, text
        self.set_class(bool(heading), "-open")

    def render(self) -> RenderResult:
        return Content.assemble(
            (self.heading, "bold $accent"),
            "  ",
            self.text,
            (f"  {key_of('app.leave-tour')} leaves the tour.", "$text-muted"),
        )

    def on_click(self) -> None:
        self.post_message(self.Clicked())


# -- tabs inside a pane


class TabLine(Widget):
    """Names of tabs; a click chooses one. A remark at the right begins with a key, which a click on it presses."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TabLine { height: 1; width: 1fr; background: $background; color: $text-muted; }
    """

    class Chosen(Message):
        """A tab was chosen with the mouse."""

        def __init__(self, line: TabLine, name: str) -> None:
            super().__init__()
            self.line = line
            self.name = name

        @property
        def control(self) -> TabLine:
            return self.line

    current: reactive[str] = reactive("")
    empty: reactive[frozenset[str]] = reactive(frozenset())
    remark: reactive[str] = reactive("")

    def __init__(self, names: tuple[str, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.names = names
        self.set_reactive(TabLine.current, names[0])

    def beside(self, step: int) -> str:
        at = self.names.index(self.current) if self.current in self.names else 0
        return self.names[(at + step) % len(self.names)]

    @property
    def _shown(self) -> list[tuple[str, str]]:
        """The tabs as (name, what is written), as many as fit around the chosen one; "" is an ellipsis for those left out.

        Where they do not fit, the first word of each that is not chosen is written, then of all.
        """
        short = [name.split()[0] for name in self.names]
        mixed = [name if name == self.current else first for name, first in zip(self.names, short, strict=True)]
        width = self.size.width
        for written in (list(self.names), mixed, short):
            if sum(map(cell_len, written)) + 2 * len(written) <= width:
                return list(zip(self.names, written, strict=True))
        tabs = list(zip(self.names, short, strict=True))
        at = self.names.index(self.current) if self.current in self.names else 0
        first, last = 0, len(tabs)
        while last - first > 1 and _width(tabs, first, last) > width:
            if last - 1 > at:
                last -= 1
            else:
                first += 1
        return [*([("", "…")] if first else []), *tabs[first:last], *([("", "…")] if last < len(tabs) else [])]

    def render(self) -> RenderResult:
        parts: list[tuple[str, str]] = []
        used = 0
        for name, shown in self._shown:
            style = "$text-faint" if name in self.empty else "$text-muted"
            space = " " if name else ""
            parts += [
                (space, ""),
                (shown, "bold underline $primary" if name == self.current else style),
                (space, ""),
            ]
            used += cell_len(shown) + 2 * len(space)
        room = self.size.width - used - 1
        if self.remark and room >= len(self.remark):
            parts.append((self.remark.rjust(room), "$text-dim"))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        x = 0
        tabs = self._shown
        for place, (name, shown) in enumerate(tabs):
            x += cell_len(shown) + (2 if name else 0)
            if event.x < x:
                # An ellipsis leads to the nearest of those that it stands for.
                self.post_message(self.Chosen(self, name or self._left_out(tabs, place)))
                return
        if self.remark and event.x >= max(x, self.size.width - len(self.remark) - 1):
            self.app.simulate_key(self.remark.split()[0])

    def _left_out(self, tabs: list[tuple[str, str]], place: int) -> str:
        if place:
            return self.names[self.names.index(tabs[place - 1][0]) + 1]
        return self.names[self.names.index(tabs[1][0]) - 1]


def _width(tabs: list[tuple[str, str]], first: int, last: int) -> int:
    left_out = (first > 0) + (last < len(tabs))
    return left_out + sum(cell_len(written) + 2 for _, written in tabs[first:last])


COPIED_AT_MOST = 16_000_000
"""Bytes of a text that are copied, or opened elsewhere."""


class TabbedText(Pane):
    """Turns its tabs and shows more of the text; a subclass composes a tab line and a text, and loads what a tab has.

    Of a text ``at_first`` bytes are shown at first.
    """

    at_first: ClassVar[int]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._limit = self.at_first

    # -- what subclasses say

    def choose(self, tab: str) -> None:
        raise NotImplementedError

    def _ask(self) -> None:
        raise NotImplementedError

    def reading_all(self) -> Callable[[], Document] | None:
        """Return what reads in a thread the text of the tab up to :data:`COPIED_AT_MOST` bytes, None where nothing is shown."""
        raise NotImplementedError

    @property
    def is_cut(self) -> bool:
        return bool(self.text.document.cut)

    # -- what all of them do

    @property
    def text(self) -> TextPane:
        return self.query_one(TextPane)

    @property
    def whole(self) -> Callable[[], Document] | None:
        return self.reading_all() if self.is_cut else None

    def turn(self, step: int) -> None:
        self.choose(self.query_one(TabLine).beside(step))

    def more(self) -> None:
        if self.is_cut:
            self._limit *= GROWTH
            self._ask()
        else:
            self.notify("All of it is shown.")

    def _reach(self, characters: int) -> None:
        if characters * 4 > self._limit:  # what is cut is counted in bytes: four are enough for any character
            self._limit = characters * 4 + 2000

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        message.stop()
        self.choose(message.name)
