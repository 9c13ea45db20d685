"""The Trajectory mode on recorded sessions, driven by keys."""

import os
import re
import signal
from pathlib import Path

import pytest
import recorded
from driving import press, quiet, screen_text, sees, trajectory, until
from engine.author import Author

from workbench.app.toolkit.text_pane import TextPane
from workbench.orders import launching
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan


@pytest.fixture
def recorder(tmp_path):
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run()
    yield made
    made.close()


@pytest.fixture
def two_trials(recorder):
    recorded.word_counter(recorder, "t1", accuracy=None)
    other = recorded.README.replace("nothing else to install", "only `click` to install")
    recorded.word_counter(recorder, "t2", repeat=2, readme=other)
    return recorder.path


async def test_steps_contents_and_tabs(two_trials):
    async with trajectory(two_trials, trial="t2") as (pilot, screen):
        assert screen.step_list.selected.number == 1
        assert screen.content.tab == "Observation"
        await press(pilot, screen, "l")
        assert screen.content.tab == "Thought"
        assert "I will now read the main file." in screen.content.text.document.text
        assert "! The answer has no <json>" in screen_text(screen.app)
        await press(pilot, screen, "l")
        assert screen.content.tab == "Observation"
        assert "import argparse" in screen.content.text.document.text
        await press(pilot, screen, "left_square_bracket")
        assert screen.content.tab == "Action"
        await press(pilot, screen, "h", "h", "right_square_bracket", "right_square_bracket")
        assert screen.content.tab == "Prompt"
        sent = screen.content.text.document.text
        assert "1,064 tokens sent" in sent
        assert recorded.SYSTEM in sent
        assert recorded.TASK in sent
        await press(pilot, screen, "right_square_bracket")
        assert screen.content.tab == "Raw"
        raw = screen.content.text.document.text
        assert "temperature 0.3" in raw
        assert "1,064 in · 40 out" in raw


async def test_held_down_key_reads_only_the_last_step(tmp_path, recorder):
    recorder.trial("t1", state="running")
    for number in range(1, 200):
        recorder.tool("t1", number, "read_file", f"file{number}.py", f"content of file {number}")
    recorder.finish("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        await until(pilot, lambda: len(screen.step_list.steps) == 199, "all steps")
        asked: list[str] = []
        text = screen.workbench.reader.text
        screen.workbench.reader.text = lambda digest, *more, **named: (
            asked.append(digest),
            text(digest, *more, **named),
        )[1]
        for _ in range(150):
            screen.action_step(1)
        await until(pilot, lambda: quiet(screen), "the content")
        assert screen.step_list.selected.number == 151
        assert "content of file 151" in screen_text(screen.app)
        assert len(asked) < 20


async def test_other_trial_and_difference(two_trials):
    async with trajectory(two_trials, trial="t2") as (pilot, screen):
        await press(pilot, screen, "H")
        assert screen.state.trial.id == "t1"
        assert "trial 1 of 2" in screen_text(screen.app)
        await press(pilot, screen, "L")
        screen.focus_pane(screen.outcome)
        await pilot.pause()
        await press(pilot, screen, *["right_square_bracket"] * 4)
        text = screen.outcome.text.document.text
        assert "Python 3.11 or newer; there is only `click` to install." in text
        assert "- Python 3.11 or newer; there is nothing else to install." in text
        assert "README  +1 −1 lines" in text
        assert re.search(r"^3 Accuracy +\? +21\.0", text, re.MULTILINE)


async def test_scores_evidence_and_rubrics(two_trials):
    async with trajectory(two_trials, trial="t1") as (pilot, screen):
        await sees(pilot, "Score 63 / 70 · aeo-bench", "? unscored (the judge", "form and names, not truth")
        await press(pilot, screen, "s", "j", "j", "j", "e")
        pane = screen.outcome.text
        assert [_marked(pane)] == [["Installation"]]
        await press(pilot, screen, "j", "e", "e")
        assert _marked(pane) == ["python wordcount.py file.txt"]
        await press(pilot, screen, "m", "e", "e")
        assert screen.outcome.raw
        assert _marked(pane) == ["python wordcount.py file.txt"]
        await press(pilot, screen, "j", "j", "j", "e")  # dependencies: a line of a file that step 3 read
        assert screen.step_list.selected.number == 3
        assert _marked(screen.content.text) == ["import argparse"]
        await press(pilot, screen, "s")
        assert "strict" in screen_text(screen.app)
        assert screen.score_pane.card.rubric == "strict"


def _marked(pane: TextPane) -> list[str]:
    return [pane.document.lines[mark.line].text[mark.start : mark.end] for mark in pane.evidence]


async def test_search_goes_through_all_places(two_trials):
    async with trajectory(two_trials, trial="t2") as (pilot, screen):
        await press(pilot, screen, "slash", *"wordcount", "enter")
        assert screen.finder.found is not None
        tabs = {(hit.step, hit.tab) for hit in screen.finder.found}
        assert {(1, "Observation"), (3, "Action"), (4, "Action"), (0, "README")} <= tabs
        total = len(screen.finder.found)
        assert f"/wordcount  1 of {total}" in screen_text(screen.app)
        await press(pilot, screen, "N")
        assert f"{total} of {total}" in screen_text(screen.app)
        await press(pilot, screen, "n", "n")
        assert f"2 of {total}" in screen_text(screen.app)
        await press(pilot, screen, "escape")
        assert "/wordcount" not in screen_text(screen.app)
        await press(pilot, screen, "slash", *"nowhere", "enter")
        assert "nothing found" in screen_text(screen.app)


async def test_search_reaches_behind_the_cut(recorder):
    recorder.trial("t1", state="running")
    long = "".join(f"line {number} of a long file\n" for number in range(40_000)) + "the needle\n"
    recorder.tool("t1", 1, "read_file", "long.txt", long)
    recorder.finish("t1")
    async with trajectory(recorder.path) as (pilot, screen):
        assert "are not shown. Press > for more." in screen.content.text.document.cut
        await press(pilot, screen, "slash", *"needle", "enter")
        assert "the needle" in screen_text(screen.app)


async def test_step_link_in_the_readme(two_trials):
    async with trajectory(two_trials, (200, 60), "t2") as (pilot, screen):
        assert "python wordcount.py file.txt" in screen_text(screen.app)
        rows = screen_text(screen.app).splitlines()
        row = next(index for index, text in enumerate(rows) if "← step 3" in text)
        await pilot.click(offset=(rows[row].index("← step 3") + 2, row))
        await until(pilot, lambda: quiet(screen) and screen.step_list.selected.number == 3, "step 3")


async def test_repository_shows_what_was_seen(two_trials):
    async with trajectory(two_trials, trial="t2") as (pilot, screen):
        shown = screen_text(screen.app)
        for expected in ("● wordcount.py", "○ setup.cfg", "· words.json", "seen 1 of 4 files", "83 % of the bytes"):
            assert expected in shown
        screen.focus_pane(screen.query_one("#repository"))
        await pilot.pause()
        await press(pilot, screen, "g", "j", "j", "j", "enter")
        assert screen.step_list.selected.number == 3


@pytest.fixture
def author(loopback_server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-worth")
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    scripted = Author(stop_at=3)
    loopback_server.answer = scripted
    return scripted


def begin(session: Path) -> str:
    plan = DocumentPlan(cases=("word_counter",), model="openai/scripted", judge="offline")
    run = plan_document(session, plan)
    launching.launch(session, run)
    return run


@pytest.mark.slow
@pytest.mark.fresh_engines
async def test_live_killed_resumed_and_run_again(tmp_path, author):
    session = tmp_path / "live.session"
    run = begin(session)
    async with trajectory(session) as (pilot, screen):
        shown = lambda text: lambda: text in screen_text(screen.app)  # noqa: E731
        await until(pilot, shown("▸ live"), "a live run", 60)
        await until(pilot, lambda: author.reached.is_set() and len(screen.step_list.steps) == 3, "three steps", 60)
        await until(pilot, shown("▸ following"), "the newest step")
        assert screen.step_list.selected.target == "word_counter.py"
        os.kill(screen.workbench.reader.holder(run).pid, signal.SIGKILL)
        await until(pilot, shown("‖ interrupted — press u to resume"), "the interruption")
        author.stop_at = 0
        author.go.set()
        await pilot.press("u")
        await until(pilot, lambda: screen.state.trial.state == "done" and screen.state.cards, "the end", 60)
        await until(pilot, lambda: quiet(screen) and "✓ done" in screen_text(screen.app), "the last look")
        assert [step.kind for step in screen.step_list.steps] == ["tool", "invalid", "tool", "tool", "respond"]
        assert "Counts lines, words, characters and bytes" in screen.outcome.text.document.text
        await pilot.press("r")
        await until(pilot, shown("trial 2 of 2"), "the new trial", 60)
        await until(pilot, lambda: screen.state.trial.state == "done" and screen.state.cards, "its end", 60)
        assert screen.state.trial.repeat == 2
        screen.outcome.choose("Diff to previous")
        await until(pilot, lambda: "README  the same" in screen.outcome.text.document.text, "the comparison")
