r"""A page as a fragment of LaTeX: sections and tables with booktabs, to be read by ``\input`` in an article of one's own.

It has no preamble; the comment at its beginning says what the article's needs. Figures are left out: the tables beside them have
their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from workbench.reports.latex_text import latex
from workbench.reports.page import Facts, Grid, Note, Page, Part, Points

_HEAD = r"""% Written by workbench report. Put \usepackage{booktabs} into the preamble, and read this file with \input.
"""
_LETTERS = 100
"""So many letters of a small face fit on a line of an article; a wider table is divided by its columns."""
_LONG = 48
"""A longer text wraps within its cell."""


def page_latex(page: Page) -> str:
    """Return the fragment."""
    return _HEAD + "\n".join(filter(None, _blocks(page)))


def _blocks(page: Page) -> Iterator[str]:
    labels: dict[str, int] = {}
    yield rf"\section*{{{latex(page.title)}}}" + "\n"
    for part in page.lead:
        yield _part(part, "", labels)
    for section in page.sections:
        yield rf"\subsection*{{{latex(section.title)}}}" + "\n"
        for part in section.parts:
            yield _part(part, section.title, labels)


def _part(part: Part, section: str, labels: dict[str, int]) -> str:
    match part:
        case Note():
            return f"{latex(part.text, 4_000)}\n"
        case Points():
            return _items(f"  \\item {{}}{latex(item, 4_000)}\n" for item in part.items)
        case Facts():
            return _items(f"  \\item {latex(label)}: {latex(value, 4_000)}\n" for label, value in part.pairs if value)
        case Grid():
            return "\n".join(_table(one, _label(one.caption or section, labels)) for one in _parts(part) if one.rows)
        case _:
            return ""


def _parts(grid: Grid) -> list[Grid]:
    """Return a table, or several that repeat its leading columns where it is wider than a page."""
    widths = [max(map(len, column)) + 2 for column in zip(grid.headings, *grid.rows, strict=True)]
    first = max(grid.texts, default=-1) + 1
    room = _LETTERS - sum(min(width, _LONG + 2) for width in widths[:first])
    parts: list[list[int]] = [[]]
    for place in range(first, len(widths)):
        if parts[-1] and sum(widths[one] for one in parts[-1]) + widths[place] > room:
            parts.append([])
        parts[-1].append(place)
    if len(parts) == 1:
        return [grid]
    found = []
    for number, places in enumerate(parts, 1):
        chosen = (*range(first), *places)
        rows = tuple(tuple(row[place] for place in chosen) for row in grid.rows)
        caption = f"{grid.caption} Part {number} of {len(parts)}."
        found.append(replace(grid, caption=caption, headings=tuple(grid.headings[one] for one in chosen), rows=rows))
    return found


def _items(lines: Iterator[str]) -> str:
    inside = "".join(lines)
    # A list without an item does not compile.
    return f"\\begin{{itemize}}\n{inside}\\end{{itemize}}\n" if inside else ""


def _table(grid: Grid, label: str) -> str:
    long = [max(map(len, column)) > _LONG for column in zip(grid.headings, *grid.rows, strict=True)]
    columns = "".join(
        "r" if place not in grid.texts else "p{0.4\\linewidth}" if long[place] else "l"
        for place in range(len(grid.headings))
    )
    body = [_row(row) for row in grid.rows]
    if grid.closing and grid.closing < len(body):
        body.insert(len(body) - grid.closing, "    \\midrule\n")
    return (
        "\\begin{table}[htbp]\n  \\centering\n  \\small\n"
        f"  \\caption{{{latex(grid.caption)}}}\n  \\label{{tab:{label}}}\n"
        f"  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n{_row(grid.headings)}    \\midrule\n"
        f"{''.join(body)}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n"
    )


def _row(cells: tuple[str, ...]) -> str:
    return f"    {' & '.join(latex(cell) for cell in cells)} \\\\\n"


def _label(words: str, labels: dict[str, int]) -> str:
    """Return a label of letters and digits that no other table of the page has."""
    name = re.sub(r"[^a-z0-9]+", "-", words.lower())[:40].strip("-") or "table"
    labels[name] = labels.get(name, 0) + 1
    return name if labels[name] == 1 else f"{name}-{labels[name]}"
