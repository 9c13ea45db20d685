"""A short dialog of one-line fields whose defaults are right: a remark explains the field with the focus, enter starts.

A field is a line that is typed (:class:`Field`), or any other widget of one line that says so with :class:`Filled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.keys import bind
from workbench.app.toolkit.completion import suggester
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Button, Label, Static

if TYPE_CHECKING:
    from workbench.engine.estimate import Measured

AnswerT = TypeVar("AnswerT")


class FormField(Protocol):
    """A line of the form."""

    @property
    def name(self) -> str:
        """What stands before it; the id of its widget."""

    def widget(self) -> Widget:
        """Return a new widget for it."""


class Filled(Message):
    """A field that is not typed holds something else now."""


@dataclass(frozen=True, slots=True)
class Field:
    """A line of the form: its name, what stands in it, and what completes it; a number has at most so many digits.

    Right arrow, and tab after a letter was typed, takes what completes it: one of ``known``, or with ``paths`` what is on the disk.
    """

    name: str
    value: str
    known: Sequence[str] = ()
    digits: int = 0
    placeholder: str = ""
    paths: bool = False

    def widget(self) -> Widget:
        """Return a line to type in."""
        kind: Literal["integer", "text"] = "integer" if self.digits else "text"
        return LineInput(
            self.value,
            id=self.name,
            type=kind,
            max_length=self.digits,
            placeholder=self.placeholder,
            suggester=suggester(self.known, paths=self.paths) if self.known or self.paths else None,
            compact=True,
        )


WHEN = Field("when", "now", ("now", "queue"))
"""Whether a run begins now, or when those of the session that are under way or wait already are over."""
ABOUT_WHEN = (
    "A run of this session is under way: now begins beside it, queue begins after it ({app.runs} shows the queue)."
)


def begins_later(form: FormDialog[Any]) -> bool | Refused:
    """Return what a form says of :data:`WHEN`, where it has that field: whether the run goes into the queue."""
    said = form.text("when") if form.query("#when") else "now"
    if said not in WHEN.known:
        return Refused("when", "A run begins now, or goes into the queue.")
    return said == "queue"


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with a field."""

    field: str
    sentence: str


class FormDialog(Dialog[AnswerT | None], Generic[AnswerT]):
    """Ends with what :meth:`answer` makes of the fields, or with None.

    Args:
        title: What stands in the frame.
        fields: The fields from top to bottom.
        first: Name of the field to begin at, "" for the button that starts.
        measure: Reads what former work took, for :meth:`will_do`; called in a thread while the dialog is open already.

    Attributes:
        measured: What it said, None until it has.
    """

    STARTS: ClassVar[str] = "Start"
    """What the button says that ends with the answer."""
    AUTO_FOCUS = "#start"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("dialog.cancel", "dismiss(None)", "cancel"),
        bind("dialog.complete", "complete", "Complete, or next field", show=False),
        bind("dialog.next", "app.focus_next", "Next field", show=False),
        bind("dialog.previous", "app.focus_previous", "Previous field", show=False),
    ]
    DEFAULT_CSS = """
    FormDialog { align: center middle; }
    FormDialog #frame {
        width: 78; max-width: 96%; height: auto; max-height: 96%; overflow-y: auto; background: $surface; border: round $primary;
        border-title-color: $foreground; border-title-style: bold; padding: 1 2 0 2;
    }
    FormDialog .field { height: 1; margin-bottom: 1; }
    FormDialog .field Label { width: 11; color: $text-muted; }
    FormDialog.-low #frame { padding: 0 2; }
    FormDialog.-low .field { margin-bottom: 0; }
    FormDialog Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
    FormDialog Input:focus { background: $primary-muted; border: none; }
    FormDialog #note { height: auto; color: $text-muted; margin-bottom: 1; }
    FormDialog #will-do { height: auto; margin-bottom: 1; }
    FormDialog #note.-problem { color: $text-error; }
    FormDialog #buttons { height: 1; align-horizontal: right; margin-bottom: 1; }
    FormDialog Button { margin-left: 2; min-width: 12; }
    FormDialog #buttons Button:focus { text-style: bold; background: $primary; color: $block-cursor-foreground; }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[FormField],
        first: str = "",
        measure: Callable[[], Measured] | None = None,
    ) -> None:
        super().__init__()
        self.measured: Measured | None = None
        self._measure, self._measuring = measure, Latest(self, "measure")
        self._title = title
        self._fields = fields
        self._begin = first
        self._problem = ""
        self._typed = False  # in the field that has the focus, since it has it

    def about(self, field: str) -> str:
        """Return what is to be said of a field, or of the whole form ("")."""
        raise NotImplementedError

    def will_do(self) -> str:
        """Return what starting will do as the fields stand, "" to say nothing."""
        return ""

    def answer(self) -> AnswerT | Refused:
        """Return what the fields say, or what is wrong with one of them."""
        raise NotImplementedError

    def text(self, field: str) -> str:
        return self.query_one(f"#{field}", Input).value.strip()

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            for field in self._fields:
                with Horizontal(classes="field"):
                    yield Label(field.name)
                    yield field.widget()
            yield Static(id="note")
            yield Static(id="will-do")
            with Horizontal(id="buttons"):
                yield from self.buttons()

    def buttons(self) -> Iterable[Button]:
        """Yield the buttons; ``start`` ends with the answer."""
        yield Button(self.STARTS, id="start", variant="primary")
        yield Button("Cancel", id="cancel")

    def on_mount(self) -> None:
        self._note()
        if self._begin:
            self.query_one(f"#{self._begin}").focus()
        if self._measure is not None:
            self._measuring.ask(self._measure, self.has_measured, lambda sentence: None)

    def has_measured(self, measured: Measured) -> None:
        """It is known what former work took: say what this will."""
        self.measured = measured
        self.says_anew()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._typed = event.input is self.focused
        self.changed()

    def on_filled(self) -> None:
        self.changed()

    def changed(self) -> None:
        """A field holds something else now."""
        self._problem = ""
        self._note()

    def on_descendant_focus(self) -> None:
        self._typed = False
        self._note()

    def action_complete(self) -> None:
        field = self.focused
        if isinstance(field, Input) and self._typed:
            before = field.value
            field.action_end()
            field.action_cursor_right()
            if field.value != before:
                return
        self.focus_next()

    def _note(self) -> None:
        names = {field.name for field in self._fields}
        field = self.focused.id if self.focused is not None and self.focused.id in names else ""
        said = self.query_one("#note", Static)
        said.update(self._problem or self.about(field or ""))
        said.set_class(bool(self._problem), "-problem")
        self.says_anew()

    def says_anew(self) -> None:
        """Say again what starting will do: a field changed, or something became known."""
        plan, text = self.query_one("#will-do", Static), self.will_do()
        plan.update(text)
        plan.display = bool(text)
        # What is said may have become longer, and moved what has the focus out of a small dialog.
        self.call_after_refresh(self._keep_in_sight)

    def _keep_in_sight(self) -> None:
        if self.focused is not None:
            self.focused.scroll_visible(animate=False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "start":
            self._start()
        else:
            self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._start()

    def _start(self) -> None:
        answer = self.answer()
        if isinstance(answer, Refused):
            self.refuse(answer)
        else:
            self.dismiss(answer)

    def refuse(self, refused: Refused) -> None:
        """Say what is wrong with a field, there."""
        self._problem = refused.sentence
        self.query_one(f"#{refused.field}").focus()
        self._note()
