"""What a person wants of three hundred trials, done with the keys that the footer and the palette name, from the table to a report.

``WORKBENCH_PICTURES=FOLDER`` saves a picture of every stop, at three sizes: ``make walk``.
"""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path

import pytest
from app.recorded import README, Recorder, card
from app.test_search import search_for
from app.trajectory_app import screen_text, until
from textual.pilot import Pilot

from workbench.app.app import WorkbenchApp
from workbench.app.compare_screen import SideBySide
from workbench.app.trials.screen import TrialsScreen
from workbench.base import settings
from workbench.session import SessionReader
from workbench.session.rows import ScoreRow

AGENTS = {"white": 24.0, "planner": 20.0, "single-file": 15.0, "no-exploration": 10.0}
CASES = ("word_counter", "countdown_timer", "password_generator")
PICTURES = os.environ.get("WORKBENCH_PICTURES")
SIZES = [(80, 24), (120, 40), (200, 60)] if PICTURES else [(80, 24), (120, 40)]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Three hundred trials; accuracy differs by agent, one in three read pyproject.toml."""
    recorder = Recorder(tmp_path / "many.session")
    recorder.run()
    writer = recorder.writer
    with writer.transaction():
        for number in range(300):
            agent, case = list(AGENTS)[number % 4], CASES[number // 4 % 3]
            trial = f"trial-{number:03}"
            writer.add_trial(trial, "run-1", number, (case, case), agent, "openai/gpt-4o", number // 12 + 1)
            writer.set_trial(trial, state="running", started_at=1.0 + number)
            path = "pyproject.toml" if number % 3 == 0 else "main.py"
            recorder.tool(trial, 1, "read_file", path, f"name = '{case}'")
            recorder.seen(trial, path, "read", 1, 20)
            recorder.finish(trial, readme=README.replace("word_counter", case))
            accuracy = AGENTS[agent] + number % 7 / 2 - 12
            blob = writer.blob(json.dumps(card(accuracy=max(0.0, min(12.0, accuracy)))))
            total = 15.0 + 25 + AGENTS[agent] + number % 7 / 2 + 20
            writer.put_score(
                ScoreRow(
                    trial,
                    "aeo-bench",
                    "offline",
                    total,
                    100.0,
                    15.0,
                    25.0,
                    AGENTS[agent] + number % 7 / 2,
                    20.0,
                    blob,
                    9.0,
                )
            )
    recorder.close()
    return recorder.path


def picture(pilot: Pilot[int], name: str) -> None:
    """Save what is on the screen where pictures are wanted."""
    if PICTURES:
        size = pilot.app.size
        place = Path(PICTURES) / f"{name}-{size.width}x{size.height}.svg"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(pilot.app.export_screenshot(), encoding="utf-8")


async def at_the_table(pilot: Pilot[int]) -> TrialsScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, TrialsScreen), "the table of trials")
    screen = pilot.app.screen
    assert isinstance(screen, TrialsScreen)
    await until(pilot, lambda: screen.table.trials.lines and screen.live.settled, "the trials")
    return screen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_best_the_costliest_the_readers_side_by_side_tagged_and_exported(
    session: Path, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SessionReader(session) as reader:
        totals = {row.trial_id: row.total or 0.0 for row in reader.scores()}
        agents = {row.id: row.agent for row in reader.trials()}
    of = {agent: [trial for trial in totals if agents[trial] == agent] for agent in AGENTS}
    app = WorkbenchApp(session, settings.load(), warm_engine=False)
    app.opens_default_view = True
    async with app.run_test(size=size) as pilot:
        while app.is_opening:
            await pilot.pause()
        screen = await at_the_table(pilot)
        await until(pilot, lambda: screen.losses.rows, "the criteria that cost most")
        picture(pilot, "1-trials")

        # The best and the worst of each agent: sorted by score, in groups by agent.
        await pilot.press("o", "b")
        await until(pilot, lambda: screen.table.arrangement.grouping == "agent", "groups by agent")
        shown = screen.table.shown
        for agent, trials in of.items():
            points = [totals[line.id] for line in shown if line.agent == agent]
            assert points == sorted((totals[trial] for trial in trials), reverse=True)
            assert f"{statistics.mean(points):.1f}" in screen_text(app)
        picture(pilot, "2-best-and-worst-of-each-agent")
        best = max(totals, key=totals.__getitem__)

        # What costs most, without a key where there is room.
        first = screen.losses.rows[0]
        assert (first.title, first.mean, first.trials) == ("Dependencies", 7.0, 300)
        if size[0] < 100:
            await pilot.press("tab", "tab")
        await until(pilot, lambda: "Dependencies" in screen_text(app), "the criterion that costs most")
        if size[0] < 100:
            picture(pilot, "2-lost-most")
            await pilot.press("tab")

        # All trials that read a file.
        found = await search_for(pilot, "file:pyproject.toml kind:file")
        assert {hit.item.id for hit in found.hits.found.hits} <= {f"trial-{n:03}" for n in range(0, 300, 3)}
        assert found.hits.found.total == 100
        picture(pilot, "3-who-read-pyproject")
        await pilot.press("escape")
        screen = await at_the_table(pilot)

        # The best beside the worst.
        while screen.table.arrangement.grouping:
            await pilot.press("b")
        await pilot.press("g")
        assert screen.table.selected is not None
        assert totals[screen.table.selected.id] == totals[best]
        await pilot.press("space", "G", "C")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "both side by side")
        compared = app.screen
        if size[0] < 100:  # panes are tabs
            await pilot.press("tab")
        await until(pilot, lambda: "Purpose" in screen_text(app), "their points")
        picture(pilot, "4-side-by-side")
        await pilot.press("escape")
        assert compared is not app.screen

        # A tag, and a report that has it.
        await pilot.press("g", "t", *"paper", "enter")
        await until(pilot, lambda: screen.table.selected and "paper" in screen.table.selected.tags, "the tag")
        picture(pilot, "5-tagged")
        await pilot.press("x")
        await until(pilot, lambda: "report" in screen_text(app).lower(), "where the report goes")
        picture(pilot, "6-export")
        await pilot.press("enter")
        await until(pilot, lambda: [*tmp_path.glob("*.html"), *tmp_path.glob("*.md")], "the report")
    (report,) = [*tmp_path.glob("*.html"), *tmp_path.glob("*.md")]
    assert "paper" in report.read_text(encoding="utf-8")
