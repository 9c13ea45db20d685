"""Pieces of HTML: everything that is not ours is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from workbench import glyphs
from workbench.reports.report_tables import Shown
from workbench.text import clean

_STATES = {
    "✓": "good",
    "✗": "bad",
    "!": "bad",
    "⧖": "warn",
    "∅": "odd",
    "↯": "warn",
    "?": "warn",
    "▸": "live",
    "‖": "warn",
    "·": "idle",
    "⊘": "idle",
}


def e(text: object) -> str:
    """Return a text escaped for content and attributes, without control characters and bidirectional overrides."""
    return escape(clean(str(text)), quote=True)


def colour(text: str) -> str:
    """Return the class for a text that begins with a glyph of state, "" for any other."""
    return _STATES.get(text[:1], "") if len(text) == 1 or text[1:2] == " " else ""


def marked(text: str) -> str:
    """Return a state or verdict as a coloured word; its glyph and word say the same without the colour."""
    if " · " in text and colour(text):
        return " · ".join(marked(part) for part in text.split(" · "))
    name = colour(text)
    return f'<span class="{name}">{e(text)}</span>' if name else e(text)


def cells(signs: str) -> str:
    """Return the cells of samples, each in its verdict's colour and named when pointed at."""
    return "".join(
        f'<span class="{_STATES.get(glyph, "idle")}" title="{glyphs.WORDS.get(glyph, "")}">{e(glyph)}</span>'
        for glyph in signs
    )


def table(shown: Shown, anchor: str = "") -> str:
    """Return a table that scrolls by itself where the page is narrow; ``anchor`` is the prefix of its rows' links."""
    head = "".join(f"<th{_side(place, shown)}>{e(name)}</th>" for place, name in enumerate(shown.headings))
    body = []
    for number, row in enumerate(shown.rows):
        link = shown.links[number] if anchor and number < len(shown.links) else ""
        filled = []
        for place, text in enumerate(row):
            inner = cells(text) if shown.headings[place] == "samples" else marked(text)
            if link and place == 0:
                inner = f'<a href="#{anchor}{e(link)}"><code>{e(text)}</code></a>'
            filled.append(f"<td{_side(place, shown)}>{inner}</td>")
        body.append(f"<tr>{''.join(filled)}</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>\n'


def _side(place: int, shown: Shown) -> str:
    if place in shown.right:
        return ' class="n"'
    return ' class="cells"' if shown.headings[place] == "samples" else ""


def pre(text: str, kind: str = "") -> str:
    """Return a block of literal text."""
    name = f' class="{kind}"' if kind else ""
    # A newline right after <pre> is dropped by browsers: this one is ours.
    return f"<pre{name}>\n{e(text)}</pre>\n"


def details(summary: str, inside: str, *, kind: str = "", unfolded: bool = False) -> str:
    """Return something folded; ``summary`` and ``inside`` are HTML."""
    name = f' class="{kind}"' if kind else ""
    state = " open" if unfolded else ""
    return f"<details{name}{state}><summary>{summary}</summary>\n{inside}</details>\n"


def bar(points: float | None, maximum: float) -> str:
    """Return a bar for a share of points; an unscored one is hatched, not empty."""
    if points is None:
        return '<span class="bar unscored" role="img" aria-label="unscored"></span>'
    width = 0.0 if maximum <= 0 else max(0.0, min(100.0, 100 * points / maximum))
    return f'<span class="bar" role="img" aria-label="{width:.0f} %"><i style="width:{width:.1f}%"></i></span>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return label and value pairs, empty values left out."""
    inside = "".join(f"<div><dt>{e(label)}</dt><dd>{marked(value)}</dd></div>" for label, value in pairs if value)
    return f'<dl class="facts">{inside}</dl>\n'
