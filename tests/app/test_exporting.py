"""What `x` exports: all of a session, the item under the cursor, or the rows as they are shown."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from app.many_trials import many_trials
from app.trajectory_app import table_of_trials, trajectory, until
from textual.widgets import Input

from workbench.app.runs_screen import RunsScreen
from workbench.app.toolkit.export_dialog import ReportDialog
from workbench.app.toolkit.fields import CycleField


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "many.session"
    many_trials(path, 120)
    return path


@pytest.mark.parametrize(("step", "suffix"), [(1, "md"), (-1, "csv")])
async def test_one_trial_or_the_rows_as_they_are_shown_are_exported(
    session: Path, home: Path, tmp_path: Path, step: int, suffix: str
) -> None:
    """What is exported is chosen in the dialog: the trial under the cursor stands after all of the session, the rows last."""
    async with trajectory(session) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(screen.app.screen, ReportDialog), "where to")
        dialog, out = screen.app.screen, tmp_path / f"shown.{suffix}"
        dialog.query_one("#file", Input).value = str(out)
        dialog.query_one("#of", CycleField).action_step(step)
        await pilot.press("enter")
        await until(pilot, out.exists, "the report")
        shown, line = out.read_text(encoding="utf-8"), screen.table.selected
        if suffix == "csv":
            rows = list(csv.DictReader(io.StringIO(shown)))
            assert [row["case"] for row in rows] == [one.case for one in screen.table.shown]
        else:
            assert line.id in shown
            assert sum(other.id in shown for other in screen.table.shown) == 1


async def test_of_a_run_the_session_or_the_rows_are_exported(session: Path, home: Path) -> None:
    """A run has no page of its own."""
    async with trajectory(session) as (pilot, _):
        await pilot.press("U")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen), "the runs")
        await until(pilot, lambda: "these rows" in pilot.app.screen.exported, "its rows")
        assert list(pilot.app.screen.exported) == ["these rows"]
