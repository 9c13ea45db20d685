"""The app on a damaged session: nobody waits for what does not come, and nothing stands under another's heading."""

import sqlite3
from pathlib import Path

import pytest
import recorded
import regenerated
from driving import press, regeneration, screen_text, trajectory
from faults.damaging import put, without_constraints
from regenerated import Recorder


def forget_texts(path: Path, table: str, column: str, where: str = "1") -> None:
    """Delete from the blobs what a column names."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"DELETE FROM blobs WHERE digest IN (SELECT {column} FROM {table} WHERE {where})")
    connection.close()


async def test_a_sample_that_cannot_be_read_does_not_show_the_one_before(tmp_path):
    recorder = Recorder(tmp_path / "demo.session")
    regenerated.word_counter(recorder)
    recorder.close()
    forget_texts(recorder.path, "candidates", "body_blob", "verdict = 'failed' AND control = 0")
    forget_texts(recorder.path, "failing_tests", "traceback_blob")
    async with regeneration(recorder.path) as (pilot, screen):
        assert "passed" in "\n".join(line.text for line in screen.detail.failing_text.document.lines)
        await press(pilot, screen, "l")
        failing = "\n".join(line.text for line in screen.detail.failing_text.document.lines)
        shown = "\n".join(line.text for line in screen.sample.text.document.lines)
        assert "passed" not in failing
        assert "traceback cannot be read" in failing
        assert "cannot be read: it is missing from the session file" in shown


async def test_a_pane_whose_loader_fails_says_so(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / "demo.session")
    regenerated.word_counter(recorder)
    recorder.close()
    async with regeneration(recorder.path) as (pilot, screen):
        # Nobody foresaw it: a table goes while the session is open.
        with sqlite3.connect(recorder.path) as connection:
            connection.execute("DROP TABLE failing_tests")
        await press(pilot, screen, "l")
        failing = "\n".join(line.text for line in screen.detail.failing_text.document.lines)
        assert "passed" not in failing
        assert "no such table" in failing


async def test_a_step_whose_texts_are_gone_says_so(tmp_path):
    recorder = recorded.Recorder(tmp_path / "demo.session")
    recorder.run()
    recorded.word_counter(recorder, "trial-1")
    recorder.close()
    forget_texts(recorder.path, "steps", "observation_blob")
    forget_texts(recorder.path, "trials", "readme_blob")
    forget_texts(recorder.path, "calls", "messages_blob")
    async with trajectory(recorder.path) as (pilot, screen):
        await press(pilot, screen, "g")
        shown = "\n".join(line.text for line in screen.content.text.document.lines)
        assert "The observation of step 1 of trial trial-1 cannot be read" in shown
        outcome = "\n".join(line.text for line in screen.outcome.text.document.lines)
        assert "The README of trial trial-1 cannot be read" in outcome


@pytest.mark.parametrize(("table", "column"), [("trials", "seconds"), ("steps", "at")])
async def test_a_damaged_session_is_opened_and_says_what_is_damaged(tmp_path, table, column):
    recorder = recorded.Recorder(tmp_path / "sound.session")
    recorder.run()
    recorded.word_counter(recorder, "trial-1")
    recorded.word_counter(recorder, "trial-2", repeat=2)
    recorder.close()
    without_constraints(recorder.path, tmp_path / "demo.session")
    put(tmp_path / "demo.session", table, column, b"bytes")
    async with trajectory(tmp_path / "demo.session") as (_, screen):
        text = screen_text(screen.app)
        assert "Opening" not in text
        assert screen.state is not None
        assert screen.step_list.steps
        notices = "\n".join(str(one.message) for one in screen.app._notifications)
        assert f"column {column} holds bytes" in notices


async def test_a_session_whose_list_of_changes_is_damaged_is_shown(tmp_path):
    recorder = recorded.Recorder(tmp_path / "demo.session")
    recorder.run()
    recorded.word_counter(recorder, "trial-1")
    recorder.close()
    connection = sqlite3.connect(recorder.path, isolation_level=None)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'changes'").fetchone()[0]
    connection.close()
    with recorder.path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)
    async with trajectory(recorder.path) as (pilot, screen):
        assert screen.step_list.steps
        assert any("changes" in one.sentence for one in screen.workbench.reader.damage)
