"""A list that led somewhere is one key away, as it was left; n and N go through the hits of a search, place by place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
from many_trials import many_trials
from test_search import search_for
from trajectory_app import screen_text, trajectory, until

from workbench.app.runs_screen import RunsScreen
from workbench.app.search_screen import SearchScreen
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen


@pytest.fixture
def session(tmp_path: Path) -> Path:
    recorder = recorded.Recorder(tmp_path / "demo.session")
    recorder.run()
    for repeat in (1, 2, 3):
        recorded.word_counter(recorder, f"trial-{repeat}", repeat=repeat)
    recorder.close()
    return recorder.path


async def test_the_table_of_trials_is_as_it_was_left_and_escape_leads_to_it(tmp_path: Path) -> None:
    many_trials(tmp_path / "many.session", 60)
    async with trajectory(tmp_path / "many.session") as (pilot, _):
        app = pilot.app
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, TrialsScreen) and bool(app.screen.table.shown), "the table")
        table = app.screen.query_one("#trial-table")
        await pilot.press("o", "O", "f")
        await pilot.press("tab")
        await pilot.press(*"planner", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrialsScreen) and len(table.shown) < 60, "the filter")
        await pilot.press("j")
        left, opened = list(table.shown), table.selected.id
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen), "the trial")
        await until(pilot, lambda: app.screen.state is not None and app.screen.state.trial.id == opened, "its steps")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, TrialsScreen), "the table again")
        again = app.screen.table
        assert (again.arrangement.order, again.arrangement.reverse, again.shown) == ("score", True, left)
        assert again.selected is not None
        assert again.selected.id == opened


@pytest.mark.parametrize("query", ["def kind:file", "word_counter kind:name"])
async def test_n_goes_to_the_next_hit_of_the_list_and_escape_back_to_it(session: Path, query: str) -> None:
    """Also where nothing is searched for in the place itself, as in a trial's name."""
    async with trajectory(session) as (pilot, _):
        app = pilot.app
        await search_for(pilot, query)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen), "the first hit")
        await until(pilot, lambda: "hit 1 of 3" in screen_text(app), "where in the hits")
        for number, key in ((2, "n"), (3, "n"), (2, "N")):
            await pilot.press(key)
            trial = f"trial-{number}"
            await until(pilot, lambda t=trial: app.screen.state is not None and app.screen.state.trial.id == t, trial)
            await until(pilot, lambda n=number: f"hit {n} of 3" in screen_text(app), "where in the hits")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen), "the search")
        await until(pilot, lambda: app.screen.hits.cursor == 1, "the hit at which it was left")


async def test_a_search_of_the_trial_takes_n_over(session: Path) -> None:
    async with trajectory(session) as (pilot, screen):
        app = pilot.app
        await search_for(pilot, "def kind:file")
        await pilot.press("enter", "enter")
        await until(pilot, lambda: "hit 1 of 3" in screen_text(app), "where in the hits")
        await pilot.press("slash", *"word", "enter")
        await until(pilot, lambda: "/word  " in screen_text(app) and screen.finder.at >= 0, "the search of the trial")
        assert "of 3 · n N" not in screen_text(app)
        at = screen.finder.at
        await pilot.press("n")
        await until(pilot, lambda: screen.finder.at == at + 1, "its next hit")
        assert screen.state is not None
        assert screen.state.trial.id == "trial-1"


async def test_next_and_previous_go_through_the_table_as_it_is_arranged(tmp_path: Path) -> None:
    many_trials(tmp_path / "many.session", 60)
    async with trajectory(tmp_path / "many.session") as (pilot, screen):
        app = pilot.app
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, TrialsScreen) and bool(app.screen.table.shown), "the table")
        table = app.screen.table
        await pilot.press("o", "O", "slash", *"planner", "enter")
        await until(pilot, lambda: table.narrowed and table.has_focus, "the narrowed table")
        order = [row.id for row in table.in_order()]
        assert 2 < len(order) < 60
        await pilot.press("g", "j", "enter")

        def at(place: int) -> bool:
            shown = app.screen is screen and screen.state is not None and screen.state.trial.id == order[place]
            return shown and f"trial {place + 1} of {len(order)} ·" in screen_text(app)

        await until(pilot, lambda: at(1), "the second")
        await pilot.press("L")
        await until(pilot, lambda: at(2), "the third")
        await pilot.press("H")
        await until(pilot, lambda: at(1), "the second again")
        await pilot.press("H")
        await until(pilot, lambda: at(0), "the first")
        await pilot.press("H")
        await until(pilot, lambda: any("first trial" in one.message for one in app._notifications), "its end")
        await pilot.press("escape")
        await until(
            pilot, lambda: isinstance(app.screen, TrialsScreen) and app.screen.table.selected, "the table again"
        )
        again = app.screen.table
        assert (again.narrowed, again.selected.id) == ("planner", order[0])
        assert [row.id for row in again.in_order()] == order


async def test_next_goes_through_runs_of_both_kinds(tmp_path: Path) -> None:
    from regenerated import Recorder, word_counter

    recorder = recorded.Recorder(tmp_path / "both.session")
    recorder.run()
    recorded.word_counter(recorder, "trial-1")
    recorder.close()
    recorder = Recorder(tmp_path / "both.session")
    word_counter(recorder)
    recorder.close()
    async with trajectory(tmp_path / "both.session") as (pilot, _):
        app = pilot.app
        await pilot.press("U")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and len(app.screen.table.rows) == 2, "the runs")
        first, second = (row.kind for row in app.screen.table.in_order())
        modes = {"document": "trajectory", "regenerate": "regeneration"}
        await pilot.press("g", "enter")
        await until(pilot, lambda: app.current_mode == modes[first] and "run 1 of 2" in screen_text(app), "the first")
        await pilot.press("L")
        await until(pilot, lambda: app.current_mode == modes[second] and "run 2 of 2" in screen_text(app), "the second")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.table.selected, "the runs again")
        assert app.screen.table.selected.kind == second
