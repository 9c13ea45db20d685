"""Tables that are too wide for their medium: narrow forms, fewer columns, or several tables below one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from textwrap import wrap

from rich.cells import cell_len

from workbench.pages.page import BulletList, PageTable

BETWEEN = 2
"""The number of blank cells between two columns on a terminal."""


def fitted(table: PageTable, width: int) -> list[PageTable | BulletList]:
    """Return a table that fits ``width`` terminal columns if possible.

    If the narrow form is used, its legend follows.
    """
    if _fits(table, width):
        return [table]
    legend = []
    if form := table.narrow:
        table = replace(table, caption=form.caption, rows=form.rows, closing=form.closing, narrow=None)
        legend = [BulletList(form.legend)]
    table = _narrowed(table, width)
    widths = [one + BETWEEN for one in cell_widths((table.headings, *table.rows))]
    # Long leading texts would be repeated in each part, so they are wrapped instead.
    if not table.caption or _fits(table, width) or sum(widths[: min(table.right, default=None)]) > width / 2:
        return [table, *legend]
    return [*divided(table, widths, width + BETWEEN, len(table.rows)), *legend]


def _narrowed(table: PageTable, width: int) -> PageTable:
    """Break headings between words, then drop columns until the table fits.

    Headings return to one line if there is room afterwards.
    """
    if _fits(table, width):
        return table
    least = cell_widths(([max(heading.split(), key=len, default="") for heading in table.headings], *table.rows))
    headings = ("\n".join(wrap(*pair)) for pair in zip(table.headings, map(max, least, repeat(1)), strict=True))
    broken, kept = replace(table, headings=tuple(headings)), list(range(len(table.headings)))
    for name in table.droppable:
        if _fits(broken.with_columns(kept), width):
            break
        kept = [place for place in kept if table.headings[place] != name]
    whole = table.with_columns(kept)
    return whole if _fits(whole, width) else broken.with_columns(kept)


def cell_widths(rows: Iterable[Sequence[str]]) -> list[int]:
    return [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)]


def _fits(table: PageTable, width: int) -> bool:
    widths = cell_widths((table.headings, *table.rows))
    return sum(widths) + BETWEEN * (len(widths) - 1) <= width


def divided(table: PageTable, widths: Sequence[int], room: int, most_rows: int) -> list[PageTable]:
    """Divide a table into parts that are at most ``room`` wide and have at most ``most_rows`` rows.

    Each part has the leading text columns; the last part has the closing rows.
    """
    lead = min(table.right, default=len(widths))
    room -= sum(widths[:lead])
    numbers = range(lead, len(widths))
    count = len(_filled(widths, numbers, room, len(numbers)))
    several = _filled(widths, numbers, room, -(-len(numbers) // count))
    starts = range(0, max(1, len(table.rows)), max(1, most_rows))
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
