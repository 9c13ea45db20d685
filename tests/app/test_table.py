"""The table of declared columns: what leaves first, who gets free room, how rows are sorted and grouped."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.app.toolkit.columns import ColumnLayout, TableColumn
from workbench.app.toolkit.table import Arrangement, Grouping, VirtualTable


@dataclass(frozen=True)
class Book:
    title: str
    shelf: str
    pages: int | None


COLUMNS: tuple[TableColumn[Book], ...] = (
    TableColumn(title="title", cell=lambda book: book.title, width=10, widest=40, text=True, sort=lambda book: book.title),
    TableColumn(title="shelf", cell=lambda book: book.shelf, width=8, widest=30, text=True, priority=1),
    TableColumn(
        title="pages", cell=lambda book: f"{book.pages or 0:,}", width=6, priority=2, sort=lambda book: book.pages,
        descending=True, figure=lambda books: f"{sum(book.pages or 0 for book in books):,}",
    ),
)  # fmt: skip
BOOKS = [Book("Dune", "novels", 612), Book("A" * 35, "novels", None), Book("Ficciones", "stories " * 3, 174)]


def table_of(
    books: list[Book], columns: tuple[TableColumn[Book], ...] = COLUMNS, **arrangement: object
) -> VirtualTable[Book]:
    table = VirtualTable(columns, key=lambda book: book.title, groupings=[Grouping("shelf", lambda book: book.shelf)])
    table.rows = tuple(books)
    table.arrangement = Arrangement(**arrangement)
    table.arrange_rows()
    return table


def test_columns_leave_by_priority_and_free_room_goes_to_what_is_cut():
    columns = ColumnLayout(COLUMNS, BOOKS)
    assert [column.title for column, _, _ in columns.layout(20)] == ["title", "shelf"]
    assert [column.title for column, _, _ in columns.layout(12)] == ["title"]
    assert [size for _, size, _ in columns.layout(200)] == [35, 24, 6]


@given(st.integers(1, 220))
def test_no_row_is_wider_than_its_room_once_the_first_column_fits(width):
    columns = ColumnLayout(COLUMNS, BOOKS)
    if width >= 8:
        assert all(sum(len(text) for text, _ in columns.cells(book, width)) <= max(width, 8) for book in BOOKS)
        assert columns.at(0, width) is COLUMNS[0]


@pytest.mark.parametrize("reverse", [False, True])
def test_what_has_no_value_comes_last_in_either_direction(reverse):
    pages = [book.pages for book in table_of(BOOKS, order="pages", reverse=reverse).shown]
    assert pages == ([174, 612, None] if reverse else [612, 174, None])


def test_a_column_that_is_added_is_laid_out_sorted_by_and_summed_up():
    """One entry is all that a column takes."""
    weight: TableColumn[Book] = TableColumn(
        title="weight", cell=lambda book: f"{len(book.title)} g", width=6, sort=lambda book: len(book.title),
        figure=lambda books: f"{sum(len(book.title) for book in books)} g",
    )  # fmt: skip
    table = table_of(BOOKS, (*COLUMNS, weight), order="weight", grouping="shelf")
    assert [book.title[:4] for book in table.shown] == ["Dune", "Ficc", "AAAA"]
    heading, group = ("".join(text for text, _ in table.parts_of(row, 100)) for row in (0, 1))
    assert group.index("39 g") + len("39 g") == heading.index("weight") + len("weight")


def test_rows_of_a_folded_group_are_not_shown_and_their_figures_are():
    table = table_of(BOOKS, grouping="shelf", folded=frozenset({"novels"}))
    rows = ["".join(text for text, _ in table.parts_of(row, 80)) for row in range(table.row_count())]
    assert not any("Dune" in row for row in rows)
    assert any("novels  2" in row and row.rstrip().endswith("612") for row in rows)
    table.arrangement = replace(table.arrangement, grouping="")
    table.arrange_rows()
    assert table.row_count() == 4
