r"""Figures as pgfplots and TikZ code: what is drawn is compiled with the article, in its fonts.

Each stands behind ``\ifdefined\pgfplotsset``, so that an article without the package gets the tables alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.reports.figures import scale_of
from workbench.reports.latex_text import latex
from workbench.reports.page import Bar, Forest, Heat
from workbench.text import shortened

_MOST_LABEL = 36
_MOST_HEADING = 24
_CELL_WIDE, _CELL_HIGH = 1.35, 0.55
"""Of a matrix, in cm."""
_LABEL_WIDE = 4.2
_PAGE_WIDE = 12.0
"""An article's line, in cm; what is wider is made smaller."""
_SURE, _UNSURE = "blue!65!black", "black!55"


def forest(figure: Forest, label: str) -> str:
    """Return a forest plot: a dot for each value, a line for its interval, coloured where 0 is outside it."""
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


def heat(figure: Heat, label: str) -> str:
    """Return a matrix: the higher the value, the stronger the colour; its number stands in each cell."""
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
