"""Foreign text inside Markdown of ours: escaped where it stands in a line, fenced where it stands for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.text import clean

# An underscore inside a word is no emphasis; what only means something at the start of a line is escaped only there.
_PUNCTUATION = re.compile(r"([\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|^[#+=>-]|#(?=#*$))")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_BACKTICKS = re.compile(r"`+")


def inline(text: object) -> str:
    """Return a text as one line that Markdown shows letter by letter: no markup, no HTML, no table cell's end."""
    flat = " ".join(clean(str(text)).split())
    escaped = _PUNCTUATION.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;"))
    return _NUMBERED.sub(r"\1\\\2", escaped)


def fence(text: str, language: str = "") -> str:
    """Return a text as a code block; the fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{ticks}{language}\n{body}{ticks}\n"


def folded(summary: str, text: str, language: str = "") -> str:
    """Return a code block behind a summary; the blank lines let Markdown read it inside the HTML."""
    return f"<details><summary>{inline(summary)}</summary>\n\n{fence(text, language)}\n</details>\n"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()) -> str:
    """Return a table; ``right`` are the columns that hold numbers."""
    numbers = set(right)
    rule = ["---:" if place in numbers else "---" for place in range(len(headings))]
    lines = [headings, rule, *([inline(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
