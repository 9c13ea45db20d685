"""Damages session files as disks and other programs might, and opens them with every interface of the program."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.cli import main
from workbench.session import SessionReader

NESTED = "[" * 50_000
VALUES: dict[str, object] = {
    "null": None,
    "empty": "",
    "text": "garbage",
    "bytes": b"\x00\xff\xfe garbage",
    "huge": 10**18,
    "negative": -1,
    "large": 1e308,
    "infinite": float("inf"),
    "nested": NESTED,
    "controls": "\x1b[2J\x07[/x]\u202e\x00",
}
#: How an internal error shows in the output of a command.
_DEFECT = re.compile(r"Traceback|a bug in the workbench|Error: ")


def without_constraints(source: Path, target: Path) -> None:
    """Copy a session into a file without constraints, so that any column can hold any value."""
    shutil.copyfile(source, target)
    connection = sqlite3.connect(target, isolation_level=None)
    try:
        others = connection.execute(
            "SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
        ).fetchall()
        for table in tables(connection):
            declared = ", ".join(
                f"{name} {kind}" for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
            )
            if table == "changes":
                declared += ", PRIMARY KEY (seq)"  # the numbers of the feed must continue
            connection.execute(f"CREATE TABLE made_anew ({declared})")
            connection.execute(f"INSERT INTO made_anew SELECT * FROM {table}")
            # Otherwise SQLite reads the views, one of which uses the table.
            connection.execute("PRAGMA legacy_alter_table = ON")
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"ALTER TABLE made_anew RENAME TO {table}")
        for (sql,) in others:
            connection.execute(sql)
    finally:
        connection.close()


def tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables of a session."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [name for (name,) in found.fetchall()]


def columns(path: Path, table: str) -> list[tuple[str, str]]:
    """Return name and declared type of the columns of a table."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})")]


def put(path: Path, table: str, column: str, value: object) -> bool:
    """Write a value into a column of the first row of a table; return False if there is no row or it cannot hold the value."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:  # damage notifies nobody
            connection.execute(f"DROP TRIGGER {name}")
        try:
            changed = connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", (value,)
            ).rowcount
        except sqlite3.IntegrityError:  # the primary key of the feed
            changed = 0
        for _, sql in triggers:
            connection.execute(sql)
    return bool(changed)


@dataclass(frozen=True, slots=True)
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def invoke(*arguments: str) -> Result:
    """Run a command of the program in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    texts = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return Result(code, *texts)


def read_everything(path: Path) -> tuple[str, ...]:
    """Call every method of a reader with every id that it returns; return the messages about damage."""
    with SessionReader(path) as reader:
        reader.meta(), reader.last_change(), reader.changes(0), reader.annotations(), reader.scores()
        for score in reader.scores():
            reader.card(score)
        for run in reader.runs():
            reader.run_state(run), reader.run(run.id), reader.stages(run.id), reader.dropped(run.id)
            for task in reader.tasks(run.id):
                reader.task(task.id)
            for candidate in reader.candidates(run.id):
                reader.candidate(candidate.id), reader.former_verdicts(candidate.id), reader.calls(candidate.id)
                for test in reader.failing_tests(candidate.id):
                    reader.shown(test.traceback_blob, "a traceback")
        for trial in reader.trials():
            reader.trial(trial.id), reader.accessed_files(trial.id), reader.shown(trial.readme_blob, "a README")
            if trial.snapshot:
                reader.files_of(trial.snapshot)
            for step in reader.steps(trial.id):
                call = reader.call(step.call_id) if step.call_id is not None else None
                if call is not None:
                    reader.messages(call)
        return tuple(one.sentence for one in reader.damage)


def faces(path: Path, items: tuple[str, ...] = ()) -> Iterator[tuple[str, Result]]:
    """Open a session with every command that reads; yield the name and result of each."""
    session = str(path)
    for words in (("show", session), ("show", session, "--json")):
        yield " ".join(words[::2]), invoke(*words)
    for format in ("md", "html", "json", "csv"):
        yield f"report {format}", invoke("report", session, "--format", format)
    for item in items:
        yield f"show {item}", invoke("show", session, item)


def problem_of(name: str, answer: Result, expected: tuple[int, ...] = (0, 1)) -> str:
    """Return what is wrong with the result of a command, "" if nothing is."""
    if _DEFECT.search(answer.err):
        return f"{name}: {answer.err.strip()[:400]}"
    if answer.code not in expected:
        return f"{name}: code {answer.code}: {answer.err.strip()[:400]}"
    if answer.code and not answer.err.strip():
        return f"{name}: code {answer.code} without a message"
    if name.endswith("json") and answer.out and not _is_json(answer.out):
        return f"{name}: what it printed is no JSON"
    return ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        try:
            [json.loads(line) for line in text.splitlines()]
        except ValueError:
            return False
    return True
