"""Evidence that points at characters of the README, safe to store and to show."""

from __future__ import annotations

from workbench.base.text import one_line, sound
from workbench.rubric.scorecard import Evidence

_SHOWN = 120


def quote(text: str, width: int = _SHOWN) -> str:
    """Return a short, terminal-safe, single-line rendering of text from outside."""
    # Cut before cleaning: the text may be megabytes long.
    return sound(one_line(text[: width * 4], width))


def at(readme: str, start: int, end: int) -> Evidence:
    start = max(0, min(start, len(readme)))
    end = max(start, min(end, len(readme)))
    return Evidence("readme", quote(readme[start:end]), start, end, line=readme.count("\n", 0, start) + 1)


def line(readme: str, number: int) -> Evidence:
    """A whole line, counted from 1."""
    lines = readme.split("\n")
    start = sum(len(one) + 1 for one in lines[: number - 1])
    return at(readme, start, start + len(lines[number - 1] if number <= len(lines) else ""))


def fact(text: str) -> Evidence:
    return Evidence("fact", quote(text))


def key(path: str, text: str) -> Evidence:
    return Evidence("metadata", quote(text), path=sound(path))


def find_lowered(readme: str, lowered: str, needle: str) -> tuple[int, int] | None:
    """Find ``needle`` in ``lowered`` (= ``readme.lower()``) and return its span in ``readme``.

    Lower-casing can change the length (``İ`` becomes two characters), so offsets are mapped back one by one then.
    """
    found = lowered.find(needle)
    if found < 0:
        return None
    if len(lowered) == len(readme):
        return found, found + len(needle)
    position = 0
    start = end = len(readme)
    for index, character in enumerate(readme):
        step = len(character.lower())
        if position <= found < position + step:
            start = index
        position += step
        if position >= found + len(needle):
            end = index + 1
            break
    return start, end
