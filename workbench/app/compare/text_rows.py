"""Both texts side by side, with a cursor that goes from difference to difference."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

from rich.cells import cell_len
from textual.strip import Strip

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import BOTH_CHANGED, ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import LinePair, TextPair
from workbench.comparison.words import Pieces
from workbench.text import one_line

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


_BETWEEN = " │ "
_SIGN = 2


class TextRows(DifferenceList[Any]):
    """A on the left, B on the right; the signs in front of the cursor's row carry the cursor, so that colours stay.

    Args:
        texts: What of a comparison is shown.
    """

    by_stretch = True

    def __init__(self, texts: Callable[[Any], TextPair], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts = texts
        self._split: list[SplitRow] = []
        self._laid_out = 0  # width of the last layout

    def kinds_of(self, comparison: Any) -> Sequence[Kind]:
        self._laid_out = self.text_width
        self._split = side_by_side(self._texts(comparison), self._half)
        return [Kind.DIFFERENT if row.differs else Kind.SAME for row in self._split]

    @property
    def _half(self) -> int:
        return max(4, (self.text_width - len(_BETWEEN)) // 2 - _SIGN)

    def empty_text(self, comparison: Any) -> str:
        texts = self._texts(comparison)
        return one_line(f"A: {texts.left.absent} · B: {texts.right.absent}", 600)

    def on_resize(self) -> None:
        if self.comparison is not None and self._laid_out != self.text_width:
            line = self._split[self.place].number if self.place >= 0 else 0
            self._kinds = self.kinds_of(self.comparison)
            self._arrange(bisect_left(self._split, line, key=lambda row: row.number))
        super().on_resize()

    def render_line(self, y: int) -> Strip:
        if self._laid_out != self.text_width:
            self.call_next(self.on_resize)
        return super().render_line(y)

    # -- painting

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        parts, _ = super().row_parts(y, width)
        return parts, ""

    def heading_parts(self, width: int) -> Sequence[Part]:
        texts, half = self._texts(self.comparison), self._half + _SIGN
        a, b = texts.left.title, texts.right.title
        return [(fit(a, half), "only-a"), (_BETWEEN, "rule"), (fit(b, half), "only-b")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        row = self._split[place]
        cursor = "" if place != self.place else "cursor" if self.has_focus else "cursor-blurred"
        return [
            *self._half_parts(row.left, "only-a", cursor),
            (_BETWEEN, cursor or "rule"),
            *self._half_parts(row.right, "only-b", cursor),
        ]

    def _half_parts(self, half: Half, style: str, cursor: str) -> list[Part]:
        used = sum(cell_len(text) for text, _ in half.parts)
        return [
            (fit(half.sign, 1), cursor or ("dim" if half.sign == "=" else style)),
            (" ", ""),
            *half.parts,
            (" " * max(0, self._half - used), ""),
        ]


_UNIFIED_SIGN = 2
_OUT, _IN = "-", "+"


class UnifiedRows(DifferenceList[Any]):
    """A line that both have, or under one another the former line and what stands in its place.

    Args:
        texts: What of a comparison is shown; the left one is the former.
    """

    by_stretch = True

    def __init__(self, texts: Callable[[Any], TextPair], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts = texts
        self._lines: list[Half] = []
        self._laid_out = 0

    def kinds_of(self, comparison: Any) -> Sequence[Kind]:
        self._laid_out = self.text_width
        self._lines = unified(self._texts(comparison), max(4, self.text_width - _UNIFIED_SIGN))
        kinds: list[Kind] = []
        for line in self._lines:
            # A row without a sign goes on with the line above it.
            kinds.append(
                kinds[-1] if not line.sign.strip() and kinds else Kind.SAME if line.sign == SAME else Kind.DIFFERENT
            )
        return kinds

    def empty_text(self, comparison: Any) -> str:
        texts = self._texts(comparison)
        return one_line(texts.left.absent or texts.right.absent or "both are empty", 600)

    def on_resize(self) -> None:
        if self.comparison is not None and self._laid_out != self.text_width:
            self._kinds = self.kinds_of(self.comparison)
            self._arrange(self.place)
        super().on_resize()

    def heading_parts(self, width: int) -> Sequence[Part]:
        texts = self._texts(self.comparison)
        return [(f"{_OUT} {texts.left.title}", "poor"), ("   ", ""), (f"{_IN} {texts.right.title}", "good")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        line = self._lines[place]
        style = {_OUT: "poor", _IN: "good"}.get(line.sign, "dim")
        return [(fit(line.sign, 1) + " ", style), *line.parts]


def unified(texts: TextPair, width: int) -> list[Half]:
    """Return the rows of both texts under one another, wrapped at ``width`` cells; a text that is missing says why instead."""
    if texts.left.absent or texts.right.absent:
        said = texts.left.absent or texts.right.absent
        return [Half(" ", ((said, "notice"),))]
    rows: list[Half] = []
    for pair in texts.diff.pairs:
        if pair.same:
            rows += wrapped(pair.left or (), SAME, width, marked=False, sign=SAME)
            continue
        marked = pair.left is not None and pair.right is not None
        if pair.left is not None:
            rows += wrapped(pair.left, ONLY_A, width, marked=marked, sign=_OUT, style="poor")
        if pair.right is not None:
            rows += wrapped(pair.right, ONLY_B, width, marked=marked, sign=_IN, style="good")
    return rows
