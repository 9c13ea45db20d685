"""Real files of former versions: read as they are, migrated by the first writer, which keeps the old one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.session import SessionReader, SessionWriter, schema
from workbench.session.file import peek_version
from workbench.session.identity import candidate_id

FORMER = Path(__file__).parent / "former"
VERSIONS = range(1, schema.SCHEMA_VERSION)


@pytest.fixture(params=VERSIONS)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A session that the version of that time wrote: a trial and a regeneration of two functions."""
    return Path(shutil.copy(FORMER / f"schema-{request.param}.session", tmp_path / "older.session"))


@pytest.fixture(params=range(1, 4))
def before_4(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same of a version in which groups and unused tests were no columns and rows."""
    return Path(shutil.copy(FORMER / f"schema-{request.param}.session", tmp_path / "older.session"))


def contents(path: Path) -> dict[str, object]:
    with SessionReader(path) as reader:
        runs = reader.runs()
        return {
            "runs": [(run.id, run.kind, reader.run_state(run)) for run in runs],
            "trials": reader.trials(),
            "scores": reader.scores(),
            "steps": [reader.text(step.answer_blob) for trial in reader.trials() for step in reader.steps(trial.id)],
            "tasks": [task for run in runs for task in reader.tasks(run.id)],
            "candidates": [row for run in runs for row in reader.candidates(run.id)],
            "failing": [
                reader.failing_tests(row.id) + reader.former_verdicts(row.id)
                for run in runs
                for row in reader.candidates(run.id)
            ],
        }


def test_every_former_version_has_a_file_here() -> None:
    assert [peek_version(FORMER / f"schema-{version}.session") for version in VERSIONS] == list(VERSIONS)


def test_reading_leaves_the_file_as_it_is(older: Path) -> None:
    before, status = older.read_bytes(), older.stat()
    found = contents(older)
    assert [len(found[part]) for part in ("runs", "trials", "scores", "tasks", "candidates")] == [2, 1, 2, 2, 8]  # type: ignore[arg-type]
    assert {row.backend for row in found["candidates"]} == {"bubblewrap"}  # type: ignore[attr-defined]
    assert older.read_bytes() == before
    assert (older.stat().st_ino, older.stat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)
    assert [item.name for item in older.parent.iterdir()] == ["older.session"]


def test_a_symbolic_link_is_read_and_stays_one(older: Path, tmp_path: Path) -> None:
    link = tmp_path / "links" / "named.session"
    link.parent.mkdir()
    link.symlink_to(older)
    before = older.read_bytes()
    assert contents(link) == contents(older)
    assert link.is_symlink()
    assert older.read_bytes() == before


def test_a_writer_migrates_behind_the_link_and_keeps_the_old_file(older: Path, tmp_path: Path) -> None:
    link = tmp_path / "links" / "named.session"
    link.parent.mkdir()
    link.symlink_to(older)
    version, before, read_before = peek_version(older), older.read_bytes(), contents(older)
    SessionWriter(link).close()
    assert link.is_symlink()
    assert peek_version(older) == schema.SCHEMA_VERSION
    assert contents(older) == read_before
    assert older.with_name(f"older.session.schema-{version}").read_bytes() == before


def test_a_file_that_may_not_be_written_is_read(older: Path) -> None:
    """As an ordinary user: root may write everything."""
    older.chmod(0o444)
    older.parent.chmod(0o555)
    code = (
        "import os, sys; from pathlib import Path; from workbench.session import SessionReader\n"
        "if os.getuid() == 0: os.access = lambda *a: False\n"
        "with SessionReader(Path(sys.argv[1])) as reader: print(len(reader.trials()), len(reader.candidates(reader.runs()[1].id)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(older)], capture_output=True, text=True, check=False)
    older.parent.chmod(0o755)
    assert done.stdout == "1 8\n", done.stderr
    assert [item.name for item in older.parent.iterdir()] == ["older.session"]


def test_show_and_report_read_a_former_version(older: Path, tmp_path: Path) -> None:
    before = older.read_bytes()
    for command in (["show", str(older)], ["report", str(older), "--format", "md", "-o", str(tmp_path / "report.md")]):
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *command],
            capture_output=True,
            text=True,
            env={**os.environ},
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "password_generator" in (tmp_path / "report.md").read_text()
    assert older.read_bytes() == before


def groups(path: Path) -> set[tuple[str, str, str, str]]:
    with SessionReader(path) as reader:
        rows = [row for run in reader.runs() for row in reader.candidates(run.id)]
    return {(row.evaluator, row.prompt, row.context, row.settings) for row in rows}


def test_the_group_of_a_candidate_is_read_from_the_plan_and_its_call(older: Path) -> None:
    settings = '{"max_tokens":512,"stop":["<|im_end|>"],"temperature":0.3}'
    expected = {
        ("local", "short-1", "function-1", settings),
        ("reference", "", "", "{}"),
        ("stub", "", "", "{}"),
    }
    assert groups(older) == expected
    SessionWriter(older).close()
    assert groups(older) == expected


def test_two_prompts_of_one_evaluator_are_two_groups_in_a_former_file(before_4: Path) -> None:
    """A candidate's id names its prompt, so that both can be told apart although no column does."""
    with sqlite3.connect(before_4) as connection:
        run, config = connection.execute("SELECT id, config FROM runs WHERE kind = 'regenerate'").fetchone()
        plan = json.loads(config)
        plan["asks"].append({**plan["asks"][0], "prompt": "paper-1", "context": "prefix-1"})
        connection.execute("UPDATE runs SET config = ? WHERE id = ?", (json.dumps(plan), run))
        (task,) = connection.execute("SELECT id FROM tasks LIMIT 1").fetchone()
        for sample in (0, 1):
            values = (candidate_id(task, "local", "paper-1/prefix-1", sample), run, task, "local", sample, "queued")
            connection.execute(
                "INSERT INTO candidates (id, run_id, task_id, evaluator, sample, state) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
    connection.close()
    found = {(name, prompt, context) for name, prompt, context, _ in groups(before_4)}
    assert {("local", "short-1", "function-1"), ("local", "paper-1", "prefix-1")} < found
    SessionWriter(before_4).close()
    assert {(name, prompt, context) for name, prompt, context, _ in groups(before_4)} == found


def test_the_order_of_rows_is_known_of_a_former_file_that_is_only_read(older: Path) -> None:
    with SessionReader(older) as reader:
        assert reader.query("SELECT max(rowid) FROM candidates")[0][0] == 8
        assert [count for (count,) in reader.query("SELECT test_count FROM tasks")] == [
            len(json.loads(tests)) for (tests,) in reader.query("SELECT tests FROM tasks")
        ]


def test_tests_that_were_named_in_a_note_are_rows(before_4: Path) -> None:
    """They stood below the first line of the suite's note, their parts divided by tabs."""
    with sqlite3.connect(before_4) as connection:
        note = "3 stable\nunstable\tt.py::a\tpassed, failed\nbroken line\nfailing\tt.py::b[x y]\tE  1 == 2"
        connection.execute("UPDATE stages SET note = ? WHERE name = 'suite'", (note,))
        (run,) = connection.execute("SELECT run_id FROM stages WHERE name = 'suite'").fetchone()
    connection.close()
    expected = [("unstable", "t.py::a", "passed, failed"), ("failing", "t.py::b[x y]", "E  1 == 2")]
    for write in (False, True):
        if write:
            SessionWriter(before_4).close()
        with SessionReader(before_4) as reader:
            assert [(row.kind, row.test_id, row.why) for row in reader.unused_tests(run)] == expected
    with SessionReader(before_4) as reader:
        assert [stage.note for stage in reader.stages(run) if stage.name == "suite"] == ["3 stable"]
