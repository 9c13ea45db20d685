"""The chooser of filters: a line per question, and the table behind it follows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.toolkit.choice import Choice
from workbench.app.toolkit.filters import ANY, Filter, LineT
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Label, Static


class FilterDialog(Dialog[Filter[LineT]]):
    """Ends with the filter that was chosen, or with the one from before.

    Args:
        lines: All lines.
        before: The filter in force; it knows the questions.
        preview: Called with every filter that is tried; returns how many lines it lets through.
        what: What a line is: "task", say.
        names: What the text is looked for in.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("filter.keep", "accept", "keep"),
        bind("filter.keep-too", "accept", "keep", show=False),
        bind("filter.cancel", "cancel", "as before"),
        bind("filter.clear", "clear", "clear"),
        bind("filter.next", "app.focus_next", "Next question", show=False),
        bind("filter.previous", "app.focus_previous", "Previous question", show=False),
    ]
    DEFAULT_CSS = """
    FilterDialog { align: center bottom; background: $background 0%; }
    FilterDialog #frame {
        width: 66; max-width: 100%; height: auto; max-height: 100%; background: $surface; border: round $primary;
        border-title-color: $foreground; border-title-style: bold; border-subtitle-color: $text-muted; padding: 0 1;
        margin-bottom: 1;
    }
    FilterDialog .field { height: 1; }
    FilterDialog .field Label { width: 11; color: $text-muted; }
    FilterDialog Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $surface; }
    FilterDialog Input:focus { background: $primary-muted; border: none; }
    FilterDialog #note { height: auto; color: $text-muted; }
    """

    def __init__(
        self,
        lines: Sequence[LineT],
        before: Filter[LineT],
        preview: Callable[[Filter[LineT]], int],
        what: str,
        names: str,
    ) -> None:
        super().__init__()
        self._lines = lines
        self._what = what
        self._names = names
        self._before = before
        self._filter = before
        self._preview = preview

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, "Filter")
            for question in self._before.questions:
                offered = question.offered(self._lines, self._before.option(question.key))
                options = [(option.key, option.title, _several(count, self._what)) for option, count in offered]
                if options:
                    with Horizontal(classes="field"):
                        yield Label(question.title)
                        everything = (ANY, "any", f"{len(options)} to choose from" if len(options) > 1 else "1 other")
                        yield Choice([everything, *options], self._before.option(question.key), id=question.key)
            with Horizontal(classes="field"):
                yield Label("name")
                yield LineInput(self._before.name, id="name", placeholder=f"part of {self._names}", compact=True)
            yield Static(
                f"← → choose · {key_of('filter.keep')} keeps · {key_of('filter.cancel')} as before · {key_of('filter.clear')} clears",
                id="note",
            )

    def on_mount(self) -> None:
        self._try(self._before)

    def on_choice_changed(self, message: Choice.Changed) -> None:
        self._try(self._filter.choosing(message.choice.id or "", message.choice.value))

    def on_input_changed(self, event: Input.Changed) -> None:
        self._try(replace(self._filter, name=event.value.strip()))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.action_accept()

    def _try(self, wanted: Filter[LineT]) -> None:
        self._filter = wanted
        shown = self._preview(wanted)
        frame = self.query_one("#frame")
        set_title(frame, f"Filter: {shown:,} of {_several(len(self._lines), self._what)}")

    def action_accept(self) -> None:
        self.dismiss(self._filter)

    def action_cancel(self) -> None:
        self._preview(self._before)
        self.dismiss(self._before)

    def action_clear(self) -> None:
        for choice in self.query(Choice):
            choice.at = 0
        self.query_one(Input).value = ""
        self._try(self._filter.cleared())


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
