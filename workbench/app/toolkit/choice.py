"""One of a few, on one line: left and right change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import RenderResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.keys import bind
from workbench.app.toolkit.form_dialog import Filled
from workbench.text import clean


class Choice(Widget, can_focus=True):
    """Shows ``‹ title ›  description``."""

    DEFAULT_CSS = """
    Choice { height: 1; width: 1fr; padding: 0 1; background: $surface; }
    Choice:focus { background: $primary-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("choice.next", "step(1)", "next", show=False),
        bind("choice.previous", "step(-1)", "previous", show=False),
    ]

    at = reactive(0)

    class Changed(Message):
        """Another option is shown."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, options: Sequence[tuple[str, str, str]], value: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._options = tuple(options)  # (value, title, description)
        self.set_reactive(Choice.at, next((i for i, option in enumerate(options) if option[0] == value), 0))

    @property
    def value(self) -> str:
        return self._options[self.at][0]

    def action_step(self, step: int) -> None:
        self.at = (self.at + step) % len(self._options)

    def watch_at(self) -> None:
        self.post_message(self.Changed(self))

    def on_click(self, event: events.Click) -> None:
        self.action_step(1)

    def render(self) -> RenderResult:
        _, title, description = self._options[self.at]
        quiet = "" if self.has_focus else "$text-muted"
        text = Content.assemble(("‹ ", quiet), (clean(title), "bold"), (" › ", quiet), (clean(description), quiet))
        return text.truncate(max(1, self.size.width), ellipsis=True)


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """A line of a form: its name, the value that is chosen, and (value, title, what it means) of each."""

    name: str
    value: str
    options: tuple[tuple[str, str, str], ...]

    def widget(self) -> Widget:
        return OneOf(self.options, self.value, id=self.name)


class OneOf(Choice):
    """A choice that tells the form it stands in."""

    DEFAULT_CSS = "OneOf { background: $panel; padding: 0; }"

    def watch_at(self) -> None:
        super().watch_at()
        self.post_message(Filled())
