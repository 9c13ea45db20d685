"""The line in which a person types what to find in a text: hits are marked with each letter, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.toolkit.typed_line import TypedLine

if TYPE_CHECKING:
    from workbench.app.toolkit.text_pane import TextPane


class FindLine(TypedLine):
    """One of a screen: it serves the text in which something was looked for last."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("find.leave", "leave", "No hits marked", show=False),
        bind("find.keep", "keep", "Go to the text", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="find-line")
        self._text: TextPane | None = None

    def ask(self, text: TextPane) -> None:
        """Let a person type what to find."""
        self.serve(text)
        self.begin()

    def serve(self, text: TextPane) -> None:
        """Show what is looked for in a text, or hide where nothing is."""
        self._text = text
        self.put(text.needle)
        self.say_count()

    def say_count(self) -> None:
        """Say which hit of how many is shown."""
        text = self._text
        if text is None:
            return
        more = (
            ""
            if self.is_typed
            else f"   {key_of('file.next-hit')} next, {key_of('file.previous-hit')} previous, {key_of('file.forget')}: none marked"
        )
        self.count(
            f"{text.hit + 1:,} of {len(text.hits):,}{more}" if text.hits else "nothing found" if text.needle else ""
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        """Mark the hits with each letter, and show the first."""
        event.stop()
        if self._text is not None:
            self._text.find(event.value)
            self._text.go_to_next_hit(1)
            self.say_count()

    def action_keep(self) -> None:
        """Go to the text, where n and N go from hit to hit."""
        if self._text is not None:
            self._text.focus()
            self.serve(self._text)

    def action_leave(self) -> None:
        """Mark no hits, and go back to the text."""
        if self._text is not None:
            self._text.find("")
            self.action_keep()


async def ask_finding(text: TextPane) -> None:
    """Open the line on the screen of a text; it is made when it is first asked for."""
    found = text.screen.query(FindLine)
    line = found.first() if found else FindLine()
    if not found:
        await text.screen.mount(line)
    line.ask(text)
