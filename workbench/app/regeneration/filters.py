"""Which tasks the table shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.wording import CANCELLED, VERDICTS

ALL = "all"
_RULES: Mapping[str, Callable[[TaskLine], bool]] = {
    ALL: lambda line: True,
    "failed": lambda line: any(cell in line.cells for cell in "✗⧖!∅"),
    "passed": lambda line: line.decided and line.passed == line.counted > 0,
    "undecided": lambda line: not line.excluded and not line.decided,
    **{
        word: (lambda line, glyph=glyph: glyph in line.cells)  # type: ignore[misc]
        for word, glyph in VERDICTS.items()
        if word not in {"passed", "failed"}
    },
    "cancelled": lambda line: CANCELLED in line.cells,
    "leaking": lambda line: line.leaking,
    "taken out": lambda line: line.excluded,
}
TITLES = {"failed": "a sample did not pass", "passed": "all samples passed", "leaking": "docstring carries the code"}
_ALWAYS = (ALL, "failed", "passed", "undecided")


def matches(name: str, line: TaskLine) -> bool:
    """Return whether a filter lets a line through."""
    return _RULES[name](line)


def beside(name: str, lines: Sequence[TaskLine], step: int = 1) -> str:
    """Return the next filter round; of the rarer ones only those that let something through."""
    offered = [key for key, rule in _RULES.items() if key in _ALWAYS or key == name or any(map(rule, lines))]
    return offered[(offered.index(name) + step) % len(offered)]
