"""Panes with a titled frame, tabs inside panes, and the widgets that surround or replace all panes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual import getters
from textual.app import RenderResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.keys import key_of
from workbench.app.toolkit.document import TextDocument
from workbench.app.toolkit.lifecycle import SafeWidget
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.text_pane import GROWTH, TextPane
from workbench.app.toolkit.virtual_view import fit
from workbench.app.toolkit.workers import LatestWorker

Loaded = TypeVar("Loaded")


class Pane(Vertical, SafeWidget):
    """A frame with a title; ``short`` is the name shown in the tab line on small terminals."""

    short = ""

    def __init__(self, *children: Widget, short: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(*children, id=id, classes=classes)
        self.short = short or self.short
        set_title(self, self.short)

    def titled(self, title: str, subtitle: str = "") -> None:
        set_title(self, title, subtitle)


_LEAST = 6  # minimum width in cells of a shortened name


class PaneTabs(Widget):
    """The names of the panes on one line, shown if only one pane fits; clicking a name activates its pane."""

    ALLOW_SELECT = auto_links = False
    DEFAULT_CSS = """
    PaneTabs { dock: top; height: 1; display: none; background: $surface; padding: 0 1; margin: 1 0 0 0; }
    """

    @dataclass
    class PaneActivated(Message):
        """The user clicked the name of a pane."""

        index: int

    tabs: reactive[tuple[tuple[str, bool], ...]] = reactive(())

    def render(self) -> RenderResult:
        # Shorten the longest name first.
        sizes = [cell_len(name) for name, _ in self.tabs]
        while sum(sizes) > self.size.width - 3 * len(sizes) and max(sizes) > _LEAST:
            sizes[sizes.index(max(sizes))] -= 1
        parts: list[tuple[str, str]] = []
        for index, ((name, current), size) in enumerate(zip(self.tabs, sizes, strict=True)):
            text, style = (
                (f"[{fit(name, size)}]", "bold $primary") if current else (f" {fit(name, size)} ", "$text-muted")
            )
            parts += [(text, f"{style} @click=choose({index})"), (" ", "")]
        return Content.assemble(*parts)

    def action_choose(self, index: int) -> None:
        self.post_message(self.PaneActivated(index))


class TooSmall(Widget):
    """A message that replaces the whole mode if the terminal is too small."""

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
    """Shows a step of the tour; a click continues to the next step."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TourPanel {
        display: none; width: 1fr; height: auto; max-height: 7; padding: 0 1; background: $panel; color: $foreground;
        border-top: solid $accent;
    }
    TourPanel.-open { display: block; }
    """

    class Clicked(Message):
        """The user clicked the panel."""

    heading: reactive[str] = reactive("", layout=True)
    text: reactive[str] = reactive("", layout=True)

    def show_step(self, heading: str, text: str) -> None:
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
    """The tabs of a pane, and a remark on the right that starts with a key; clicking the remark presses the key."""

    ALLOW_SELECT = auto_links = False
    DEFAULT_CSS = """
    TabLine { height: 1; width: 1fr; background: $background; color: $text-muted; }
    """

    @dataclass
    class TabActivated(Message):
        """The user clicked a tab."""

        name: str

    names: reactive[tuple[str, ...]] = reactive(())
    current: reactive[str] = reactive("")
    empty: reactive[frozenset[str]] = reactive(frozenset())
    remark: reactive[str] = reactive("")

    def __init__(self, names: tuple[str, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(TabLine.names, names)
        self.set_reactive(TabLine.current, names[0])

    def _at(self) -> int:
        return self.names.index(self.current) if self.current in self.names else 0

    def beside(self, step: int) -> str:
        return self.names[(self._at() + step) % len(self.names)]

    def render(self) -> RenderResult:
        names, width, at = self.names, self.size.width, self._at()
        short = tuple(name.split()[0] for name in names)
        mixed = tuple(name if name == self.current else first for name, first in zip(names, short, strict=True))

        def size(written: tuple[str, ...]) -> int:
            return sum(map(cell_len, written)) + 2 * len(written)

        # If the names do not fit, shorten the inactive ones to their first word, then all of them. Last, show only
        # those around the active one.
        tabs = next((written for written in (names, mixed, short) if size(written) <= width), short)
        first, last = 0, len(tabs)
        while last - first > 1 and (first > 0) + (last < len(tabs)) + size(tabs[first:last]) > width:
            first, last = (first, last - 1) if last - 1 > at else (first + 1, last)
        line = Content.assemble(
            *[("…", f"$text-muted @click=choose({first - 1})")] * (first > 0),
            *(self._tab(place, tabs[place]) for place in range(first, last)),
            *[("…", f"$text-muted @click=choose({last})")] * (last < len(tabs)),
        )
        room = width - line.cell_length - 1
        if self.remark and room >= len(self.remark):
            remark = (self.remark, f"$text-dim @click=app.simulate_key({self.remark.split()[0]!r})")
            line = Content.assemble(line, " " * (room - len(self.remark)), remark)
        return line

    def _tab(self, place: int, written: str) -> Content:
        name = self.names[place]
        quiet = "$text-faint" if name in self.empty else "$text-muted"
        tab = Content.assemble(" ", (written, "bold underline $primary" if name == self.current else quiet), " ")
        return tab.stylize(f"@click=choose({place})")

    def action_choose(self, place: int) -> None:
        self.post_message(self.TabActivated(self.names[place]))


COPIED_AT_MOST = 16_000_000  # maximum number of bytes of a text that are copied or opened in an editor


@dataclass(frozen=True, slots=True)
class ScrollTarget:
    """A position in a text to scroll to.

    It is hit number ``hit``, source line ``line`` (counted from 1), the first of ``texts`` that is found, or a
    character ``span``. ``reach`` is the number of characters that must be loaded to reach it.
    """

    hit: int | None = None
    line: int | None = None
    texts: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    reach: int = 0


class TabbedText(Pane):
    """A pane with tabs above one text; ``more`` loads text beyond the first ``at_first`` bytes.

    A subclass composes a :class:`TabLine` and a :class:`TextPane`, and loads the document of a tab.
    """

    at_first: ClassVar[int]
    wanted: str | None = None

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = LatestWorker(self, "tab")
        self._limit = self.at_first
        self._target: ScrollTarget | None = None

    # -- hooks for subclasses

    _ask: Callable[[], None]

    def reading_all(self) -> Callable[[], TextDocument] | None:
        """Return a job that reads up to :data:`COPIED_AT_MOST` bytes of the text, or None if no text is shown."""
        raise NotImplementedError

    @property
    def is_cut(self) -> bool:
        return bool(self.text.document.cut)

    # -- shared behaviour

    text = getters.query_one(TextPane)

    def choose(self, tab: str) -> None:
        self.go(tab)

    def go(self, tab: str, target: ScrollTarget | None = None) -> None:
        """Activate a tab and scroll to a target in it; this also applies to the next item that is shown."""
        self.wanted, self._target = tab, target
        # Limits are in bytes; a character has at most four.
        if target is not None and target.reach * 4 > self._limit:
            self._limit = target.reach * 4 + 2000
        self._ask()

    def load(
        self,
        key: tuple[object, ...],
        work: Callable[[], Loaded],
        show: Callable[[Loaded], None],
        failure: Callable[[str], Loaded],
    ) -> None:
        if key == self.loader.shown_key:
            self.arrive()

        def done(loaded: Loaded) -> None:
            show(loaded)
            self.arrive()

        self.loader.ask_for(key, work, done, lambda sentence: show(failure(sentence)))

    def arrive(self) -> None:
        target, self._target = self._target, None
        if target is not None:
            self.bring_into_sight(target)

    def bring_into_sight(self, target: ScrollTarget) -> None:
        if target.hit is not None:
            self.text.go_to_hit(target.hit)
        elif target.line is not None:
            self.text.mark_line(self.text.document.line_at(target.line - 1))
        else:
            self.text.mark_text(*target.texts)

    @property
    def whole(self) -> Callable[[], TextDocument] | None:
        return self.reading_all() if self.is_cut else None

    def turn(self, step: int) -> None:
        self.choose(self.query_one(TabLine).beside(step))

    def more(self) -> None:
        if self.is_cut:
            self._limit *= GROWTH
            self._ask()
        else:
            self.notify("The whole text is shown.")

    def on_tab_line_tab_activated(self, message: TabLine.TabActivated) -> None:
        message.stop()
        self.choose(message.name)
