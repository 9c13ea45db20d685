"""The list of runs: what was asked for, how it stands, and putting one away without losing it."""

from pathlib import Path

import pytest
import regenerated
from driving import on, screen_text, sees, trajectory, until
from textual.pilot import Pilot

from workbench.app.runs_screen import RunsScreen, RunTable, title_within
from workbench.orders import launching
from workbench.results.runs import load_runs, sentence
from workbench.session import SessionReader, SessionWriter, create


@pytest.fixture
def several(recorder):
    """Three runs: one that is done, one that failed, one that an engine left behind."""
    for number, (state, error) in enumerate(
        (("done", None), ("failed", "The key of the judge is wrong."), ("running", None))
    ):
        run = f"run-{number}"
        with recorder.writer.transaction():
            recorder.writer.add_run(
                run,
                "document",
                {"cases": ["word_counter", "countdown_timer"], "agent": "white", "model": "gpt-4o", "repeats": 2},
            )
            recorder.writer.set_run(
                run, state=state, error=error, spend_usd=0.5 * number, started_at=100.0, finished_at=160.0
            )
            for repeat in (1, 2):
                name = f"{run}-{repeat}"
                recorder.writer.add_trial(
                    name, run, repeat, ("word_counter", "word_counter"), "white", "gpt-4o", 2 * number + repeat
                )
                recorder.writer.set_trial(name, state="done" if number == 0 or repeat == 1 else "queued")
    return recorder.path


async def list_of_runs(pilot: Pilot[int]) -> RunsScreen:
    await pilot.press("U")
    screen = await on(pilot, RunsScreen)
    await until(pilot, lambda: screen.table.rows and screen.live.idle, "the runs")
    return screen


def stored(path: Path, run: str) -> tuple[str | None, bool]:
    with SessionReader(path) as reader:
        row = reader.run(run)
    return row.name, row.archived_at is not None


async def test_it_says_what_was_asked_for_and_how_it_stands(several):
    async with trajectory(several) as (pilot, _):
        screen = await list_of_runs(pilot)
        told = screen_text(pilot.app)
        assert "3 runs · 1 ‖ interrupted · 1 ✓ done · 1 ✗ failed · $1.500" in told
        assert told.count("word_counter, countdown_timer × 2 · white · gpt-4o") >= 3
        assert "‖ interrupted" in told
        assert "1 of 2 trials" in told
        assert [line.id for line in screen.table.shown] == ["run-2", "run-1", "run-0"]
        assert "u resumes" in told
        await pilot.press("down")
        await sees(pilot, "✗ The key of the judge is wrong.")
        await pilot.press("y")
        rows = pilot.app.clipboard.splitlines()
        assert len(rows) == 4, "a heading and the runs, whole"
        assert all("word_counter" in row for row in rows[1:])
        assert not any("│" in row or row.endswith(" ") for row in rows)


async def test_a_failed_run_is_put_away_and_brought_back(several):
    async with trajectory(several) as (pilot, _):
        screen = await list_of_runs(pilot)
        await pilot.press("down", "d")
        await until(pilot, lambda: len(screen.table.shown) == 2, "it is gone from the list")
        assert stored(several, "run-1") == (None, True)
        assert "2 runs" in screen_text(pilot.app)
        await sees(pilot, "1 archived: . shows it")
        await pilot.press("ctrl+z")
        await until(pilot, lambda: len(screen.table.shown) == 3, "it is back")
        assert stored(several, "run-1") == (None, False)


async def test_a_run_is_named_and_its_name_is_what_is_shown(several):
    async with trajectory(several) as (pilot, _):
        screen = await list_of_runs(pilot)
        await pilot.press("f2")
        await sees(pilot, "Name the run")
        await pilot.press(*"baseline [b]", "enter")
        await until(pilot, lambda: any(line.name for line in screen.table.rows), "the name")
        assert stored(several, "run-2") == ("baseline [b]", False)
        assert "baseline [b]" in screen_text(pilot.app)
        await pilot.press("f2")
        await sees(pilot, "Name the run")
        await pilot.press("delete", "enter")
        await until(pilot, lambda: not any(line.name for line in screen.table.rows), "no name")
        assert stored(several, "run-2") == (None, False)


async def test_resume_and_cancel_are_of_one_run(several, monkeypatch):

    resumed: list[str] = []
    monkeypatch.setattr(launching, "launch", lambda session, run, warm=None: resumed.append(run))
    async with trajectory(several) as (pilot, _):
        screen = await list_of_runs(pilot)
        await pilot.press("c")
        await until(pilot, lambda: screen.table.rows[0].state == "cancelled", "it is cancelled")
        assert [line.state for line in screen.table.rows] == ["cancelled", "failed", "done"]
        cancelled = screen.table.rows[0]
        assert cancelled.done < cancelled.total, "what was cancelled is not done"
        await pilot.press("u")
        await until(pilot, lambda: resumed, "an engine for it")
        assert resumed == ["run-2"]


async def test_enter_opens_what_the_run_made(several, recorder):
    regenerated.word_counter(recorder)
    async with trajectory(several) as (pilot, trials):
        screen = await list_of_runs(pilot)
        await until(pilot, lambda: len(screen.table.shown) == 4, "the regeneration too")
        place = next(at for at, line in enumerate(screen.table.shown) if line.kind == "regenerate")
        assert "gpt-5-mini × 3" in screen.table.shown[place].asked
        assert screen.table.shown[place].unit == "samples"
        assert (screen.table.shown[place].done, screen.table.shown[place].total) == (12, 12)
        screen.table.set_cursor(place + 1)
        await pilot.press("enter")
        await sees(pilot, "regenerate word_counter")


def test_a_run_tells_of_failed_trials_and_a_price_that_nobody_knows_is_not_the_price_0(tmp_path):
    create(tmp_path / "priced.session")
    with SessionWriter(tmp_path / "priced.session") as writer:
        for run, cost in (("run-1", None), ("run-2", 0.0)):
            writer.add_run(run, "document", {"cases": ["word_counter"], "agent": "white", "model": "local"})
            for number in (1, 2):
                writer.add_trial(f"{run}-{number}", run, number, ("word_counter",) * 2, "white", "local", number)
                writer.set_trial(f"{run}-{number}", state="failed" if number == 1 else "done", cost_usd=cost)
            writer.set_run(run, state="done")
    with SessionReader(tmp_path / "priced.session") as reader:
        free, unknown = load_runs(reader, 200.0)
        assert (free.spend_usd, unknown.spend_usd) == (0.0, None)
        assert (free.failed, unknown.failed) == (1, 1)
        assert sentence((unknown,)) == "1 run · 1 ✓ done · 1 failed trial"
        assert sentence((free, unknown)).endswith("2 failed trials · $0.000")
    shown = RunTable()
    shown.rows = (unknown,)
    shown.arrange_rows()
    text = "".join(part for part, _ in shown.parts_of(1, 120))
    assert "2 trials, 1 failed" in text
    assert "0.000" not in text


def test_of_a_long_title_the_agent_and_the_model_stay():
    title = "word_counter, countdown_timer and 4 more × 9 · no-exploration · openai/fake-a"
    shown = title_within(title, 50)
    assert len(shown) <= 50
    assert shown.endswith(" · no-exploration · openai/fake-a")
    assert "…" in shown
