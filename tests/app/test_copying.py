"""``y`` copies a text as it is and all of it: tabs, carriage returns, long ones; or says what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import regenerated
from regeneration_app import press as press_in_regeneration
from regeneration_app import regeneration
from trajectory_app import press, trajectory, until

MAKEFILE = "all:\n\tcc -o a a.c\r\n\t@echo 50 %\r100 %\n"
LONG = "0123456789\u6587\t\n" * 20_000
"""More than is shown at first; what is shown would end in the middle of a character."""


def said(app: object) -> str:
    return [notice.message for notice in app._notifications][-1]  # type: ignore[attr-defined]


@pytest.mark.parametrize("pane", ["observation", "README"])
@pytest.mark.parametrize("text", [MAKEFILE, LONG], ids=["tabs", "long"])
async def test_what_a_trial_saw_and_wrote_is_copied_as_it_is(tmp_path: Path, pane: str, text: str) -> None:
    made = recorded.Recorder(tmp_path / "s.session")
    made.run()
    made.trial("t1", state="running")
    made.snapshot("t1")
    made.tool("t1", 1, "read_file", "Makefile", text, problem="It was slow.")
    made.finish("t1", readme=text)
    made.close()
    async with trajectory(made.path, trial="t1") as (pilot, screen):
        if pane == "README":
            screen.focus_pane(screen.outcome)
        await press(pilot, screen, "y")
        assert screen.app.clipboard == text


async def test_what_no_encoding_has_is_copied_as_a_question_mark(tmp_path: Path) -> None:
    made = recorded.Recorder(tmp_path / "s.session")
    made.run()
    made.trial("t1", state="running")
    made.finish("t1", metadata={"name": "half a pair: \ud800"})
    made.close()
    async with trajectory(made.path, trial="t1") as (pilot, screen):
        screen.outcome.choose("Metadata")
        screen.focus_pane(screen.outcome)
        await press(pilot, screen, "y")
        assert "half a pair: ?" in screen.app.clipboard


@pytest.mark.parametrize("tab", ["Candidate", "Docstring", "Answer"])
@pytest.mark.parametrize("text", [MAKEFILE, LONG], ids=["tabs", "long"])
async def test_what_a_sample_says_is_copied_as_it_is(tmp_path: Path, tab: str, text: str) -> None:
    made = regenerated.Recorder(tmp_path / "s.session")
    made.run()
    task = made.task("f", 0, docstring=text)
    made.cells(task, "✗", body=text, answer=text)
    made.close()
    async with regeneration(made.path) as (pilot, screen):
        screen.sample.choose(tab)
        screen.focus_pane(screen.sample)
        await press_in_regeneration(pilot, screen, "y")
        assert screen.app.clipboard == text


async def test_a_difference_keeps_the_tabs_of_its_lines(tmp_path: Path) -> None:
    made = regenerated.Recorder(tmp_path / "s.session")
    made.run()
    task = made.task("f", 0, body="\tif a:\n\t\treturn 1\n")
    made.cells(task, "✗", body="\tif a:\n\t\treturn 2\n")
    made.close()
    async with regeneration(made.path) as (pilot, screen):
        screen.focus_pane(screen.sample)
        await press_in_regeneration(pilot, screen, "y")
        assert screen.app.clipboard == "  if a:\n- \treturn 1\n+ \treturn 2"


async def test_what_is_too_long_to_be_copied_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.app.trajectory.step_content.COPIED_AT_MOST", 100_000)
    made = recorded.Recorder(tmp_path / "s.session")
    made.run()
    made.trial("t1", state="running")
    made.snapshot("t1")
    made.tool("t1", 1, "read_file", "a.txt", LONG)
    made.finish("t1")
    made.close()
    async with trajectory(made.path, trial="t1") as (pilot, screen):
        await press(pilot, screen, "y")
        await until(pilot, lambda: "Copied" in said(screen.app), "the notice")
        assert LONG.startswith(screen.app.clipboard)
        assert "not all of it" in said(screen.app)
        assert "kB" in said(screen.app)
