r"""A page as a LaTeX fragment for ``\input`` in an article: sections, tables with booktabs, and pgfplots figures.

A comment at its beginning lists the required packages. Folded figures are left out, because the tables have their
numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from workbench.base.python_syntax import retried
from workbench.base.text import one_line, shortened
from workbench.pages.page import (
    BulletList,
    FactList,
    Folded,
    Forest,
    Heat,
    MarkedText,
    Note,
    PageTable,
    Part,
    ReportPage,
    Subheading,
)
from workbench.pages.svg import scale_of
from workbench.pages.table_layout import divided

_HEAD = r"""% Written by workbench report. Read this file with \input; the preamble needs \usepackage{booktabs}, and for figures, which
% are left out without it, \usepackage{pgfplots}\pgfplotsset{compat=1.17}.
"""
_LETTERS = 92
"""The number of \\footnotesize letters on a line of an article; a wider table is divided by columns."""
_LONG = 32
"""Text longer than this wraps within its cell."""
_ROWS = 42
"""The number of rows on a page of an article; a longer table is divided by rows."""
_FLOATS = 12
"""The number of tables and figures in a section before a page break: LaTeX defers at most 52 floats."""


def render(page: ReportPage) -> Iterator[str]:
    yield _HEAD
    for number, block in enumerate(filter(None, _blocks(page))):
        yield f"\n{block}" if number else block


def _blocks(page: ReportPage) -> Iterator[str]:
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
                floats += not isinstance(part, Note | BulletList | FactList)
                if floats == _FLOATS:
                    floats = 0
                    yield "\\clearpage\n"


def _part(part: Part, section: str, labels: dict[str, int]) -> list[str]:
    match part:
        case Note():
            return [f"{latex(part.text, 4_000)}\n"]
        case BulletList():
            return [_items(Markup("{{}}{}").format(_long(item)) for item in part.items)]
        case FactList():
            return [_items(Markup("{}: {}").format(_long(label), _long(value)) for label, value in part.pairs if value)]
        case PageTable():
            return [
                _table(one, _label(one.caption, labels))
                for one in _divided(replace(part, caption=part.caption or f"{section}."))
                if one.rows
            ]
        case Subheading():
            return [rf"\subsubsection*{{{latex(part.title)}}}" + "\n"]
        case Folded():
            inside = (block for one in part.parts for block in _part(one, part.title, labels))
            return [rf"\subsubsection*{{{latex(part.title)}}}" + "\n", *inside]
        case Heat():
            return [_figure(part, _label(part.caption, labels))] if part.rows else []
        case Forest(folded=False):
            return [_figure(part, _label(part.caption, labels))] if part.bars else []
        case _:
            return []


def _divided(table: PageTable) -> list[PageTable]:
    widths = [max(map(len, column)) + 2 for column in zip(table.headings, *table.rows, strict=True)]
    texts = [place for place in range(len(widths)) if place not in table.right]
    # Count cells that wrap as two lines.
    most = _ROWS // 2 if any(widths[place] > _LONG + 2 for place in texts) else _ROWS
    capped = [min(width, _LONG + 2) if place in texts else width for place, width in enumerate(widths)]
    return divided(table, capped, _LETTERS, most)


def _items(lines: Iterator[str]) -> str:
    # LaTeX does not compile a list without items, so leave it out.
    return str(_templates().items(several)) if (several := list(lines)) else ""


def _table(table: PageTable, label: str) -> str:
    long = [max(map(len, column)) > _LONG for column in zip(table.headings, *table.rows, strict=True)]
    wrapped = f"p{{{0.36 if sum(long) < 2 else 0.28}\\linewidth}}"
    columns = ("r" if place in table.right else wrapped if is_long else "l" for place, is_long in enumerate(long))
    return str(_templates().table(table, label, Markup("".join(columns))))


def _figure(figure: Heat | Forest, label: str) -> str:
    if isinstance(figure, Heat):
        return str(_templates().heat(figure, label))
    low, high, ticks = scale_of(figure.bars)
    return str(_templates().forest(figure, label, _g(low), _g(high), map(_g, ticks)))


def _g(value: float) -> str:
    return f"{value:.9g}"


@cache
def _templates() -> Any:
    made = Environment(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
        comment_start_string="<#", comment_end_string="#>", autoescape=True, keep_trailing_newline=True, finalize=_escaped,
    )  # fmt: skip
    made.filters |= {"g": _g, "short": shortened}
    return retried(made.from_string, Path(__file__).with_name("latex.jinja").read_text(encoding="utf-8")).module


def _escaped(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(latex(value))


def _long(text: str) -> Markup:
    return Markup(latex(text, 4_000))


def _label(words: str, labels: dict[str, int]) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", words.lower())[:40].strip("-") or "table"
    labels[name] = labels.get(name, 0) + 1
    return name if labels[name] == 1 else f"{name}-{labels[name]}"


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    # Prevent ligatures, an optional argument after a line break, and a quotation mark that OT1 lacks.
    '"': "''", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "·": r"\textperiodcentered{}", "–": "--", "—": "---", "…": r"\ldots{}",
    "→": r"$\to$", "≤": r"$\le$", "≥": r"$\ge$", "τ": r"$\tau$", "’": "'", "‘": "`", "“": "``", "”": "''", "•": r"\textbullet{}",
    "\u00a0": "~", "✓": r"$\surd$", "✗": r"$\times$", "⧖": r"$\wr$", "∅": r"$\emptyset$", "↷": r"$\hookrightarrow$", "↯": r"$\sharp$", "▸": r"$\triangleright$",
    "‖": r"$\parallel$", "⊘": r"$\oslash$", "′": "'", "≟": r"$\doteq$",
}  # fmt: skip
_PLAIN = frozenset("ßæÆœŒøØłŁı")
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
"""The accents that plain LaTeX can put on a letter."""
_ENDED = re.compile(r"-(?=-)|.", re.DOTALL)


def latex(text: object, width: int = 600) -> str:
    """Return a text as one line of LaTeX, cut to ``width`` characters."""
    if isinstance(text, MarkedText):
        return text.joined(latex, lambda code: rf"\texttt{{{latex(code)}}}", "{0}")
    return _ENDED.sub(lambda found: _one(found[0], found.string[found.end() :][:1]), one_line(str(text), width))


def _one(character: str, following: str) -> str:
    if character == "-" and following == "-":
        # Two hyphens would be typeset as a dash.
        return "-{}"
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii() or character in _PLAIN:
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"
