"""Two texts side by side: lines that belong together, and within them the words that only one has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from workbench.comparison.alignment import blocks, longest_common

ALIKE = 0.4
"""Lines belong together from this share of common words on (Dice coefficient, 0 to 1)."""
MOST_LINE_PAIRS = 20_000
"""Pairs of lines that are weighed at once; a longer stretch without an equal line is cut into blocks of equal shares."""

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_WORDS = re.compile(r"\w+")
_PASSES = 4  # over the common stretches of a line: what is dropped makes the differences beside others longer
_NO_WORDS = 0.05  # weight of equal lines without a word, such as empty ones: enough to break a tie


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line; ``same`` tells whether the other text has it as well."""

    text: str
    same: bool


Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class LinePair:
    """A line of each text that belong together, or a line that only one text has (None for the other)."""

    left: Pieces | None
    right: Pieces | None

    @property
    def same(self) -> bool:
        return self.left is not None and self.left == self.right and all(piece.same for piece in self.left)


@dataclass(frozen=True, slots=True)
class TextDiff:
    """Two texts line by line: the left lines put together are the left text, and likewise right.

    ``common_words`` are those in the stretches that both have at the same place.
    """

    pairs: tuple[LinePair, ...]
    left_words: int
    right_words: int
    common_words: int

    @property
    def same(self) -> bool:
        return all(pair.same for pair in self.pairs)


def word_diff(left: str | None, right: str | None) -> TextDiff:
    """Compare two texts line by line and word by word; None stands for a text that is not there and has no lines.

    Equal lines are matched first, by their longest common subsequence. Between two such lines, those are put together that
    have most words in common, in order. Only within these pairs are words compared, again by a longest common subsequence.
    """
    a = [] if left is None else left.split("\n")
    b = [] if right is None else right.split("\n")
    pairs: list[LinePair] = []
    next_a = next_b = 0
    for i, j in [*_lines_together(a, b), (len(a), len(b))]:
        pairs += [LinePair((Piece(line, False),), None) for line in a[next_a:i]]
        pairs += [LinePair(None, (Piece(line, False),)) for line in b[next_b:j]]
        if i < len(a):
            pairs.append(_compared(a[i], b[j]))
        next_a, next_b = i + 1, j + 1
    common = sum(count_words(piece.text) for pair in pairs for piece in pair.left or () if piece.same)
    return TextDiff(tuple(pairs), count_words(left or ""), count_words(right or ""), common)


def count_words(text: str) -> int:
    return len(_WORDS.findall(text))


def _lines_together(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    # Lines without a word, empty ones above all, are equal to many and say nothing of where one is.
    telling_a = [place for place, line in enumerate(a) if _WORDS.search(line)]
    telling_b = [place for place, line in enumerate(b) if _WORDS.search(line)]
    equal = longest_common([a[place] for place in telling_a], [b[place] for place in telling_b])
    together: list[tuple[int, int]] = []
    next_a = next_b = 0
    for i, j in [*((telling_a[i], telling_b[j]) for i, j in equal), (len(a), len(b))]:
        for (from_a, to_a), (from_b, to_b) in blocks(i - next_a, j - next_b, MOST_LINE_PAIRS):
            first_a, first_b = next_a + from_a, next_b + from_b
            found = _most_alike(a[first_a : next_a + to_a], b[first_b : next_b + to_b])
            together += [(first_a + x, first_b + y) for x, y in found]
        if i < len(a):
            together.append((i, j))
        next_a, next_b = i + 1, j + 1
    return together


def _most_alike(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    words_a = [frozenset(_WORDS.findall(line.casefold())) for line in a]
    words_b = [frozenset(_WORDS.findall(line.casefold())) for line in b]
    best = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    likeness: dict[tuple[int, int], float] = {}
    for i, mine in enumerate(words_a):
        above, row = best[i], best[i + 1]
        for j, theirs in enumerate(words_b):
            most = max(above[j + 1], row[j])
            if mine and theirs:
                weight = 2 * len(mine & theirs) / (len(mine) + len(theirs))
            else:
                weight = _NO_WORDS if a[i] == b[j] else 0.0
            if (weight >= ALIKE or weight == _NO_WORDS) and above[j] + weight > most:
                most = above[j] + weight
                likeness[i, j] = weight
            row[j + 1] = most
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if (i - 1, j - 1) in likeness:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _compared(left: str, right: str) -> LinePair:
    if left == right:
        pieces = (Piece(left, True),)
        return LinePair(pieces, pieces)
    a, b = _TOKENS.findall(left), _TOKENS.findall(right)
    pairs = longest_common(a, b)
    kept_a, kept_b = _without_chance(a, b, pairs)
    return LinePair(_pieces(a, kept_a), _pieces(b, kept_b))


def _without_chance(a: Sequence[str], b: Sequence[str], pairs: list[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """Return the places of common tokens without chance matches: a run no longer than the differences on either side of it.

    "in the" amid two sentences that say different things would only tear them to pieces. Beginning and end of a line stay.
    """
    starts_a, starts_b = _starts(a), _starts(b)
    runs: list[tuple[int, int, int]] = []  # place in a, place in b, tokens
    for i, j in pairs:
        if runs and runs[-1][0] + runs[-1][2] == i and runs[-1][1] + runs[-1][2] == j:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((i, j, 1))
    first, last = (0, 0, 0), (len(a), len(b), 0)

    def apart(run: tuple[int, int, int], following: tuple[int, int, int]) -> int:
        # the characters between two runs, of the text that has more there
        in_a = starts_a[following[0]] - starts_a[run[0] + run[2]]
        in_b = starts_b[following[1]] - starts_b[run[1] + run[2]]
        return max(in_a, in_b)

    for _ in range(_PASSES):
        kept: list[tuple[int, int, int]] = []
        for place, run in enumerate(runs):
            before = apart(kept[-1] if kept else first, run)
            after = apart(run, runs[place + 1] if place + 1 < len(runs) else last)
            if starts_a[run[0] + run[2]] - starts_a[run[0]] > min(before, after):
                kept.append(run)
        if len(kept) == len(runs):
            break
        runs = kept
    return (
        {place for i, _, size in runs for place in range(i, i + size)},
        {place for _, j, size in runs for place in range(j, j + size)},
    )


def _starts(tokens: Sequence[str]) -> list[int]:
    return list(accumulate(map(len, tokens), initial=0))


def _pieces(tokens: Sequence[str], same: set[int]) -> Pieces:
    pieces: list[Piece] = []
    for place, token in enumerate(tokens):
        if pieces and pieces[-1].same == (place in same):
            pieces[-1] = Piece(pieces[-1].text + token, pieces[-1].same)
        else:
            pieces.append(Piece(token, place in same))
    return tuple(pieces)
