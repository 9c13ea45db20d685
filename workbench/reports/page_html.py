"""A page as one HTML file that loads nothing: tables, figures as SVG, a list of its sections; light, dark and on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.reports import figures
from workbench.reports.html_frame import closing, opening
from workbench.reports.html_parts import details, e, facts
from workbench.reports.page import Diff, Facts, Forest, Grid, Heat, Note, Page, Part, Points

_BOUNDS = re.compile(r"([−+]?\d[\d.,]*) ((?:\[[^\]]*\])?(?: ?\([^)]*\))?(?: of \d+)?)$")
_STYLE = Path(__file__).with_name("page.css")


def page_html(page: Page) -> str:
    """Return the file."""
    return "".join(_blocks(page))


def _blocks(page: Page) -> Iterator[str]:
    yield opening(page.title, _STYLE.read_text(encoding="utf-8"))
    over = f'<p class="over">{e(page.over)}</p>' if page.over else ""
    yield f"<header>{over}<h1>{e(page.title)}</h1>\n{''.join(map(_part, page.lead))}</header>\n"
    anchors = _anchors([section.title for section in page.sections])
    listed = "".join(
        f'<li><a href="#{anchor}">{e(section.title)}</a></li>'
        for anchor, section in zip(anchors, page.sections, strict=True)
    )
    yield f'<nav aria-label="Contents"><h2>Contents</h2><ul>{listed}</ul></nav>\n<main>\n'
    for anchor, section in zip(anchors, page.sections, strict=True):
        yield f'<section id="{anchor}"><h2>{e(section.title)}</h2>\n{"".join(map(_part, section.parts))}</section>\n'
    yield "</main>\n"
    yield closing(page.foot)


def _anchors(titles: Sequence[str]) -> list[str]:
    found: list[str] = []
    for number, title in enumerate(titles, 1):
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40]
        found.append(f"{name}-{number}" if not name or name in found else name)
    return found


def _part(part: Part) -> str:
    match part:
        case Note():
            return f'<p class="note">{e(part.text)}</p>\n'
        case Points():
            return f"<ul>{''.join(f'<li>{e(item)}</li>' for item in part.items)}</ul>\n"
        case Facts():
            return facts(part.pairs)
        case Grid():
            return _grid(part)
        case Heat():
            return figures.heat(part)
        case Diff():
            return f"<pre>{e(chr(10).join(f'{sign} {text}' for sign, text in part.lines))}</pre>\n"
        case Forest(folded=True):
            return details(e(part.caption), figures.forest(part))
        case Forest():
            return figures.forest(part)


def _grid(grid: Grid) -> str:
    head = "".join(f"<th{_side(place, grid)}>{e(name)}</th>" for place, name in enumerate(grid.headings))
    last = len(grid.rows) - grid.closing
    body = [
        f"<tr>{''.join(f'<td{_side(place, grid)}>{_shown(text)}</td>' for place, text in enumerate(row))}</tr>"
        for row in grid.rows
    ]
    closed = f"<tfoot>{''.join(body[last:])}</tfoot>" if grid.closing else ""
    return (
        f'<div class="grid"><div class="wide"><table aria-label="{e(grid.caption)}"><thead><tr>{head}</tr></thead>'
        f'<tbody>{"".join(body[:last])}</tbody>{closed}</table></div><p class="caption">{e(grid.caption)}</p></div>\n'
    )


def _shown(text: str) -> str:
    """Return a cell; bounds, and how a cell stands, are below its value, so that a matrix stays narrow."""
    found = _BOUNDS.match(text)
    return f"{e(found[1])}<small>{e(found[2])}</small>" if found and found[2] else e(text)


def _side(place: int, grid: Grid) -> str:
    return "" if place in grid.texts else ' class="n"'
