"""A dialog built from declared fields, with help for the focused field, validation and a live summary.

Example: ``await app.push_screen_wait(Form("Import", (Field("file", paths=True, needed="Name a file."),), "file"))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input

from workbench.app.keys import bindings
from workbench.app.toolkit.fields import Field, Help, Values
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.text_widgets import Button, Label, Static
from workbench.app.toolkit.workers import LatestWorker
from workbench.base.errors import BadField, WorkbenchError
from workbench.base.text import one_line

AnswerT = TypeVar("AnswerT")


class Form(Dialog[AnswerT | None], Generic[AnswerT]):
    """A dialog that dismisses with the result of :meth:`read` (by default the values), or None if cancelled.

    The field ``first`` gets the focus initially, "" for the start button. ``note`` is shown if the focused field
    has no help; ``problem`` is an error that is shown initially. A form with ``LIVE`` set shows a summary of the
    values, or an error message, on every change.
    """

    LIVE: ClassVar[bool] = False
    AUTO_FOCUS = "#start"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
    BINDINGS = bindings("dialog")
    DEFAULT_CSS = """
    Form #frame { width: 78; overflow-y: auto; padding: 1 2 0 2; }
    Form .field { height: 1; margin-bottom: 1; }
    Form .field Label { width: 11; color: $text-muted; }
    Form.-low #frame { padding: 0 2; }
    Form.-low .field { margin-bottom: 0; }
    Form #note { margin-bottom: 1; }
    Form #will-do { height: auto; margin: 0 2 1 0; }
    Form #note.-problem { color: $text-error; }
    Form #buttons { margin-bottom: 1; }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        first: str = "",
        *,
        note: Help = "",
        starts: str = "Start",
        problem: str = "",
    ) -> None:
        super().__init__()
        self._title, self._fields, self._first, self._help, self._starts = title, fields, first, note, starts
        # _typed: whether the focused field has been edited since it got the focus
        self._problem, self._typed = problem, False
        self._lines: dict[str, Any] = {}
        self._summarizing = LatestWorker(self, "summary")
        self._summarized: Values = {}

    # -- hooks for subclasses

    def read(self, values: Values) -> AnswerT:
        """Return the result for valid values, or raise WorkbenchError; live forms call this in a thread."""
        return values  # type: ignore[return-value]

    def summary(self, answer: AnswerT, values: Values) -> str:
        return ""

    def finish(self, answer: AnswerT) -> None:
        self.dismiss(answer)

    def buttons(self) -> Iterable[Button]:
        yield Button(self._starts, id="start", variant="primary")
        yield Button("Cancel", id="cancel")

    # -- shared behaviour

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            for field in self._fields:
                line = self._lines[field.name] = field.widget()
                with Horizontal(classes="field"):
                    yield Label(field.name)
                    yield line
            yield Static(id="note")
            yield Static(id="will-do")
            with Horizontal(id="buttons"):
                yield from self.buttons()

    def on_mount(self) -> None:
        self.query_one("#will-do").display = False
        self._show_fields()
        if self._first:
            self._lines[self._first].focus()
        self._update_note()

    @property
    def values(self) -> dict[str, Any]:
        values = {name: line.value for name, line in self._lines.items()}
        return {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}

    def answer(self, values: Values) -> AnswerT:
        for field in self._fields:
            text = values[field.name]
            if field.shown is not None and not field.shown(values):
                continue
            is_asked = field.most and (text or not field.placeholder)
            if is_asked and not (text.isdecimal() and 1 <= int(text) <= field.most):
                empty = ", or empty" if field.placeholder else ""
                why = f"{field.name.capitalize()} must be a number from 1 to {field.most:,}{empty}."
                raise BadField(field.name, why)
            if field.needed and not text:
                raise BadField(field.name, field.needed)
            if field.check is not None and text:
                try:
                    field.check(text)
                except WorkbenchError as problem:
                    raise BadField(field.name, str(problem)) from None
        return self.read(values)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._typed = event.input is self.focused
        self.changed()

    def on_field_changed(self) -> None:
        self.changed()

    def changed(self) -> None:
        self._problem = ""
        self._show_fields()
        self._update_note()

    def on_descendant_focus(self) -> None:
        self._typed = False
        self._update_note()

    def action_complete(self) -> None:
        field = self.focused
        if isinstance(field, Input) and self._typed:
            before = field.value
            field.action_end()
            field.action_cursor_right()
            if field.value != before:
                return
        self.focus_next()

    def _show_fields(self) -> None:
        values = self.values
        for field in self._fields:
            if field.shown is not None:
                self._lines[field.name].parent.display = field.shown(values)

    def _update_note(self) -> None:
        at = self.focused.id if self.focused is not None else ""
        text = next((field.help for field in self._fields if field.name == at and field.help), self._help)
        note = self.query_one("#note", Static)
        note.update(self._problem or (text if isinstance(text, str) else text(self.values)))
        note.set_class(bool(self._problem), "-problem")
        if self.LIVE and self.values != self._summarized:
            self._summarized = values = self.values
            self._summarizing.ask(
                lambda: self.summary(self.answer(values), values),
                self.show_summary,
                lambda sentence: self.show_summary(f"✗ {one_line(sentence, 300)}"),
            )

    def show_summary(self, text: str) -> None:
        line = self.query_one("#will-do", Static)
        line.update(text)
        line.display = bool(text)
        # A longer summary may push the focused field out of view in a small dialog.
        self.call_after_refresh(lambda: self.focused.scroll_visible(animate=False) if self.focused else None)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "start":
            self.action_start()
        elif event.button.id == "cancel":
            self.dismiss(None)

    def on_input_submitted(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        try:
            answer = self.answer(self.values)
        except (WorkbenchError, OSError) as problem:
            self.refuse(problem)
        else:
            self.finish(answer)

    def refuse(self, problem: Exception) -> None:
        self._problem = str(problem)
        if isinstance(problem, BadField):
            self._lines[problem.field].focus()
        self._update_note()


class AskText(Form[str]):
    """Asks for one line of text, which may be empty; dismisses with None if cancelled."""

    AUTO_FOCUS = "Input"
    DEFAULT_CSS = """
    AskText #frame, AskText.-low #frame { width: 74; padding: 1 2; }
    AskText .field { margin-bottom: 1; }
    AskText .field Label, AskText #buttons { display: none; }
    AskText #note { margin-bottom: 0; }
    """

    def __init__(
        self,
        title: str,
        note: str,
        value: str = "",
        placeholder: str = "",
        *,
        paths: bool = False,
        needed: str = "",
        check: Callable[[str], object] | None = None,
        problem: str = "",
    ) -> None:
        field = Field("text", value, placeholder=placeholder, paths=paths, needed=needed, check=check)
        super().__init__(title, (field,), note=note, problem=problem)

    def read(self, values: Values) -> str:
        return str(values["text"])


class Confirm(Dialog[bool]):
    """Asks a yes/no question; the keys y and n answer it, and No has the focus at first."""

    AUTO_FOCUS = "#no"
    DEFAULT_CSS = """
    Confirm #frame { width: 74; padding: 1 2; }
    Confirm #question { height: auto; max-height: 70vh; }
    Confirm #question Static { height: auto; }
    Confirm #buttons { margin-top: 1; }
    """
    BINDINGS = bindings("confirm")

    def __init__(self, title: str, question: str, yes: str) -> None:
        super().__init__()
        self._title, self._question, self._yes = title, question, yes

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            with VerticalScroll(id="question", can_focus=False):
                yield Static(self._question)
            with Horizontal(id="buttons"):
                yield Button(f"{self._yes} (y)", id="yes", variant="error")
                yield Button("No (n)", id="no")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_scroll(self, rows: int) -> None:
        self.query_one("#question").scroll_relative(y=rows, animate=False)
