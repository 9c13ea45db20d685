"""What the Trajectory mode shows when there is little, nothing, too much or something odd to show; and while it grows."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
from trajectory_app import press, quiet, screen_text, trajectory, until

from workbench.app.trajectory.scores import agreement_lines
from workbench.app.trajectory.trial_state import TrialSnapshot
from workbench.engine.document import LOADING_LOCAL
from workbench.session import create
from workbench.session.rows import ScoreRow


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[recorded.Recorder]:
    made = recorded.Recorder(tmp_path / "demo.session")
    yield made
    made.close()


async def test_session_without_trials(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    async with trajectory(tmp_path / "empty.session") as (_, screen):
        assert "press 1 and enter to start a run" in screen_text(screen.app)


async def test_what_is_waited_for_is_said_with_a_clock(recorder: recorded.Recorder) -> None:
    recorder.run(state="queued")
    recorder.trial("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        await until(pilot, lambda: re.search(r"waiting for the engine… \d+ s", screen_text(screen.app)), "a clock")
        recorder.writer.set_run(recorded.RUN, state="running", note=LOADING_LOCAL)
        lease = recorder.writer.acquire(recorded.RUN)
        recorder.writer.set_trial("t1", state="running")
        await until(pilot, lambda: "live: the embedded model is being loaded… " in screen_text(screen.app), "the word")
        assert "The embedded model is being loaded…" in screen_text(screen.app)
        recorder.writer.set_run(recorded.RUN, note=None)
        await until(pilot, lambda: "Waiting for the first step…" in screen_text(screen.app), "the next word")
        recorder.tool("t1", 1, "list_directory", ".", "[]")
        await until(pilot, lambda: "first step…" not in screen_text(screen.app), "the step")
        recorder.writer.release(lease)


async def test_queued_then_live_then_done(recorder: recorded.Recorder) -> None:
    recorder.run(state="queued")
    recorder.trial("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        shown = screen_text(screen.app)
        assert "· waiting for the engine…" in shown
        assert "Steps appear here" in shown
        recorder.writer.set_run(recorded.RUN, state="running")
        lease = recorder.writer.acquire(recorded.RUN)
        recorder.writer.set_trial("t1", state="running")
        await until(pilot, lambda: "▸ live" in screen_text(screen.app), "live")
        assert "Waiting for the first step" in screen_text(screen.app)
        recorder.tool("t1", 1, "list_directory", ".", "[]")
        recorder.tool("t1", 2, "read_file", "a.py", "print('first')")
        await until(pilot, lambda: screen.step_list.selected and screen.step_list.selected.number == 2, "following")
        assert "▸ following" in screen_text(screen.app)
        await until(pilot, lambda: "print('first')" in screen_text(screen.app), "its content")
        await press(pilot, screen, "h")
        recorder.tool("t1", 3, "read_file", "b.py", "print('second')")
        await until(pilot, lambda: "2 newer · G follows" in screen_text(screen.app), "a third step")
        assert screen.step_list.selected.number == 1
        await press(pilot, screen, "G")
        assert screen.step_list.selected.number == 3
        recorder.finish("t1")
        recorder.score("t1", recorded.card())
        recorder.writer.set_run(recorded.RUN, state="done")
        recorder.writer.release(lease)
        await until(
            pilot, lambda: "✓ done" in screen_text(screen.app) and "Score 84 / 100" in screen_text(screen.app), "done"
        )
        assert "Count lines, words and characters" in screen_text(screen.app)
        assert "following" not in screen_text(screen.app)


async def test_a_key_ends_following_before_the_next_step_is_shown(recorder: recorded.Recorder) -> None:
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
        await until(pilot, lambda: "2 newer · G follows" in screen_text(screen.app), "following has ended")
        assert screen.step_list.selected.number == 1
    recorder.writer.release(lease)


async def test_interrupted_says_how_to_resume(recorder: recorded.Recorder) -> None:
    recorder.run(state="running")
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    async with trajectory(recorder.path) as (_, screen):
        shown = screen_text(screen.app)
        assert "‖ interrupted — press u to resume" in shown
        assert "u resume" in shown
        assert "The engine stopped before a README was written." in screen.outcome.text.document.lines[0].text


async def test_failed_shows_its_sentence(recorder: recorded.Recorder) -> None:
    recorder.run(state="done")
    recorder.trial("t1", state="failed")
    recorder.writer.set_trial("t1", error="The model did not answer within 180 s. Try again.", error_kind="timeout")
    recorder.step("t1", 1, "error", "timeout", "", problem="The model did not answer within 180 s. Try again.")
    async with trajectory(recorder.path, (160, 40)) as (_, screen):
        shown = screen_text(screen.app)
        assert "✗ failed: The model did not answer within 180 s." in shown
        assert "failed before its score" in shown


async def test_cancelled_before_its_first_step(recorder: recorded.Recorder) -> None:
    recorder.run(state="cancelled")
    recorder.trial("t1", state="cancelled")
    async with trajectory(recorder.path) as (_, screen):
        assert "⊘ cancelled" in screen_text(screen.app)
        assert "cancelled before the first step" in screen.content.text.document.lines[0].text


async def test_a_trial_that_no_engine_took_up_says_so(recorder: recorded.Recorder) -> None:
    recorder.run(state="queued", coming=False)
    recorder.trial("t1")
    async with trajectory(recorder.path) as (_, screen):
        assert "no engine started — press u" in screen_text(screen.app)
        assert screen.actions.can("resume")


async def test_a_trial_whose_judge_failed_is_unscored(recorder: recorded.Recorder) -> None:
    recorder.run(state="done")
    recorder.trial("t1", state="done")
    card = recorder.writer.blob('{"rubric": "aeo-bench", "judge": "openai/judge", "criteria": []}')
    problem = "Tiers 3 and 4 are unscored, because the judge openai/judge failed: no."
    recorder.writer.put_score(
        ScoreRow("t1", "aeo-bench", "openai/judge", 40.0, 40.0, 15.0, 25.0, None, None, card, 1.0, problem)
    )
    async with trajectory(recorder.path) as (pilot, screen):
        assert "? unscored — press u to ask the judge again" in screen_text(screen.app)
        assert screen.actions.can("resume")
        await pilot.press("3")
        await until(pilot, lambda: "? unscored" in screen_text(screen.app), "the list of sessions")


async def test_error_step_is_replaced_when_tried_again(recorder: recorded.Recorder) -> None:
    recorder.run(state="running")
    recorder.writer.acquire(recorded.RUN)
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    recorder.step("t1", 2, "error", "timeout", "", problem="The model did not answer.")
    async with trajectory(recorder.path) as (pilot, screen):
        assert "✗ The model did not answer." in screen_text(screen.app)
        recorder.writer.forget_errors("t1")
        recorder.tool("t1", 2, "read_file", "again.py", "print(2)")
        await until(pilot, lambda: "read_file      again.py" in screen_text(screen.app), "the new step 2")
        assert "did not answer" not in screen_text(screen.app)
        assert len(screen.step_list.steps) == 2


@pytest.mark.parametrize("metadata", [None, [], "text", 3, {}], ids=repr)
async def test_metadata_that_is_no_object(recorder: recorded.Recorder, metadata: object) -> None:
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


async def test_control_sequences_reach_no_terminal(recorder: recorded.Recorder) -> None:
    named = "\x1b[31mred\x1b]0;title\x07\x1b[2J \u202eabc"
    evil = named + "\udcff"
    recorder.run()
    recorder.trial("t1", state="running", case=f"case{named}")
    recorder.tool("t1", 1, "read_file", f"{named}.py", evil, thought=evil)
    recorder.seen("t1", f"{named}.py", "read", 1, 10)
    recorder.score("t1", {"rubric": named, "judge": named, "criteria": [{"tier": 1, "title": evil, "reason": evil}]})
    recorder.finish("t1", readme=f"# {evil}\n\n[{evil}]({evil})\n", metadata={evil: evil})
    async with trajectory(recorder.path) as (pilot, screen):
        for key in ("left_square_bracket", "left_square_bracket", "s", "m"):
            await press(pilot, screen, key)
            shown = screen_text(screen.app)
            assert "red" in shown
            assert [line for line in shown.splitlines() if any(c in line for c in "\x1b\x07\u202e\udcff")] == []


async def test_readme_of_five_megabytes(recorder: recorded.Recorder) -> None:
    recorder.run()
    recorder.trial("t1", state="running")
    recorder.tool("t1", 1, "list_directory", ".", "[]")
    recorder.finish("t1", readme="# Big\n\n" + "some *words* in a row\n" * 240_000)
    async with trajectory(recorder.path) as (pilot, screen):
        assert "# Big" in screen_text(screen.app)
        assert "are not shown. Press > for more." in screen.outcome.text.document.cut
        before = len(screen.outcome.text.document.lines)
        screen.focus_pane(screen.outcome)
        await pilot.pause()
        await press(pilot, screen, "greater_than_sign")
        assert len(screen.outcome.text.document.lines) > 4 * before


async def test_ten_thousand_steps(recorder: recorded.Recorder) -> None:
    recorder.run()
    recorder.trial("t1", state="running")
    with recorder.writer.transaction():
        for number in range(1, 10_001):
            recorder.tool("t1", number, "read_file", f"file{number}.py", f"content {number % 7}")
    recorder.finish("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        assert "Steps 10,000" in screen_text(screen.app)
        await until(pilot, lambda: len(screen.step_list.steps) == 10_000, "all steps")
        await press(pilot, screen, "G")
        assert screen.step_list.selected.number == 10_000
        assert "10,000 read_file" in screen_text(screen.app)


async def test_trial_that_is_gone(recorder: recorded.Recorder) -> None:
    recorder.run()
    recorder.trial("t1", state="done")
    async with trajectory(recorder.path) as (pilot, screen):
        screen.show_trial("no such trial")
        await until(
            pilot, lambda: quiet(screen) and "not in the open session" in screen_text(screen.app), "the sentence"
        )


async def test_judges_are_switched_by_key_and_their_agreement_is_shown(recorder: recorded.Recorder) -> None:
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
        await until(pilot, lambda: "judge openai/[b]judge" in screen_text(screen.app), "the other judge's name")
        assert screen.score_pane.card.judge == "openai/[b]judge"
        screen.score_pane.scroll_end(animate=False)
        await until(pilot, lambda: "n 3" in screen_text(screen.app), "the agreement below the criteria")
        said = " ".join(screen.score_pane.plain_text().split())
        assert "tier 3 beside offline: +1.0 points, 0% the same, r 1.00, n 3" in said
