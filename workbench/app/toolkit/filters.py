"""Filters of a table, and the dialog that edits them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from workbench.app.keys import bindings, key_of
from workbench.app.toolkit.fields import CycleField
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.text_widgets import Label, Static
from workbench.app.toolkit.typed_line import LineInput
from workbench.base.text import one_line, plural

LineT = TypeVar("LineT")
ANY = ""


@dataclass(frozen=True, slots=True)
class FilterOption(Generic[LineT]):
    """A value of a facet: ``title`` in the dialog, ``caption`` above the table; ``rule`` decides which rows match."""

    key: str
    title: str
    caption: str
    rule: Callable[[LineT], bool]


@dataclass(frozen=True, slots=True)
class FilterFacet(Generic[LineT]):
    """A property of rows to filter by, with its options."""

    key: str
    title: str
    options: tuple[FilterOption[LineT], ...]

    def offered(self, lines: Sequence[LineT], chosen: str) -> list[tuple[FilterOption[LineT], int]]:
        """Return the options that match at least one row, and the chosen one, each with its number of rows."""
        counted = ((option, sum(map(option.rule, lines))) for option in self.options)
        return [(option, count) for option, count in counted if count or option.key == chosen]


@dataclass(frozen=True, slots=True)
class Filter(Generic[LineT]):
    """The chosen option of each facet, and a text that the name of a row must contain, ignoring case."""

    questions: tuple[FilterFacet[LineT], ...]
    name_of: Callable[[LineT], str]
    chosen: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    @property
    def active(self) -> bool:
        return bool(self._answers() or self.name)

    def cleared(self) -> Filter[LineT]:
        return replace(self, chosen={}, name="")

    def choosing(self, question: str, option: str) -> Filter[LineT]:
        chosen = {**self.chosen, question: option}
        return replace(self, chosen={key: one for key, one in chosen.items() if one})

    def passing(self, lines: Sequence[LineT]) -> list[int]:
        rules, name = [option.rule for option in self._answers()], self.name.lower()
        return [
            place
            for place, line in enumerate(lines)
            if all(rule(line) for rule in rules) and (not name or name in self.name_of(line).lower())
        ]

    def sentence(self) -> str:
        """Return the active filter in words: ``✗ not passed · cover < 50 % · named “report/”``."""
        parts = [option.caption for option in self._answers()]
        return " · ".join([*parts, *([f"named “{one_line(self.name, 30)}”"] if self.name else [])])

    def _answers(self) -> list[FilterOption[LineT]]:
        chosen = ((question, self.chosen.get(question.key)) for question in self.questions)
        return [option for question, key in chosen for option in question.options if option.key == key]


class FilterDialog(Dialog[None], Generic[LineT]):
    """One line per facet; ``preview`` applies a filter on every change and returns the number of matching rows.

    ``what`` is the noun for a row ("task"); ``names`` describes the text that the name field searches.
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
    FilterDialog CycleField { background: $surface; padding: 0 1; }
    FilterDialog CycleField:focus { background: $primary-muted; }
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
        self._lines, self._before, self._preview, self._what, self._names = lines, before, preview, what, names

    def compose(self) -> ComposeResult:
        with Vertical(id="frame"):
            for question in self._before.questions:
                chosen = self._before.chosen.get(question.key, ANY)
                offered = question.offered(self._lines, chosen)
                options = [(option.key, option.title, plural(count, self._what)) for option, count in offered]
                if options:
                    everything = (ANY, "any", f"{len(options)} to choose from" if len(options) > 1 else "1 other")
                    with Horizontal(classes="field"):
                        yield Label(question.title)
                        yield CycleField([everything, *options], chosen, id=question.key)
            with Horizontal(classes="field"):
                yield Label("name")
                yield LineInput(self._before.name, id="name", placeholder=f"part of {self._names}", compact=True)
            yield Static(
                f"← → choose · {key_of('filter.keep')} applies · {key_of('filter.cancel')} cancels · {key_of('filter.clear')} clears",
                id="note",
            )

    def on_mount(self) -> None:
        self.on_field_changed()

    def on_field_changed(self) -> None:
        wanted = replace(self._before.cleared(), name=self.query_one(Input).value.strip())
        for choice in self.query(CycleField):
            wanted = wanted.choosing(choice.id or "", choice.value)
        title = f"Filter: {self._preview(wanted):,} of {plural(len(self._lines), self._what)}"
        set_title(self.query_one("#frame"), title)

    def on_input_changed(self) -> None:
        self.on_field_changed()

    def on_input_submitted(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        self.dismiss()

    def action_cancel(self) -> None:
        self._preview(self._before)
        self.dismiss()

    def action_clear(self) -> None:
        for choice in self.query(CycleField):
            choice.at = 0
        self.query_one(Input).value = ""
        self.on_field_changed()
