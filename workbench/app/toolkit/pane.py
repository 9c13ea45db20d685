"""The frame around a widget: a title, a short name where panes are tabs, and results that threads bring."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.app import RenderResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.key_table import key_of
from workbench.app.toolkit.latest import Latest, sentence_of
from workbench.app.toolkit.lifecycle import Lasting
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.virtual_view import fit


class Pane(Vertical, Lasting):
    """A frame; ``short`` is its name where panes are tabs."""

    short = ""

    def __init__(self, *children: Widget, short: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(*children, id=id, classes=classes)
        self.short = short or self.short

    def titled(self, title: str, subtitle: str = "") -> None:
        """Set the title and subtitle in the frame, taken literally."""
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
        """Show these (name, whether current)."""
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
