"""A page as Markdown. Figures are left out: the tables beside them have their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.reports.markdown_text import fence, inline, table
from workbench.reports.page import Diff, Facts, Grid, Note, Page, Part, Points

# An interval in brackets is no link unless something is attached to it; people read this on terminals, too.
_INTERVAL = re.compile(r"\\\[([−+\d., ]+)\\\](?![\[(:])")
_PLUS = re.compile(r"^\\\+(?=\d)")


def page_markdown(page: Page) -> str:
    """Return the page."""
    return "\n".join(block for block in _blocks(page) if block)


def _blocks(page: Page) -> Iterator[str]:
    yield f"# {inline(page.title)}\n"
    yield from map(_part, page.lead)
    for section in page.sections:
        yield f"## {inline(section.title)}\n"
        yield from map(_part, section.parts)


def _part(part: Part) -> str:
    match part:
        case Note():
            return f"{_line(part.text)}\n"
        case Points():
            return "".join(f"- {_line(item)}\n" for item in part.items)
        case Facts():
            return "".join(f"- {inline(label)}: {_line(value)}\n" for label, value in part.pairs if value)
        case Grid():
            right = [place for place in range(len(part.headings)) if place not in part.texts]
            # The marks of escapes are taken out of numbers only after the table has escaped its cells.
            written = table([inline(one) for one in part.headings], part.rows, right)
            bare = "\n".join(" | ".join(_bare(cell) for cell in line.split(" | ")) for line in written.split("\n"))
            return f"{_line(part.caption)}\n\n{bare}" if part.rows else ""
        case Diff():
            return fence("\n".join(f"{sign} {text}" for sign, text in part.lines), "diff")
        case _:
            return ""


def _line(text: str) -> str:
    return _bare(inline(text))


def _bare(text: str) -> str:
    return _PLUS.sub("+", _INTERVAL.sub(r"[\1]", text))
