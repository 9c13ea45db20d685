"""A page, or parts of one, as HTML that loads nothing: tables, figures as SVG, a list of its sections; light, dark, on paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import glyphs
from workbench.comparison.texts import line_diff, line_diff_words
from workbench.pages import figures, page, wording
from workbench.pages.html_frame import closing, e, opening
from workbench.session.json_forms import TIER_NAMES

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from workbench.rubric.scorecard import Criterion


MOST_COMPARED = 100_000
"""Characters of each text that is compared here: matching lines takes quadratic time at worst."""
_BOUNDS = re.compile(r"([−+]?\d[\d.,]*) ((?:\[[^\]]*\])?(?: ?\([^)]*\))?(?: of \d+)?)$")
_STYLE = Path(__file__).with_name("page.css")
_STATES = {
    **dict.fromkeys((glyphs.VERDICTS["failed"], glyphs.VERDICTS["crashed"]), "bad"),
    **dict.fromkeys(
        (glyphs.VERDICTS["timeout"], glyphs.VERDICTS["error"], glyphs.UNSCORED, glyphs.INTERRUPTED), "warn"
    ),
    glyphs.VERDICTS["passed"]: "good",
    glyphs.VERDICTS["invalid"]: "odd",
    glyphs.RUNNING: "live",
    **dict.fromkeys((glyphs.WAITING, glyphs.CANCELLED), "idle"),
}
_TAGS = {"@": "b", "-": "del", "+": "ins"}


def page_html(one: page.Page) -> str:
    return "".join(_blocks(one))


def _blocks(whole: page.Page) -> Iterator[str]:
    yield opening(whole.title, _STYLE.read_text(encoding="utf-8"))
    over = f'<p class="over">{e(whole.over)}</p>' if whole.over else ""
    yield f"<header>{over}<h1>{e(whole.title)}</h1>\n{parts(whole.lead)}</header>\n"
    anchors = _anchors([section.title for section in whole.sections])
    yield contents_list([(anchor, section.title) for anchor, section in zip(anchors, whole.sections, strict=True)])
    yield "<main>\n"
    for anchor, one in zip(anchors, whole.sections, strict=True):
        yield f'<section id="{anchor}"><h2>{e(one.title)}</h2>\n{parts(one.parts)}</section>\n'
    yield "</main>\n"
    yield closing(whole.foot)


def _anchors(titles: Sequence[str]) -> list[str]:
    found: list[str] = []
    for number, title in enumerate(titles, 1):
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40]
        found.append(f"{name}-{number}" if not name or name in found else name)
    return found


def contents_list(entries: Iterable[tuple[str, str]], more: str = "") -> str:
    """Return links to sections by their ids; ``more`` is HTML below them."""
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{links(entries)}</ul>{more}</nav>\n'


def links(entries: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<li><a href="#{e(anchor)}">{e(words)}</a></li>' for anchor, words in entries)


def section(one: page.Section) -> Iterator[str]:
    kind = ' class="item"' if one.item else ""
    yield f'<section{kind} id="{e(one.anchor)}"><h2>{_titled(one.title, one.small)}</h2>\n'
    for part in one.parts:
        yield _part(part)
    yield "</section>\n"


def parts(found: Iterable[page.Part]) -> str:
    return "".join(map(_part, found))


def _part(part: page.Part) -> str:
    match part:
        case page.Note():
            return f'<p class="{part.kind or "note"}">{e(part.text)}</p>\n'
        case page.Points():
            return f"<ul>{''.join(f'<li>{e(item)}</li>' for item in part.items)}</ul>\n"
        case page.Facts():
            pairs = ((label, marked(value)) for label, value in part.pairs if value)
            return f'<dl class="facts">{"".join(f"<div><dt>{e(a)}</dt><dd>{b}</dd></div>" for a, b in pairs)}</dl>\n'
        case page.Shown():
            return f'<div class="wide">{_table(part)}</div>\n'
        case page.Grid():
            return _grid(part)
        case page.Heat():
            return figures.heat(part)
        case page.Forest(folded=True):
            return details(e(part.caption), figures.forest(part))
        case page.Forest():
            return figures.forest(part)
        case page.Strips():
            return figures.strips(part)
        case page.Histograms():
            return figures.histograms(part)
        case page.Heading():
            return f"<h3>{_titled(part.title, part.small)}</h3>\n"
        case page.Literal():
            head = f"<h4>{_titled(part.title, part.small)}</h4>" if part.title else ""
            return head + pre(part.text, "prose" if part.prose else "")
        case page.Changes():
            return _changes(part)
        case page.Folded():
            return details(_summary(part), parts(part.parts), kind=part.kind, unfolded=part.unfolded)
        case page.Card():
            return _card(part)
        case page.Readme():
            return f'<div class="beside">\n{_readme(part)}<div class="scores">\n{parts(part.scores)}</div></div>\n'


def _titled(title: str, small: str) -> str:
    return f"{e(title)} <small>{e(small)}</small>" if small else e(title)


def _summary(part: page.Folded) -> str:
    if not part.cells:
        return _titled(part.title, part.small)
    did, what, *numbers = part.cells
    return (
        f'<span class="no">{e(part.title)}</span><span class="do">{marked(did)}</span><span class="on">{e(what)}</span>'
        + "".join(f'<span class="n">{e(number)}</span>' for number in numbers)
    )


def details(summary: str, inside: str, *, kind: str = "", unfolded: bool = False) -> str:
    """Return something folded; ``summary`` and ``inside`` are HTML."""
    name = f' class="{kind}"' if kind else ""
    return f"<details{name}{' open' if unfolded else ''}><summary>{summary}</summary>\n{inside}</details>\n"


def pre(text: str, kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    # A newline right after <pre> is dropped by browsers: this one is ours.
    return f"<pre{name}>\n{e(text)}</pre>\n"


def _colour(text: str) -> str:
    return _STATES.get(text[:1], "") if len(text) == 1 or text[1:2] == " " else ""


def marked(text: str) -> str:
    """Return a state or verdict as a coloured word; its glyph and word say the same without the colour."""
    name = _colour(text)
    if " · " in text and name:
        return " · ".join(marked(part) for part in text.split(" · "))
    return f'<span class="{name}">{e(text)}</span>' if name else e(text)


def _cells(signs: str) -> str:
    return "".join(
        f'<span class="{_STATES.get(glyph, "idle")}" title="{glyphs.WORDS.get(glyph, "")}">{e(glyph)}</span>'
        for glyph in signs
    )


def _table(shown: page.Shown) -> str:
    sides = [_side(place in shown.right, heading) for place, heading in enumerate(shown.headings)]
    head = "".join(f"<th{side}>{e(name)}</th>" for side, name in zip(sides, shown.headings, strict=True))
    body = []
    for number, row in enumerate(shown.rows):
        filled = [
            _cells(text) if side == ' class="cells"' else marked(text) for side, text in zip(sides, row, strict=True)
        ]
        if shown.anchor and number < len(shown.links) and shown.links[number]:
            filled[0] = f'<a href="#{shown.anchor}{e(shown.links[number])}"><code>{e(row[0])}</code></a>'
        body.append(f"<tr>{''.join(f'<td{side}>{text}</td>' for side, text in zip(sides, filled, strict=True))}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _side(number: bool, heading: str = "") -> str:
    return ' class="n"' if number else ' class="cells"' if heading == "samples" else ""


def _grid(grid: page.Grid) -> str:
    sides = [_side(place not in grid.texts) for place in range(len(grid.headings))]
    head = "".join(f"<th{side}>{e(name)}</th>" for side, name in zip(sides, grid.headings, strict=True))
    last = len(grid.rows) - grid.closing
    body = [
        f"<tr>{''.join(f'<td{side}>{_bounded(text)}</td>' for side, text in zip(sides, row, strict=True))}</tr>"
        for row in grid.rows
    ]
    closed = f"<tfoot>{''.join(body[last:])}</tfoot>" if grid.closing else ""
    return (
        f'<div class="grid"><div class="wide"><table aria-label="{e(grid.caption)}"><thead><tr>{head}</tr></thead>'
        f'<tbody>{"".join(body[:last])}</tbody>{closed}</table></div><p class="caption">{e(grid.caption)}</p></div>\n'
    )


def _bounded(text: str) -> str:
    """Return a cell; bounds, and how a cell stands, are below its value, so that a matrix stays narrow."""
    found = _BOUNDS.match(text)
    return f"{e(found[1])}<small>{e(found[2])}</small>" if found and found[2] else e(text)


def _changes(part: page.Changes) -> str:
    """Return the lines with - and +, which say without colour what colour says, or why there are none."""
    before, after = part.before, part.after
    if before.cut or after.cut or max(len(before.text), len(after.text)) > MOST_COMPARED:
        return _part(page.Note(f"{part.title}: too long to compare here."))
    diff = line_diff(before.text.splitlines(), after.text.splitlines())
    if not diff:
        return _part(page.Note(f"{part.title}: the same."))
    if not part.excerpts.has_room:
        return _part(page.Note(f"{part.title}: {line_diff_words(diff)}; this report is too long to show them."))
    lines = [f"<b>--- {e(part.names[0])}\n</b><b>+++ {e(part.names[1])}\n</b>"]
    for line in diff:
        tag = _TAGS.get(line[0], "span")
        lines.append(f"<{tag}>{e(line)}\n</{tag}>")
        part.excerpts.charge(len(line))
    return details(
        _titled(part.title, line_diff_words(diff)),
        f'<pre class="diff"><code>{"".join(lines)}</code></pre>\n',
        kind="paper",
    )


def _readme(part: page.Readme) -> str:
    if part.text is None:
        return '<div class="readme none"><p class="note">No README was handed in.</p></div>\n'
    text = part.text.text
    shown = rendered(text)
    source = details(_titled("Markdown source", part.text.words), pre(text), kind="source", unfolded=shown is None)
    if not text.strip():
        shown = '<p class="note">The README is empty.</p>'
    if shown is None:
        shown = '<p class="note">Too long to render; the source is below.</p>'
    return f'<div><h3>README</h3><div class="readme">{shown}</div>\n{parts(part.changed)}{source}</div>\n'


def _card(part: page.Card) -> str:
    inside, card = [], part.scorecard
    for number, tier in card.tiers.items() if card else ():
        inside.append(
            f'<div class="tier"><b>{number} {e(TIER_NAMES.get(number, f"Tier {number}"))}</b>{_bar(tier.points, tier.maximum)}'
            f'<span class="n">{e(wording.of(tier.points, tier.maximum))}</span></div>\n<ul class="criteria">'
        )
        inside += [_criterion(one) for one in card.criteria if one.tier == number] if card else []
        inside.append("</ul>\n")
    for spread in card.spread if card else ():
        inside.append(
            _part(page.Note(f"{spread.of}: {spread.mean:.1f} ± {spread.sd:.1f} over {spread.repeats} judgements"))
        )
    head = f'<span class="score">{e(part.points)}</span> {_titled(part.rubric, part.judge)}'
    return details(head, "".join(inside), kind="card paper", unfolded=part.unfolded)


def _bar(points: float | None, maximum: float) -> str:
    """Return a bar for a share of points; an unscored one is hatched, not empty."""
    if points is None:
        return '<span class="bar unscored" role="img" aria-label="unscored"></span>'
    width = 0.0 if maximum <= 0 else max(0.0, min(100.0, 100 * points / maximum))
    return f'<span class="bar" role="img" aria-label="{width:.0f} %"><i style="width:{width:.1f}%"></i></span>'


def _criterion(one: Criterion) -> str:
    points, most = one.points, one.maximum
    state = "warn" if points is None else "good" if points >= most else "bad" if points <= 0 else ""
    reason = f"{one.reason}; {wording.given(one.given)}" if one.given else one.reason
    evidence = parts([page.Points(tuple(map(wording.evidence, one.evidence)))]).rstrip("\n") if one.evidence else ""
    shown = details("evidence", evidence, kind="evidence paper") if evidence else ""
    return (
        f'<li><div><span>{e(one.title)}</span><span class="n {state if most else ""}">'
        f"{e(wording.of(points, most)) if most else ''}</span></div><p>{e(reason)}</p>{shown}</li>\n"
    )


_RENDERED_LIMIT = 100_000  # characters; the worst of them take a second; beyond that only the source is shown
_LINKS = ("http://", "https://", "mailto:")
_LOWER = 3  # a README's first heading stands below the report's own


def rendered(markdown: str) -> str | None:
    """Return a README as HTML of the renderer's own tags, None where it is too long; images become words, odd links lead nowhere."""
    if len(markdown) > _RENDERED_LIMIT:
        return None
    return str(_renderer().render(markdown))


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # Every target passes the parser; what leads nowhere is dealt with below, where its text can be kept.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    for name in ("heading_open", "heading_close"):
        parser.add_render_rule(name, _heading)
    return parser


def _image(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    words = token.content or "image"
    source = str(token.attrs.get("src", ""))
    shown = source if len(source) <= 200 else f"{source[:200]}…"
    return f'<span class="image" title="not loaded: {escape(shown)}">▨ {escape(words)}</span>'


def _leads(token: Any) -> bool:
    return str(token.attrs.get("href", "")).lower().startswith(_LINKS)


def _link_open(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    target = escape(str(token.attrs.get("href", "")))
    if _leads(token):
        return f'<a href="{target}" rel="noopener noreferrer nofollow">'
    return f'<span class="nowhere" title="{target}">'


def _link_close(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    # Links do not nest in Markdown: the nearest opening before belongs to this closing.
    opening = next(tokens[at] for at in range(place, -1, -1) if tokens[at].type == "link_open")
    return "</a>" if _leads(opening) else "</span>"


def _heading(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    level = int(token.tag[1:])
    tag = f"h{min(6, level + _LOWER)}"
    return f'<{tag} class="level{level}">' if token.nesting == 1 else f"</{tag}>\n"
