"""The one short dialog before a regeneration run: its defaults are right, so enter starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, Static

_DOCS = ("original", "none", "llm:", "folder:", "source:")
_MOST_SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class RegenerationChoice:
    """What was chosen; ``limit`` 0 is all tasks."""

    source: str
    docs: str
    evaluator: str
    samples: int
    limit: int


class RegenerationDialog(ModalScreen[RegenerationChoice | None]):
    """Source, docs, evaluator, samples and limit.

    Args:
        source: Case or source to start with.
        docs: Doc system to start with.
        evaluator: Evaluator to start with.
        samples: Samples per task to start with.
        models: Models to complete what is typed with.
        cases: Cases to complete what is typed with.
    """

    AUTO_FOCUS = "#start"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel", id="dialog.cancel"),
        Binding("down", "app.focus_next", "Next field", show=False, id="dialog.next"),
        Binding("up", "app.focus_previous", "Previous field", show=False, id="dialog.previous"),
    ]
    DEFAULT_CSS = """
    RegenerationDialog { align: center middle; }
    RegenerationDialog #frame {
        width: 78; max-width: 96%; height: auto; max-height: 96%; background: $surface; border: round $primary;
        border-title-color: $foreground; border-title-style: bold; padding: 1 2 0 2;
    }
    RegenerationDialog .field { height: 1; margin-bottom: 1; }
    RegenerationDialog .field Label { width: 11; color: $text-muted; }
    RegenerationDialog Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
    RegenerationDialog Input:focus { background: $primary-muted; border: none; }
    RegenerationDialog #note { height: auto; color: $text-muted; margin-bottom: 1; }
    RegenerationDialog #note.-problem { color: $text-error; }
    RegenerationDialog #buttons { height: 1; align-horizontal: right; margin-bottom: 1; }
    RegenerationDialog Button { margin-left: 2; min-width: 12; }
    """

    def __init__(
        self, source: str, docs: str, evaluator: str, samples: int, models: tuple[str, ...], cases: tuple[str, ...]
    ) -> None:
        super().__init__()
        self._values = {"source": source, "docs": docs, "evaluator": evaluator}
        self._samples = samples
        self._models = models
        self._cases = cases
        self._problem = ""

    def compose(self) -> ComposeResult:
        """Compose the fields and the buttons."""
        known = {
            "source": self._cases,
            "docs": (*_DOCS, *(f"llm:{model}" for model in self._models)),
            "evaluator": (*self._models, "reference", "stub"),
        }
        with Vertical(id="frame") as frame:
            frame.border_title = "Test documentation by regeneration"
            for name, value in self._values.items():
                with Horizontal(classes="field"):
                    yield Label(name)
                    yield Input(value, id=name, suggester=SuggestFromList(known[name]), compact=True)
            with Horizontal(classes="field"):
                yield Label("samples")
                yield Input(str(self._samples), id="samples", type="integer", max_length=4, compact=True)
            with Horizontal(classes="field"):
                yield Label("limit")
                yield Input("", id="limit", type="integer", max_length=6, placeholder="all tasks", compact=True)
            yield Static(id="note", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Start", id="start", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Say what the defaults mean, and begin at the source if it is not known."""
        self._note()
        if not self._values["source"]:
            self.query_one("#source").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the remark in step with the field that is typed into."""
        self._problem = ""
        self._note()

    def on_descendant_focus(self) -> None:
        """Explain the field that has the focus."""
        self._note()

    def _text(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    def _note(self) -> None:
        if self._problem:
            self._say(self._problem, problem=True)
            return
        field = self.focused.id if self.focused is not None else ""
        evaluator = self._text("evaluator")
        if field == "source":
            note = "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests."
        elif field == "docs":
            note = "original, none, llm:MODEL, folder:PATH or source:SOURCE with a documented copy."
        elif field == "limit":
            note = "Only the first so many tasks; empty for all."
        elif evaluator == "local" or evaluator.startswith("local/"):
            note = "local is the small embedded model: free, no key, low scores. Enter starts, esc cancels."
        elif evaluator in {"reference", "stub"}:
            note = f"{evaluator} is a control: every task must reach {'1.0' if evaluator == 'reference' else '0.0'}."
        else:
            note = "Any LiteLLM name, local, replay:SESSION or samples:FILE. Enter starts, esc cancels."
        self._say(note)

    def _say(self, note: str, *, problem: bool = False) -> None:
        said = self.query_one("#note", Static)
        said.update(note)
        said.set_class(problem, "-problem")

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
        samples, limit = self._text("samples"), self._text("limit") or "0"
        problems = {
            "source": not self._text("source") and "Name a case, a folder, a git URL or NAME==VERSION.",
            "samples": not (samples.isdigit() and 1 <= int(samples) <= _MOST_SAMPLES)
            and f"Samples must be a number from 1 to {_MOST_SAMPLES:,}.",
            "limit": not limit.isdigit() and "Limit must be a number, or empty for all tasks.",
        }
        for name, problem in problems.items():
            if problem:
                self._problem = problem
                self.query_one(f"#{name}").focus()
                self._note()
                return
        self.dismiss(
            RegenerationChoice(
                self._text("source"),
                self._text("docs") or "original",
                self._text("evaluator"),
                int(samples),
                int(limit),
            )
        )
