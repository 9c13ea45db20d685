"""What the Trajectory mode shows when there is little, nothing, too much or something odd to show; and while it grows."""

import re
from dataclasses import replace

import pytest
import recorded
from driving import press, quiet, screen_text, sees, trajectory, until

from workbench.app.trajectory.scores import agreement_lines
from workbench.app.trajectory.trial_state import TrialSnapshot
from workbench.engine.document import LOADING_LOCAL
from workbench.session.rows import ScoreRow


@pytest.fixture
def recorder(tmp_path):
    made = recorded.Recorder(tmp_path / "demo.session")
    yield made
    made.close()


async def test_what_is_waited_for_is_said_with_a_clock(recorder):
    recorder.run(state="queued")
    recorder.trial("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        await until(pilot, lambda: re.search(r"waiting for the engine… \d+ s", screen_text(screen.app)), "a clock")
        recorder.writer.set_run(recorded.RUN, state="running", note=LOADING_LOCAL)
        lease = recorder.writer.acquire(recorded.RUN)
        recorder.writer.set_trial("t1", state="running")
        await sees(pilot, "live: the embedded model is being loaded… ", "The embedded model is being loaded…")
        recorder.writer.set_run(recorded.RUN, note=None)
        await sees(pilot, "first step")
        recorder.tool("t1", 1, "list_directory", ".", "[]")
        await until(pilot, lambda: "first step" not in screen_text(screen.app), "the step")
        recorder.writer.release(lease)


async def test_queued_then_live_then_done(recorder):
    recorder.run(state="queued")
    recorder.trial("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        await sees(pilot, "· waiting for the engine…", "Steps appear here")
        recorder.writer.set_run(recorded.RUN, state="running")
        lease = recorder.writer.acquire(recorded.RUN)
        recorder.writer.set_trial("t1", state="running")
        await sees(pilot, "▸ live", "first step")
        recorder.tool("t1", 1, "list_directory", ".", "[]")
        recorder.tool("t1", 2, "read_file", "a.py", "print('first')")
        await until(pilot, lambda: screen.step_list.selected and screen.step_list.selected.number == 2, "following")
        assert "▸ following" in screen_text(screen.app)
        await sees(pilot, "print('first')")
        await press(pilot, screen, "h")
        recorder.tool("t1", 3, "read_file", "b.py", "print('second')")
        await sees(pilot, "2 newer · G follows")
        assert screen.step_list.selected.number == 1
        await press(pilot, screen, "G")
        assert screen.step_list.selected.number == 3
        recorder.finish("t1")
        recorder.score("t1", recorded.card())
        recorder.writer.set_run(recorded.RUN, state="done")
        recorder.writer.release(lease)
        await sees(pilot, "✓ done", "Score 84 / 100", "Count lines, words and characters")
        assert "following" not in screen_text(screen.app)


async def test_a_key_ends_following_before_the_next_step_is_shown(recorder):
    recorder.run(state="running")
    lease = recorder.writer.acquire(recorded.RUN)
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    recorder.tool("t1", 2, "read_file", "a.py", "print('first')")
    async with trajectory(recorder.path) as (pilot, screen):
        assert screen.step_list.following
        # What the key says is still on its way when the next step comes.
        screen.step_list.action_move(-1)
        third = replace(screen.step_list.steps[1], number=3)
        screen.apply(TrialSnapshot(screen.state, [third], 2, None))
        assert screen.step_list.selected.number == 1
        await sees(pilot, "2 newer · G follows")
        assert screen.step_list.selected.number == 1
    recorder.writer.release(lease)


async def test_interrupted_says_how_to_resume(recorder):
    recorder.run(state="running")
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    async with trajectory(recorder.path) as (_, screen):
        shown = screen_text(screen.app)
        assert "‖ interrupted — press u to resume" in shown
        assert "u resume" in shown
        assert "The engine stopped before a README was written." in screen.outcome.text.document.lines[0].text


async def test_a_trial_whose_judge_failed_is_unscored(recorder):
    recorder.run(state="done")
    recorder.trial("t1", state="done")
    card = recorder.writer.blob('{"rubric": "aeo-bench", "judge": "openai/judge", "criteria": []}')
    problem = "Tiers 3 and 4 are unscored, because the judge openai/judge failed: no."
    recorder.writer.put_score(
        ScoreRow("t1", "aeo-bench", "openai/judge", 40.0, 40.0, 15.0, 25.0, None, None, card, 1.0, problem)
    )
    async with trajectory(recorder.path) as (pilot, screen):
        assert "? unscored — press u" in screen_text(screen.app)
        assert screen.actions.can("resume")
        await pilot.press("3")
        await sees(pilot, "? unscored")


async def test_error_step_is_replaced_when_tried_again(recorder):
    recorder.run(state="running")
    recorder.writer.acquire(recorded.RUN)
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    recorder.step("t1", 2, "error", "timeout", "", problem="The model did not answer.")
    async with trajectory(recorder.path) as (pilot, screen):
        assert "✗ The model did not answer." in screen_text(screen.app)
        recorder.writer.forget_errors("t1")
        recorder.tool("t1", 2, "read_file", "again.py", "print(2)")
        await sees(pilot, "read_file      again.py")
        assert "did not answer" not in screen_text(screen.app)
        assert len(screen.step_list.steps) == 2


@pytest.mark.parametrize("metadata", [None, ["text"]])
async def test_metadata_that_is_no_object(recorder, metadata):
    recorder.run()
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    recorder.finish("t1", readme="", metadata=metadata)
    async with trajectory(recorder.path) as (pilot, screen):
        assert "empty README" in screen_text(screen.app)
        screen.outcome.choose("Metadata")
        await until(
            pilot, lambda: "schema.org requires keys and values" in screen.outcome.text.document.lines[0].text, "it"
        )


async def test_readme_of_five_megabytes(recorder):
    recorder.run()
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    recorder.finish("t1", readme="# Big\n\n" + "some *words* in a row\n" * 60_000)
    async with trajectory(recorder.path) as (pilot, screen):
        assert "# Big" in screen_text(screen.app)
        assert "are not shown. Press > for more." in screen.outcome.text.document.cut
        before = len(screen.outcome.text.document.lines)
        screen.focus_pane(screen.outcome)
        await pilot.pause()
        await press(pilot, screen, "greater_than_sign")
        assert len(screen.outcome.text.document.lines) > 4 * before


async def test_trial_that_is_gone(recorder):
    recorder.run()
    recorder.trial("t1", state="done")
    async with trajectory(recorder.path) as (pilot, screen):
        screen.show_trial("no such trial")
        await until(
            pilot, lambda: quiet(screen) and "not in the open session" in screen_text(screen.app), "the sentence"
        )


async def test_judges_are_switched_by_key_and_their_agreement_is_shown(recorder):
    recorder.run(state="done")
    for number, accuracy in enumerate((10.0, 6.0, 2.0), 1):
        recorder.trial(f"t{number}", state="done", repeat=number)
        recorder.score(f"t{number}", recorded.card(accuracy=accuracy))
        recorder.score(f"t{number}", recorded.card(judge="openai/[b]judge", accuracy=accuracy + 1))
    async with trajectory(recorder.path, trial="t1") as (pilot, screen):
        assert "offline: form and names, not truth" in screen_text(screen.app)
        assert agreement_lines(screen.state.agreement, screen.score_pane.card) == (
            "tier 3 beside openai/[b]judge: -1.0 points, 0% the same, r 1.00, n 3",
            "tier 4 beside openai/[b]judge: +0.0 points, 100% the same, n 3",
        )
        await pilot.press("s", "s")
        await sees(pilot, "judge openai/[b]judge")
        assert screen.score_pane.card.judge == "openai/[b]judge"
        screen.score_pane.scroll_end(animate=False)
        await sees(pilot, "n 3")
        said = " ".join(screen.score_pane.plain_text().split())
        assert "tier 3 beside offline: +1.0 points, 0% the same, r 1.00, n 3" in said
