"""Tables that are too wide: long headings become letters with a legend, columns and rows are divided into several tables.

Nothing but the layout changes, unless a table says how it is written shortly (:class:`workbench.pages.page.Brief`).
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from workbench.pages.page import Page, Part, Points, Table

_AROUND = 3
"""Cells of what stands between two cells of a Markdown table."""
_LONGEST = 8
"""Cells of a heading that stays; where cells below it are longer, as long as these."""


def fitted(page: Page, width: int) -> Page:
    """Return a page whose tables are at most ``width`` cells wide in Markdown, as far as their leading words allow."""
    sections = tuple(replace(one, parts=tuple(_fitted(one.parts, width))) for one in page.sections)
    return replace(page, lead=tuple(_fitted(page.lead, width)), sections=sections)


def divided(table: Table, widths: Sequence[int], room: int, most_rows: int) -> list[Table]:
    """Return parts of a table that take up to ``room`` and ``most_rows``: leading words in each, closing rows in the last."""
    lead = min(table.right, default=len(widths))
    room -= sum(widths[:lead])
    numbers = range(lead, len(widths))
    several = _filled(widths, numbers, room, len(numbers))
    several = _filled(widths, numbers, room, -(-len(numbers) // len(several)))
    starts = range(0, max(1, len(table.rows)), most_rows)
    found = [
        replace(part, rows=part.rows[start : start + most_rows], closing=part.closing if start == starts[-1] else 0)
        for places in several
        for part in [table.with_columns((*range(lead), *places))]
        for start in starts
    ]
    of = len(found)
    return [
        replace(one, caption=f"{one.caption} Part {number} of {of}.") if of > 1 else one
        for number, one in enumerate(found, 1)
    ]


def _filled(widths: Sequence[int], places: Iterable[int], room: int, most: int) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    for place in places:
        if parts[-1] and (len(parts[-1]) >= most or sum(widths[one] for one in parts[-1]) + widths[place] > room):
            parts.append([])
        parts[-1].append(place)
    return parts


def _fitted(parts: Iterable[Part], width: int) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Table) and part.rows and sum(_widths(part)) >= width:
            yield from _narrowed(part, width)
        else:
            yield part


def _widths(table: Table) -> list[int]:
    return [_AROUND + max(map(cell_len, column)) for column in zip(table.headings, *table.rows, strict=True)]


def _narrowed(table: Table, width: int) -> Iterator[Part]:
    legend: tuple[str, ...] = ()
    if brief := table.brief:
        legend = brief.legend
        table = replace(table, caption=brief.caption, rows=brief.rows, closing=brief.closing, brief=None)
    if sum(_widths(table)) >= width:
        table, legend = _lettered(table, legend)
    yield from divided(table, _widths(table), width - 1, len(table.rows))
    if legend:
        yield Points(legend)


def _lettered(table: Table, legend: Sequence[str]) -> tuple[Table, tuple[str, ...]]:
    """Return a table in which headings that are longer than all below them are letters, and what these mean."""
    numbers = sorted(table.right)
    below = [max((cell_len(row[place]) for row in table.rows), default=0) for place in range(len(table.headings))]
    if all(cell_len(table.headings[place]) <= max(below[place], _LONGEST) for place in numbers):
        return table, tuple(legend)
    letters = {place: _letter(number) for number, place in enumerate(numbers)}
    said = dict(zip(numbers, legend, strict=False))
    headings = tuple(letters.get(place, heading) for place, heading in enumerate(table.headings))
    words = tuple(f"{letters[place]}: {said.get(place, table.headings[place])}" for place in numbers)
    return replace(table, headings=headings), words


def _letter(number: int) -> str:
    first, last = divmod(number, 26)
    return (string.ascii_uppercase[first - 1] if first else "") + string.ascii_uppercase[last]
