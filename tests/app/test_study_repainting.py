"""What a study that is followed paints and counts: what changed, and no more often than it costs."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from studies.declared_studies import put_agents, put_matrix
from test_study import asked, study_of  # noqa: F401
from trajectory_app import until

from workbench.app.session_app import COUNTING_SHARE
from workbench.app.toolkit.workers import LatestWorker
from workbench.session import SessionReader, SessionWriter
from workbench.studies.grouping import RowFacts, grouped


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.session"
    put_matrix(path, 6, 2, 2, 3, 4, random.Random(1))
    return path


async def test_a_key_repaints_two_rows_of_the_matrix(session: Path) -> None:
    async with study_of(session) as (pilot, screen):
        matrix = screen.matrix
        await until(pilot, lambda: matrix.cursor == 1 and matrix.has_focus, "the matrix")
        await pilot.pause()
        painted: list[int] = []
        paint = matrix.row_parts
        matrix.row_parts = lambda y, width: (painted.append(y), paint(y, width))[1]  # type: ignore[method-assign]
        await pilot.press("j")
        await until(pilot, lambda: bool(painted), "the frame")
        assert set(painted) == {1, 2}
        painted.clear()
        await pilot.press("l")
        await until(pilot, lambda: bool(painted), "the frame")
        assert set(painted) == {0, 2}, "the heading and the row"


async def test_verdicts_repaint_the_row_that_they_belong_to(session: Path) -> None:
    async with study_of(session) as (pilot, screen):
        matrix = screen.matrix
        await until(pilot, lambda: matrix.cursor == 1 and matrix.has_focus, "the matrix")
        await pilot.pause()
        painted: list[int] = []
        paint = matrix.row_parts
        matrix.row_parts = lambda y, width: (painted.append(y), paint(y, width))[1]  # type: ignore[method-assign]
        before = screen.outcome
        with SessionReader(session) as reader, SessionWriter(session) as writer:
            of_the_third = "SELECT id FROM candidates WHERE run_id = 'repository02-docs1' AND verdict = 'failed'"
            for (name,) in reader.query(of_the_third):
                writer.update("candidates", {"id": name}, {"verdict": "passed"})
        await until(pilot, lambda: screen.outcome is not before and bool(painted), "the verdicts")
        assert set(painted) == {3}


async def test_the_cursor_goes_with_its_row_where_verdicts_change_the_order(session: Path) -> None:
    async with study_of(session) as (pilot, screen):
        matrix = screen.matrix
        await until(pilot, lambda: matrix.cursor == 1 and matrix.has_focus, "the matrix")
        matrix.change_arrangement(order=matrix.outcome.columns[0].name)  # type: ignore[union-attr]
        await until(pilot, lambda: matrix.cursor == 1, "the order")
        row, before = matrix.row, screen.outcome
        with SessionReader(session) as reader, SessionWriter(session) as writer:
            for (name,) in reader.query("SELECT id FROM candidates WHERE run_id = ?", (f"{row}-docs0",)):
                now = (
                    "failed" if screen.outcome.cell(row, matrix.outcome.columns[0]).means["pass@1"].value else "passed"
                )  # type: ignore[union-attr]
                writer.update("candidates", {"id": name}, {"verdict": now})
        await until(pilot, lambda: screen.outcome is not before and matrix.cursor != 1, "another order")
        assert matrix.row == row


async def test_a_session_that_changes_all_the_time_is_counted_a_tenth_of_it(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    now = LatestWorker.soon
    monkeypatch.setattr(
        LatestWorker, "soon", lambda self, what, seconds: (waits.append(seconds), now(self, what, seconds))[1]
    )
    async with study_of(session) as (pilot, _screen):
        app = pilot.app
        await until(pilot, lambda: app.facts is not None, "the figures")  # type: ignore[attr-defined]
        with SessionWriter(session) as writer:
            writer.set_run("repository02-docs1", state="failed")
            await until(pilot, lambda: app.facts.count("failed") == 1, "the first change")  # type: ignore[attr-defined]
            waits.clear()
            counting = app._counting  # type: ignore[attr-defined]
            counting.took, counting.ended = 1.0, time.perf_counter()
            writer.set_run("repository02-docs1", state="done")
            await until(pilot, lambda: bool(waits), "the next change")
        assert max(waits) == pytest.approx(1 / COUNTING_SHARE - 1, abs=0.5)


async def test_rows_are_sorted_by_column_spread_and_name_and_folded_groups_hide_theirs(tmp_path: Path) -> None:
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
        assert [matrix.row_count(), matrix.selected_group.name] == [2, "x"]  # type: ignore[union-attr]
        assert "65.0" in "".join(text for text, _ in matrix.parts_of(1, 80))
