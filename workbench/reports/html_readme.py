"""Render a README that somebody else's model wrote: no HTML of its own, nothing loaded, no link that does more than lead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_RENDERED_LIMIT = 100_000  # characters; the worst of them take a second; beyond that only the source is shown
_LINKS = ("http://", "https://", "mailto:")
_LOWER = 3  # a README's first heading stands below the report's own


def rendered(markdown: str) -> str | None:
    """Return the README as HTML, None where it is too long to render.

    Every tag in it is the renderer's own; images become their description, links other than to the web lose their
    target.
    """
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
