"""Two trials side by side: how one gets there, what differs is told by signs, and no trial is too poor to be compared."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from app.compared import SHORT_README, shorter_trial, two_trials
from app.many_trials import many_trials
from app.recorded import README, Recorder, card, word_counter
from app.trajectory_app import screen_text, table_of_trials, trajectory, until
from samples.hostile_names import NAME, SHOWN, obeyed
from textual.pilot import Pilot

from workbench.app.compare_screen import SideBySide
from workbench.app.difference_list import DifferenceList
from workbench.app.location import Location, MarkedItem, MarkedPair, Marks
from workbench.comparison.panes import PairComparison
from workbench.comparison.trials import compare, read_side
from workbench.session import SessionReader, SessionWriter

SIZES = [(60, 20), (80, 24), (120, 40), (200, 60)]


async def compared(pilot: Pilot[int]) -> SideBySide:
    """Wait until the comparison is shown."""
    await until(pilot, lambda: isinstance(pilot.app.screen, SideBySide), "the comparison")
    screen = pilot.app.screen
    assert isinstance(screen, SideBySide)
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


def test_a_third_mark_takes_the_place_of_the_oldest() -> None:
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


def test_any_number_of_tasks_is_marked_and_two_are_compared() -> None:
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


def test_the_same_trial_of_two_sessions_is_two_and_another_kind_begins_anew() -> None:
    here, there = (MarkedItem(Path(name), "trial", "a") for name in ("here", "there"))
    marks = Marks()
    marks.toggle(here)
    assert marks.pair("trial", there) == MarkedPair(here, there)
    marks.toggle(MarkedItem(Path("here"), "run", "r"))
    assert (len(marks), marks.of("trial")) == (1, ())


async def test_space_marks_c_compares_and_escape_goes_back(tmp_path: Path, home: Path) -> None:
    async with trajectory(two_trials(tmp_path / "two.session")) as (pilot, behind):
        table = await table_of_trials(pilot)
        await pilot.press("g", "C")
        assert pilot.app.screen is table
        await pilot.press("space", "down")
        assert "A word_counter" in screen_text(pilot.app).replace("│", " ")
        assert "C compares it with this trial" in screen_text(pilot.app)
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


async def test_marks_in_groups_and_the_scale_of_the_table(tmp_path: Path, home: Path) -> None:
    many_trials(tmp_path / "many.session", 120)
    async with trajectory(tmp_path / "many.session", (200, 60)) as (pilot, _):
        table = await table_of_trials(pilot)
        await pilot.press("b", "minus", "down")
        assert table.table.selected is not None
        first = table.table.selected.id
        await pilot.press("space", "down", "s")
        await until(
            pilot, lambda: table.table.trials.scale and table.table.trials.scale.rubric == "strict", "the rubric"
        )
        assert table.table.selected is not None
        second = table.table.selected.id
        await pilot.press("C")
        screen = await compared(pilot)
        assert keys_of(screen) == (first, second)
        assert screen.pair.rubric == "strict"
        # One of them has no such points, so both are compared by those that they have.
        assert "side by side · aeo-bench" in screen_text(pilot.app)


# -- what it shows


@pytest.mark.parametrize("size", SIZES)
async def test_every_size_shows_the_scores_and_each_pane(tmp_path: Path, home: Path, size: tuple[int, int]) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), size) as (pilot, screen):
        text = screen_text(pilot.app)
        assert "79.0" in text
        assert "68.2" in text
        assert "−10.8" in text
        for kind, words in (
            ("steps", "list_directory"), ("points", "−5.9"), ("files", "● read"), ("readme", "{+things in+}"),
        ):  # fmt: skip
            await go_to(pilot, screen, kind)
            await until(pilot, lambda words=words: words in screen_text(pilot.app), words)
            assert all(len(line) <= size[0] for line in screen_text(pilot.app).splitlines())


async def test_steps_are_aligned_and_what_only_one_did_has_its_letter(tmp_path: Path, home: Path) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), (200, 60)) as (pilot, _):
        rows = [line.split("││")[0].strip("│ ").split() for line in screen_text(pilot.app).splitlines()]
    assert ["A", "1", "–", "list_directory", "."] in rows
    assert ["=", "3", "1", "read_file", "wordcount.py"] in rows
    assert ["B", "–", "2", "read_file", "words.json"] in rows
    assert ["=", "4", "3", "respond", "README", "A", "0.6", "kB", "·", "B", "0.3", "kB"] in rows


async def test_figures_stand_under_one_another(tmp_path: Path, home: Path) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), (200, 60)) as (pilot, _):
        lines = screen_text(pilot.app).splitlines()[1:5]
    for title, figures in (("score", ("79.0", "68.2", "−10.8")), ("tokens", ("9,600", "6,100", "−3,500")),
                           ("$", ("0.0213", "0.0101", "−0.0112"))):  # fmt: skip
        ends = {line.index(text) + len(text) for line, text in zip(lines, (title, *figures), strict=True)}
        assert len(ends) == 1, title


async def test_where_names_are_long_what_both_share_is_said_once(tmp_path: Path, home: Path) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), (80, 24)) as (pilot, _):
        lines = screen_text(pilot.app).splitlines()[2:5]
    assert lines[0].strip().startswith("local · word_counter")
    assert [line.split("✓")[0].split() for line in lines[1:]] == [
        ["A", "white", "·", "rep", "1"], ["B", "single-file", "·", "rep", "2"],
    ]  # fmt: skip


async def test_the_keys_go_from_difference_to_difference(tmp_path: Path, home: Path) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), (200, 60)) as (pilot, screen):
        points = await go_to(pilot, screen, "points")
        titles = []
        for _ in range(4):
            assert points.selected is not None
            titles.append(points.selected.name)
            await pilot.press("n")
        assert titles == ["Installation", "Purpose", "Run command", "Clarity"]
        assert points.selected is not None
        assert points.selected.name == "Installation"
        await pilot.press("N")
        assert points.selected is not None
        assert points.selected.name == "Clarity"
        text = screen_text(pilot.app)
        assert "A: short sentences, one idea each" in text
        assert "B: shorter sentences" in text


async def test_what_is_the_same_is_left_out_and_comes_back(tmp_path: Path, home: Path) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), (200, 60)) as (pilot, screen):
        points = await go_to(pilot, screen, "points")
        await pilot.press("n", "f")
        text = screen_text(pilot.app)
        assert "Answer parses" not in text
        assert "… 3 the same" in text
        assert "only what differs" in text
        assert points.selected is not None
        assert points.selected.name == "Purpose"
        await pilot.press("f")
        assert "Answer parses" in screen_text(pilot.app)
        assert points.selected.name == "Purpose"


async def test_swapped_the_differences_have_the_other_sign(tmp_path: Path, home: Path) -> None:
    async with side_by_side(two_trials(tmp_path / "two.session"), (200, 60)) as (pilot, screen):
        await pilot.press("S")
        await until(pilot, lambda: (now := shown(screen)) and now.to_json()["a"]["trial"] == "short", "the other order")
        text = screen_text(pilot.app)
        assert "+10.8" in text
        assert "[-things in-]" in text


# -- trials that lack something


async def test_identical_trials_say_so_and_have_no_difference(tmp_path: Path, home: Path) -> None:
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


@pytest.mark.parametrize("size", SIZES)
async def test_a_failed_trial_without_readme_and_scores(tmp_path: Path, home: Path, size: tuple[int, int]) -> None:
    async with side_by_side(two_trials(tmp_path / "failed.session", readme=None), size) as (pilot, screen):
        assert "✗ failed" in screen_text(pilot.app) or size[0] < 80
        await go_to(pilot, screen, "readme")
        await until(pilot, lambda: "no README" in screen_text(pilot.app), "why there is none")
        points = await go_to(pilot, screen, "points")
        assert sum(map(bool, points.differing)) == 12
        await until(pilot, lambda: "not in its scorecard" in screen_text(pilot.app), "why there are no points")


async def test_an_unscored_criterion_is_no_zero(tmp_path: Path, home: Path) -> None:
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


async def test_a_trial_at_work_is_followed(tmp_path: Path, home: Path) -> None:
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
        await until(pilot, lambda: "# it came" in screen_text(pilot.app), "what came meanwhile")
        assert any(screen.lists[-1].differing)


async def test_two_trials_with_nothing_at_all(tmp_path: Path, home: Path) -> None:
    recorder = Recorder(tmp_path / "empty.session")
    recorder.run()
    for repeat, key in enumerate(("long", "short"), 1):
        recorder.trial(key, repeat=repeat, state="cancelled")
    recorder.close()
    async with side_by_side(tmp_path / "empty.session") as (pilot, _):
        text = screen_text(pilot.app)
        for words in ("Neither trial has a step", "Neither agent saw a file", "not scored", "the trial was cancelled"):
            assert words in text
        await pilot.press("n", "f", "S", "tab", "n", "tab", "N", "G", "g", "down", "pagedown")


async def test_a_trial_of_another_session_is_named_as_missing(tmp_path: Path, home: Path) -> None:
    async with trajectory(two_trials(tmp_path / "two.session")) as (pilot, _):
        pilot.app.push_screen(SideBySide(pair_of(tmp_path / "two.session", "long", "gone")))
        await until(pilot, lambda: "Trial B is not in two.session" in screen_text(pilot.app), "the sentence")
        await pilot.press("n", "f", "S", "tab", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, SideBySide), "the trial")


async def test_damaged_texts_are_named_and_the_rest_is_compared(tmp_path: Path, home: Path) -> None:
    path = two_trials(tmp_path / "damaged.session")
    with sqlite3.connect(path) as file:
        for (digest,) in file.execute(
            "SELECT readme_blob FROM trials WHERE id = 'short' UNION "
            "SELECT card_blob FROM scorecards WHERE trial_id = 'short'"
        ).fetchall():
            file.execute("UPDATE blobs SET data = x'00' WHERE digest = ?", (digest,))
    async with side_by_side(path, (200, 60)) as (pilot, _):
        text = screen_text(pilot.app)
    assert "cannot be read" in text
    assert "68.2" in text
    assert "list_directory" in text


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_text_is_shown_and_not_obeyed(tmp_path: Path, home: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "hostile.session"
    recorder = Recorder(path)
    recorder.run()
    word_counter(recorder, "long", readme=f"# {NAME}\n\nzero\u200bwidth \u202e{NAME}\ttab \ud83d\ude00 {README}")
    recorder.tool("long", 5, NAME, NAME, "x")
    recorder.seen("long", NAME, "read", 5)
    scorecard = json.loads(json.dumps(card()).replace("Purpose", json.dumps(NAME)[1:-1]))
    scorecard["criteria"][0]["reason"] = NAME
    recorder.score("long", scorecard)
    shorter_trial(recorder, "short", readme=f"# {NAME}!\n{SHORT_README}")
    recorder.writer.add_trial("odd", "run-1", 7, (NAME, NAME), NAME, NAME, 1)
    recorder.writer.set_trial("odd", state="failed", error=NAME)
    recorder.close()
    async with side_by_side(path, size) as (pilot, screen):
        for pair in (("long", "short"), ("odd", "long")):
            screen.pair = pair_of(path, *pair)
            screen.comparing.refresh()
            await until(
                pilot, lambda pair=pair: (now := shown(screen)) and now.to_json()["a"]["trial"] == pair[0], "the pair"
            )
            for kind in ("steps", "points", "files", "readme"):
                await go_to(pilot, screen, kind)
                await pilot.press("G", "g", "n", "f")
                await pilot.pause()
                text = screen_text(pilot.app)
                assert not obeyed(text)
                assert all(len(line) <= size[0] for line in text.splitlines())
            assert size[0] < 200 or SHOWN in text
            assert pilot.app.is_running


def test_what_is_read_is_what_is_compared(tmp_path: Path) -> None:
    with SessionReader(two_trials(tmp_path / "two.session")) as reader:
        sides = [read_side(reader, trial, "aeo-bench", "offline") for trial in ("long", "short")]
        assert read_side(reader, "gone", "", "") is None
    left, right = sides
    assert left is not None
    assert right is not None
    found = compare(left, right)
    values = found.to_json()
    assert {name: effort["difference"] for name, effort in values["efforts"].items()} == {
        "steps": -1, "tokens": -3500, "seconds": -6.7, "cost": -0.0112, "score": -10.8,
    }  # fmt: skip
    assert values["words"]["common"] < values["words"]["a"]
    assert {pair.name: pair.sign[0] for pair in found.panes["Files"].rows} == {
        "setup.cfg": "A", "tests/": "A", "wordcount.py": "=", "words.json": "B",
    }  # fmt: skip
