"""A page whose tables fit a terminal: long headings become letters with a legend, and a wide table is divided by its columns.

Nothing but the layout changes, unless a table says how it is written shortly (:class:`workbench.pages.page.Brief`).
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from workbench.pages.page import Grid, Page, Part, Points

_AROUND = 3
"""Cells of what stands between two cells of a Markdown table."""
_LONGEST = 8
"""Cells of a heading that stays; where cells below it are longer, as long as these."""


def fitted(page: Page, width: int) -> Page:
    """Return a page whose tables are at most ``width`` cells wide in Markdown, as far as their leading words allow."""
    sections = tuple(replace(one, parts=tuple(_fitted(one.parts, width))) for one in page.sections)
    return replace(page, lead=tuple(_fitted(page.lead, width)), sections=sections)


def _fitted(parts: Iterable[Part], width: int) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Grid) and part.rows and _wide(part) > width:
            yield from _narrowed(part, width)
        else:
            yield part


def _widths(grid: Grid) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(grid.headings, *grid.rows, strict=True)]


def _wide(grid: Grid) -> int:
    return sum(_widths(grid)) + _AROUND * len(grid.headings) + 1


def _narrowed(grid: Grid, width: int) -> Iterator[Part]:
    legend: tuple[str, ...] = ()
    if grid.brief is not None:
        legend = grid.brief.legend
        brief = grid.brief
        grid = replace(grid, caption=brief.caption, rows=brief.rows, closing=brief.closing, brief=None)
    if _wide(grid) > width:
        grid, legend = _lettered(grid, legend)
    parts = list(_divided(grid, width))
    for number, part in enumerate(parts, 1):
        of = f" Part {number} of {len(parts)}." if len(parts) > 1 else ""
        yield replace(part, caption=f"{part.caption}{of}")
    if legend:
        yield Points(legend)


def _lettered(grid: Grid, legend: Sequence[str]) -> tuple[Grid, tuple[str, ...]]:
    """Return a table in which headings that are longer than all below them are letters, and what these mean."""
    numbers = [place for place in range(len(grid.headings)) if place not in grid.texts]
    below = [max((cell_len(row[place]) for row in grid.rows), default=0) for place in range(len(grid.headings))]
    long = [place for place in numbers if cell_len(grid.headings[place]) > max(below[place], _LONGEST)]
    if not long:
        return grid, tuple(legend)
    letters = {place: _letter(number) for number, place in enumerate(numbers)}
    said = dict(zip(numbers, legend, strict=False))
    headings = tuple(letters.get(place, heading) for place, heading in enumerate(grid.headings))
    words = tuple(f"{letters[place]}: {said.get(place, grid.headings[place])}" for place in numbers)
    return replace(grid, headings=headings), words


def _letter(number: int) -> str:
    first, last = divmod(number, 26)
    return (string.ascii_uppercase[first - 1] if first else "") + string.ascii_uppercase[last]


def _divided(grid: Grid, width: int) -> Iterator[Grid]:
    widths = _widths(grid)
    first = next((place for place in range(len(widths)) if place not in grid.texts), len(widths))
    room = width - 1 - sum(one + _AROUND for one in widths[:first])
    count = len(widths) - first
    parts = _filled(widths, first, room, count)
    for places in _filled(widths, first, room, -(-count // max(1, len(parts)))):
        chosen = (*range(first), *places)
        yield replace(
            grid,
            headings=tuple(grid.headings[one] for one in chosen),
            rows=tuple(tuple(row[one] for one in chosen) for row in grid.rows),
            texts=frozenset(number for number, one in enumerate(chosen) if one in grid.texts),
        )


def _filled(widths: Sequence[int], first: int, room: int, most: int) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    for place in range(first, len(widths)):
        taken = sum(widths[one] + _AROUND for one in parts[-1])
        if parts[-1] and (len(parts[-1]) >= most or taken + widths[place] + _AROUND > room):
            parts.append([])
        parts[-1].append(place)
    return parts
