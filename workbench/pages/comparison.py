"""A comparison as a page: the two sides, their figures, a table for each pane, and the lines that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.base.text import one_line
from workbench.comparison import panes
from workbench.comparison.texts import Texts
from workbench.pages.page import Note, PageTable, Part, Preformatted, ReportPage, Section


def comparison_page(found: Sequence[panes.PairComparison], notes: Sequence[str] = ()) -> ReportPage:
    """Return the page of one comparison, or of several pairs of groups; equal rows are counted but not listed."""
    lead, *others = (tuple(_head(one)) for one in found)
    sections: list[Section] = []
    for at, one in enumerate(found):
        sections += [Section(" | ".join(one.names[0]), others[at - 1])] if at else []
        sections += [Section(name, tuple(_pane(pane))) for name, pane in one.panes.items() if _is_long(pane)]
    return ReportPage("Side by side", (*lead, *map(_plain, notes)), tuple(sections))


def _is_long(pane: panes.Pane) -> bool:
    return pane.page and not pane.same if isinstance(pane, Texts) else bool(pane.page and pane.rows)


def _head(found: panes.PairComparison) -> Iterator[Part]:
    for side, name in zip("AB", found.names[1], strict=True):
        yield _plain(f"{side}  {name}")
    sentences = (found.status and f"by {found.status}", found.alike, found.note, *found.notes())
    yield from map(_plain, filter(None, sentences))
    rows = ((one.title, *(_text(one.cell(at)) for at in range(3))) for one in found.columns)
    yield PageTable(("", "A", "B", "B − A"), tuple(row for row in rows if any(row[1:])), frozenset({1, 2, 3}))
    for name, pane in found.panes.items():
        if pane.summary and not _is_long(pane):
            yield _plain(f"{name.lower()}: {pane.summary}")


def _pane(pane: panes.Pane) -> Iterator[Part]:
    if isinstance(pane, Texts):
        for side, text in (("A", pane.left), ("B", pane.right)):
            if text.absent:
                yield _plain(f"{side}: {one_line(text.absent, 300)}")
        lines = (
            f"{sign} {''.join(text for text, _ in pieces)}"
            for line in pane.pairs
            if not line.same
            for sign, pieces in (("-", line.left), ("+", line.right))
            if pieces is not None
        )
        yield Preformatted("\n".join(lines), language="diff")
        return
    columns = [one for one in pane.columns if one.page]
    rows = [row for row in pane.rows if pane.page == "all" or row.heading or row.sign != panes.SAME]
    if pane.summary:
        yield _plain(pane.summary)
    yield PageTable(
        tuple(one.title for one in columns),
        tuple(tuple(one_line(_text(one.cell(row)), 200) for one in columns) for row in rows),
        frozenset(place for place, one in enumerate(columns) if not one.text),
    )
    if len(rows) < len(pane.rows):
        yield _plain(f"{len(pane.rows) - len(rows):,} more without a difference")


def _plain(text: str) -> Note:
    return Note(text, "plain")


def _text(cell: panes.Cell) -> str:
    return cell[0] if isinstance(cell, tuple) else cell
