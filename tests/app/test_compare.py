"""Two trials side by side: how one gets there, what differs is told by signs, and no trial is too poor to be compared."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from compared import two_trials
from driving import on, screen_text, sees, table_of_trials, trajectory, until
from recorded import Recorder, word_counter
from textual.pilot import Pilot

from workbench.app.compare_screen import SideBySide
from workbench.app.difference_list import DifferenceList
from workbench.app.location import Location, MarkedItem, MarkedPair, Marks
from workbench.comparison.panes import PairComparison
from workbench.session import SessionWriter


async def compared(pilot: Pilot[int]) -> SideBySide:
    """Wait until the comparison is shown."""
    screen = await on(pilot, SideBySide)
    await until(pilot, lambda: screen.query("#head") and shown(screen), "both trials")
    await pilot.pause()
    return screen


def pair_of(session: Path, left: str, right: str) -> MarkedPair:
    return MarkedPair(MarkedItem(session, "trial", left), MarkedItem(session, "trial", right), "aeo-bench", "offline")


def keys_of(screen: SideBySide) -> tuple[object, object]:
    return screen.pair.left.key, screen.pair.right.key


def shown(screen: SideBySide) -> PairComparison | None:
    return screen.comparison if screen.comparing.idle else None


@contextlib.asynccontextmanager
async def side_by_side(
    session: Path, size: tuple[int, int] = (120, 40), left: str = "long", right: str = "short"
) -> AsyncIterator[tuple[Pilot[int], SideBySide]]:
    """Run the app with two trials side by side."""
    async with trajectory(session, size) as (pilot, _):
        screen = SideBySide(pair_of(session, left, right))
        pilot.app.push_screen(screen)
        yield pilot, await compared(pilot)


async def go_to(pilot: Pilot[int], screen: SideBySide, pane: str) -> DifferenceList:
    """Press tab until a list has the focus."""
    wanted = screen.query_one(f"#{pane}-list", DifferenceList)
    for _ in range(4):
        if screen.focused is wanted:
            break
        before = screen.focused
        await pilot.press("tab")
        await until(pilot, lambda focus=before: screen.focused is not focus, "the next pane")
    assert screen.focused is wanted
    return wanted


# -- how one gets there


def test_a_third_mark_takes_the_place_of_the_oldest():
    here, there = Path("here.session"), Path("there.session")
    a, b, c, x = (MarkedItem(here, "trial", key, f"trial {key}") for key in "abcx")
    marks = Marks()
    assert marks.pair("trial", x) is None
    marks.toggle(a)
    assert marks.pair("trial", a) is marks.pair("trial", None) is None
    assert marks.pair("trial", x) == MarkedPair(a, x)
    assert marks.sentence(here) == "marked: trial a"
    assert marks.sentence(there) == "marked: trial a of here.session"
    marks.toggle(b)
    assert marks.pair("trial", x) == MarkedPair(a, b)
    marks.toggle(c)
    assert (marks.letter(a), marks.letter(b), marks.letter(c)) == ("", "A", "B")
    marks.toggle(MarkedItem(here, "trial", "b", "called otherwise"))
    assert (marks.letter(c), len(marks)) == ("A", 1)
    marks.keep(there, "trial", set())
    assert len(marks) == 1
    marks.keep(here, "trial", {"a"})
    assert len(marks) == 0


def test_any_number_of_tasks_is_marked_and_two_are_compared():
    here, there = Path("here.session"), Path("there.session")
    a, b, c = (MarkedItem(here, "task", key, f"task {key}") for key in "abc")
    other = MarkedItem(there, "task", "a")
    marks = Marks()
    for one in (a, b):
        marks.toggle(one)
    assert marks.pair("task", None) == MarkedPair(a, b)
    assert (marks.letters(here, "task"), marks.sentence(here)) == ({"a": "A", "b": "B"}, "")
    for one in (c, other):
        marks.toggle(one)
    assert marks.pair("task", a) is None
    assert marks.of("task") == (a, b, c, other)
    assert marks.sentence(here) == "4 tasks are marked"
    assert marks.letters(here, "task") == {"a": "■", "b": "■", "c": "■"}
    assert marks.letters(there, "task") == {"a": "■"}
    for one in (b, other):
        marks.toggle(one)
    assert marks.pair("task", None) == MarkedPair(a, c)
    marks.toggle(MarkedItem(here, "candidate", "x"))
    assert (marks.of("task"), len(marks)) == ((), 1)


async def test_space_marks_c_compares_and_escape_goes_back(tmp_path, home):
    async with trajectory(two_trials(tmp_path / "two.session")) as (pilot, behind):
        table = await table_of_trials(pilot)
        await pilot.press("g", "C")
        assert pilot.app.screen is table
        await pilot.press("space", "down")
        assert "A word_counter" in screen_text(pilot.app).replace("│", " ")
        await pilot.press("C")
        screen = await compared(pilot)
        assert keys_of(screen) == ("long", "short")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is table, "the table")
        await pilot.press("space", "C")
        assert keys_of(await compared(pilot)) == ("long", "short")
        # Another mode shows a trial: nothing may hide it.
        await pilot.app.show(Location(None, "trajectory", "short"))
        await until(pilot, lambda: pilot.app.screen is behind, "the trial")
        assert pilot.app.screen_stack[-1] is behind


# -- what it shows


async def test_differences_are_aligned_stepped_through_filtered_and_swapped(tmp_path, home):
    async with side_by_side(two_trials(tmp_path / "two.session"), (200, 60)) as (pilot, screen):
        text = screen_text(pilot.app)
        for words in ("79.0", "68.2", "−10.8", "list_directory", "−5.9", "● read", "{+things in+}"):
            assert words in text
        rows = [line.split("││")[0].strip("│ ").split() for line in text.splitlines()]
        assert ["A", "1", "–", "list_directory", "."] in rows
        assert ["=", "3", "1", "read_file", "wordcount.py"] in rows
        assert ["B", "–", "2", "read_file", "words.json"] in rows
        points = await go_to(pilot, screen, "points")
        titles = []
        for _ in range(4):
            titles.append(points.selected.name)
            await pilot.press("n")
        assert titles == ["Installation", "Purpose", "Run command", "Clarity"]
        assert points.selected.name == "Installation"
        await pilot.press("N")
        assert points.selected.name == "Clarity"
        await sees(pilot, "A: short sentences, one idea each", "B: shorter sentences", "Answer parses")
        await pilot.press("n", "n", "f")
        text = screen_text(pilot.app)
        assert "Answer parses" not in text
        assert "… 3 the same" in text
        assert points.selected.name == "Purpose"
        await pilot.press("f", "S")
        await until(pilot, lambda: (now := shown(screen)) and now.to_json()["a"]["trial"] == "short", "the other order")
        await sees(pilot, "+10.8", "[-things in-]")


# -- trials that lack something


async def test_identical_trials_say_so_and_have_no_difference(tmp_path, home):
    recorder = Recorder(tmp_path / "same.session")
    recorder.run()
    for repeat, key in enumerate(("long", "short"), 1):
        word_counter(recorder, key, repeat=repeat)
    recorder.close()
    async with side_by_side(tmp_path / "same.session") as (pilot, screen):
        text = screen_text(pilot.app)
        assert "README · the same" in text
        assert [sum(map(bool, one.differing)) for one in screen.lists] == [0, 0, 0, 0]
        await pilot.press("n", "f")
        assert [notice.message for notice in pilot.app._notifications] == ["Nothing differs here."]
        assert "… 4 the same" in screen_text(pilot.app)


async def test_a_failed_trial_without_readme_and_scores(tmp_path, home):
    async with side_by_side(two_trials(tmp_path / "failed.session", readme=None), (80, 24)) as (pilot, screen):
        assert "✗ failed" in screen_text(pilot.app)
        await go_to(pilot, screen, "readme")
        await sees(pilot, "no README")
        points = await go_to(pilot, screen, "points")
        assert sum(map(bool, points.differing)) == 12
        await sees(pilot, "not in its scorecard")


async def test_an_unscored_criterion_is_no_zero(tmp_path, home):
    recorder = Recorder(tmp_path / "unscored.session")
    recorder.run()
    word_counter(recorder, "long")
    word_counter(recorder, "short", repeat=2, accuracy=None)
    recorder.writer.update(
        "scorecards", {"trial_id": "short"}, {"problem": "the judge timed out", "total": 58.0, "out_of": 70.0}
    )
    recorder.close()
    async with side_by_side(tmp_path / "unscored.session", (200, 60)) as (pilot, _):
        lines = screen_text(pilot.app).splitlines()
    assert any("? unscored" in line and "58.0/70" in line for line in lines)
    # Points out of different sums have no difference.
    assert not lines[4].rstrip().endswith("21.0")
    purpose = next(line for line in lines if "Purpose" in line)
    assert purpose.split("Purpose")[1].split()[:5] == ["10.0", "?", "B:", "the", "judge"]


async def test_a_trial_at_work_is_followed(tmp_path, home):
    path = tmp_path / "live.session"
    recorder = Recorder(path)
    recorder.run(state="queued")
    word_counter(recorder, "long")
    recorder.trial("short", repeat=2)
    recorder.close()
    async with side_by_side(path) as (pilot, screen):
        assert "no README yet: the trial waits for its engine" in " ".join(screen_text(pilot.app).split())
        with SessionWriter(path) as writer:
            writer.set_trial("short", state="running", readme_blob=writer.blob("# it came"))
        await sees(pilot, "# it came")
        assert any(screen.lists[-1].differing)


async def test_a_trial_of_another_session_is_named_as_missing(tmp_path, home):
    async with trajectory(two_trials(tmp_path / "two.session")) as (pilot, _):
        pilot.app.push_screen(SideBySide(pair_of(tmp_path / "two.session", "long", "gone")))
        await sees(pilot, "Trial B is not in two.session")
        await pilot.press("n", "f", "S", "tab", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, SideBySide), "the trial")
