"""Plots: the canvas and its axes by themselves, and the plots of trials as they are shown."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from app.many_trials import many_trials
from app.recorded import Recorder, word_counter
from app.trajectory_app import screen_text, table_of_trials, trajectory, until
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.app.toolkit.plot import Canvas, ScatterPlot, axis, bar, stacked
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.app.trials.table import SpreadPlot
from workbench.base import glyphs
from workbench.results.trials import against_score, load_trials, scores_by_agent
from workbench.session import SessionReader


def test_dots_stand_where_they_were_put() -> None:
    canvas = Canvas(2, 1)
    canvas.dot(0, 0)  # bottom left
    canvas.dot(1, 1)  # top right
    assert canvas.row(0) == "⡀⠈"
    assert Canvas(3, 1).row(0) == "   "


def test_stacks_have_one_scale() -> None:
    (tall, short), each = stacked([[0.0] * 8, [1.0]], 2, 1)
    assert each == 2
    assert tall.row(0) == "⡇ "
    assert short.row(0) == " ⢀"


@settings(max_examples=60)
@example([100_000.0, -0.00390625], 1, 0)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(1, 9), st.integers(0, 80))
def test_an_axis_holds_its_values(values: list[float], most: int, width: int) -> None:
    made = axis(values, most)
    assert made.low <= min(values) + 1e-6
    assert made.high >= max(values) - 1e-6
    assert 2 <= len(made.ticks) <= most + 2
    assert len(made.written(width)) == width
    labels = [made.label(tick) for tick in made.ticks]
    assert len(set(labels)) == len(labels)


def test_ticks_are_round() -> None:
    assert axis([38.2, 88.9]).ticks == (30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
    small = axis([0.0011, 0.0489], 3)
    assert [small.label(tick) for tick in small.ticks] == ["0.00", "0.02", "0.04", "0.06"]


def test_without_unicode_a_cell_says_how_dense_it_is() -> None:
    assert [glyphs.narrow(char) for char in "⠁⠃⠇⡇⣷⣿"] == [".", ".", ":", ":", "#", "#"]


def test_numbers_are_those_of_the_trials(tmp_path: Path) -> None:
    path = tmp_path / "many.session"
    many_trials(path, 120)
    with SessionReader(path) as reader:
        lines = load_trials(reader).lines
    best = scores_by_agent(lines)[0]
    mine = [one.points for one in lines if (one.agent, one.model) == best.agent and one.points is not None]
    assert best.values == tuple(mine)
    assert best.spread.mean == pytest.approx(statistics.fmean(mine))
    assert best.spread.sd == pytest.approx(statistics.stdev(mine))
    found = against_score(lines)
    assert found.x_name == "cost in $"
    assert len(found.points) + found.left_out == len(lines)
    assert {(point.x, point.y) for point in found.points} <= {(one.cost, one.points) for one in lines}


@pytest.mark.parametrize(("count", "size"), [(20, (80, 24)), (300, (200, 60))])
async def test_plots_of_trials(tmp_path: Path, count: int, size: tuple[int, int]) -> None:
    path = tmp_path / "many.session"
    many_trials(path, count)
    async with trajectory(path, size=size) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(screen.focused, SpreadPlot), "the plot")
        spread, costs = screen.query_one(SpreadPlot), screen.query_one(ScatterPlot)
        first = spread.scores[0]
        assert first.spread.mean is not None
        await until(pilot, lambda: f"{first.spread.mean:.1f}" in screen_text(pilot.app), "its mean")
        assert screen.query_one("#matrix-pane").display is False
        await pilot.press("j")
        await until(pilot, lambda: costs.marked == spread.scores[1].agent, "the next agent, marked in the other plot")
        await pilot.press("tab")
        await until(pilot, lambda: "cost in $" in screen_text(pilot.app), "the axis of the other plot")
        assert "score in points" in screen_text(pilot.app)
        assert "●" in screen_text(pilot.app)
        await pilot.press("j")
        await until(pilot, lambda: costs.marked == spread.scores[2].agent, "an agent further")
        agent, model = spread.scores[2].agent
        await pilot.press("shift+tab", "enter")
        await until(pilot, lambda: len(screen.table.shown) < count, "that agent alone")
        shown = screen.table.shown
        assert {(one.agent, one.model) for one in shown} == {(agent, model)}
        await pilot.press("p")
        await until(pilot, lambda: screen.query_one("#matrix-pane").display, "the matrix again")
        assert isinstance(screen.focused, VirtualView)


def test_a_bar_shows_more_than_nothing() -> None:
    assert [bar(value, 8, 1) for value in (0, 0.01, 4, 8)] == [" ", "▁", "▄", "█"]
    assert bar(1, 16, 4) == "▎   "
    assert bar(16, 16, 4) == "████"
    assert bar(5, 0, 3) == "   "


async def test_steps_have_bars_of_tokens_and_seconds(tmp_path: Path) -> None:
    made = Recorder(tmp_path / "demo.session")
    made.run()
    word_counter(made, "t1")
    made.close()
    async with trajectory(made.path, size=(200, 60)) as (pilot, _):
        lines = screen_text(pilot.app).splitlines()
        longest = next(line for line in lines if "respond" in line and "4,020" in line)
        assert "4,020████████" in longest
        assert "9.4████████" in longest
        assert next(line for line in lines if "1,104" in line and "list_directory" in line).count("█") == 2
