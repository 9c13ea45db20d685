r"""A page as a fragment of LaTeX: sections, tables with booktabs and figures with pgfplots, to be read by ``\input`` in an article.

It has no preamble; the comment at its beginning says what the article's needs. What is folded elsewhere is left out: the tables
beside have its numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.base.text import one_line, shortened
from workbench.pages.fitting import divided
from workbench.pages.page import Bar, Facts, Folded, Forest, Heading, Heat, Note, Page, Part, Points, Table
from workbench.pages.svg import scale_of

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


def render(page: Page) -> Iterator[str]:
    yield _HEAD
    for number, block in enumerate(filter(None, _blocks(page))):
        yield f"\n{block}" if number else block


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
        case Table():
            return [
                _table(one, _label(one.caption, labels))
                for one in _divided(replace(part, caption=part.caption or f"{section}."))
                if one.rows
            ]
        case Heading():
            return [rf"\subsubsection*{{{latex(part.title)}}}" + "\n"]
        case Folded():
            inside = (block for one in part.parts for block in _part(one, part.title, labels))
            return [rf"\subsubsection*{{{latex(part.title)}}}" + "\n", *inside]
        case Heat():
            return [_heat(part, _label(part.caption, labels))] if part.rows else []
        case Forest(folded=False):
            return [_forest(part, _label(part.caption, labels))] if part.bars else []
        case _:
            return []


def _divided(table: Table) -> list[Table]:
    """Return a table, or several where it is wider or longer than a page."""
    widths = [max(map(len, column)) + 2 for column in zip(table.headings, *table.rows, strict=True)]
    texts = [place for place in range(len(widths)) if place not in table.right]
    # Cells that wrap have two lines.
    most = _ROWS // 2 if any(widths[place] > _LONG + 2 for place in texts) else _ROWS
    capped = [min(width, _LONG + 2) if place in texts else width for place, width in enumerate(widths)]
    return divided(table, capped, _LETTERS, most)


def _items(lines: Iterator[str]) -> str:
    inside = "".join(lines)
    # A list without an item does not compile.
    return f"\\begin{{itemize}}\n{inside}\\end{{itemize}}\n" if inside else ""


def _table(grid: Table, label: str) -> str:
    long = [max(map(len, column)) > _LONG for column in zip(grid.headings, *grid.rows, strict=True)]
    wrapped = f"p{{{0.36 if sum(long) < 2 else 0.28}\\linewidth}}"
    columns = "".join(
        "r" if place in grid.right else wrapped if long[place] else "l" for place in range(len(grid.headings))
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


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    # Would be ligatures, an optional argument after a line break, or a quotation mark that OT1 lacks.
    '"': "''", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "·": r"\textperiodcentered{}", "–": "--", "—": "---", "…": r"\ldots{}",
    "→": r"$\to$", "≤": r"$\le$", "≥": r"$\ge$", "τ": r"$\tau$", "’": "'", "‘": "`", "“": "``", "”": "''", "•": r"\textbullet{}",
    "\u00a0": "~",
}  # fmt: skip
_PLAIN = frozenset("ßæÆœŒøØłŁı")
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
"""Accents that a plain LaTeX can put on a letter."""
_ENDED = re.compile(r"-(?=-)|.", re.DOTALL)


def latex(text: object, width: int = 600) -> str:
    """Return a text as one line of LaTeX, cut to ``width`` characters."""
    return _ENDED.sub(lambda found: _one(found[0], found.string[found.end() :][:1]), one_line(str(text), width))


def _one(character: str, following: str) -> str:
    if character == "-" and following == "-":
        # Two would become a dash.
        return "-{}"
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii() or character in _PLAIN:
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"


_MOST_LABEL = 36
_MOST_HEADING = 24
_CELL_WIDE, _CELL_HIGH = 1.35, 0.55
"""Of a matrix, in cm."""
_LABEL_WIDE = 4.2
_PAGE_WIDE = 12.0
"""An article's line, in cm; what is wider is made smaller."""
_SURE, _UNSURE = "blue!65!black", "black!55"


def _forest(figure: Forest, label: str) -> str:
    low, upper, ticks = scale_of(figure.bars)
    count = len(figure.bars)
    names = ",".join(f"{{{latex(shortened(bar.label, _MOST_LABEL))}}}" for bar in figure.bars)
    placed = list(enumerate(figure.bars, 1))
    drawn = [
        *_plot(_SURE, [(place, bar) for place, bar in placed if _is_sure(bar)]),
        *_plot(_UNSURE, [(place, bar) for place, bar in placed if not _is_sure(bar)]),
    ]
    said = [
        f"    \\node[anchor=west,font=\\scriptsize] at (axis cs:{upper:.9g},{place}) {{{latex(bar.text)}}};\n"
        for place, bar in placed
    ]
    axis = (
        f"xmin={low:.9g},xmax={upper:.9g},ymin=0.4,ymax={count + 0.6},y dir=reverse,xtick={{{','.join(f'{one:.9g}' for one in ticks)}}},"
        f"ytick={{1,...,{count}}},yticklabels={{{names}}},xlabel={{{latex(figure.axis)}}},scale only axis,width=0.36\\linewidth,"
        f"height={0.42 * count + 0.3:.2f}cm,clip=false,xmajorgrids,extra x ticks={{0}},extra x tick labels={{}},"
        "extra x tick style={grid=major,grid style={black}},tick label style={font=\\scriptsize},label style={font=\\scriptsize},"
        "xticklabel style={/pgf/number format/fixed},scaled x ticks=false,ytick style={draw=none}"
    )
    body = f"  \\begin{{tikzpicture}}\n  \\begin{{axis}}[{axis}]\n{''.join(drawn)}{''.join(said)}  \\end{{axis}}\n  \\end{{tikzpicture}}\n"
    return _figure(body, figure.caption, label)


def _is_sure(bar: Bar) -> bool:
    return bar.low is not None and bar.high is not None and (bar.low > 0 or bar.high < 0)


def _plot(colour: str, bars: Iterable[tuple[int, Bar]]) -> list[str]:
    points = [
        f"({bar.value:.9g},{place}) += ({(bar.value if bar.high is None else bar.high) - bar.value:.9g},0) "
        f"-= ({bar.value - (bar.value if bar.low is None else bar.low):.9g},0)"
        for place, bar in bars
    ]
    if not points:
        return []
    style = f"only marks,mark=*,mark size=1.6pt,color={colour},error bars/.cd,x dir=both,x explicit,error bar style={{line width=0.8pt}}"
    return [f"    \\addplot[{style}] coordinates {{{' '.join(points)}}};\n"]


def _heat(figure: Heat, label: str) -> str:
    rows = []
    for place, heading in enumerate(figure.headings):
        at = (place + 0.5) * _CELL_WIDE
        words = latex(shortened(heading, _MOST_HEADING))
        rows.append(f"    \\node[font=\\tiny,rotate=40,anchor=west,inner sep=1pt] at ({at:.2f},0.12) {{{words}}};\n")
    for line, (name, cells) in enumerate(figure.rows):
        above = -line * _CELL_HIGH
        middle = above - _CELL_HIGH / 2
        rows.append(
            f"    \\node[font=\\scriptsize,anchor=east] at (-0.1,{middle:.2f}) {{{latex(shortened(name, _MOST_LABEL))}}};\n"
        )
        for place, cell in enumerate(cells):
            left = place * _CELL_WIDE
            strength = 0 if cell.share is None else round(6 + 54 * min(1.0, max(0.0, cell.share)))
            rows.append(
                f"    \\fill[blue!{strength}] ({left + 0.02:.2f},{above - 0.02:.2f}) rectangle "
                f"({left + _CELL_WIDE - 0.02:.2f},{above - _CELL_HIGH + 0.02:.2f});"
                f"\\node[font=\\scriptsize] at ({left + _CELL_WIDE / 2:.2f},{middle:.2f}) {{{latex(cell.text)}}};\n"
            )
    body = f"  \\begin{{tikzpicture}}\n{''.join(rows)}  \\end{{tikzpicture}}\n"
    if len(figure.headings) * _CELL_WIDE + _LABEL_WIDE > _PAGE_WIDE:
        body = f"  \\resizebox{{\\linewidth}}{{!}}{{%\n{body}  }}\n"
    return _figure(body, figure.caption, label)


def _figure(body: str, caption: str, label: str) -> str:
    return (
        "\\ifdefined\\pgfplotsset\n\\begin{figure}[htbp]\n  \\centering\n"
        f"{body}  \\caption{{{latex(caption)}}}\n  \\label{{fig:{label}}}\n\\end{{figure}}\n\\fi\n"
    )
