"""Which tasks the table shows: one option for each of some questions, all of them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.wording import CANCELLED, VERDICTS
from workbench.text import one_line

Rule = Callable[[TaskLine], bool]
ANY = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An answer: ``title`` stands in the chooser, ``said`` above the table."""

    key: str
    title: str
    said: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Question:
    """What a filter may ask of a task."""

    key: str
    title: str
    options: tuple[Option, ...]

    def offered(self, lines: Sequence[TaskLine], chosen: str) -> tuple[tuple[Option, int], ...]:
        """Return the options that let a task through, and the chosen one, each with how many tasks."""
        counted = [(option, sum(map(option.rule, lines))) for option in self.options]
        return tuple((option, count) for option, count in counted if count or option.key == chosen)


def _holds(glyph: str) -> Rule:
    return lambda line: glyph in line.cells


def _covered_below(share: float) -> Rule:
    return lambda line: line.coverage is not None and line.coverage < share


QUESTIONS = (
    Question(
        "verdict",
        "verdict",
        (
            Option("failed", "✗ a sample did not pass", "✗ not passed", lambda line: bool(set(line.cells) & set("✗⧖!∅"))),
            Option("passed", "✓ all samples passed", "✓ all passed", lambda line: line.decided and line.passed == line.counted > 0),
            Option("undecided", "· samples still to come", "· undecided", lambda line: not line.excluded and not line.decided),
            *(
                Option(word, f"{glyph} {word}", f"{glyph} {word}", _holds(glyph))
                for word, glyph in (*VERDICTS.items(), ("cancelled", CANCELLED))
                if word not in {"passed", "failed"}
            ),
            Option("out", "taken out by a control", "taken out", lambda line: line.excluded),
        ),
    ),
    Question(
        "coverage",
        "coverage",
        (
            *(
                Option(f"<{percent}", f"statements < {percent} %", f"cover < {percent} %", _covered_below(percent / 100))
                for percent in (25, 50, 75, 90, 100)
            ),
            Option("100", "all statements", "cover 100 %", lambda line: line.coverage is not None and line.coverage >= 1),
            Option(
                "branches",
                "branches < 100 %",
                "branch < 100 %",
                lambda line: line.branch_coverage is not None and line.branch_coverage < 1,
            ),
            Option("unknown", "not measured", "cover not measured", lambda line: line.coverage is None),
        ),
    ),
    Question(
        "leak",
        "docstring",
        (
            Option("leaking", "≈ carries the code", "≈ leaking", lambda line: line.leaking),
            Option("clean", "does not carry the code", "not leaking", lambda line: not line.leaking),
        ),
    ),
    Question(
        "flaky",
        "tests",
        (
            Option("flaky", "~ unstable ones execute it", "~ flaky", lambda line: line.unstable > 0),
            Option("stable", "stable ones only", "not flaky", lambda line: not line.unstable),
        ),
    ),
    Question(
        "route",
        "route",
        (
            Option("hot", "only hot", "hot only", lambda line: set(line.routes) & set("hwc") == {"h"}),
            Option("warm", "a verdict was warm", "warm", lambda line: "w" in line.routes),
            Option("cold", "a verdict was cold", "cold", lambda line: "c" in line.routes),
        ),
    ),
    Question(
        "recheck",
        "re-check",
        (
            Option("disagrees", "≠ cold gave another verdict", "≠ re-check disagrees", lambda line: line.disagreeing > 0),
            Option("done", "checked again cold", "re-checked", lambda line: line.rechecked > 0),
        ),
    ),
)  # fmt: skip
_BY_KEY = {(question.key, option.key): option for question in QUESTIONS for option in question.options}


@dataclass(frozen=True, slots=True)
class Filter:
    """The chosen option of each question that has one, and a text that the file or the function contains."""

    chosen: tuple[tuple[str, str], ...] = ()
    name: str = ""

    @property
    def active(self) -> bool:
        """Whether it may hide anything."""
        return bool(self.chosen or self.name)

    def option(self, question: str) -> str:
        """Return the option that was chosen, ANY for none."""
        return dict(self.chosen).get(question, ANY)

    def choosing(self, question: str, option: str) -> Filter:
        """Return this filter with another answer to a question."""
        answers = {**dict(self.chosen), question: option}
        order = [item.key for item in QUESTIONS if answers.get(item.key)]
        return replace(self, chosen=tuple((key, answers[key]) for key in order))

    def passing(self, lines: Sequence[TaskLine]) -> list[int]:
        """Return the places of the lines that it lets through."""
        rules = [_BY_KEY[answer].rule for answer in self.chosen]
        name = self.name.lower()
        return [
            place
            for place, line in enumerate(lines)
            if all(rule(line) for rule in rules) and (not name or name in f"{line.path}::{line.name}".lower())
        ]

    def sentence(self) -> str:
        """Return what is shown: ``✗ not passed · cover < 50 % · named “report/”``."""
        parts = [_BY_KEY[answer].said for answer in self.chosen]
        return " · ".join([*parts, *([f"named “{one_line(self.name, 30)}”"] if self.name else [])])


EVERYTHING = Filter()
