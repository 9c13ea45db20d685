"""What every figure is drawn with: text, and the frame of an SVG inside a page.

Colours come from the page's style. Nothing in a figure is loaded, and every text from outside is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.reports.html_parts import e

LETTER = 7.7
"""Width of a letter at 12 px in the widest of the fonts, in px."""


def text(x: float, y: float, words: str, anchor: str, kind: str = "") -> str:
    """Return a text whose ``anchor`` (start, middle, end) is at ``x`` and whose baseline is at ``y``, in px."""
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{e(words)}</text>'


def svg(caption: str, width: float, height: float, parts: Sequence[str], said: str = "") -> str:
    """Return a figure of so many px with its caption; ``said`` is what it shows in words, for whoever does not see it."""
    # Its own width, not the page's: letters stay as large as those around it, and what is wider scrolls.
    return (
        f'<figure><div class="wide"><svg role="img" aria-label="{e(" ".join(filter(None, (caption, said))))}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">{"".join(parts)}</svg></div>'
        f"<figcaption>{e(caption)}</figcaption></figure>\n"
    )
