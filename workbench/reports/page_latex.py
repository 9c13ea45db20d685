r"""A page as a fragment of LaTeX: sections, tables with booktabs and figures with pgfplots, to be read by ``\input`` in an article.

It has no preamble; the comment at its beginning says what the article's needs. What is folded elsewhere is left out: the tables
beside have its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from workbench.reports import latex_figures
from workbench.reports.latex_text import latex
from workbench.reports.page import Facts, Forest, Grid, Heat, Note, Page, Part, Points

_HEAD = r"""% Written by workbench report. Read this file with \input; the preamble needs \usepackage{booktabs}, and for figures, which
% are left out without it, \usepackage{pgfplots}\pgfplotsset{compat=1.17}.
"""
_LETTERS = 92
"""So many letters of a footnote's face fit on a line of an article; a wider table is divided by its columns."""
_LONG = 32
"""A longer text wraps within its cell."""
_ROWS = 42
"""So many rows fit on a page of an article; a longer table is divided by its rows."""
_FLOATS = 12
"""After so many tables and figures of a section a new page begins: LaTeX keeps no more than 52 that wait for a place."""


def page_latex(page: Page) -> str:
    """Return the fragment."""
    return _HEAD + "\n".join(filter(None, _blocks(page)))


def _blocks(page: Page) -> Iterator[str]:
    labels: dict[str, int] = {}
    yield rf"\section*{{{latex(page.title)}}}" + "\n"
    for part in page.lead:
        yield "\n".join(_part(part, "", labels))
    for section in page.sections:
        yield rf"\subsection*{{{latex(section.title)}}}" + "\n"
        floats = 0
        for part in section.parts:
            for block in _part(part, section.title, labels):
                yield block
                floats += not isinstance(part, Note | Points | Facts)
                if floats == _FLOATS:
                    floats = 0
                    yield "\\clearpage\n"


def _part(part: Part, section: str, labels: dict[str, int]) -> list[str]:
    match part:
        case Note():
            return [f"{latex(part.text, 4_000)}\n"]
        case Points():
            return [_items(f"  \\item {{}}{latex(item, 4_000)}\n" for item in part.items)]
        case Facts():
            return [_items(f"  \\item {latex(label)}: {latex(value, 4_000)}\n" for label, value in part.pairs if value)]
        case Grid():
            return [_table(one, _label(one.caption or section, labels)) for one in _divided(part) if one.rows]
        case Heat():
            return [latex_figures.heat(part, _label(part.caption, labels))] if part.rows else []
        case Forest(folded=False):
            return [latex_figures.forest(part, _label(part.caption, labels))] if part.bars else []
        case _:
            return []


def _divided(grid: Grid) -> list[Grid]:
    """Return a table, or several where it is wider or longer than a page: its leading columns are in each, its last rows in the last."""
    widths = [max(map(len, column)) + 2 for column in zip(grid.headings, *grid.rows, strict=True)]
    first = max(grid.texts, default=-1) + 1
    room = _LETTERS - sum(min(width, _LONG + 2) for width in widths[:first])
    columns: list[list[int]] = [[]]
    for place in range(first, len(widths)):
        if columns[-1] and sum(widths[one] for one in columns[-1]) + widths[place] > room:
            columns.append([])
        columns[-1].append(place)
    # Cells that wrap have two lines.
    most = _ROWS // 2 if any(widths[place] > _LONG + 2 for place in grid.texts) else _ROWS
    starts = range(0, max(1, len(grid.rows)), most)
    found = [
        replace(
            grid,
            headings=tuple(grid.headings[one] for one in chosen),
            rows=tuple(tuple(row[place] for place in chosen) for row in grid.rows[start : start + most]),
            closing=grid.closing if start == starts[-1] else 0,
        )
        for places in columns
        for chosen in [(*range(first), *places)]
        for start in starts
    ]
    if len(found) == 1:
        return [grid]
    return [
        replace(one, caption=f"{grid.caption} Part {number} of {len(found)}.") for number, one in enumerate(found, 1)
    ]


def _items(lines: Iterator[str]) -> str:
    inside = "".join(lines)
    # A list without an item does not compile.
    return f"\\begin{{itemize}}\n{inside}\\end{{itemize}}\n" if inside else ""


def _table(grid: Grid, label: str) -> str:
    long = [max(map(len, column)) > _LONG for column in zip(grid.headings, *grid.rows, strict=True)]
    wrapped = f"p{{{0.36 if sum(long) < 2 else 0.28}\\linewidth}}"
    columns = "".join(
        "r" if place not in grid.texts else wrapped if long[place] else "l" for place in range(len(grid.headings))
    )
    body = [_row(row) for row in grid.rows]
    if grid.closing and grid.closing < len(body):
        body.insert(len(body) - grid.closing, "    \\midrule\n")
    return (
        "\\begin{table}[htbp]\n  \\centering\n  \\footnotesize\n  \\setlength{\\tabcolsep}{4pt}\n  \\setlength{\\belowcaptionskip}{4pt}\n"
        f"  \\caption{{{latex(grid.caption)}}}\n  \\label{{tab:{label}}}\n"
        f"  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n{_row(grid.headings)}    \\midrule\n"
        f"{''.join(body)}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n"
    )


def _row(cells: tuple[str, ...]) -> str:
    return f"    {' & '.join(latex(cell) for cell in cells)} \\\\\n"


def _label(words: str, labels: dict[str, int]) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", words.lower())[:40].strip("-") or "table"
    labels[name] = labels.get(name, 0) + 1
    return name if labels[name] == 1 else f"{name}-{labels[name]}"
