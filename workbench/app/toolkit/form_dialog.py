"""A short dialog of one-line fields whose defaults are right: a remark explains the field with the focus, enter starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input

from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Button, Label, Static

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Field:
    """A line of the form: its name, what stands in it, and what completes it; a number has at most so many digits."""

    name: str
    value: str
    known: Sequence[str] = ()
    digits: int = 0
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with a field."""

    field: str
    sentence: str


class FormDialog(ModalScreen[AnswerT | None], Generic[AnswerT]):
    """Ends with what :meth:`answer` makes of the fields, or with None.

    Args:
        title: What stands in the frame.
        fields: The fields from top to bottom.
        first: Name of the field to begin at, "" for the button that starts.
    """

    AUTO_FOCUS = "#start"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel", id="dialog.cancel"),
        Binding("down", "app.focus_next", "Next field", show=False, id="dialog.next"),
        Binding("up", "app.focus_previous", "Previous field", show=False, id="dialog.previous"),
    ]
    DEFAULT_CSS = """
    FormDialog { align: center middle; }
    FormDialog #frame {
        width: 78; max-width: 96%; height: auto; max-height: 96%; overflow-y: auto; background: $surface; border: round $primary;
        border-title-color: $foreground; border-title-style: bold; padding: 1 2 0 2;
    }
    FormDialog .field { height: 1; margin-bottom: 1; }
    FormDialog .field Label { width: 11; color: $text-muted; }
    FormDialog Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
    FormDialog Input:focus { background: $primary-muted; border: none; }
    FormDialog #note { height: auto; color: $text-muted; margin-bottom: 1; }
    FormDialog #note.-problem { color: $text-error; }
    FormDialog #buttons { height: 1; align-horizontal: right; margin-bottom: 1; }
    FormDialog Button { margin-left: 2; min-width: 12; }
    FormDialog #buttons Button:focus { text-style: bold; background: $primary; color: $block-cursor-foreground; }
    """

    def __init__(self, title: str, fields: Sequence[Field], first: str = "") -> None:
        super().__init__()
        self._title = title
        self._fields = fields
        self._begin = first
        self._problem = ""

    def about(self, field: str) -> str:
        """Return what is to be said of a field, or of the whole form ("")."""
        raise NotImplementedError

    def answer(self) -> AnswerT | Refused:
        """Return what the fields say, or what is wrong with one of them."""
        raise NotImplementedError

    def text(self, field: str) -> str:
        """Return what stands in a field."""
        return self.query_one(f"#{field}", Input).value.strip()

    def compose(self) -> ComposeResult:
        """Compose the fields, the remark and the buttons."""
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            for field in self._fields:
                kind: Literal["integer", "text"] = "integer" if field.digits else "text"
                with Horizontal(classes="field"):
                    yield Label(field.name)
                    yield Input(
                        field.value,
                        id=field.name,
                        type=kind,
                        max_length=field.digits,
                        placeholder=field.placeholder,
                        suggester=SuggestFromList(field.known) if field.known else None,
                        compact=True,
                    )
            yield Static(id="note")
            with Horizontal(id="buttons"):
                yield Button("Start", id="start", variant="primary")
                yield Button("Cancel", id="cancel")

    def on_mount(self) -> None:
        """Say what the defaults mean, and begin where something is to be typed."""
        self._note()
        if self._begin:
            self.query_one(f"#{self._begin}").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the remark in step with what is typed."""
        self._problem = ""
        self._note()

    def on_descendant_focus(self) -> None:
        """Explain the field that has the focus."""
        self._note()

    def _note(self) -> None:
        field = self.focused.id or "" if isinstance(self.focused, Input) else ""
        said = self.query_one("#note", Static)
        said.update(self._problem or self.about(field))
        said.set_class(bool(self._problem), "-problem")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Start or cancel."""
        if event.button.id == "start":
            self._start()
        else:
            self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field starts as well."""
        self._start()

    def _start(self) -> None:
        answer = self.answer()
        if isinstance(answer, Refused):
            self._problem = answer.sentence
            self.query_one(f"#{answer.field}").focus()
            self._note()
        else:
            self.dismiss(answer)
