"""Back and forward through what was visited, and any place by its name from the palette."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import regenerated
from regenerated import Recorder
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input, OptionList
from trajectory_app import press, quiet, trajectory, until

from workbench.app.location import MOST, History, Location
from workbench.app.palette import NamedLocation, find, load_locations
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.runs_screen import RunsScreen
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base import paths
from workbench.session import SessionReader


@pytest.fixture
def session(tmp_path: Path) -> Path:
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


# -- the history itself


def visit(name: str) -> Location:
    return Location(None, "trajectory", name)


def test_it_goes_as_in_a_browser() -> None:
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


def test_a_place_that_is_shown_already_is_passed_over() -> None:
    history = History()
    for name in ("a", "b", "b"):
        history.leave(visit(name))
    assert history.go(-1, visit("b")) == visit("a")
    assert history.go(-1, visit("a")) is None


@given(st.lists(st.sampled_from(["leave", "back", "forward"]), max_size=60))
def test_back_and_forward_again_is_where_one_was(doings: list[str]) -> None:
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


def test_it_does_not_grow_without_end() -> None:
    history = History()
    for number in range(3 * MOST):
        history.leave(visit(str(number)))
    count = 0
    while history.go(-1, visit(f"at {count}")) is not None:
        count += 1
    assert count == MOST


# -- in the app


async def test_back_to_the_step_of_another_trial_and_forward_again(session: Path) -> None:
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


@pytest.mark.parametrize(
    ("mode", "item"), [("cases", "word_counter"), ("trajectory", "trial-1"), ("regeneration", "run"), ("study", "docs")]
)
async def test_a_dialog_that_opens_on_the_way_stays(
    session: Path, mode: str, item: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trajectory(session, trial="trial-1") as (pilot, _):
        app = pilot.app
        show_mode = app.show_mode

        async def with_dialog(name: str) -> None:
            await show_mode(name)
            await app.push_screen(Dialog())

        monkeypatch.setattr(app, "show_mode", with_dialog)
        await app.show(Location(session, mode, item))
        assert isinstance(app.screen, Dialog)
        assert app.current_mode == mode


async def test_back_to_the_session_that_was_open(session: Path) -> None:
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


async def test_from_the_list_of_runs_over_a_regeneration_to_another_one(recorder: Recorder) -> None:
    """`enter` did nothing where the Regeneration mode lay under the list."""
    regenerated.word_counter(recorder)
    recorder.run(run_id="second")
    recorder.task("count_text", 0, run_id="second")
    async with trajectory(recorder.path) as (pilot, _):
        app = pilot.app
        await pilot.press("4")
        await until(pilot, lambda: isinstance(app.screen, RegenerationScreen) and app.screen.view, "a regeneration")
        first = app.screen.view.run.id
        await pilot.press("U")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.table.rows, "the runs")
        table = app.screen.table
        table.set_cursor(next(at for at, line in enumerate(table.shown, 1) if line.id != first))
        await pilot.press("enter")

        def run_shown() -> str:
            found = app.screen
            return found.view.run.id if isinstance(found, RegenerationScreen) and found.view is not None else ""

        await until(pilot, lambda: run_shown() not in {"", first}, "the other run")
        await pilot.press("alt+left")
        await until(pilot, lambda: run_shown() == first, "back")


# -- by name

PLACES = [
    NamedLocation("trial", "word_counter · white · gpt-4o", "t1"),
    NamedLocation("trial", "word_counter · replay · gpt-4o · repeat 2", "t2"),
    NamedLocation("case", "word_counter", "c1"),
    NamedLocation("case", "countdown_timer", "c2"),
    NamedLocation("task", "Counter.count_words", "k1"),
    NamedLocation("file", "src/wordcount/reading.py", "f1"),
    NamedLocation("session", "Straße_ﬁn", "s1"),
]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("word_counter", "c1"),
        ("white word", "t1"),
        ("replay", "t2"),
        ("cdt", "c2"),
        ("count_w", "k1"),
        ("case count", "c2"),
        ("reading", "f1"),
        ("STRASSE", ""),
        ("straße", "s1"),
        ("nothing of this", ""),
        ("", ""),
    ],
)
def test_what_a_few_letters_mean(typed: str, first: str) -> None:
    found = find(typed, PLACES)
    assert (found[0].place.about if found else "") == first
    for one in found:
        letters = [one.place.name[at].lower() for at in one.letters]
        assert set(letters) <= set(typed.lower())


@given(st.text(max_size=12), st.lists(st.text(max_size=30), max_size=8))
def test_any_text_is_survived(typed: str, names: list[str]) -> None:
    places = [NamedLocation("file", name, "") for name in names]
    for found in find(typed, places):
        assert all(0 <= at < len(found.place.name) for at in found.letters)
    for name in names:
        if name.split() and name.strip():
            assert any(found.place.name == name for found in find(name, places))


def test_a_name_that_repeats_itself_takes_no_time() -> None:
    places = [NamedLocation("task", "a" * 3000, str(number)) for number in range(20)]
    # A pattern that goes back over what it matched would not end within the time limit of a test.
    assert find("a" * 60 + "b", places) == []
    assert find("ab" * 30, places) == []


def test_everything_has_a_name(session: Path, recorder: Recorder) -> None:
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
    await until(pilot, lambda: isinstance(app.screen, CommandPalette), "the palette")
    app.screen.query_one(Input).value = typed

    def first() -> str:
        offered = app.screen.query_one(OptionList)
        return str(offered.get_option_at_index(0).prompt) if offered.option_count else ""

    await until(pilot, lambda: wanted in first(), f"{wanted!r} as the first for {typed!r}")
    await pilot.press("enter")
    if isinstance(app.screen, CommandPalette):
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette), "the palette is closed")


async def test_the_palette_goes_to_trials_files_cases_and_sessions(session: Path) -> None:
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


async def test_the_palette_goes_to_tasks_and_runs(recorder: Recorder) -> None:
    regenerated.word_counter(recorder)
    with SessionReader(recorder.path) as reader:
        tasks = reader.tasks(reader.runs()[0].id)
    async with trajectory(recorder.path) as (pilot, _):
        app = pilot.app
        await by_name(pilot, f"task {tasks[-1].qualified_name}", tasks[-1].qualified_name)

        def selected() -> str:
            found = app.screen
            line = found.selected_task if isinstance(found, RegenerationScreen) and found.view is not None else None
            return line.id if line is not None else ""

        await until(pilot, lambda: selected() == tasks[-1].id, "the task")
        await pilot.press("2")
        await by_name(pilot, "run word_counter", "run · done")
        await until(pilot, lambda: isinstance(app.screen, RegenerationScreen), "the run")
