"""The one short dialog before a run: its defaults are right, so enter starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, Static

from workbench.agents.names import AGENTS
from workbench.app.widgets.choice import Choice


@dataclass(frozen=True, slots=True)
class RunChoice:
    """What was chosen."""

    agent: str
    model: str
    judge: str
    repeats: int


class RunDialog(ModalScreen[RunChoice | None]):
    """Agent, model, judge and repeats.

    Args:
        title: What is run, for example ``word_counter``.
        model: Model to start with.
        judge: Judge to start with.
        known: Models to complete what is typed with.
    """

    AUTO_FOCUS = "#start"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel", id="dialog.cancel"),
        Binding("down", "app.focus_next", "Next field", show=False, id="dialog.next"),
        Binding("up", "app.focus_previous", "Previous field", show=False, id="dialog.previous"),
    ]
    DEFAULT_CSS = """
    RunDialog { align: center middle; }
    RunDialog #frame {
        width: 74; max-width: 96%; height: auto; max-height: 96%; background: $surface; border: round $primary;
        border-title-color: $foreground; border-title-style: bold; padding: 1 2 0 2;
    }
    RunDialog .field { height: 1; margin-bottom: 1; }
    RunDialog .field Label { width: 9; color: $text-muted; }
    RunDialog Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
    RunDialog Input:focus { background: $primary-muted; border: none; }
    RunDialog Choice { background: $panel; }
    RunDialog #note { height: auto; color: $text-muted; margin-bottom: 1; }
    RunDialog #buttons { height: 1; align-horizontal: right; margin-bottom: 1; }
    RunDialog Button { margin-left: 2; min-width: 12; }
    RunDialog #buttons Button:focus { text-style: bold; background: $primary; color: $background; }
    """

    def __init__(self, title: str, model: str, judge: str, known: tuple[str, ...]) -> None:
        super().__init__()
        self._title = title
        self._model = model
        self._judge = judge
        self._known = known

    def compose(self) -> ComposeResult:
        """Compose the fields and the buttons."""
        with Vertical(id="frame") as frame:
            frame.border_title = f"Run {self._title}"
            with Horizontal(classes="field"):
                yield Label("agent")
                yield Choice([(info.name, info.name, info.description) for info in AGENTS], "white", id="agent")
            with Horizontal(classes="field"):
                yield Label("model")
                yield Input(self._model, id="model", suggester=SuggestFromList(self._known), compact=True)
            with Horizontal(classes="field"):
                yield Label("judge")
                yield Input(self._judge, id="judge", suggester=SuggestFromList(("offline", *self._known)), compact=True)
            with Horizontal(classes="field"):
                yield Label("repeats")
                yield Input("1", id="repeats", type="integer", max_length=3, compact=True)
            yield Static(id="note")
            with Horizontal(id="buttons"):
                yield Button("Start", id="start", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Say what the defaults mean."""
        self._note()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the remark on the model in step."""
        self._note()

    def _note(self) -> None:
        model = self.query_one("#model", Input).value.strip()
        note = "Any LiteLLM name works, and replay:SESSION. Enter starts, ← → choose the agent, esc cancels."
        if model == "local" or model.startswith("local/"):
            note = "local is the small embedded model: free, no key, low scores. " + note
        self.query_one("#note", Static).update(note)

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
        repeats = self.query_one("#repeats", Input)
        count = int(repeats.value) if repeats.value.isdigit() else 0
        if not 1 <= count <= 100:
            self.query_one("#note", Static).update("Repeats must be a number from 1 to 100.")
            repeats.focus()
            return
        self.dismiss(
            RunChoice(
                self.query_one("#agent", Choice).value,
                self.query_one("#model", Input).value.strip(),
                self.query_one("#judge", Input).value.strip(),
                count,
            )
        )
