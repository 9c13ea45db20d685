"""reStructuredText read as far as a README needs it: headings, literal blocks, directives, lists, paragraphs, with spans."""

from __future__ import annotations

import re
from collections.abc import Callable

_ADORNMENT = re.compile(r"^([=\-~^\"'`#*+.:_<>])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"^\.\. +(?:\|[^|\n]+\| +)?([\w-]+):: *(\S*)")
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "prompt", "console", "doctest"})
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#\.)[ \t]+\S")
_SIGNS = re.compile(r"^\.\. +(?:\|[^|\n]+\| +)?[\w-]+::|`_{1,2}(?!\w)|::[ \t]*$", re.M)
_MARKDOWN = re.compile(r"^#{1,6} \S|^(?:```|~~~\w)|\]\(", re.M)


def is_restructured(text: str) -> bool:
    """Tell whether a README is reStructuredText: it has directives, links or literal blocks of it and more of them than Markdown."""
    head = text[:20_000]
    signs = len(_SIGNS.findall(head))
    return signs > 0 and signs > len(_MARKDOWN.findall(head))


def parts(
    text: str,
    heading: Callable[[int, str, int, int], None],
    code: Callable[[str, str, int, int], None],
    prose: Callable[[str, str, int, int], None],
) -> tuple[int, int]:
    """Call back for each heading, code block and paragraph of a reStructuredText document, in order.

    Args:
        text: The document.
        heading: Gets level (from 1), text and span.
        code: Gets language (may be empty), code and span.
        prose: Gets ``prose`` or ``row``, text and span.

    Returns:
        The numbers of list items and of tables.
    """
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    bare = [line.rstrip() for line in lines]
    styles: list[str] = []
    lists = tables = 0
    literal = False
    index = 0
    while index < len(bare):
        line = bare[index]
        if not line:
            index += 1
            continue
        if literal and line[:1] in " \t":
            end = _indented(bare, index)
            code("", _dedented(lines[index:end]), starts[index], starts[end])
            index, literal = end, False
            continue
        literal = False
        over = (
            _ADORNMENT.match(line)
            and index + 2 < len(bare)
            and _ADORNMENT.match(bare[index + 2])
            and bare[index + 1].strip()
        )
        under = index + 1 < len(bare) and _ADORNMENT.match(bare[index + 1]) and line[:1] not in " \t"
        if over or (under and not _ADORNMENT.match(line) and len(bare[index + 1]) + 2 >= min(len(line), 80)):
            title = bare[index + 1] if over else line
            style = line[0] * 2 if over else bare[index + 1][0]
            if style not in styles:
                styles.append(style)
            last = index + (3 if over else 2)
            heading(min(styles.index(style) + 1, 6), title.strip(), starts[index], starts[last] - 1)
            index = last
            continue
        directive = _DIRECTIVE.match(line)
        if directive or line.startswith(".. "):
            end = _indented(bare, index + 1)
            name = directive.group(1) if directive else ""
            if name in _CODE:
                body = [row for row in lines[index + 1 : end] if not re.match(r"^\s+:[\w-]+:", row)]
                language = (directive.group(2) if directive else "").lower()
                code(
                    language or ("console" if name in {"console", "prompt"} else ""),
                    _dedented(body),
                    starts[index],
                    starts[end],
                )
            elif name in {"note", "warning", "tip", "important", "hint", "attention"}:
                prose("prose", "".join(lines[index + 1 : end]), starts[min(index + 1, end)], starts[end])
            index = max(end, index + 1)
            continue
        if line.startswith(">>>"):
            end = index
            while end < len(bare) and bare[end]:
                end += 1
            code("pycon", "".join(lines[index:end]), starts[index], starts[end])
            index = end
            continue
        end = index + 1
        while end < len(bare) and bare[end] and not _BULLET.match(bare[end]) and not bare[end].startswith(".. "):
            if end + 1 < len(bare) and _ADORNMENT.match(bare[end + 1]) and end > index:
                break
            end += 1
        grid = re.match(r"^\s*(?:\+[-=+]+\+|=+ +=)", line) is not None
        tables += grid
        lists += _BULLET.match(line) is not None
        said = "".join(lines[index:end])
        prose(
            "row" if grid else "prose",
            re.sub(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#\.)\s+", "", said),
            starts[index],
            starts[end],
        )
        literal = bare[end - 1].endswith("::")
        index = end
    return lists, tables


def _indented(bare: list[str], start: int) -> int:
    """Return the first line from ``start`` that is neither empty nor indented; empty lines at the end are not taken."""
    end = start
    while end < len(bare) and (not bare[end] or bare[end][:1] in " \t"):
        end += 1
    while end > start and not bare[end - 1]:
        end -= 1
    return end


def _dedented(lines: list[str]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "".join(line[min(indents, default=0) :] if line.strip() else "\n" for line in lines).strip("\n") + "\n"
