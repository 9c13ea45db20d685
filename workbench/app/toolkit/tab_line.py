"""One line of tabs inside a pane: the current one is underlined and bold, the empty ones are dim."""

from __future__ import annotations

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


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
            """The line of tabs."""
            return self.line

    current: reactive[str] = reactive("")
    empty: reactive[frozenset[str]] = reactive(frozenset())
    remark: reactive[str] = reactive("")

    def __init__(self, names: tuple[str, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.names = names
        self.set_reactive(TabLine.current, names[0])

    def beside(self, step: int) -> str:
        """Return the name of the tab ``step`` places on, around the ends."""
        at = self.names.index(self.current) if self.current in self.names else 0
        return self.names[(at + step) % len(self.names)]

    @property
    def _shown(self) -> list[str]:
        """The names; where they do not fit, the first word of each that is not chosen, then of all."""
        short = [name.split()[0] for name in self.names]
        mixed = [name if name == self.current else first for name, first in zip(self.names, short, strict=True)]
        fitting = (
            names for names in (list(self.names), mixed) if sum(map(len, names)) + 2 * len(names) <= self.size.width
        )
        return next(fitting, short)

    def render(self) -> RenderResult:
        """Return the names, and the remark at the right where it fits."""
        parts: list[tuple[str, str]] = []
        used = 0
        for name, shown in zip(self.names, self._shown, strict=True):
            style = "$text-faint" if name in self.empty else "$text-muted"
            parts += [(" ", ""), (shown, "bold underline $primary" if name == self.current else style), (" ", "")]
            used += len(shown) + 2
        room = self.size.width - used - 1
        if self.remark and room >= len(self.remark):
            parts.append((self.remark.rjust(room), "$text-dim"))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Choose the tab under the mouse."""
        x = 0
        for name, shown in zip(self.names, self._shown, strict=True):
            x += len(shown) + 2
            if event.x < x:
                self.post_message(self.Chosen(self, name))
                return
        if self.remark and event.x >= max(x, self.size.width - len(self.remark) - 1):
            self.app.simulate_key(self.remark.split()[0])
