"""The Check tab beside the README: signs in the margin, alarms below their lines, live while it runs."""

import os
import sqlite3
from dataclasses import asdict

import pytest
import recorded
from driving import press, screen_text, sees, trajectory, until
from recorded import Recorder
from textual.pilot import Pilot

from workbench.app.trajectory.check_list import CheckList
from workbench.app.trajectory.outcome import CHECK
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.checking.verdicts import (
    RULES,
    BlockPart,
    BlockResult,
    BlockVerdict,
    CheckResult,
    to_json,
    works,
)
from workbench.claims.claim import CheckedClaim, Claim, LookupResult, PageRange, Truth
from workbench.session import engine_starts

PAGE = "README.md"
KEY = ("t1", 1, 10.0, RULES)
LINES = recorded.README.splitlines()
BLOCK = LINES.index("python wordcount.py file.txt") + 1
OPTION = LINES.index("| `--words` | only words |") + 1
COMMAND = "python wordcount.py file.txt"


def block(verdict: BlockVerdict, reason: str = "", *, first: int = BLOCK, end: int = 0, **more: object) -> BlockResult:
    part = BlockPart(first, COMMAND, verdict, reason, str(more.get("output", "")), more.get("diff", ()), 0.4)
    return BlockResult(PAGE, first, "shell", verdict, reason, parts=(part,), first=first, end=end or first)


def claim(truth: Truth, line: int = OPTION, text: str = "--words", **more: str) -> CheckedClaim:
    return Claim("option", text, PageRange(line, path=PAGE), LookupResult(truth, **more))


CHECKED = CheckResult(
    (PAGE,),
    (block(BlockVerdict.DIFFERS, "its output differs from the page", diff=("@@ -1 +1 @@", "-3 lines", "+4 lines")),),
    (claim(Truth.UNTRUE, reason="there is no option --words", nearest="--word"), claim(Truth.TRUE, OPTION + 1, "--top")),
)  # fmt: skip


@pytest.fixture
def recorder(tmp_path):
    made = Recorder(tmp_path / "demo.session")
    made.run()
    recorded.word_counter(made, "t1")
    return made


def keep(
    recorder: Recorder, checked: CheckResult, *, key: tuple[str, int, float, int] = KEY, run: str = "check-1"
) -> None:
    """Record a check as an engine does at its end."""
    writer = recorder.writer
    writer.add_run(run, "document", {"trials": [key[0]], "check": "run", "check_only": True})
    writer.set_run(run, state="done")
    writer.put_check(key, run)
    writer.set_check(
        key, state="done", result_blob=writer.blob(to_json(checked)), seconds=1.0, **asdict(works(checked))
    )


async def checks(pilot: Pilot[int], screen: TrajectoryScreen) -> CheckList:
    """Go to the Check tab and wait for what it shows."""
    screen.focus_pane(screen.outcome)
    screen.outcome.choose(CHECK)
    found = screen.outcome.checks
    await until(pilot, lambda: found.display and found.shown is not None and screen.outcome.loader.idle, "the check")
    screen.set_focus(found)
    return found


async def test_alarms_stand_below_their_lines_and_enter_shows_the_rest(recorder):
    keep(recorder, CHECKED)
    recorder.close()
    async with trajectory(recorder.path) as (pilot, screen):
        shown = await checks(pilot, screen)
        assert len(shown.alarms) == 2
        await press(pilot, screen, "n")
        assert shown.number == BLOCK
        await sees(pilot, "≠", "differs: its output")
        text = screen_text(pilot.app)
        assert "+4 lines" not in text
        assert "differs: its output" in screen.subject().text  # what y copies
        await press(pilot, screen, "enter")
        await sees(pilot, "shell · differs", "-3 lines", "+4 lines")
        await press(pilot, screen, "enter", "n")
        assert "+4 lines" not in screen_text(pilot.app)
        assert shown.number == OPTION
        assert "there is --word" in screen_text(pilot.app)
        for key, number in (("n", BLOCK), ("N", OPTION)):
            await press(pilot, screen, key)
            assert shown.number == number


async def test_works_stands_beside_the_points_of_strict_and_in_none(recorder):
    async with trajectory(recorder.path) as (pilot, screen):
        await press(pilot, screen, "s", "s")
        before = screen.score_pane.card
        assert before.rubric == "strict"
        assert "not checked yet; V checks the README" in screen_text(pilot.app)
        keep(recorder, CHECKED)
        keep(
            recorder, CheckResult((PAGE,), (), CHECKED.claims), key=("t1", 0, 10.0, RULES), run="check-2"
        )  # of claims alone
        await sees(pilot, "0 of 1 blocks work, 1 of 2 claims are true", "not part of the score")
        assert screen.score_pane.card == before
        await press(pilot, screen, "s")
        assert "blocks work" not in screen_text(pilot.app)


async def test_a_check_is_followed_while_it_runs_and_c_stops_it(recorder):
    writer = recorder.writer
    writer.add_run("check-2", "document", {"trials": ["t1"], "check": "run", "check_only": True})
    writer.put_check(KEY, "check-2")
    engine_starts.started("check-2", os.getpid())
    async with trajectory(recorder.path) as (pilot, screen):
        shown = await checks(pilot, screen)
        assert "Checking: an engine is starting…" in screen_text(pilot.app)
        assert shown.shown is not None
        await press(pilot, screen, "V")
        with sqlite3.connect(recorder.path) as connection:
            assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)
        lease = writer.acquire("check-2")
        writer.set_run("check-2", state="running")
        waiting = CheckResult((PAGE,), (block(BlockVerdict.WORKS, first=3), block(BlockVerdict.NOT_RUN)), waiting=(1,))
        writer.set_check(KEY, state="running", problem="running blocks…", partial=to_json(waiting))
        await sees(pilot, "running blocks… · 1 of 2 blocks")
        rows = {line.number: line.word for line in shown._lines}
        assert (rows[3], rows[BLOCK]) == ("works", "waiting")
        await press(pilot, screen, "c")
        await until(pilot, lambda: writer.take_requests("check-2") == ["cancel"], "the request")
        writer.set_check(
            KEY,
            state="done",
            problem=None,
            partial="",
            result_blob=writer.blob(to_json(CHECKED)),
            **asdict(works(CHECKED)),
        )
        writer.set_run("check-2", state="done")
        writer.release(lease)
        await sees(pilot, "0/1 blocks · 1/2 claims")
        assert screen.state.check_run == ""
    recorder.close()


@pytest.mark.parametrize(
    ("state", "problem", "sentence"),
    [
        ("failed", "The README has 9 MB.", "The README has 9 MB."),
        ("running", "running blocks…", "interrupted"),
    ],
)
async def test_one_that_did_not_come_to_its_end_says_why(recorder, state, problem, sentence):
    writer = recorder.writer
    writer.add_run("check-1", "document", {"trials": ["t1"], "check": "run", "check_only": True})
    writer.set_run("check-1", state="running" if state == "running" else "done")
    writer.put_check(KEY, "check-1")
    writer.set_check(KEY, state=state, problem=problem)
    recorder.close()
    async with trajectory(recorder.path) as (pilot, screen):
        shown = await checks(pilot, screen)
        assert sentence in shown.shown.sentence
        assert "# word_counter" in screen_text(pilot.app)  # the README is there all the same


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("DELETE FROM blobs WHERE digest IN (SELECT result_blob FROM checks)", "is missing from the session file"),
        ("UPDATE checks SET result_blob = (SELECT readme_blob FROM trials)", "The recorded check is damaged"),
    ],
)
async def test_damaged_rows_are_one_sentence_and_the_readme_is_shown(recorder, change, sentence):
    keep(recorder, CHECKED)
    recorder.close()
    with sqlite3.connect(recorder.path) as connection:
        connection.execute(change)
    async with trajectory(recorder.path) as (pilot, screen):
        shown = await checks(pilot, screen)
        assert sentence in shown.shown.sentence
        assert "# word_counter" in screen_text(pilot.app)
