"""Which lines a table shows: one option for each of some questions, and a text that the line's name contains; and what asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.keys import bindings
from workbench.app.toolkit.fields import Choice
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Label, Static
from workbench.app.toolkit.typed_line import LineInput
from workbench.text import one_line, plural

LineT = TypeVar("LineT")
ANY = ""


@dataclass(frozen=True, slots=True)
class Option(Generic[LineT]):
    """An answer: ``title`` stands in the chooser, ``said`` above the table."""

    key: str
    title: str
    said: str
    rule: Callable[[LineT], bool]


@dataclass(frozen=True, slots=True)
class Question(Generic[LineT]):
    """What a filter may ask of a line."""

    key: str
    title: str
    options: tuple[Option[LineT], ...]

    def offered(self, lines: Sequence[LineT], chosen: str) -> tuple[tuple[Option[LineT], int], ...]:
        """Return the options that let a line through, and the chosen one, each with how many lines."""
        counted = [(option, sum(map(option.rule, lines))) for option in self.options]
        return tuple((option, count) for option, count in counted if count or option.key == chosen)


@dataclass(frozen=True, slots=True)
class Filter(Generic[LineT]):
    """The chosen option of each question that has one, and a text that the line's name contains, whatever its case."""

    questions: tuple[Question[LineT], ...]
    name_of: Callable[[LineT], str]
    chosen: tuple[tuple[str, str], ...] = ()
    name: str = ""

    @property
    def active(self) -> bool:
        return bool(self.chosen or self.name)

    def cleared(self) -> Filter[LineT]:
        return replace(self, chosen=(), name="")

    def asking(self, questions: tuple[Question[LineT], ...]) -> Filter[LineT]:
        """Return the filter over other questions; what was chosen stays where it is still offered."""
        offered = {(question.key, option.key) for question in questions for option in question.options}
        return replace(self, questions=questions, chosen=tuple(one for one in self.chosen if one in offered))

    def option(self, question: str) -> str:
        return dict(self.chosen).get(question, ANY)

    def choosing(self, question: str, option: str) -> Filter[LineT]:
        answers = {**dict(self.chosen), question: option}
        order = [item.key for item in self.questions if answers.get(item.key)]
        return replace(self, chosen=tuple((key, answers[key]) for key in order))

    def passing(self, lines: Sequence[LineT]) -> list[int]:
        rules = [option.rule for option in self._answers()]
        name = self.name.lower()
        return [
            place
            for place, line in enumerate(lines)
            if all(rule(line) for rule in rules) and (not name or name in self.name_of(line).lower())
        ]

    def sentence(self) -> str:
        """Return what is shown: ``✗ not passed · cover < 50 % · named “report/”``."""
        parts = [option.said for option in self._answers()]
        return " · ".join([*parts, *([f"named “{one_line(self.name, 30)}”"] if self.name else [])])

    def _answers(self) -> list[Option[LineT]]:
        chosen = dict(self.chosen)
        return [
            option
            for question in self.questions
            for option in question.options
            if chosen.get(question.key) == option.key
        ]


class FilterDialog(Dialog[Filter[LineT]]):
    """A line for each question; what stands behind follows at once. Ends with the filter that was chosen, or with the one from before.

    ``preview`` is called with every filter that is tried and returns how many lines it lets through; ``what`` is a line ("task"), ``names``
    what the text is looked for in.
    """

    BINDINGS = bindings("filter")
    DEFAULT_CSS = """
    FilterDialog { align: center bottom; background: $background 0%; }
    FilterDialog #frame {
        width: 66; max-width: 100%; max-height: 100%; border-subtitle-color: $text-muted; padding: 0 1; margin-bottom: 1;
    }
    FilterDialog .field { height: 1; }
    FilterDialog .field Label { width: 11; color: $text-muted; }
    FilterDialog Input { background: $surface; }
    FilterDialog Choice { background: $surface; padding: 0 1; }
    FilterDialog Choice:focus { background: $primary-muted; }
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
        self._lines, self._what, self._names = lines, what, names
        self._before = self._filter = before
        self._preview = preview

    def compose(self) -> ComposeResult:
        with Vertical(id="frame"):
            for question in self._before.questions:
                chosen = self._before.option(question.key)
                offered = question.offered(self._lines, chosen)
                options = [(option.key, option.title, plural(count, self._what)) for option, count in offered]
                if options:
                    everything = (ANY, "any", f"{len(options)} to choose from" if len(options) > 1 else "1 other")
                    with Horizontal(classes="field"):
                        yield Label(question.title)
                        yield Choice([everything, *options], chosen, id=question.key)
            with Horizontal(classes="field"):
                yield Label("name")
                yield LineInput(self._before.name, id="name", placeholder=f"part of {self._names}", compact=True)
            yield Static(
                f"← → choose · {key_of('filter.keep')} keeps · {key_of('filter.cancel')} as before · {key_of('filter.clear')} clears",
                id="note",
            )

    def on_mount(self) -> None:
        self.on_filled()

    def on_filled(self) -> None:
        wanted = replace(self._before.cleared(), name=self.query_one(Input).value.strip())
        for choice in self.query(Choice):
            wanted = wanted.choosing(choice.id or "", choice.value)
        self._filter, shown = wanted, self._preview(wanted)
        set_title(self.query_one("#frame"), f"Filter: {shown:,} of {plural(len(self._lines), self._what)}")

    def on_input_changed(self) -> None:
        self.on_filled()

    def on_input_submitted(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        self.dismiss(self._filter)

    def action_cancel(self) -> None:
        self._preview(self._before)
        self.dismiss(self._before)

    def action_clear(self) -> None:
        for choice in self.query(Choice):
            choice.at = 0
        self.query_one(Input).value = ""
        self.on_filled()
