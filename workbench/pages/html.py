"""A page as a single HTML file without external resources.

It consists of the template ``html.jinja``, SVG figures and rendered READMEs. It has a light, a dark and a print style.
Its only script searches pages with items. The template takes 2.8 times as long as plain Python code (30 µs for a small
part), and 0.2 s for the first page of a process.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment
from markupsafe import Markup, escape

from workbench.base import glyphs, text
from workbench.base.python_syntax import retried
from workbench.comparison.texts import line_diff, line_diff_words
from workbench.pages import svg, wording
from workbench.pages.page import Figure, MarkedText, ReportPage, Section, TextChanges
from workbench.session.json_forms import TIER_NAMES

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# The browser enforces that nothing is fetched and no other script runs, whatever READMEs or names contain.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MOST_COMPARED = 100_000
"""The maximum length of texts to compare: matching their lines takes quadratic time in the worst case."""
_BOUNDS = re.compile(r"([−+]?\d[\d.,]*) ((?:\[[^\]]*\])?(?: ?\([^)]*\))?(?: of \d+)?)$")
_STATES = {
    **dict.fromkeys((glyphs.VERDICTS["failed"], glyphs.VERDICTS["crashed"]), "bad"),
    **dict.fromkeys(
        (*(glyphs.VERDICTS[name] for name in ("timeout", "bypassed", "error")), glyphs.UNSCORED, glyphs.INTERRUPTED),
        "warn",
    ),
    glyphs.VERDICTS["passed"]: "good",
    glyphs.VERDICTS["invalid"]: "odd",
    glyphs.RUNNING: "live",
    **dict.fromkeys((glyphs.WAITING, glyphs.CANCELLED), "idle"),
}


def render(page: ReportPage) -> Iterator[str]:
    made = _templates()
    script, policy = "", _POLICY
    if page.noun:
        script = _file("report.js")
        # Browsers compute the script's hash from exactly these bytes, including the line breaks around them.
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
        policy = f"{_POLICY}; script-src 'sha256-{digest}'"
    style = _file("report.css") + ("" if page.noun else _file("page.css"))
    page = replace(page, sections=_anchored(page.sections))
    yield str(made.opening(page, policy, Markup(style), Markup(script)))
    for several in (page.sections, page.items):
        for one in several:
            yield str(made.section(one))
            for part in one.parts:
                yield str(made.part(part))
            yield "</section>\n"
    yield str(made.closing(page.foot))


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _anchored(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Return the sections with unique ids, which are derived from the titles of those without an anchor."""
    found: dict[str, Section] = {}
    for number, one in enumerate(sections, 1):
        name = one.anchor or re.sub(r"[^a-z0-9]+", "-", one.title.lower()).strip("-")[:40]
        name = f"{name}-{number}" if not name or name in found else name
        found[name] = replace(one, anchor=name)
    return tuple(found.values())


@cache
def _templates() -> Any:
    made = Environment(autoescape=True, keep_trailing_newline=True, finalize=_clean)
    made.filters |= {
        "bounded": _bounded, "cells": _cells, "diff": _diff, "evidence": wording.evidence, "figure": _figure,
        "given": wording.given, "marked": marked, "of": wording.of, "plural": text.plural, "rendered": rendered,
        "tier": lambda number: TIER_NAMES.get(number, f"Tier {number}"),
    }  # fmt: skip
    return retried(made.from_string, _file("html.jinja")).module


def _clean(value: object) -> object:
    """Return a template's value without control characters and bidirectional overrides."""
    if isinstance(value, MarkedText):
        return Markup().join(_piece(*one) for one in value.pieces)
    return value if isinstance(value, Markup) else "" if value is None else text.clean(str(value))


def _piece(words: str, kind: str) -> Markup:
    if kind == "code":
        return Markup("<code>{}</code>").format(words)
    return (
        Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(kind, words) if kind else escape(words)
    )


def e(value: object) -> Markup:
    return escape(_clean(value))


def marked(words: str) -> Markup:
    """Return a state or verdict in its colour; the colour only repeats the meaning of the sign and word."""
    name = _STATES.get(words[:1], "") if len(words) == 1 or words[1:2] == " " else ""
    if " · " in words and name:
        return Markup(" · ").join(marked(part) for part in words.split(" · "))
    return Markup('<span class="{}">{}</span>').format(name, e(words)) if name else e(words)


def _cells(signs: str) -> Markup:
    one = Markup('<span class="{}" title="{}">{}</span>')
    return Markup().join(one.format(_STATES.get(sign, "idle"), glyphs.WORDS.get(sign, ""), e(sign)) for sign in signs)


def _bounded(words: str) -> Markup:
    found = _BOUNDS.match(words)
    return Markup("{}<small>{}</small>").format(e(found[1]), e(found[2])) if found and found[2] else e(words)


def _figure(figure: Figure) -> Markup:
    return Markup(svg.drawn(figure))


def _diff(part: TextChanges) -> tuple[str, list[str]]:
    """Return a summary and the lines of a diff; if there are no lines, the summary says why."""
    before, after = part.before, part.after
    if before.cut or after.cut or max(len(before.text), len(after.text)) > MOST_COMPARED:
        return ": too long to compare here.", []
    diff = line_diff(before.text.splitlines(), after.text.splitlines())
    if not diff:
        return ": the same.", []
    if not part.excerpts.has_room:
        return f": {line_diff_words(diff)}; this report is too long to show them.", []
    part.excerpts.charge(sum(map(len, diff)))
    return line_diff_words(diff), diff


# characters; the worst README of this size takes a second, and for a longer README, only the source is shown
_RENDERED_LIMIT = 100_000
_LINKS = ("http://", "https://", "mailto:")
_LOWER = 3  # number of levels by which a README's headings are moved down, so that they are below the report's


def rendered(markdown: str) -> Markup | None:
    """Return a README as HTML, or None if it is too long.

    Images become text, and only web and mail links remain links.
    """
    return None if len(markdown) > _RENDERED_LIMIT else Markup(_renderer().render(markdown))


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # The parser accepts all targets: the render rules below preserve the text of a refused link.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    for rule in (_image, _link_open, _link_close, _heading_open, _heading_close):
        parser.add_render_rule(rule.__name__[1:], rule)
    return parser


def _image(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    source = str(token.attrs.get("src", ""))
    shown = source if len(source) <= 200 else f"{source[:200]}…"
    return f'<span class="image" title="not loaded: {escape(shown)}">▨ {escape(token.content or "image")}</span>'


def _link_open(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    target = escape(str(tokens[place].attrs.get("href", "")))
    if _leads(tokens[place]):
        return f'<a href="{target}" rel="noopener noreferrer nofollow">'
    return f'<span class="nowhere" title="{target}">'


def _leads(token: Any) -> bool:
    return str(token.attrs.get("href", "")).lower().startswith(_LINKS)


def _link_close(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    # Links do not nest in Markdown, so the nearest opening token is the matching one.
    opening = next(tokens[at] for at in range(place, -1, -1) if tokens[at].type == "link_open")
    return "</a>" if _leads(opening) else "</span>"


def _heading_open(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    level = int(tokens[place].tag[1:])
    return f'<h{min(6, level + _LOWER)} class="level{level}">'


def _heading_close(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    return f"</h{min(6, int(tokens[place].tag[1:]) + _LOWER)}>\n"
