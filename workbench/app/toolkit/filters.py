"""Which lines a table shows: one option for each of some questions, and a text that the line's name contains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from workbench.text import one_line

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
    """The chosen option of each question that has one, and a text that the line's name contains.

    Attributes:
        questions: What may be asked, in the order of the chooser.
        name_of: The text in which ``name`` is looked for.
        chosen: Keys of a question and its option.
        name: The text, whatever its case; "" for any.
    """

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
        """Return the option that was chosen, ANY for none."""
        return dict(self.chosen).get(question, ANY)

    def choosing(self, question: str, option: str) -> Filter[LineT]:
        """Return this filter with another answer to a question."""
        answers = {**dict(self.chosen), question: option}
        order = [item.key for item in self.questions if answers.get(item.key)]
        return replace(self, chosen=tuple((key, answers[key]) for key in order))

    def passing(self, lines: Sequence[LineT]) -> list[int]:
        """Return the places of the lines that it lets through."""
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
