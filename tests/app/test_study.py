"""The Study mode: a matrix that follows its session, and the ways from it to what is behind a cell or a pair."""

from __future__ import annotations

import contextlib
import random
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from studies.declared_studies import cell_of, put_agents, put_candidates, put_matrix, put_run, put_task
from studies.partial_studies import CASES, FAILED, FULL, PASSED, Agents, put_docs, tiers_of
from textual.pilot import Pilot
from trajectory_app import screen_text, until

from workbench.app.app import WorkbenchApp
from workbench.app.compare_screen import SideBySide
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.study.screen import StudyScreen
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base.settings import Settings
from workbench.session import SessionWriter, create
from workbench.session.rows import StudyCellRow
from workbench.studies import comparing
from workbench.studies.declaration import DOCS, Study, StudyColumn

Asked = list[tuple[str, list[tuple[str, str]], str, bool]]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What was asked of the process that draws, which is tested elsewhere: here it answers at once."""
    found: Asked = []

    def drawn(session: Path, study: str, pairs: Any, measure: str, orders: bool = False) -> dict[str, Any]:
        found.append((study, list(pairs), measure, orders))
        tests = {pair: {"p": 0.018, "test": f"p = 0.018 (test {at})", "p_holm": 0.036} for at, pair in enumerate(pairs)}
        return {"tests": tests, "orders": {("model/0", "pass@1", "docs1", "docs0"): 0.91} if orders else {}}

    monkeypatch.setattr(comparing, "resampled_in_process", drawn)
    monkeypatch.setattr("workbench.app.study.screen.REST_SECONDS", 0.01)
    return found


@contextlib.asynccontextmanager
async def study_of(path: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Pilot[int], StudyScreen]]:
    """Run the app on a session in the Study mode, the session read."""
    app = WorkbenchApp(path, Settings(), warm_engine=False)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.reader is not None, "the session")
        await pilot.press("5")
        await until(pilot, lambda: isinstance(app.screen, StudyScreen), "the mode")
        screen = app.screen
        assert isinstance(screen, StudyScreen)
        await until(pilot, lambda: screen.view.session == path and "Opening" not in screen_text(app), "the study")
        yield pilot, screen


async def test_a_cell_opens_its_trials_and_escape_leads_back(tmp_path: Path) -> None:
    scores = {
        ("word_counter", "white"): [82.0, 61.0], ("word_counter", "none"): [40.0, 44.0],
        ("pyfiglet", "white"): [None, 75.0], ("pyfiglet", "none"): [52.0, 50.0],
    }  # fmt: skip
    put_agents(tmp_path / "agents.session", scores, judges=("offline-4", "openai/gpt-4o"))
    async with study_of(tmp_path / "agents.session") as (pilot, screen):
        app = pilot.app
        shown = screen_text(app)
        assert "2 cases × 2 agents" in shown
        assert "✗ 1 of 4 cells failed" in shown
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: "Judges side by side" in screen_text(app), "the leaderboard")
        assert re.search(r" 1 +white", screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "repeat" in screen_text(app) and "61.0" in screen_text(app), "the cell's trials")
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen), "the trial")
        assert app.selected_trial == screen.detail.cell_items.rows[1].trial
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the study again")
        screen.compare_columns("none · local", "white · local")
        await until(pilot, lambda: "Items that differ most" in screen_text(app), "the comparison")
        await pilot.press("G", "enter")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "both trials side by side")


async def test_marked_columns_are_compared_and_a_pair_opens_the_samples_that_differ(
    tmp_path: Path, asked: Asked
) -> None:
    put_matrix(tmp_path / "docs.session", 3, 2, 1, 3, 4, random.Random(5))
    async with study_of(tmp_path / "docs.session") as (pilot, screen):
        app = pilot.app
        await pilot.press("C")
        await until(pilot, lambda: len(app._notifications) == 1, "what to do first")
        assert "Mark a column with space" in next(iter(app._notifications)).message
        await pilot.press("space", "l", "C")
        await until(pilot, lambda: "p = 0.018 (test 0)" in screen_text(app), "the test")
        assert asked[-1] == ("matrix", [("docs0 · model/0", "docs1 · model/0")], "pass@1", False)
        shown = screen_text(app)
        assert "B docs1 − A docs0" in shown
        assert "pass@1, 12 tasks of both" in shown
        assert shown.count("●") == 3
        comparison = screen.detail.comparison
        first = next(at for at, line in enumerate(comparison.lines) if line.of not in (None, line.key))
        comparison.set_cursor(first)
        pair = comparison.selected
        assert pair is not None
        assert pair.difference
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "two samples side by side")
        keys = [str(one.key) for one in (app.screen.pair.left, app.screen.pair.right)]
        verdicts = [app.reader.query("SELECT verdict FROM candidates WHERE id = ?", (key,))[0][0] for key in keys]
        assert [one == "passed" for one in verdicts] == [pair.difference < 0, pair.difference > 0]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the study again")
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "91 %" in screen_text(app), "how often the pair keeps its order in resamples")
        assert asked[-1] == ("matrix", [("docs0 · model/0", "docs1 · model/0")], "pass@1", True)
        await pilot.press("B")
        assert screen.detail.rankings.weighting == "repositories"
        await pilot.press("escape", "s")
        await until(pilot, lambda: "pass@3 · 3 repositories" in screen_text(app), "the other measure")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RegenerationScreen), "the run of the cell")
        assert app.selected_run == "repository00-docs1"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the study, where it was left")
        assert screen.measure == "pass@3"


async def test_a_study_that_is_executed_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "live.session"
    create(path)
    study = Study(
        "live", DOCS, ("tiny",), (StudyColumn("none", "local"), StudyColumn("llm", "local")), samples=2, k=(1,)
    )
    with SessionWriter(path) as writer:
        writer.put_study(study.name, study.to_json())
        run = put_run(writer, "tiny", "none", state="running")
        task = put_task(writer, run, "tiny", "none", 0)
        put_candidates(writer, run, task, "local", ["passed", None])
        cells = [
            cell_of(study, "tiny", study.columns[0], run),
            cell_of(study, "tiny", study.columns[1], None, "No such model."),
        ]
        writer.put_study_cells([StudyCellRow(**cell) for cell in cells], instead_of=study.name)
        async with study_of(path, (100, 30)) as (pilot, screen):
            app = pilot.app
            assert "1/2" in screen_text(app)
            assert "✗ failed" in screen_text(app)
            await pilot.press("l")
            await until(pilot, lambda: "No such model." in screen_text(app), "why a cell failed")
            with writer.transaction() as connection:
                connection.execute("UPDATE candidates SET state = 'done', verdict = 'failed' WHERE verdict IS NULL")
            writer.set_run(run, state="done")
            await until(pilot, lambda: "0.50" in screen_text(app), "its mean")
            assert screen.outcome is not None
            assert screen.outcome.cell("tiny", study.columns[0]).state == "done"


async def test_without_a_study_it_says_how_to_begin_one_and_several_are_chosen_from(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    put_matrix(tmp_path / "several.session", 2, 2, 1, 1, 2, random.Random(1))
    with SessionWriter(tmp_path / "several.session") as writer:
        writer.insert("studies", {"name": "broken", "declaration": "{", "created_at": 2e9})
    async with study_of(tmp_path / "empty.session", (80, 24)) as (pilot, screen):
        app = pilot.app
        assert "workbench study agents" in screen_text(app)
        app.open_session(tmp_path / "several.session")
        await until(
            pilot, lambda: "The study broken cannot be shown" in screen_text(app), "what is wrong with the newest"
        )
        await pilot.press("H")
        await until(pilot, lambda: screen.outcome is not None and "repository01" in screen_text(app), "the other")
        await until(pilot, lambda: "what is compared" in screen_text(app), "the list of studies")


async def test_a_column_of_another_session_opens_that_one_and_escape_this_one_again(tmp_path: Path) -> None:
    put_agents(tmp_path / "theirs.session", {("word_counter", "white"): [70.0]})
    study = put_agents(tmp_path / "mine.session", {("word_counter", "none"): [40.0]}, name="mine")
    with SessionWriter(tmp_path / "mine.session") as writer:
        writer.put_study("mine", {**study.to_json(), "results": [f"session:{tmp_path / 'theirs.session'}"]})
    async with study_of(tmp_path / "mine.session") as (pilot, screen):
        app = pilot.app
        assert "(theirs.session)" in screen_text(app)
        await pilot.press("l", "enter")
        await until(
            pilot, lambda: app.reader is not None and app.reader.path.name == "theirs.session", "the other session"
        )
        await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen), "its trial")
        await until(pilot, lambda: app.results is not None, "the way back")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and screen.outcome is not None, "the study again")
        assert app.reader.path.name == "mine.session"
        assert screen.outcome.study.name == "mine"


async def test_what_is_missing_or_made_otherwise_is_said_in_every_tab(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "agents.session", repeats=2)
    for case in CASES:
        for repeat in (1, 2):
            agents.put("good", case, {"offline-4": FULL}, repeat=repeat)
        agents.put("half", case, {"offline-4": tiers_of(50.0)})
        agents.put("half", case, {"offline-4": (15.0, 25.0, None, None)}, repeat=2, problem="The judge gave no answer.")
    agents.read()
    async with study_of(agents.path) as (pilot, screen):
        app = pilot.app
        await until(pilot, lambda: "50.0 3 unscored" in screen_text(app), "what the mean is of")
        assert "50.0 ? 1/2" in screen_text(app)
        screen.matrix.go_to_cell(CASES[0], "half · local")
        await until(pilot, lambda: "1 unscored: The judge" in screen_text(app), "why, below the matrix")
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: "half: 3 unscored: The judge" in screen_text(app), "the leaderboard")
        assert "3/6" in screen_text(app)


async def test_columns_made_otherwise_are_marked_and_refused(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED, FAILED]}, scope="target")
    put_docs(path, {"none": [PASSED, FAILED]}, results=(f"session:{other}",))
    async with study_of(path) as (pilot, screen):
        app = pilot.app
        await until(pilot, lambda: "docs scope repository and target" in screen_text(app), "what differs")
        assert "≠ original" in screen_text(app)
        screen.compare_columns("none · m", f"original · m · session:{other}")
        await until(pilot, lambda: "Not comparable, because the conditions differ" in screen_text(app), "no difference")
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "Not comparable: none · m and original" in screen_text(app), "no ranking")
