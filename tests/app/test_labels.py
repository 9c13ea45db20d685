"""Stars and tags in the app: a key gives one, it is seen where the item is listed, and the list of all leads back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import regenerated
from recorded import Recorder
from regeneration_app import regeneration
from trajectory_app import press, quiet, screen_text, table_of_trials, trajectory, until

from workbench.app.labels_screen import LabelsScreen
from workbench.session import SessionReader
from workbench.session.labels import STAR, criterion_part


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "demo.session")
    yield made
    made.close()


@pytest.fixture
def two(recorder: Recorder) -> Path:
    """Two trials of two steps each."""
    recorder.run(state="done")
    for trial in ("t1", "t2"):
        recorder.trial(trial)
        recorder.tool(trial, 1, "list_directory", ".", "[]")
        recorder.tool(trial, 2, "read_file", "a.py", "print('first')")
        recorder.finish(trial)
        recorder.score(trial, recorded.card())
    return recorder.path


def labels(path: Path) -> set[tuple[str, str, str]]:
    with SessionReader(path) as reader:
        return {(row.item, row.part, row.label) for row in reader.labels()}


async def tag(pilot: Pilot[int], text: str) -> None:
    await pilot.press("t")
    await until(pilot, lambda: "Separate tags with commas." in screen_text(pilot.app), "the question")
    await pilot.press(*text, "enter")


async def test_a_trial_is_tagged_in_the_table_and_found_by_it(two: Path) -> None:
    async with trajectory(two) as (pilot, _):
        screen = await table_of_trials(pilot)
        assert "tags" not in screen_text(pilot.app).splitlines()[2]
        first = screen.table.selected.id  # type: ignore[union-attr]
        await tag(pilot, "to read, [b]odd")
        await until(pilot, lambda: labels(two) == {(first, "", "to read"), (first, "", "[b]odd")}, "the tags")
        await until(pilot, lambda: "[b]odd, to read" in screen_text(pilot.app), "the tags in the table")
        await pilot.press("asterisk")
        await until(pilot, lambda: f"{STAR}, [b]odd, to read" in screen_text(pilot.app), "the star")
        screen.filter_trials(screen.table.filter.choosing("tag", "to read"))
        assert [line.id for line in screen.table.shown] == [first]
        await pilot.press("asterisk")
        await until(pilot, lambda: (first, "", STAR) not in labels(two), "no star")


async def test_what_was_typed_stays_while_it_is_wrong(two: Path) -> None:
    async with trajectory(two) as (pilot, _):
        await table_of_trials(pilot)
        await tag(pilot, "good," + "x" * 41)
        await until(pilot, lambda: "A tag has at most 40 characters" in screen_text(pilot.app), "what is wrong")
        assert "good,xxxx" in screen_text(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: "Separate tags" not in screen_text(pilot.app), "the table")
        assert labels(two) == set()


async def test_a_step_a_criterion_or_the_trial_by_the_pane_with_the_focus(two: Path) -> None:
    async with trajectory(two, trial="t1") as (pilot, screen):
        await press(pilot, screen, "l", "asterisk")
        await until(pilot, lambda: ("t1", "2", STAR) in labels(two), "a star of the step")
        await until(pilot, lambda: f"2{STAR}" in screen_text(pilot.app), "its sign in the list")
        await press(pilot, screen, "s", "asterisk")
        item = screen.score_pane.selected
        assert item is not None
        part = criterion_part("aeo-bench", 1, item.key)
        await until(pilot, lambda: ("t1", part, STAR) in labels(two), "a star of the criterion")
        await until(pilot, lambda: f"{STAR} {item.title}" in screen_text(pilot.app), "it stands at the criterion")
        screen.focus_pane(screen.outcome)
        await tag(pilot, "best")
        await until(pilot, lambda: ("t1", "", "best") in labels(two), "a tag of the trial")
        await until(pilot, lambda: "· best ·" in screen_text(pilot.app).splitlines()[0], "it stands in the header")


async def test_a_task_is_tagged(tmp_path: Path) -> None:
    recorder = regenerated.Recorder(tmp_path / "tasks.session")
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: screen.table.selected is not None, "the tasks")
        task = screen.table.selected.id  # type: ignore[union-attr]
        await tag(pilot, "hard")
        await until(pilot, lambda: (task, "", "hard") in labels(recorder.path), "the tag")
        await until(pilot, lambda: "hard" in screen_text(pilot.app) and "tags" in screen_text(pilot.app), "its column")


async def test_a_sample_is_tagged_and_remarked_on_where_its_pane_has_the_focus(tmp_path: Path) -> None:
    recorder = regenerated.Recorder(tmp_path / "tasks.session")
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: bool(screen.detail.candidate), "the sample")
        candidate = screen.detail.candidate
        screen.focus_pane(screen.sample)
        await tag(pilot, "odd loop")
        await until(pilot, lambda: (candidate, "", "odd loop") in labels(recorder.path), "the tag")
        await until(pilot, lambda: "odd loop" in screen_text(pilot.app), "it stands above the sample")
        await pilot.press("a")
        await until(pilot, lambda: "Remark on count_text · sample 1" in screen_text(pilot.app), "the question")
        await pilot.press(*"why", "enter")
        await until(pilot, lambda: "✎ why" in screen_text(pilot.app), "the remark")
        with SessionReader(recorder.path) as reader:
            assert [(note.item, note.text) for note in reader.annotations()] == [(candidate, "why")]


async def test_the_list_of_all_leads_to_each(two: Path, recorder: Recorder) -> None:
    recorder.writer.set_labels("t2", "2", add=("odd",))
    recorder.writer.set_labels("t1", "", add=(STAR,))
    recorder.writer.annotate("t2", "Why this file? \x1b[2J[red]")
    recorder.writer.set_labels("gone", "", add=("lost",))
    recorder.score("t1", recorded.card("strict"))
    recorder.writer.annotate("t1", "Nine points for that", criterion=criterion_part("strict", 2, "usage"))
    async with trajectory(two, trial="t1") as (pilot, screen):
        await pilot.press("number_sign")
        await until(pilot, lambda: isinstance(pilot.app.screen, LabelsScreen), "the list")
        marked = pilot.app.screen
        assert isinstance(marked, LabelsScreen)
        await until(pilot, lambda: len(marked.table.rows) == 5, "all five")
        told = screen_text(pilot.app)
        assert "\x1b" not in told
        assert "Why this file?" in told
        assert "gone, which is no longer in the session" in told
        await pilot.press("slash", *"odd", "enter")
        await until(pilot, lambda: marked.table.narrow_counts() == (1, 5) and marked.table.has_focus, "the one")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the trial")
        await until(
            pilot,
            lambda: (
                quiet(screen)
                and screen.state
                and screen.state.trial.id == "t2"
                and screen.step_list.selected.number == 2
            ),
            "the step",
        )
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LabelsScreen) and pilot.app.screen.table.rows, "back")
        again = pilot.app.screen
        assert isinstance(again, LabelsScreen)
        assert again.table.narrow_counts() == (1, 5)
        assert again.table.selected.text == "odd"
        await pilot.press("escape", "slash", *"nine", "enter")
        await until(pilot, lambda: again.table.narrow_counts() == (1, 5) and again.table.has_focus, "the criterion")
        assert again.table.selected.owner.what == "criterion"
        await pilot.press("enter")
        pane = screen.score_pane
        await until(pilot, lambda: pane.selected is not None and pane.selected.key == "usage", "its row")
        assert pane.card.rubric == "strict"
        await until(pilot, lambda: screen.focused is pane and "✎ Nine points for that" in screen_text(pilot.app), "it")


async def test_an_empty_list_says_how_to_begin(two: Path) -> None:
    async with trajectory(two) as (pilot, _):
        await pilot.press("number_sign")
        await until(pilot, lambda: "There are no stars, tags or remarks yet" in screen_text(pilot.app), "how")


async def test_five_thousand_marks_at_a_small_size(recorder: Recorder) -> None:
    recorder.run(state="done")
    recorder.trial("t1")
    with recorder.writer.transaction():
        for number in range(5000):
            recorder.writer.set_labels("t1", str(number), add=(f"tag {number % 50}",))
    async with trajectory(recorder.path, (60, 15)) as (pilot, _):
        await pilot.press("number_sign")
        await until(pilot, lambda: isinstance(pilot.app.screen, LabelsScreen), "the list")
        marked = pilot.app.screen
        assert isinstance(marked, LabelsScreen)
        await until(pilot, lambda: len(marked.table.rows) == 5000, "all")


async def test_the_example_is_not_written() -> None:
    from workbench.base import paths

    async with trajectory(paths.bundled("sessions") / "example.session") as (pilot, _):
        await table_of_trials(pilot)
        await pilot.press("asterisk", "t")
        await pilot.pause()
        assert "Separate tags with commas." not in screen_text(pilot.app)


async def test_two_apps_that_tag_one_trial_at_once_keep_and_see_both(two: Path) -> None:
    async with trajectory(two) as (one, _), trajectory(two) as (other, _):
        await table_of_trials(one)
        await table_of_trials(other)
        for pilot in (one, other):
            await pilot.press("g", "t")
            await until(pilot, lambda app=pilot.app: "Separate tags with commas." in screen_text(app), "the question")
        # Both were asked before either had written.
        await one.press(*"alpha", "enter")
        await other.press(*"omega", "enter")
        for pilot in (one, other):
            await until(pilot, lambda app=pilot.app: "alpha" in (now := screen_text(app)) and "omega" in now, "both")
    assert {label for _, _, label in labels(two)} == {"alpha", "omega"}
