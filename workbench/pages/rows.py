"""What a page says as rows for other programs: its tables as CSV, or all of it as JSON values.

CSV is quoted as RFC 4180 says. A text that a spreadsheet would take for a formula gets a leading ``'``; numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.base.text import clean, json_text
from workbench.pages.page import Facts, Folded, Note, Page, Part, Points, Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
Cell = str | int | float | None


def safe(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet executes and no terminal obeys."""
    if not isinstance(cell, str):
        return cell
    text = clean(cell)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def line(cells: Sequence[Cell]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([safe(cell) for cell in cells])
    return written.getvalue()


def page_csv(page: Page) -> Iterator[str]:
    """Yield the tables of a page, each with its headings, a blank line between two."""
    tables = [one for parts in (page.lead, *(section.parts for section in page.sections)) for one in _tables(parts)]
    for number, table in enumerate(tables):
        yield "\r\n" if number else ""
        yield from map(line, (table.headings, *table.rows))


def _tables(parts: Iterable[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Folded):
            yield from _tables(part.parts)


def page_json(page: Page) -> Iterator[str]:
    sections = [{"title": one.title, **values_of(one.parts)} for one in page.sections]
    yield json_text({"title": page.title, **values_of(page.lead), "sections": sections}, indent=1) + "\n"


def values_of(parts: Iterable[Part]) -> dict[str, Any]:
    """Return what parts say as JSON values: facts by label, sentences, tables as lists of rows by heading."""
    facts: dict[str, str] = {}
    sentences: list[str] = []
    tables: dict[str, list[dict[str, str]]] = {}
    for part in parts:
        match part:
            case Facts():
                facts |= {label: value for label, value in part.pairs if value}
            case Note():
                sentences.append(part.text)
            case Points():
                sentences += part.items
            case Table():
                tables[part.caption] = [dict(zip(part.headings, row, strict=True)) for row in part.rows]
    return {"facts": facts, "sentences": sentences, "tables": tables}
