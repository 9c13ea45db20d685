"""The lines above the keys in which the tour speaks."""

from __future__ import annotations

from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.key_table import key_of


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
