"""Plots: the canvas and its axes by themselves, and the plots of trials as they are shown."""

from driving import sees, table_of_trials, trajectory, until
from hypothesis import example, given, settings
from hypothesis import strategies as st
from many_trials import many_trials

from workbench.app.toolkit.plot import Canvas, ScatterPlot, axis, stacked
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.app.trials.table import SpreadPlot
from workbench.base import glyphs


def test_dots_stand_where_they_were_put():
    canvas = Canvas(2, 1)
    canvas.dot(0, 0)  # bottom left
    canvas.dot(1, 1)  # top right
    assert canvas.row(0) == "⡀⠈"
    assert Canvas(3, 1).row(0) == "   "


def test_stacks_have_one_scale():
    (tall, short), each = stacked([[0.0] * 8, [1.0]], 2, 1)
    assert each == 2
    assert tall.row(0) == "⡇ "
    assert short.row(0) == " ⢀"


@settings(max_examples=60)
@example([100_000.0, -0.00390625], 1, 0)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(1, 9), st.integers(0, 80))
def test_an_axis_holds_its_values(values, most, width):
    made = axis(values, most)
    assert made.low <= min(values) + 1e-6
    assert made.high >= max(values) - 1e-6
    assert 2 <= len(made.ticks) <= most + 2
    assert len(made.written(width)) == width
    labels = [made.label(tick) for tick in made.ticks]
    assert len(set(labels)) == len(labels)


def test_ticks_are_round():
    assert axis([38.2, 88.9]).ticks == (30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
    small = axis([0.0011, 0.0489], 3)
    assert [small.label(tick) for tick in small.ticks] == ["0.00", "0.02", "0.04", "0.06"]


def test_without_unicode_a_cell_says_how_dense_it_is():
    assert [glyphs.narrow(char) for char in "⠁⠃⠇⡇⣷⣿"] == [".", ".", ":", ":", "#", "#"]


async def test_plots_of_trials(tmp_path):
    count, size = 60, (80, 24)
    path = tmp_path / "many.session"
    many_trials(path, count)
    async with trajectory(path, size=size) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(screen.focused, SpreadPlot), "the plot")
        spread, costs = screen.query_one(SpreadPlot), screen.query_one(ScatterPlot)
        first = spread.scores[0]
        assert first.spread.mean is not None
        await sees(pilot, f"{first.spread.mean:.1f}")
        assert screen.query_one("#matrix-pane").display is False
        await pilot.press("j")
        await until(pilot, lambda: costs.marked == spread.scores[1].agent, "the next agent, marked in the other plot")
        await pilot.press("tab")
        await sees(pilot, "cost in $", "score in points", "●")
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
