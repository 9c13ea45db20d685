"""Stars and tags in the app: a key gives one, it is seen where the item is listed, and the list of all leads back."""

from pathlib import Path

import pytest
import recorded
import regenerated
from driving import on, press, quiet, regeneration, screen_text, sees, table_of_trials, trajectory, until
from recorded import Recorder
from textual.pilot import Pilot

from workbench.app.labels_screen import LabelsScreen
from workbench.session import SessionReader
from workbench.session.labels import STAR, criterion_part


@pytest.fixture
def recorder(tmp_path):
    made = Recorder(tmp_path / "demo.session")
    yield made
    made.close()


@pytest.fixture
def two(recorder):
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
    await sees(pilot, "Separate tags with commas.")
    await pilot.press(*text, "enter")


async def test_a_trial_is_tagged_in_the_table_and_found_by_it(two):
    async with trajectory(two) as (pilot, _):
        screen = await table_of_trials(pilot)
        assert "tags" not in screen_text(pilot.app).splitlines()[2]
        first = screen.table.selected.id
        await tag(pilot, "to read, [b]odd")
        await until(pilot, lambda: labels(two) == {(first, "", "to read"), (first, "", "[b]odd")}, "the tags")
        await sees(pilot, "[b]odd, to read")
        await pilot.press("asterisk")
        await sees(pilot, f"{STAR}, [b]odd, to read")
        screen.filter_trials(screen.table.filter.choosing("tag", "to read"))
        assert [line.id for line in screen.table.shown] == [first]
        await pilot.press("asterisk")
        await until(pilot, lambda: (first, "", STAR) not in labels(two), "no star")


async def test_a_step_a_criterion_or_the_trial_by_the_pane_with_the_focus(two):
    async with trajectory(two, trial="t1") as (pilot, screen):
        await press(pilot, screen, "l", "asterisk")
        await until(pilot, lambda: ("t1", "2", STAR) in labels(two), "a star of the step")
        await sees(pilot, f"2{STAR}")
        await press(pilot, screen, "s", "asterisk")
        item = screen.score_pane.selected
        part = criterion_part("aeo-bench", 1, item.key)
        await until(pilot, lambda: ("t1", part, STAR) in labels(two), "a star of the criterion")
        await sees(pilot, f"{STAR} {item.title}")
        screen.focus_pane(screen.outcome)
        await tag(pilot, "best")
        await until(pilot, lambda: ("t1", "", "best") in labels(two), "a tag of the trial")
        await until(pilot, lambda: "· best ·" in screen_text(pilot.app).splitlines()[0], "it stands in the header")


@pytest.mark.slow
async def test_a_task_and_a_sample_are_tagged_and_remarked_on_where_their_pane_has_the_focus(tmp_path):
    recorder = regenerated.Recorder(tmp_path / "tasks.session")
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: bool(screen.detail.candidate), "the sample")
        task, candidate = screen.table.selected.id, screen.detail.candidate
        await tag(pilot, "hard")
        await until(pilot, lambda: (task, "", "hard") in labels(recorder.path), "the tag")
        await sees(pilot, "hard", "tags")
        screen.focus_pane(screen.sample)
        await tag(pilot, "odd loop")
        await until(pilot, lambda: (candidate, "", "odd loop") in labels(recorder.path), "the tag")
        await sees(pilot, "odd loop")
        await pilot.press("a")
        await sees(pilot, "Remark on count_text · sample 1")
        await pilot.press(*"why", "enter")
        await sees(pilot, "✎ why")
        with SessionReader(recorder.path) as reader:
            assert [(note.item, note.text) for note in reader.annotations()] == [(candidate, "why")]


async def test_the_list_of_all_leads_to_each(two, recorder):
    recorder.writer.set_labels("t2", "2", add=("odd",))
    recorder.writer.set_labels("t1", "", add=(STAR,))
    recorder.writer.annotate("t2", "Why this file? \x1b[2J[red]")
    recorder.writer.set_labels("gone", "", add=("lost",))
    async with trajectory(two, trial="t1") as (pilot, screen):
        await pilot.press("number_sign")
        marked = await on(pilot, LabelsScreen)
        await until(pilot, lambda: len(marked.table.rows) == 4, "all four")
        told = screen_text(pilot.app)
        assert "\x1b" not in told
        assert "Why this file?" in told
        assert "gone, which is no longer in the session" in told
        await pilot.press("slash", *"odd", "enter")
        await until(pilot, lambda: marked.table.narrow_counts() == (1, 4) and marked.table.has_focus, "the one")
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
        again = await on(pilot, LabelsScreen)
        await until(pilot, lambda: again.table.rows, "back")
        assert again.table.narrow_counts() == (1, 4)
        assert again.table.selected.text == "odd"
