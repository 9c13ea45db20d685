"""A page as Markdown; external text is escaped or fenced.

Figures are left out, because the tables have the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from workbench.base.text import clean
from workbench.pages import page

# An underscore inside a word is not emphasis; characters that are only special at the start of a line are escaped only
# there.
_PUNCTUATION = re.compile(r"([\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|^[#+=>-]|#(?=#*$))")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_BACKTICKS = re.compile(r"`+")
# An interval in brackets is not a link unless one of these characters follows; unescaped, it is readable on a terminal.
_INTERVAL = re.compile(r"\\\[([−+\d., ]+)\\\](?![\[(:])")
_PLUS = re.compile(r"^\\\+(?=\d)")
_SHORT = 300
"""Prose up to this length is placed on the same line as its title."""


def inline(text: object) -> str:
    """Return a text as one line that Markdown shows literally, without markup, HTML or the end of a table cell."""
    if isinstance(text, page.MarkedText):
        return text.joined(inline, "`{}`".format, "[{}]({})")
    flat = " ".join(clean(str(text)).split())
    escaped = _PUNCTUATION.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;"))
    return _NUMBERED.sub(r"\1\\\2", escaped)


def fence(text: str, language: str = "") -> str:
    """Return a code block with a fence that is longer than any run of backticks inside."""
    text = clean(text)
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{ticks}{language}\n{body}{ticks}\n"


def render(whole: page.ReportPage) -> Iterator[str]:
    yield f"# {inline(whole.title)}\n"
    blocks = map(_part, whole.lead)
    for block in chain(blocks, chain.from_iterable(map(_section, chain(whole.sections, whole.items)))):
        yield f"\n{block}" if block else ""


def _section(section: page.Section) -> Iterator[str]:
    if blocks := list(filter(None, map(_part, section.parts))):
        yield f"## {inline(section.title)}{f' in {inline(section.small)}' if section.small else ''}\n"
        yield from blocks


def _table(shown: page.PageTable) -> str:
    if shown.caption and not shown.rows:
        return ""
    rule = ["---:" if place in shown.right else "---" for place in range(len(shown.headings))]
    lines = [map(inline, shown.headings), rule, *([_line(cell) for cell in row] for row in shown.rows)]
    caption = f"{_line(shown.caption)}\n\n" if shown.caption else ""
    return caption + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _part(part: page.Part) -> str:
    match part:
        case page.Note(kind="problem" | "advice"):
            return f"**{inline(part.text)}**\n"
        case page.Note(kind="remark"):
            return f"> {inline(part.text)}\n"
        case page.Note():
            return f"{_line(part.text)}\n"
        case page.BulletList():
            return "".join(f"- {_line(item)}\n" for item in part.items)
        case page.FactList():
            return "".join(f"- {inline(label)}: {_line(value)}\n" for label, value in part.pairs if value)
        case page.PageTable():
            return _table(part)
        case page.Subheading():
            return _heading(part.title, part.small)
        case page.Preformatted():
            return _literal(part)
        case page.Folded(parts=(page.Preformatted(title="") as text,)):
            return _hidden(part.title, part.small, text)
        case page.Folded(cells=()):
            return "\n".join([_heading(part.title, part.small), *filter(None, map(_part, part.parts))])
        case page.Folded():
            did, what, *numbers = map(inline, part.cells)
            summary = f"**{inline(part.title)}** {did} {what} — {' · '.join(numbers)}\n"
            return "\n".join([summary, *filter(None, map(_part, part.parts))])
        case page.Card():
            from workbench.pages.session_page import criteria

            head = _heading(f"Score by {part.rubric}, {part.judge}: {part.points}")
            return f"{head}\n{_part(criteria(part.scorecard))}" if part.scorecard else head
        case page.Readme():
            shown = "None was submitted.\n" if part.text is None else fence(part.text.text, "markdown")
            cut = [f"Cut; the whole has {part.text.words}.\n"] if part.text is not None and part.text.cut else []
            return "\n".join([*map(_part, part.scores), "### README\n", shown, *cut])
        case _:
            return ""


def _heading(title: str, small: str = "") -> str:
    return f"### {inline(title)}{f', {inline(small)}' if small else ''}\n"


def _literal(part: page.Preformatted) -> str:
    if not part.title:
        return fence(part.text, part.language)
    if part.prose and len(part.text) < _SHORT and "\n" not in part.text.strip():
        return f"- {inline(part.title)}: {inline(part.text)}\n"
    return _hidden(part.title, part.small, part)


def _hidden(title: str, small: str, text: page.Preformatted) -> str:
    """Return a collapsed code block; the blank lines are required for Markdown inside HTML."""
    summary = f"{inline(title)}{f', {inline(small)}' if small else ''}"
    return f"<details><summary>{summary}</summary>\n\n{fence(text.text, text.language)}\n</details>\n"


def _line(text: str) -> str:
    return _PLUS.sub("+", _INTERVAL.sub(r"[\1]", inline(text)))
