"""The longest common subsequence of two sequences, and the alignment that follows from it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

MOST_CELLS = 400_000_000
"""Up to this product of lengths the common subsequence is the longest; a bit is kept for each cell, so 50 MB."""


def longest_common(a: Sequence[Hashable], b: Sequence[Hashable], most_cells: int = MOST_CELLS) -> list[tuple[int, int]]:
    """Return the pairs of places of a longest common subsequence, in order.

    A common beginning and end are matched first, which loses nothing. Where the product of the remaining lengths is above
    ``most_cells``, both sequences are cut into as many blocks of equal shares as it takes, and the first block of one is
    matched with the first of the other and so on: the result is still a common subsequence, but there may be a longer one.
    """
    start, end = 0, 0
    shorter = min(len(a), len(b))
    while start < shorter and a[start] == b[start]:
        start += 1
    while end < shorter - start and a[-1 - end] == b[-1 - end]:
        end += 1
    pairs = [(place, place) for place in range(start)]
    inner_a, inner_b = a[start : len(a) - end], b[start : len(b) - end]
    for (from_a, to_a), (from_b, to_b) in blocks(len(inner_a), len(inner_b), most_cells):
        found = _matched(inner_a[from_a:to_a], inner_b[from_b:to_b])
        pairs += [(start + from_a + i, start + from_b + j) for i, j in found]
    return pairs + [(len(a) - place, len(b) - place) for place in range(end, 0, -1)]


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int | None, int | None]]:
    """Return a row for each matched pair of places and for each place that only one has (None for the other).

    Between two matches what only ``a`` has comes first.
    """
    rows: list[tuple[int | None, int | None]] = []
    next_a = next_b = 0
    for i, j in [*longest_common(a, b), (len(a), len(b))]:
        rows += [(place, None) for place in range(next_a, i)]
        rows += [(None, place) for place in range(next_b, j)]
        if i < len(a):
            rows.append((i, j))
        next_a, next_b = i + 1, j + 1
    return rows


def blocks(length_a: int, length_b: int, most_cells: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return half-open ranges of two sequences to be matched with one another; a single pair where that is little work."""
    if not length_a or not length_b:
        return []
    count = min(max(1, math.ceil(math.sqrt(length_a * length_b / most_cells))), length_a, length_b)

    def cut(length: int, part: int) -> tuple[int, int]:
        return length * part // count, length * (part + 1) // count

    return [(cut(length_a, part), cut(length_b, part)) for part in range(count)]


def _matched(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return a longest common subsequence by the bit-parallel algorithm of Hyyrö (2004).

    It goes from the end to the beginning, so that of several matches an early one is chosen, and passes items of both by turns
    where either may be passed. With both sequences reversed,
    the integer of row ``j`` has a bit for each place ``i`` of ``a``; the bit is 0 where the longest common subsequence of
    ``a[: i + 1]`` and ``b[:j]`` is longer than that of ``a[:i]`` and ``b[:j]``.
    """
    a, b = a[::-1], b[::-1]
    places: dict[Hashable, int] = {}
    for i, item in enumerate(a):
        places[item] = places.get(item, 0) | 1 << i
    every = (1 << len(a)) - 1
    rows = [every]
    for item in b:
        row = rows[-1]
        grown = row & places.get(item, 0)
        rows.append(((row + grown) | (row - grown)) & every)
    pairs = []
    i, j = len(a), len(b)
    passed_a = passed_b = 0  # since the last match
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            passed_a = passed_b = 0
            pairs.append((len(a) - 1 - i, len(b) - 1 - j))
        elif rows[j] >> (i - 1) & 1 and (passed_a <= passed_b or _length(rows[j], i) > _length(rows[j - 1], i)):
            i, passed_a = i - 1, passed_a + 1
        else:
            j, passed_b = j - 1, passed_b + 1
    return pairs


def _length(row: int, places: int) -> int:
    return places - (row & (1 << places) - 1).bit_count()
