"""How files of former schemas are read as they are, and how a writer turns them into current ones: :data:`MIGRATIONS`."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable
from functools import cache

from workbench.session.groups import former_groups
from workbench.session.schema import SCHEMA_VERSION, TABLES, TRIGGERS
from workbench.session.verdict_counts import COUNTED, COUNTS_OF_CANDIDATES, GROUPED
from workbench.session.views import VIEWS
from workbench.text import one_line

_ADDED_IN_2: dict[str, tuple[str, ...]] = {
    "tasks": ("branches INTEGER", "branches_covered INTEGER", "unstable INTEGER"),
    "candidates": ("backend TEXT", "slower TEXT", "suspicious TEXT", "recheck TEXT"),
}
_ADDED_IN_3: dict[str, tuple[str, ...]] = {
    "trials": ("content TEXT NOT NULL DEFAULT ''",),
    "scorecards": ("problem TEXT",),
    "leases": ("file TEXT NOT NULL DEFAULT ''",),
}
_TABLES_OF_3 = ("log_identity", "former_verdicts")
_TABLES_OF_4 = ("unused_tests", "labels")
_ADDED_IN_4: dict[str, tuple[str, ...]] = {
    "candidates": (
        "prompt TEXT NOT NULL DEFAULT ''",
        "context TEXT NOT NULL DEFAULT ''",
        "settings TEXT NOT NULL DEFAULT '{}'",
        "agrees INTEGER",
        "plain INTEGER",
        "doubtful TEXT",
    ),
    "former_verdicts": ("doubtful TEXT",),
    "tasks": ("test_count INTEGER NOT NULL DEFAULT 0",),
    "runs": ("name TEXT", "deleted_at REAL"),
}
_ADDED_IN_5: dict[str, tuple[str, ...]] = {
    "tasks": ("test_files_blob TEXT",),
    "runs": ("turn REAL", "paused INTEGER NOT NULL DEFAULT 0"),
    "trials": (
        "parent TEXT NOT NULL DEFAULT ''",
        "fork_step INTEGER NOT NULL DEFAULT 0",
        "edited TEXT NOT NULL DEFAULT ''",
        "edit_blob TEXT",
    ),
}
_ADDED_IN_6: dict[str, tuple[str, ...]] = {
    "tasks": ("docs_scope TEXT NOT NULL DEFAULT 'target'", "documented_blob TEXT"),
    "candidates": ("repairs INTEGER",),
}
_TABLES_OF_7 = ("studies", "study_cells", "verdict_counts")
_TABLES_OF_8 = ("imported",)
_TABLES_OF_9 = ("checks", "improvements", "docstring_attempts")

_SANDBOX = "(SELECT json_extract(config, '$.sandbox') FROM main.runs WHERE main.runs.id = run_id)"
_AGREES = "CASE WHEN json_valid(recheck) THEN json_extract(recheck, '$.agrees') END"
_TEST_COUNT = "CASE WHEN json_valid(tests) THEN json_array_length(tests) ELSE 0 END"
# As workbench.regeneration.extraction.Extraction.repairs counts notes; an answer that was not read has none.
_REPAIRS = (
    "CASE WHEN answer_blob IS NULL THEN NULL WHEN json_valid(notes) THEN "
    "(SELECT count(*) FROM json_each(notes) WHERE json_each.value NOT LIKE 'the answer was cut %') ELSE 0 END"
)
FORMER_GROUPS = "former_groups"
"""Temporary table of a connection to an older file: what the run says of each candidate's prompt, context and settings."""


def _former_group(column: str, otherwise: str) -> str:
    found = f"SELECT {FORMER_GROUPS}.{column} FROM temp.{FORMER_GROUPS} WHERE candidate = id"
    return f"coalesce(({found}), {otherwise})"


# Version that a file has -> what the next version has beyond it: table -> column -> SQL that stands for its value.
READ_AS: dict[int, dict[str, dict[str, str]]] = {
    1: {
        "tasks": dict.fromkeys(("branches", "branches_covered", "unstable"), "NULL"),
        "candidates": {
            "backend": f"CASE WHEN path_taken IS NOT NULL THEN {_SANDBOX} END",
            **dict.fromkeys(("slower", "suspicious", "recheck"), "NULL"),
        },
    },
    2: {
        "trials": {"content": "''"},
        "scorecards": {"problem": "NULL"},
        "leases": {"file": "''"},
        "former_verdicts": dict.fromkeys(
            ("candidate_id", "number", "verdict", "verdict_reason", "path_taken", "tested_s", "outcomes_blob", "failing_blob",
             "backend", "slower", "suspicious", "recheck", "at", "replaced_at"),
            "NULL",
        ),
    },
    3: {
        "candidates": {
            "prompt": _former_group("prompt", "''"),
            "context": _former_group("context", "''"),
            "settings": _former_group("settings", "'{}'"),
            "agrees": _AGREES,
            **dict.fromkeys(("plain", "doubtful"), "NULL"),
            "route": "path_taken",
        },
        "former_verdicts": {"doubtful": "NULL", "route": "path_taken"},
        "tasks": {"test_count": _TEST_COUNT},
        "runs": {"name": "NULL", "deleted_at": "NULL"},
    },
    4: {
        "tasks": {"test_files_blob": "NULL"},
        "runs": {"turn": "NULL", "paused": "0"},
        "trials": {"parent": "''", "fork_step": "0", "edited": "''", "edit_blob": "NULL"},
    },
    # Before there were scopes, only the docstring of the function itself was replaced.
    5: {"tasks": {"docs_scope": "'target'", "documented_blob": "NULL"}, "candidates": {"repairs": _REPAIRS}},
    6: {
        "studies": dict.fromkeys(("name", "declaration", "created_at", "problem"), "NULL"),
        "study_cells": dict.fromkeys(
            ("study", "row_name", "column_name", "position", "run_id", "pointer", "problem"), "NULL"
        ),
        "verdict_counts": dict.fromkeys((*GROUPED, *COUNTED), "NULL"),
    },
    7: {"imported": dict.fromkeys(("item", "format", "source", "digest", "extra_blob", "at"), "NULL")},
    8: {
        "checks": dict.fromkeys(
            ("trial_id", "executed", "step_seconds", "rules", "run_id", "state", "problem", "again", "works", "fails", "differs",
             "not_run", "claims_true", "claims_untrue", "claims_unknown", "partial", "result_blob", "seconds", "at"),
            "NULL",
        ),
        "improvements": dict.fromkeys(
            ("id", "run_id", "plan", "state", "stage", "now_run", "problem", "spent_before", "created_at", "finished_at"), "NULL"
        ),
        "docstring_attempts": dict.fromkeys(
            ("improvement_id", "task_id", "number", "state", "gate", "reason", "docstring_blob", "run_id", "seen", "before", "after",
             "held_out_by", "at"),
            "NULL",
        ),
    },
}  # fmt: skip
_NEW_TABLES = {2: ("former_verdicts",), 6: _TABLES_OF_7, 7: _TABLES_OF_8, 8: _TABLES_OF_9}
_WITH_ROWID = frozenset({"tasks", "candidates", "trials", "leases"})


@cache
def _own_schema() -> frozenset[tuple[str, str, str | None]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(f"{TABLES} {TRIGGERS} {VIEWS}")
        found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return frozenset((str(kind), str(name), sql) for kind, name, sql in found)


def foreign_part(connection: sqlite3.Connection, version: int) -> str:
    """Return what of a file's schema no session has, "" where there is nothing.

    A view in place of a table can have rows without an end, and a trigger does what it likes with a writer's rights.
    """
    rows = connection.execute("SELECT type, name, sql FROM main.sqlite_master").fetchall()
    own = _own_schema()
    for kind, name, sql in rows:
        if (kind, name, sql) in own or (sql is None and kind == "index"):
            continue
        allowed = _ALLOWED.get(kind)
        if not isinstance(sql, str) or allowed is None or not allowed(str(name), " ".join(sql.split()), version):
            return f"the {kind} {one_line(str(name), 60)!r}"
    return ""


def _is_plain_table(name: str, sql: str, version: int) -> bool:
    """Return whether a table has columns and constraints alone, which call no function and compute nothing."""
    bare = _NOT_CODE.sub(" x ", sql)
    called = {word.lower() for word in re.findall(r"(\w+)\s*\(", re.sub(r"(?i)\breferences\s+\w+", "key", bare))}
    words = {word.lower() for word in re.findall(r"\w+", bare)}
    calls = called - {"check", "key", "in", "unique", "x", name.lower()}
    return not calls and not words & {"virtual", "generated", "select"}


def _is_plain_index(name: str, sql: str, version: int) -> bool:
    return bool(_INDEX.fullmatch(sql))


def _feeds(name: str, sql: str, version: int) -> bool:
    return bool(_FEEDING.fullmatch(sql))


def _is_former_view(name: str, sql: str, version: int) -> bool:
    # Those of older versions may be worded otherwise; they are for people, and no query of ours asks them.
    return version < SCHEMA_VERSION and ("view", name) in {(kind, known) for kind, known, _ in _own_schema()}


# Texts, quoted names and comments.
_NOT_CODE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|/\*.*?\*/", re.S)
_COLUMN = r'"?\w+"?(?: ASC| DESC)?'
_INDEX = re.compile(rf'CREATE (?:UNIQUE )?INDEX "?\w+"? ON "?\w+"? ?\({_COLUMN}(?:, ?{_COLUMN})*\)', re.I)
_FEEDING = re.compile(
    r"CREATE TRIGGER \w+ AFTER (?:INSERT|UPDATE) ON \w+ BEGIN INSERT INTO changes \(kind, item, part\) "
    r"VALUES \('\w+', NEW\.\w+, (?:NEW\.\w+|NULL)\); END"
)
_ALLOWED = {"table": _is_plain_table, "index": _is_plain_index, "trigger": _feeds, "view": _is_former_view}


def views(version: int) -> list[str]:
    """Return the statements for temporary views under which a file of an older version reads like a current one.

    Nothing is written into the file. A view has the ``rowid`` of its table, which says in which order rows came.
    """
    added: dict[str, list[dict[str, str]]] = {}
    absent = {table for older, tables in _NEW_TABLES.items() if older >= version for table in tables}
    for older in range(version, SCHEMA_VERSION):
        for table, columns in READ_AS.get(older, {}).items():
            added.setdefault(table, []).append(columns)
    found = []
    for table, layers in added.items():
        if table in absent:
            columns = {name: "NULL" for layer in layers for name in layer}
            source = f"SELECT {_listed(columns)} WHERE 0"
        else:
            row = "rowid AS rowid, " if table in _WITH_ROWID else ""
            source = f"SELECT {row}*, {_listed(layers[0])} FROM main.{table}"
            # A later version's column may be made of an earlier one's.
            for columns in layers[1:]:
                source = f"SELECT *, {_listed(columns)} FROM ({source})"
        found.append(f"CREATE TEMP VIEW {table} AS {source}")
    return found


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())


def read_as_current(connection: sqlite3.Connection, version: int) -> None:
    """Let a connection to an older file read it as if it were current; see :func:`views`."""
    if version < 4:
        _read_as_4(connection)
    for view in views(version):
        connection.execute(view)


def _read_as_4(connection: sqlite3.Connection) -> None:
    """Give a connection to a file older than 4 what is no column of a table there: groups, unused tests, labels."""
    _note_former_groups(connection)
    connection.execute(
        "CREATE TEMP TABLE unused_tests (run_id TEXT, position INTEGER, kind TEXT, test_id TEXT, why TEXT)"
    )
    connection.execute("CREATE TEMP TABLE labels (item TEXT, part TEXT, label TEXT, at REAL, removed_at REAL)")
    with contextlib.suppress(sqlite3.DatabaseError):  # a damaged table is named when the file is looked through
        connection.executemany(_INSERT_UNUSED.format("temp."), _unused_in_notes(connection))


_INSERT_UNUSED = "INSERT INTO {}unused_tests (run_id, position, kind, test_id, why) VALUES (?, ?, ?, ?, ?)"


def _unused_in_notes(connection: sqlite3.Connection) -> list[tuple[str, int, str, str, str]]:
    """Return the unused tests of a file older than 4, which named them below the note of a stage: ``KIND<tab>TEST<tab>WHY``."""
    rows = connection.execute("SELECT run_id, note FROM main.stages WHERE name = 'suite'").fetchall()
    found = []
    for run, note in rows:
        for place, line in enumerate(str(note or "").split("\n")[1:]):
            kind, _, rest = line.partition("\t")
            test, _, why = rest.partition("\t")
            if test:
                found.append((str(run), place, kind, test, why))
    return found


def _create(connection: sqlite3.Connection, tables: tuple[str, ...]) -> None:
    for statement in re.sub("--[^\n]*", "", TABLES).split(";"):
        if any(f" {table} " in statement for table in tables):
            connection.execute(statement)


def _note_former_groups(connection: sqlite3.Connection) -> None:
    connection.execute(
        f"CREATE TEMP TABLE {FORMER_GROUPS} (candidate TEXT PRIMARY KEY, prompt TEXT, context TEXT, settings TEXT) WITHOUT ROWID"
    )
    try:
        found = former_groups(connection)
    except sqlite3.DatabaseError:
        return  # a damaged table is named when the file is looked through
    connection.executemany(f"INSERT OR IGNORE INTO temp.{FORMER_GROUPS} VALUES (?, ?, ?, ?)", found)


def _add_columns(connection: sqlite3.Connection, added: dict[str, tuple[str, ...]]) -> None:
    for table, columns in added.items():
        have = {row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")}
        for column in columns:
            # A table that an earlier step made has them all.
            if column.partition(" ")[0] not in have:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")


def _rename_column(connection: sqlite3.Connection, tables: tuple[str, ...], old: str, new: str) -> None:
    for table in tables:
        # A table that an earlier step made has the new name.
        if old in {row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")}:
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")


def _to_2(connection: sqlite3.Connection) -> None:
    """Add what regeneration records since: branches, unstable tests, the sandbox, why a route was slower, re-checks."""
    _add_columns(connection, _ADDED_IN_2)
    connection.execute(f"UPDATE candidates SET backend = {_SANDBOX} WHERE path_taken IS NOT NULL")


def _to_3(connection: sqlite3.Connection) -> None:
    """Add the identity of the log, replaced verdicts, the content that a trial documents, and why a tier is unscored."""
    _create(connection, _TABLES_OF_3)
    _add_columns(connection, _ADDED_IN_3)


def _to_4(connection: sqlite3.Connection) -> None:
    """Add groups of candidates, whether re-checks agree and bodies are plain, tests per task, names of runs."""
    _create(connection, _TABLES_OF_4)
    for trigger in TRIGGERS.split("\n"):
        if " ON labels " in trigger:
            connection.execute(trigger)
    _rename_column(connection, ("candidates", "former_verdicts"), "path_taken", "route")
    _add_columns(connection, _ADDED_IN_4)
    connection.executemany(_INSERT_UNUSED.format(""), _unused_in_notes(connection))
    connection.execute(
        "UPDATE stages SET note = substr(note, 1, instr(note, char(10)) - 1) WHERE name = 'suite' AND instr(note, char(10))"
    )
    _note_former_groups(connection)
    connection.execute(
        f"UPDATE candidates SET (prompt, context, settings) = (SELECT prompt, context, settings FROM temp.{FORMER_GROUPS} "
        f"WHERE candidate = candidates.id), agrees = {_AGREES}"
    )
    connection.execute(f"UPDATE tasks SET test_count = {_TEST_COUNT}")
    connection.execute(f"DROP TABLE temp.{FORMER_GROUPS}")


def _to_5(connection: sqlite3.Connection) -> None:
    """Add forks of trials, the place of a run in the queue, the files of a task's tests."""
    _add_columns(connection, _ADDED_IN_5)


def _to_6(connection: sqlite3.Connection) -> None:
    """Add the scope of docs, documented files, repairs of answers; views for people as they are today."""
    _add_columns(connection, _ADDED_IN_6)
    connection.execute(f"UPDATE candidates SET repairs = {_REPAIRS}")
    for (view,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'view'").fetchall():
        connection.execute(f'DROP VIEW main."{view}"')
    for statement in filter(str.strip, VIEWS.split(";")):
        connection.execute(statement)


def _to_7(connection: sqlite3.Connection) -> None:
    _create(connection, _TABLES_OF_7)
    for trigger in TRIGGERS.split("\n"):
        if any(f"TRIGGER {table}_" in trigger for table in _TABLES_OF_7):
            connection.execute(trigger)
    connection.execute(
        f"INSERT INTO verdict_counts ({', '.join((*GROUPED, *COUNTED))}) SELECT * FROM {COUNTS_OF_CANDIDATES}"
    )


def _to_8(connection: sqlite3.Connection) -> None:
    _create(connection, _TABLES_OF_8)


def _to_9(connection: sqlite3.Connection) -> None:
    """Add checks of READMEs, orders to improve docstrings, and what was tried for them."""
    _create(connection, _TABLES_OF_9)
    for trigger in TRIGGERS.split("\n"):
        if any(f"TRIGGER {table}_" in trigger for table in _TABLES_OF_9):
            connection.execute(trigger)


# version that a file has -> what turns it into the next version; runs inside one transaction on a copy of the file
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _to_2,
    2: _to_3,
    3: _to_4,
    4: _to_5,
    5: _to_6,
    6: _to_7,
    7: _to_8,
    8: _to_9,
}
