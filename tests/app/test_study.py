"""The Study mode: a matrix that follows its session, and the ways from it to what is behind a cell or a pair."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from driving import on, screen_text, sees, study_of, until
from studies.declared_studies import cell_of, put_agents, put_candidates, put_matrix, put_run, put_task
from studies.partial_studies import CASES, FAILED, FULL, PASSED, Agents, put_docs, tiers_of

from workbench.app.compare_screen import SideBySide
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.rows import StudyCellRow
from workbench.studies import comparing
from workbench.studies.declaration import DOCS, Study, StudyColumn
from workbench.studies.grouping import RowFacts, grouped

Asked = list[tuple[str, list[tuple[str, str]], str, bool]]


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """What was asked of the process that draws, which is tested elsewhere: here it answers at once."""
    found: Asked = []

    def resampled_in_process(
        session: Path, study: str, pairs: Any, measure: str, orders: bool = False
    ) -> dict[str, Any]:
        found.append((study, list(pairs), measure, orders))
        tests = {pair: {"p": 0.018, "test": f"p = 0.018 (test {at})", "p_holm": 0.036} for at, pair in enumerate(pairs)}
        return {"tests": tests, "orders": {("model/0", "pass@1", "docs1", "docs0"): 0.91} if orders else {}}

    monkeypatch.setattr(comparing, "resampled_in_process", resampled_in_process)
    monkeypatch.setattr("workbench.app.study.screen.REST_SECONDS", 0.01)
    return found


async def test_a_cell_opens_its_trials_and_escape_leads_back(tmp_path):
    scores = {
        ("word_counter", "white"): [82.0, 61.0], ("word_counter", "none"): [40.0, 44.0],
        ("pyfiglet", "white"): [None, 75.0], ("pyfiglet", "none"): [52.0, 50.0],
    }  # fmt: skip
    put_agents(tmp_path / "agents.session", scores, judges=("offline-4", "openai/gpt-4o"))
    async with study_of(tmp_path / "agents.session") as (pilot, screen):
        app = pilot.app
        await sees(pilot, "2 cases × 2 agents", "✗ 1 of 4 cells failed")
        await pilot.press("left_square_bracket", "left_square_bracket")
        await sees(pilot, "Judges side by side")
        assert re.search(r" 1 +white", screen_text(app))
        await pilot.press("enter")
        await sees(pilot, "repeat", "61.0")
        await pilot.press("j", "enter")
        await on(pilot, TrajectoryScreen)
        assert app.selected_trial == screen.detail.cell_items.rows[1].trial
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the study again")
        screen.compare_columns("none · local", "white · local")
        await sees(pilot, "Items that differ most")
        await pilot.press("G", "enter")
        await on(pilot, SideBySide)


async def test_marked_columns_are_compared_and_a_pair_opens_the_samples_that_differ(tmp_path, asked):
    put_matrix(tmp_path / "docs.session", 3, 2, 1, 3, 4, random.Random(5))
    async with study_of(tmp_path / "docs.session") as (pilot, screen):
        app = pilot.app
        await pilot.press("C")
        await until(pilot, lambda: len(app._notifications) == 1, "what to do first")
        assert "Mark a column with space" in next(iter(app._notifications)).message
        await pilot.press("space", "l", "C")
        await sees(pilot, "p = 0.018 (test 0)")
        assert asked[-1] == ("matrix", [("docs0 · model/0", "docs1 · model/0")], "pass@1", False)
        await sees(pilot, "B docs1 − A docs0", "pass@1, 12 tasks of both")
        shown = screen_text(app)
        assert shown.count("●") == 3
        comparison = screen.detail.comparison
        first = next(at for at, line in enumerate(comparison.lines) if line.of not in (None, line.key))
        comparison.set_cursor(first)
        pair = comparison.selected
        assert pair.difference
        await pilot.press("enter")
        await on(pilot, SideBySide)
        keys = [str(one.key) for one in (app.screen.pair.left, app.screen.pair.right)]
        verdicts = [app.reader.query("SELECT verdict FROM candidates WHERE id = ?", (key,))[0][0] for key in keys]
        assert [one == "passed" for one in verdicts] == [pair.difference < 0, pair.difference > 0]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the study again")
        await pilot.press("right_square_bracket")
        await sees(pilot, "91 %")
        assert asked[-1] == ("matrix", [("docs0 · model/0", "docs1 · model/0")], "pass@1", True)
        await pilot.press("B")
        assert screen.detail.rankings.weighting == "repositories"
        await pilot.press("escape", "s")
        await sees(pilot, "pass@3 · 3 repositories")
        await pilot.press("enter")
        await on(pilot, RegenerationScreen)
        assert app.selected_run == "repository00-docs1"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "the study, where it was left")
        assert screen.measure == "pass@3"


async def test_a_study_that_is_executed_is_followed(tmp_path):
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
            await sees(pilot, "1/2", "✗ failed")
            await pilot.press("l")
            await sees(pilot, "No such model.")
            with writer.transaction() as connection:
                connection.execute("UPDATE candidates SET state = 'done', verdict = 'failed' WHERE verdict IS NULL")
            writer.set_run(run, state="done")
            await sees(pilot, "0.50")
            assert screen.outcome.cell("tiny", study.columns[0]).state == "done"


async def test_without_a_study_it_says_how_to_begin_one_and_several_are_chosen_from(tmp_path):
    create(tmp_path / "empty.session")
    put_matrix(tmp_path / "several.session", 2, 2, 1, 1, 2, random.Random(1))
    with SessionWriter(tmp_path / "several.session") as writer:
        writer.insert("studies", {"name": "broken", "declaration": "{", "created_at": 2e9})
    async with study_of(tmp_path / "empty.session", (80, 24)) as (pilot, screen):
        app = pilot.app
        assert "workbench study agents" in screen_text(app)
        app.open_session(tmp_path / "several.session")
        await sees(pilot, "The study broken cannot be shown")
        await pilot.press("H")
        await until(pilot, lambda: screen.outcome is not None and "repository01" in screen_text(app), "the other")
        await sees(pilot, "what is compared")


async def test_a_column_of_another_session_opens_that_one_and_escape_this_one_again(tmp_path):
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
        await on(pilot, TrajectoryScreen)
        await until(pilot, lambda: app.results is not None, "the way back")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and screen.outcome is not None, "the study again")
        assert app.reader.path.name == "mine.session"
        assert screen.outcome.study.name == "mine"


async def test_what_is_missing_or_made_otherwise_is_said_in_every_tab(tmp_path):
    agents = Agents(tmp_path / "agents.session", repeats=2)
    for case in CASES:
        for repeat in (1, 2):
            agents.put("good", case, {"offline-4": FULL}, repeat=repeat)
        agents.put("half", case, {"offline-4": tiers_of(50.0)})
        agents.put("half", case, {"offline-4": (15.0, 25.0, None, None)}, repeat=2, problem="The judge gave no answer.")
    agents.read()
    async with study_of(agents.path) as (pilot, screen):
        await sees(pilot, "50.0 3 unscored", "50.0 ? 1/2")
        screen.matrix.go_to_cell(CASES[0], "half · local")
        await sees(pilot, "1 unscored: The judge")
        await pilot.press("left_square_bracket", "left_square_bracket")
        await sees(pilot, "half: 3 unscored: The judge", "3/6")


async def test_columns_made_otherwise_are_marked_and_refused(tmp_path):
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED, FAILED]}, scope="target")
    put_docs(path, {"none": [PASSED, FAILED]}, results=(f"session:{other}",))
    async with study_of(path) as (pilot, screen):
        await sees(pilot, "docs scope repository and target", "≠ original")
        screen.compare_columns("none · m", f"original · m · session:{other}")
        await sees(pilot, "Not comparable, because the conditions differ")
        await pilot.press("right_square_bracket")
        await sees(pilot, "Not comparable: none · m and original")


@pytest.fixture
def session(tmp_path):
    path = tmp_path / "matrix.session"
    put_matrix(path, 6, 2, 2, 3, 4, random.Random(1))
    return path


async def test_the_cursor_goes_with_its_row_where_verdicts_change_the_order(session):
    async with study_of(session) as (pilot, screen):
        matrix = screen.matrix
        await until(pilot, lambda: matrix.cursor == 1 and matrix.has_focus, "the matrix")
        matrix.change_arrangement(order=matrix.outcome.columns[0].name)
        await until(pilot, lambda: matrix.cursor == 1, "the order")
        row, before = matrix.row, screen.outcome
        with SessionReader(session) as reader, SessionWriter(session) as writer:
            for (name,) in reader.query("SELECT id FROM candidates WHERE run_id = ?", (f"{row}-docs0",)):
                now = (
                    "failed" if screen.outcome.cell(row, matrix.outcome.columns[0]).means["pass@1"].value else "passed"
                )
                writer.update("candidates", {"id": name}, {"verdict": now})
        await until(pilot, lambda: screen.outcome is not before and matrix.cursor != 1, "another order")
        assert matrix.row == row


async def test_rows_are_sorted_by_column_spread_and_name_and_folded_groups_hide_theirs(tmp_path):
    scores = {("b", "white"): [80.0], ("b", "none"): [50.0], ("a", "white"): [60.0], ("a", "none"): [75.0]}
    put_agents(tmp_path / "agents.session", {**scores, ("c", "white"): [None], ("c", "none"): [70.0]})
    async with study_of(tmp_path / "agents.session") as (pilot, screen):
        matrix = screen.matrix
        await until(pilot, lambda: matrix.cursor == 1 and matrix.has_focus, "the matrix")
        seen = []
        for _ in range(4):
            await pilot.press("o")
            seen.append([row.row for row in matrix.shown])
        assert seen == [["b", "a", "c"], ["b", "a", "c"], ["a", "b", "c"], ["b", "a", "c"]]
        await pilot.press("o", "O")
        assert [row.row for row in matrix.shown] == ["a", "b", "c"], "what has no value stays last"
        domains = grouped(screen.outcome, "domain", RowFacts({row: {"domain": "x"} for row in "abc"}, {}))
        matrix.put_study(screen.outcome, "score", "domain", domains)
        await pilot.press("k", "minus")
        assert [matrix.row_count(), matrix.selected_group.name] == [2, "x"]
        assert "65.0" in "".join(text for text, _ in matrix.parts_of(1, 80))
