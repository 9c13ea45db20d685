"""Back and forward through what was visited, lists that lead on and are left as they were, and any place by its name from the palette."""

from pathlib import Path

import pytest
import recorded
import regenerated
from driving import on, press, quiet, screen_text, sees, trajectory, until
from hypothesis import given
from hypothesis import strategies as st
from many_trials import many_trials
from test_search import search_for
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from workbench.app.location import History, Location
from workbench.app.palette import NamedLocation, find, load_locations
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.runs_screen import RunsScreen
from workbench.app.search_screen import SearchScreen
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen
from workbench.base import paths
from workbench.session import SessionReader


@pytest.fixture
def session(tmp_path):
    """Three trials, and a regeneration of four tasks."""
    recorder = recorded.Recorder(tmp_path / "trials.session")
    recorder.run()
    for repeat in (1, 2, 3):
        recorded.word_counter(recorder, f"trial-{repeat}", repeat=repeat)
    recorder.close()
    return recorder.path


def other_session(name: str = "other") -> Path:
    paths.sessions_dir().mkdir(parents=True, exist_ok=True)
    recorder = recorded.Recorder(paths.sessions_dir() / f"{name}.session")
    recorder.run()
    recorded.word_counter(recorder, "trial-elsewhere")
    recorder.close()
    return recorder.path


def shows(pilot: Pilot[int], trial: str, step: int | None = None) -> bool:
    screen = pilot.app.screen
    if not isinstance(screen, TrajectoryScreen) or screen.state is None or not quiet(screen):
        return False
    return screen.state.trial.id == trial and (step is None or screen.step_number == step)


def visit(name: str) -> Location:
    return Location(None, "trajectory", name)


def test_it_goes_as_in_a_browser():
    history = History()
    for name in "abc":
        history.leave(visit(name))
    assert history.go(-1, visit("d")) == visit("c")
    assert history.go(-1, visit("c")) == visit("b")
    assert history.go(1, visit("b")) == visit("c")
    history.leave(visit("c"))  # to a new place: what lay ahead is forgotten
    assert not history.ahead
    assert history.go(1, visit("e")) is None
    assert history.go(-1, visit("e")) == visit("c")
    assert history.go(-1, visit("c")) == visit("b")


@given(st.lists(st.sampled_from(["leave", "back", "forward"]), max_size=60))
def test_back_and_forward_again_is_where_one_was(doings):
    history, here = History(), 0
    for number, doing in enumerate(doings, 1):
        if doing == "leave":
            history.leave(visit(str(here)))
            here = number
        else:
            found = history.go(-1 if doing == "back" else 1, visit(str(here)))
            here = int(found.item) if found is not None else here
    before = here
    found = history.go(-1, visit(str(here)))
    if found is not None:
        again = history.go(1, found)
        assert again == visit(str(before))


async def test_back_to_the_step_of_another_trial_and_forward_again(session):
    async with trajectory(session, trial="trial-1") as (pilot, screen):
        await press(pilot, screen, "j", "j")
        step = screen.step_number
        assert step > 1
        await press(pilot, screen, "L")
        await until(pilot, lambda: shows(pilot, "trial-2"), "the next trial")
        await pilot.press("1")
        await until(pilot, lambda: pilot.app.current_mode == "cases", "another mode")
        await pilot.press("alt+left")
        await until(pilot, lambda: shows(pilot, "trial-2"), "back to the mode")
        await pilot.press("alt+left")
        await until(pilot, lambda: shows(pilot, "trial-1", step), "back to the trial, at its step")
        await pilot.press("alt+left")
        await pilot.pause()
        assert shows(pilot, "trial-1", step)
        await pilot.press("alt+right")
        await until(pilot, lambda: shows(pilot, "trial-2"), "forward to the trial")
        await pilot.press("alt+right")
        await until(pilot, lambda: pilot.app.current_mode == "cases", "forward to the mode")


async def test_back_to_the_session_that_was_open(session):
    other = other_session()
    async with trajectory(session, trial="trial-2") as (pilot, screen):
        await press(pilot, screen, "j")
        app = pilot.app
        app.open_session(other, show=True)
        await until(pilot, lambda: shows(pilot, "trial-elsewhere"), "the other session")
        await pilot.press("alt+left")
        await until(pilot, lambda: app.session_path == session and shows(pilot, "trial-2", 2), "back")
        await pilot.press("alt+right")
        await until(pilot, lambda: app.session_path == other and shows(pilot, "trial-elsewhere"), "forward")
        other.unlink()
        await pilot.press("alt+left")
        await until(pilot, lambda: app.session_path == session and shows(pilot, "trial-2", 2), "back again")
        await pilot.press("alt+right")
        await until(
            pilot, lambda: any("other.session" in n.message for n in app._notifications), "why it cannot be opened"
        )
        assert shows(pilot, "trial-2", 2)


async def test_from_the_list_of_runs_over_a_regeneration_to_another_one(recorder):
    """`enter` did nothing where the Regeneration mode lay under the list."""
    regenerated.word_counter(recorder)
    recorder.run(run_id="second")
    recorder.task("count_text", 0, run_id="second")
    async with trajectory(recorder.path) as (pilot, _):
        app = pilot.app
        await pilot.press("4")
        await on(pilot, RegenerationScreen)
        await until(pilot, lambda: app.screen.view, "a regeneration")
        first = app.screen.view.run.id
        await pilot.press("U")
        await on(pilot, RunsScreen)
        await until(pilot, lambda: app.screen.table.rows, "the runs")
        table = app.screen.table
        table.set_cursor(next(at for at, line in enumerate(table.shown, 1) if line.id != first))
        await pilot.press("enter")

        def run_shown() -> str:
            found = app.screen
            return found.view.run.id if isinstance(found, RegenerationScreen) and found.view is not None else ""

        await until(pilot, lambda: run_shown() not in {"", first}, "the other run")
        await pilot.press("alt+left")
        await until(pilot, lambda: run_shown() == first, "back")


PLACES = [
    NamedLocation("trial", "word_counter · white · gpt-4o", "t1"),
    NamedLocation("trial", "word_counter · replay · gpt-4o · repeat 2", "t2"),
    NamedLocation("case", "word_counter", "c1"),
    NamedLocation("case", "countdown_timer", "c2"),
    NamedLocation("task", "Counter.count_words", "k1"),
    NamedLocation("file", "src/wordcount/reading.py", "f1"),
    NamedLocation("session", "Straße_ﬁn", "s1"),
]


def test_what_a_few_letters_mean():
    wanted = {"word_counter": "c1", "white word": "t1", "replay": "t2", "cdt": "c2", "count_w": "k1", "case count": "c2",
              "reading": "f1", "straße": "s1", "nothing of this": "", "": ""}  # fmt: skip
    for typed, about in wanted.items():
        found = find(typed, PLACES)
        assert (found[0].place.about if found else "") == about
        for one in found:
            assert {one.place.name[at].lower() for at in one.letters} <= set(typed.lower())


@given(st.text(max_size=12), st.lists(st.text(max_size=30), max_size=8))
def test_any_text_is_survived(typed, names):
    places = [NamedLocation("file", name, "") for name in names]
    for found in find(typed, places):
        assert all(0 <= at < len(found.place.name) for at in found.letters)
    for name in names:
        if name.split() and name.strip():
            assert any(found.place.name == name for found in find(name, places))


def test_everything_has_a_name(session, recorder):
    other_session("elsewhere")
    regenerated.word_counter(recorder)
    for path, kinds in ((session, {"trial"}), (recorder.path, {"task"})):
        with SessionReader(path) as reader:
            found = load_locations(reader)
        assert {place.kind for place in found} == {"session", "case", "run"} | kinds
    assert load_locations(None)


async def by_name(pilot: Pilot[int], typed: str, wanted: str) -> None:
    """Open the palette, type a name, and choose the first that is offered once that is the one wanted."""
    app = pilot.app
    await pilot.press("ctrl+p")
    await on(pilot, CommandPalette)
    app.screen.query_one(Input).value = typed

    def first() -> str:
        offered = app.screen.query_one(OptionList)
        return str(offered.get_option_at_index(0).prompt) if offered.option_count else ""

    await until(pilot, lambda: wanted in first(), f"{wanted!r} as the first for {typed!r}")
    await pilot.press("enter")
    if isinstance(app.screen, CommandPalette):
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette), "the palette is closed")


async def test_the_palette_goes_to_trials_files_cases_and_sessions(session):
    other = other_session("somewhere-else")
    async with trajectory(session, trial="trial-1") as (pilot, screen):
        await by_name(pilot, "white repeat 3", "repeat 3")
        await until(pilot, lambda: shows(pilot, "trial-3"), "the trial")
        path = next(entry.path for entry in screen.query_one("#tree").entries if entry.step and not entry.directory)
        await by_name(pilot, f"file {path}", path)
        step = next(entry.step for entry in screen.query_one("#tree").entries if entry.path == path)
        await until(pilot, lambda: shows(pilot, "trial-3", step), "the step that met the file")
        await by_name(pilot, "case countdown", "countdown_timer")
        await until(pilot, lambda: pilot.app.current_mode == "cases", "the mode")
        cases = pilot.app.screen
        await until(pilot, lambda: "pyproject.toml" in list(cases.files()), "its files")
        assert cases._shown_key == "countdown_timer"
        await by_name(pilot, "file pyproject", "pyproject.toml")
        await until(pilot, lambda: cases._shown_path == "pyproject.toml", "the file")
        await by_name(pilot, "somewhere", "somewhere-else")
        await until(pilot, lambda: pilot.app.session_path == other and shows(pilot, "trial-elsewhere"), "the session")
        await pilot.press("alt+left")
        await until(pilot, lambda: pilot.app.current_mode == "cases", "back to the case")
        await until(pilot, lambda: cases._shown_path == "pyproject.toml", "and its file")


async def test_n_goes_to_the_next_hit_of_the_list_and_escape_back_to_it(session):
    async with trajectory(session) as (pilot, _):
        app = pilot.app
        await search_for(pilot, "word_counter kind:name")  # nothing is searched for in the place itself
        await pilot.press("enter", "enter")
        await on(pilot, TrajectoryScreen)
        await sees(pilot, "hit 1 of 3")
        for number, key in ((2, "n"), (3, "n"), (2, "N")):
            await pilot.press(key)
            trial = f"trial-{number}"
            await until(pilot, lambda t=trial: app.screen.state is not None and app.screen.state.trial.id == t, trial)
            await until(pilot, lambda n=number: f"hit {n} of 3" in screen_text(app), "where in the hits")
        await pilot.press("escape")
        await on(pilot, SearchScreen)
        await until(pilot, lambda: app.screen.hits.cursor == 1, "the hit at which it was left")


async def test_a_search_of_the_trial_takes_n_over(session):
    async with trajectory(session) as (pilot, screen):
        app = pilot.app
        await search_for(pilot, "def kind:file")
        await pilot.press("enter", "enter")
        await sees(pilot, "hit 1 of 3")
        await pilot.press("slash", *"word", "enter")
        await until(pilot, lambda: "/word  " in screen_text(app) and screen.finder.at >= 0, "the search of the trial")
        assert "of 3 · n N" not in screen_text(app)
        at = screen.finder.at
        await pilot.press("n")
        await until(pilot, lambda: screen.finder.at == at + 1, "its next hit")
        assert screen.state.trial.id == "trial-1"


async def test_next_and_previous_go_through_the_table_as_it_is_arranged(tmp_path):
    many_trials(tmp_path / "many.session", 60)
    async with trajectory(tmp_path / "many.session") as (pilot, screen):
        app = pilot.app
        await pilot.press("T")
        await on(pilot, TrialsScreen)
        await until(pilot, lambda: bool(app.screen.table.shown), "the table")
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
        await on(pilot, TrialsScreen)
        await until(pilot, lambda: app.screen.table.selected, "the table again")
        again = app.screen.table
        assert (again.narrowed, again.selected.id) == ("planner", order[0])
        assert [row.id for row in again.in_order()] == order
