"""One text against another, line by line: stretches that differ with a few lines around them, as ``diff -u`` has them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

_JUNK_FROM = 2000
"""Lines of both texts together from which on frequent lines are not matched one by one, which takes quadratic time."""
REMOVED, ADDED, SAME = "-", "+", " "


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch with differences: the first and last line in each text, from 1, the last below the first for none; signs with lines."""

    before: tuple[int, int]
    after: tuple[int, int]
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LineDiff:
    """How many lines were added and removed, and where; no hunk where both texts are equal."""

    added: int
    removed: int
    hunks: tuple[Hunk, ...]

    @property
    def words(self) -> str:
        """Return ``+3 −1 lines``, or ``the same``."""
        return f"+{self.added:,} −{self.removed:,} lines" if self.hunks else "the same"


def line_diff(before: Sequence[str], after: Sequence[str], around: int = 3) -> LineDiff:
    """Compare the lines of two texts; ``around`` is how many equal lines stand before and after a difference."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(before) + len(after) > _JUNK_FROM)
    hunks = []
    added = removed = 0
    for group in matcher.get_grouped_opcodes(around):
        lines: list[tuple[str, str]] = []
        for tag, from_before, to_before, from_after, to_after in group:
            if tag == "equal":
                lines += [(SAME, line) for line in before[from_before:to_before]]
                continue
            removed += to_before - from_before
            added += to_after - from_after
            lines += [(REMOVED, line) for line in before[from_before:to_before]]
            lines += [(ADDED, line) for line in after[from_after:to_after]]
        first, last = group[0], group[-1]
        hunks.append(Hunk((first[1] + 1, last[2]), (first[3] + 1, last[4]), tuple(lines)))
    # Two equal texts make one group without a difference, two empty ones likewise.
    if not added + removed:
        return LineDiff(0, 0, ())
    return LineDiff(added, removed, tuple(hunks))


def without_margin(body: str) -> str:
    """Return a body without the indentation of its first line: models indent as they like, splicing corrects it."""
    lines = body.strip("\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    margin = len(first) - len(first.lstrip(" \t"))
    return "\n".join(line[min(margin, len(line) - len(line.lstrip(" \t"))) :].rstrip() for line in lines)
