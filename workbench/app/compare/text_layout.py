"""Two texts laid out side by side for a width: what only one has is marked by signs as well as by its style."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, zip_longest

from workbench.app.compare.wording import BOTH_CHANGED, ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import LinePair, TextPair
from workbench.comparison.words import Pieces

MARKS = {ONLY_A: ("[-", "-]"), ONLY_B: ("{+", "+}")}
"""Around words that only one has, as ``git diff --word-diff`` writes them."""
_STYLES = {ONLY_A: "only-a", ONLY_B: "only-b"}


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a row: a sign and the text beside it, both empty where the other side goes on alone."""

    sign: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A row of the screen: a part of a line of A beside one of B; ``number`` grows from line to line, at every width."""

    left: Half
    right: Half
    differs: bool
    number: int = 0


NO_TEXT = Half("", ())


def side_by_side(texts: TextPair, width: int) -> list[SplitRow]:
    """Return the rows of both texts, each side wrapped at ``width`` cells.

    Lines that only one has stand beside those that only the other has, which saves the room of empty halves.
    """
    pairs = texts.diff.pairs
    sides = (texts.left, texts.right)
    lines: list[_Beside] = []
    if pairs and any(side.absent for side in sides):
        lines.append((_note(sides[0].absent, width), _note(sides[1].absent, width), True))
    for single, found in groupby(pairs, key=lambda pair: pair.left is None or pair.right is None):
        stretch = list(found)
        lines += _unpaired(stretch, width) if single else _paired(stretch, width)
    ends = [_note("the rest is too long to be compared" if side.cut else "", width) for side in sides]
    lines.append((ends[0], ends[1], False))
    return [
        SplitRow(a, b, differs, number)
        for number, (left, right, differs) in enumerate(lines)
        for a, b in zip_longest(left, right, fillvalue=NO_TEXT)
    ]


_Beside = tuple[list[Half], list[Half], bool]
"""The rows of a line of A, those of a line of B beside it, and whether they differ."""


def _paired(pairs: list[LinePair], width: int) -> Iterator[_Beside]:
    for pair in pairs:
        left = wrapped(pair.left or (), SAME if pair.same else ONLY_A, width, marked=True)
        right = wrapped(pair.right or (), SAME if pair.same else ONLY_B, width, marked=True)
        yield left, right, not pair.same


def _unpaired(pairs: list[LinePair], width: int) -> Iterator[_Beside]:
    left = [wrapped(pair.left, ONLY_A, width, marked=False) for pair in pairs if pair.left is not None]
    right = [wrapped(pair.right, ONLY_B, width, marked=False) for pair in pairs if pair.right is not None]
    for a, b in zip_longest(left, right, fillvalue=list[Half]()):
        yield a, b, True


def _note(text: str, width: int) -> list[Half]:
    if not text:
        return []
    shown = f"({text})"
    rows = Document((Line(shown),), shown).rows(width)
    return [Half(" ", ((shown[row.start : row.end].rstrip(), "notice"),)) for row in rows]


def wrapped(pieces: Pieces, side: str, width: int, *, marked: bool, sign: str = "", style: str = "") -> list[Half]:
    """Return the rows of a line; in a ``marked`` one the words that only this side has stand between marks.

    ``sign`` and ``style`` stand in the place of the side's own.
    """
    before, after = MARKS.get(side, ("", ""))
    whole = "".join(piece.text for piece in pieces)
    same = "strong" if whole.startswith("#") else ""
    sign = sign or (side if side == SAME or not marked else BOTH_CHANGED)
    styled: list[Part] = []
    for piece in pieces:
        text = prepared(piece.text)
        if piece.same:
            styled.append((text, same))
        else:
            styled.append((f"{before}{text}{after}" if marked else text, style or _STYLES[side]))
    line = "".join(text for text, _ in styled)
    rows = Document((Line(line),), line).rows(width)
    # Wrapping leaves the space at which a line was cut, which may be one cell too many.
    ends = [row.start + len(line[row.start : row.end].rstrip()) for row in rows]
    return [
        Half(sign if not row.start else " ", _cut(styled, row.start, end)) for row, end in zip(rows, ends, strict=True)
    ]


def _cut(styled: list[Part], start: int, end: int) -> tuple[Part, ...]:
    """Return what of some pieces stands between two characters of the whole."""
    found: list[Part] = []
    at = 0
    for text, style in styled:
        part = text[max(0, start - at) : max(0, end - at)]
        if part:
            found.append((part, style))
        at += len(text)
    return tuple(found)
