"""Two texts as rows of a list: side by side, or under one another the former line and what stands in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, zip_longest

from rich.cells import cell_len

from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.comparison import panes
from workbench.comparison.diff import LinePair, Pieces
from workbench.comparison.texts import Texts
from workbench.text import one_line

SAME, ONLY_A, ONLY_B, CHANGED = (sign for sign, _ in (panes.SAME, panes.ONLY_A, panes.ONLY_B, panes.CHANGED))
MARKS = {SAME: ("", ""), ONLY_A: ("[-", "-]"), ONLY_B: ("{+", "+}")}
"""Around words that only one has, as ``git diff --word-diff`` writes them."""
_STYLES = {ONLY_A: "only-a", ONLY_B: "only-b"}
_UNDER = {SAME: (" ", "dim"), ONLY_A: ("-", "poor"), ONLY_B: ("+", "good")}
"""Signs and styles where a line stands under the one in whose place it is."""
_BETWEEN = " │ "
_SIGN = 2


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


def side_by_side(texts: Texts, width: int) -> list[TextRow]:
    """Return the rows of both texts, each wrapped at ``width`` cells; a text that is missing says why instead."""
    rows: list[TextRow] = []
    for number, (left, right, differs) in enumerate(_lines(texts, width)):
        if texts.under:
            halves: Iterator[tuple[Half, Half]] = ((half, NO_TEXT) for half in (left + right if differs else left))
        else:
            halves = zip_longest(left, right, fillvalue=NO_TEXT)
        rows += [TextRow(a, b, differs, number) for a, b in halves]
    return rows


def _lines(texts: Texts, width: int) -> Iterator[tuple[list[Half], list[Half], bool]]:
    sides, pairs = (texts.left, texts.right), texts.diff.pairs
    if (pairs or texts.under) and any(side.absent for side in sides):
        yield _note(sides[0].absent, width), _note(sides[1].absent, width), True
        if texts.under:
            return
    for single, found in groupby(pairs, key=lambda pair: pair.left is None or pair.right is None):
        stretch = list(found)
        if single and not texts.under:
            # Lines that only one has stand beside those that only the other has, which saves the room of empty halves.
            alone = ([pair.left for pair in stretch if pair.left], [pair.right for pair in stretch if pair.right])
            stretch = [LinePair(a, b) for a, b in zip_longest(*alone)]
        for pair in stretch:
            halves = [
                [] if pieces is None else _wrapped(pieces, SAME if pair.same else side, width, not single, texts.under)
                for pieces, side in ((pair.left, ONLY_A), (pair.right, ONLY_B))
            ]
            yield halves[0], halves[1], not pair.same
    ends = [_note("the rest is too long to be compared" if side.cut else "", width) for side in sides]
    yield ends[0], ends[1], False


def wrapped_at(line: str, width: int) -> list[slice]:
    """Return where the rows of a line begin and end; the space at which it is cut may be one cell too many and is left out."""
    rows = Document((Line(line),), line).rows(width)
    return [slice(row.start, row.start + len(line[row.start : row.end].rstrip())) for row in rows]


def _note(text: str, width: int) -> list[Half]:
    shown = f"({text})"
    return [Half(" ", ((shown[at], "notice"),)) for at in wrapped_at(shown, width)] if text else []


def _wrapped(pieces: Pieces, side: str, width: int, marked: bool, under: bool) -> list[Half]:
    """Return the rows of a line; in a ``marked`` one the words that only this side has stand between marks."""
    sign, style = _UNDER[side] if under else (side if side == SAME or not marked else CHANGED, _STYLES.get(side, ""))
    before, after = MARKS[side] if marked else ("", "")
    alike = "strong" if pieces and pieces[0].text.startswith("#") else ""
    styled = [
        (prepared(piece.text), alike) if piece.same else (f"{before}{prepared(piece.text)}{after}", style)
        for piece in pieces
    ]
    rows = wrapped_at("".join(text for text, _ in styled), width)
    return [Half(sign if not row.start else " ", _cut(styled, row)) for row in rows]


def _cut(styled: Sequence[Part], row: slice) -> tuple[Part, ...]:
    starts = accumulate((len(text) for text, _ in styled), initial=0)
    cut = (
        (text[max(0, row.start - at) : max(0, row.stop - at)], style)
        for at, (text, style) in zip(starts, styled, strict=False)
    )
    return tuple((text, style) for text, style in cut if text)


class TextRows:
    """The rows of two texts at a width; the signs before the cursor's row carry the cursor, so that colours stay."""

    by_stretch = True
    fills_row = False

    def __init__(self, texts: Texts, width: int) -> None:
        self.texts, self.width = texts, width
        self.half = max(4, width - _SIGN if texts.under else (width - len(_BETWEEN)) // 2 - _SIGN)
        self.rows = side_by_side(texts, self.half)
        self.differing: Sequence[bool | None] = [row.differs for row in self.rows]
        a, b = texts.left.absent or "is empty", texts.right.absent or "is empty"
        self.nothing = one_line(f"A: {a} · B: {b}", 600)

    def heading(self, width: int) -> Sequence[Part]:
        a, b = self.texts.left.title, self.texts.right.title
        if self.texts.under:
            return [(f"- {a}", "poor"), ("   ", ""), (f"+ {b}", "good")]
        room = self.half + _SIGN
        return [(fit(f"A  {a}", room), "only-a"), (_BETWEEN, "rule"), (fit(f"B  {b}", room), "only-b")]

    def parts(self, place: int, width: int, cursor: str) -> Sequence[Part]:
        row = self.rows[place]
        if self.texts.under:
            return self._half(row.left, dict(_UNDER.values()).get(row.left.sign, "dim"), cursor)
        left, right = self._half(row.left, "only-a", cursor), self._half(row.right, "only-b", cursor)
        return [*left, (_BETWEEN, cursor or "rule"), *right]

    def _half(self, half: Half, style: str, cursor: str) -> list[Part]:
        used = sum(cell_len(text) for text, _ in half.parts)
        sign = (fit(half.sign, 1), cursor or ("dim" if half.sign == SAME else style))
        return [sign, (" ", ""), *half.parts, (" " * max(0, self.half - used), "")]
