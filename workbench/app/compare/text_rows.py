"""Two texts as rows of a list: side by side, or under one another the former line and what stands in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from rich.cells import cell_len

from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import panes
from workbench.comparison.texts import TextPair
from workbench.comparison.words import LinePair, Pieces
from workbench.text import one_line

SAME, ONLY_A, ONLY_B, CHANGED = (sign for sign, _ in (panes.SAME, panes.ONLY_A, panes.ONLY_B, panes.CHANGED))
MARKS = {ONLY_A: ("[-", "-]"), ONLY_B: ("{+", "+}")}
"""Around words that only one has, as ``git diff --word-diff`` writes them."""
_STYLES = {ONLY_A: "only-a", ONLY_B: "only-b"}
_BETWEEN = " │ "
_SIGN = 2
_OUT, _IN = "-", "+"


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a row: a sign and the text beside it, both empty where the other side goes on alone."""

    sign: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of the screen: a part of a line of A beside one of B; ``number`` grows from line to line, at every width."""

    left: Half
    right: Half
    differs: bool
    number: int = 0


NO_TEXT = Half("", ())
_Beside = tuple[list[Half], list[Half], bool]
"""The rows of a line of A, those of a line of B beside it, and whether they differ."""


def side_by_side(texts: TextPair, width: int) -> list[TextRow]:
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
        TextRow(a, b, differs, number)
        for number, (left, right, differs) in enumerate(lines)
        for a, b in zip_longest(left, right, fillvalue=NO_TEXT)
    ]


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
    sign = sign or (side if side == SAME or not marked else CHANGED)
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


def unified(texts: TextPair, width: int) -> list[TextRow]:
    """Return the rows of both texts under one another, wrapped at ``width`` cells; a text that is missing says why instead."""
    if absent := texts.left.absent or texts.right.absent:
        return [TextRow(Half(" ", ((absent, "notice"),)), NO_TEXT, True)]
    rows: list[TextRow] = []
    for number, pair in enumerate(texts.diff.pairs):
        both = pair.left is not None and pair.right is not None
        halves: list[Half] = []
        if pair.same:
            halves += wrapped(pair.left or (), SAME, width, marked=False)
        elif pair.left is not None:
            halves += wrapped(pair.left, ONLY_A, width, marked=both, sign=_OUT, style="poor")
        if pair.right is not None and not pair.same:
            halves += wrapped(pair.right, ONLY_B, width, marked=both, sign=_IN, style="good")
        rows += [TextRow(half, NO_TEXT, not pair.same, number) for half in halves]
    return rows


class TextRows:
    """The rows of two texts at a width; the signs before the cursor's row carry the cursor, so that colours stay."""

    by_stretch = True
    fills_row = False

    def __init__(self, pane: panes.Texts, width: int) -> None:
        self.texts, self.under, self.width = pane.pair, pane.under, width
        self.half = max(4, width - _SIGN if pane.under else (width - len(_BETWEEN)) // 2 - _SIGN)
        self.rows = (unified if pane.under else side_by_side)(pane.pair, self.half)
        self.differing = [row.differs for row in self.rows]
        absent = [side.absent for side in (pane.pair.left, pane.pair.right)]
        self.nothing = one_line(f"A: {absent[0]} · B: {absent[1]}", 600) if not pane.under else "both are empty"

    def heading(self, width: int) -> Sequence[Part]:
        a, b = self.texts.left.title, self.texts.right.title
        if self.under:
            return [(f"{_OUT} {a}", "poor"), ("   ", ""), (f"{_IN} {b}", "good")]
        room = self.half + _SIGN
        return [(fit(a, room), "only-a"), (_BETWEEN, "rule"), (fit(b, room), "only-b")]

    def parts(self, place: int, width: int, cursor: str) -> Sequence[Part]:
        row = self.rows[place]
        if self.under:
            style = {_OUT: "poor", _IN: "good"}.get(row.left.sign, "dim")
            return [(fit(row.left.sign, 1) + " ", cursor or style), *row.left.parts]
        left, right = self._half(row.left, "only-a", cursor), self._half(row.right, "only-b", cursor)
        return [*left, (_BETWEEN, cursor or "rule"), *right]

    def _half(self, half: Half, style: str, cursor: str) -> list[Part]:
        used = sum(cell_len(text) for text, _ in half.parts)
        sign = (fit(half.sign, 1), cursor or ("dim" if half.sign == SAME else style))
        return [sign, (" ", ""), *half.parts, (" " * max(0, self.half - used), "")]
