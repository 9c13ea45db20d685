"""Pages on a narrow terminal: every table fits, and nothing that a table says is lost."""

from __future__ import annotations

import random
import re

import pytest
from studies.declared_studies import put_matrix

pytest.importorskip("numpy")

from workbench.commands.terminal import Terminal
from workbench.pages.page import BulletList, MarkedText, Note, PageTable, ReportPage, grid
from workbench.pages.study_page import study_page
from workbench.pages.table_layout import fitted
from workbench.pages.writing import rendered
from workbench.session import SessionReader
from workbench.studies.study_reader import read_study


def test_a_study_of_twelve_columns_is_read_at_80(tmp_path, monkeypatch, capsys):
    put_matrix(tmp_path / "matrix.session", 5, 4, 3, 3, 3, random.Random(2))
    with SessionReader(tmp_path / "matrix.session") as reader:
        page = study_page(read_study(reader, "matrix"), resamples=20)
    terminal = Terminal()
    terminal.width = 80
    terminal.print_page(page)
    shown = capsys.readouterr().out
    matrix = shown[shown.index("Pass@1" if "Pass@1" in shown else "pass@1") : shown.index("Differences in")]
    tables = [line for line in matrix.splitlines() if re.search(r"\d\.\d\d  +\d\.\d\d", line)]
    assert tables
    assert max(map(len, tables)) <= 80
    assert "Part 2 of 2." in matrix
    assert re.search(r"docs3 · model/2: 0\.\d\d \[0\.\d\d, 0\.\d\d\], documented 100 %", matrix)


def test_every_number_of_a_divided_table_is_still_there() -> None:
    heads = ("row", *(f"a heading of column {number}" for number in range(30)))
    rows = tuple((f"row {row}", *(f"{row}.{number}" for number in range(30))) for row in range(4))
    whole = grid("All.", heads, rows)
    assert fitted(whole, 10_000) == [whole]
    parts = fitted(whole, 60)
    tables = [part for part in parts if isinstance(part, PageTable)]
    assert len(tables) == len(parts) > 1
    assert sum(len(one.headings) - 1 for one in tables) == 30
    assert {cell for one in tables for row in one.rows for cell in row} == {cell for row in rows for cell in row}


def test_columns_that_are_declared_droppable_go_first() -> None:
    table = PageTable(("id", "why", "x"), (("a", "b" * 20, "c"),), droppable=("why",))
    (narrow,) = fitted(table, 10)
    assert (narrow.headings, narrow.rows) == (("id", "x"), (("a", "c"),))
    assert fitted(table, 80) == [table]


def test_our_own_code_and_links_are_markup_and_others_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    said = "run `workbench show *x*`, see [the *docs*](guide.md)"
    page = ReportPage("p", (Note(MarkedText(said)), Note(said), BulletList((MarkedText("`a_b`"),))))
    shown = {name: "".join(rendered(page, name)) for name in ("md", "html", "latex", "json")}
    assert "run `workbench show *x*`, see [the \\*docs\\*](guide.md)\n" in shown["md"]
    assert "run \\`workbench show \\*x\\*\\`, see \\[the \\*docs\\*\\](guide.md)\n" in shown["md"]
    assert '<code>workbench show *x*</code>, see <a href="guide.md"' in shown["html"]
    assert shown["html"].count("<a href") == 1
    assert r"\texttt{workbench show {*}x{*}}, see the {*}docs{*}" in shown["latex"]
    assert r"\texttt{a\_b}" in shown["latex"]
    Terminal().parts(page.lead[:1])
    assert capsys.readouterr().out == "run `workbench show *x*`, see the *docs*\n"
