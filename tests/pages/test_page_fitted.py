"""Pages on a narrow terminal: every table fits, and nothing that a table says is lost."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from studies.declared_studies import put_agents, put_matrix

pytest.importorskip("numpy")

from workbench.pages.composing import rendered
from workbench.pages.fitting import fitted
from workbench.pages.page import Page, Points, Section, Table, grid
from workbench.pages.study_page import study_page
from workbench.session import SessionReader
from workbench.studies.following import read_study


def tables(text: str) -> list[list[str]]:
    return [block.split("\n") for block in re.findall(r"(?:^\|.*\n)+", text, re.M)]


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("wide") / "matrix.session"
    put_matrix(path, 5, 4, 3, 3, 3, random.Random(2))
    with SessionReader(path) as reader:
        return study_page(read_study(reader, "matrix"), resamples=20)


def test_twelve_columns_are_read_at_80(wide: Page) -> None:
    text = "".join(rendered(fitted(wide, 80), "md"))
    assert len(tables(text)) > len(tables("".join(rendered(wide, "md"))))
    for block in tables(text):
        assert len({line.count(" | ") for line in block if line}) == 1, "a table that Markdown reads as one"
        assert max(map(len, block)) <= 80
    matrix = text[text.index("## pass@1") : text.index("## pass@3")]
    assert "| repository | A | B | C | D | E | F |\n" in matrix
    assert "| repository | G | H | I | J | K | L |\n" in matrix
    assert re.search(r"^- L: docs3 · model/2: 0\.\d\d \[0\.\d\d, 0\.\d\d\], documented 100 %", matrix, re.M)


def test_where_there_is_room_nothing_changes(wide: Page) -> None:
    assert fitted(wide, 10_000) == wide


def test_every_number_of_a_divided_table_is_still_there() -> None:
    heads = ("row", *(f"a heading of column {number}" for number in range(30)))
    rows = tuple((f"row {row}", *(f"{row}.{number}" for number in range(30))) for row in range(4))
    parts = fitted(Page("x", (), (Section("s", (grid("All.", heads, rows),)),)), 60).sections[0].parts
    grids = [part for part in parts if isinstance(part, Table)]
    assert [sum(values) for values in zip(*[[len(row) - 1 for row in grid.rows] for grid in grids], strict=True)] == [
        30
    ] * 4
    assert {cell for grid in grids for row in grid.rows for cell in row} == {cell for row in rows for cell in row}
    (legend,) = [part for part in parts if isinstance(part, Points)]
    assert legend.items[0] == "A: a heading of column 0"
    assert legend.items[29].startswith("AD: ")
    assert {"AD"} <= {head for grid in grids for head in grid.headings}


def test_agents_keep_their_leaderboard(tmp_path: Path) -> None:
    put_agents(tmp_path / "a.session", {(case, f"agent-{n}"): [50.0 + n, 60.0] for case in "abc" for n in range(12)})
    with SessionReader(tmp_path / "a.session") as reader:
        text = "".join(rendered(fitted(study_page(read_study(reader, "agents"), resamples=20), 80), "md"))
    before = text[: text.index("## Rankings")]  # a ranking of twelve is one long cell of words
    assert max(len(line) for block in tables(before) for line in block) <= 80
    assert "- agent-11: 60.5 [" in text, "short names need no letters"
