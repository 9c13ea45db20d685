"""Parts of the Study mode without an app: how figures are written, how a matrix shares its width, the forest plot."""

import random
from dataclasses import replace

import pytest
from studies.declared_studies import put_agents, put_matrix

from workbench.app.study.actions import active_runs, is_resumable
from workbench.app.study.comparison_lists import forest_row
from workbench.app.study.view import (
    StudyLoader,
    StudySelection,
    cell_sentence,
    cell_text,
    header,
    mean_text,
    shape,
    state_of,
)
from workbench.app.toolkit.cell_table import Grid
from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.plot import axis, place
from workbench.session import SessionReader, SessionWriter
from workbench.statistics.intervals import Value
from workbench.statistics.paired import paired_difference
from workbench.studies.study_reader import read_study
from workbench.studies.wording import figure, signed


@pytest.fixture
def agents(tmp_path):
    scores = {
        ("a", "white"): [80.0, 90.0], ("a", "none"): [50.0, 40.0], ("b", "white"): [60.0, None], ("b", "none"): [70.0, 60.0],
    }  # fmt: skip
    put_agents(tmp_path / "agents.session", scores)
    with SessionReader(tmp_path / "agents.session") as reader:
        return read_study(reader, "agents")


def test_figures_have_as_many_digits_as_they_bear():
    assert [figure(82.04, "score"), figure(0.583, "pass@1"), figure(None, "score")] == ["82.0", "0.58", "–"]
    assert [signed(0.0709, "pass@1"), signed(-16.02, "score"), signed(-0.0001, "pass@1")] == [
        "+0.071",
        "−16.0",
        "0.000",
    ]


def test_a_cell_says_its_mean_or_its_state_and_what_else_has_room(agents):
    assert cell_text(agents.cell("a", "white · local"), "score", 9) == ("85.0", "")
    failed = agents.cell("b", "white · local")
    assert cell_text(failed, "score", 12) == ("60.0 ✗ 1/2", "failed")
    assert cell_text(failed, "score", 8) == ("✗ 60.0", "failed")
    assert "✗ The model gave no answer." in cell_sentence(agents, failed, "score")
    assert state_of(agents) == "✗ 1 of 4 cells failed"
    assert shape(agents.study, 2) == "2 cases × 2 agents"
    assert [part.text for part in header(agents, "score", "")][1] == "agents"
    assert mean_text(agents.by_column[0].means["score"], 3, "score", 14) == "72.5 1 failed"


def test_what_is_under_way_can_be_cancelled_and_what_is_not_goes_on(agents):
    assert (active_runs(agents), is_resumable(agents)) == ((), True)
    key = ("a", "white · local")
    running = replace(agents, cells={**agents.cells, key: replace(agents.cells[key], state="running")})
    assert (active_runs(running), is_resumable(running)) == (("run-white",), False)
    assert state_of(running, 490.0) == "▸ 7 of 8 · about 8 min left"
    assert state_of(running) == "▸ 7 of 8"
    assert state_of(agents, 490.0) == "✗ 1 of 4 cells failed"


def grid(columns: int, names: int = 35, heads: int = 14) -> Grid[str]:
    """A grid of so many columns over one row."""
    name: TableColumn[str] = TableColumn(title="", cell=str, width=10, widest=200, text=True)
    found = Grid(name, [TableColumn(title=f"{at}", cell=str, width=0) for at in range(columns)], heads=heads)
    found.measure(["x" * names])
    return found


@pytest.mark.parametrize("width", [30, 77, 140])
@pytest.mark.parametrize("columns", [1, 4, 12])
def test_the_column_under_the_cursor_is_in_sight_and_nothing_stands_beyond_the_width(columns, width):
    cells = grid(columns)
    for current in [*range(columns), *reversed(range(columns))]:
        cells.move(current)
        (_, names, _), *layout = cells.layout(width)
        shown = [column for column, *_ in layout]
        assert cells.shown[current] in shown
        assert shown == list(cells.shown[cells.first : cells.first + len(shown)])
        assert names + sum(size + len(gap) for _, size, gap in layout) <= width or len(shown) == 1
        assert cells.left_out(width) == columns - cells.first - len(shown)
        assert cells.at(names, width) is shown[0]
        assert cells.at(0, width) is cells.names


def test_columns_are_as_wide_as_their_headings_where_there_is_room():
    assert [grid(2, 12, heads).layout(80)[1][1] for heads in (8, 24, 90)] == [15, 24, 32]


def test_a_forest_plot_has_its_dot_between_its_bounds_and_zero_where_it_lies():
    scale = axis([-0.2, 0.4])
    found = paired_difference([Value("a", "", value) for value in (0.0, 0.1, 0.2, 0.1)])
    text = "".join(part for part, _ in forest_row(found, scale, 31))
    assert len(text) == 31
    assert text.index("●") == place(scale.share(0.1), 31)
    assert text[place(scale.share(0.0), 31)] in "│┼├"
    assert "├" not in text or text.index("├") < text.index("●") < text.index("┤")


def test_the_newest_study_is_read_and_one_that_is_damaged_says_so(tmp_path):
    path = tmp_path / "demo.session"
    put_matrix(path, 2, 2, 1, 1, 2, random.Random(1))
    loader = StudyLoader()
    with SessionReader(path) as reader:
        first = loader.load(reader, StudySelection())
        assert (first.wanted.name, first.outcome is not None) == ("matrix", True)
        assert loader.load(reader, StudySelection("matrix")).outcome is first.outcome
        with SessionWriter(path) as writer:
            writer.insert("studies", {"name": "broken", "declaration": "{", "created_at": 2e9})
        view = loader.load(reader, StudySelection("gone"))
        assert (view.wanted.name, view.outcome) == ("broken", None)
        assert "damaged" in view.problem
        assert [line.name for line in view.lines] == ["matrix", "broken"]
        assert loader.load(reader, StudySelection("matrix")).outcome is not None
