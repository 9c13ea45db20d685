"""What stands in for panes where there is little room."""

from __future__ import annotations

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


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

    def render(self) -> RenderResult:
        """Return the names, the current one marked by more than colour."""
        parts: list[tuple[str, str]] = []
        for name, current in self.tabs:
            parts.append((f"[{name}]", "bold $primary") if current else (f" {name} ", "$text-muted"))
            parts.append((" ", ""))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Choose the pane whose name was clicked."""
        x = 1
        for index, (name, _) in enumerate(self.tabs):
            x += len(name) + 3
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
        """Return the sentence, with the present size."""
        width, height = self.app.size
        return Content(f"The terminal is {width}×{height}; the workbench needs 40×12. Enlarge it, or press q to quit.")
