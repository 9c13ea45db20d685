"""Check a session when it is opened, so that readers never see a value that is invalid for its column.

SQLite itself compares every row with the tables of :mod:`workbench.session.schema`, so valid rows never pass through
Python. A table with damaged rows is hidden behind a temporary view of the same name. Invalid values become NULL if the
column allows it, or a neutral value if the row is still useful; a row that cannot be identified is left out. Nothing is
written to the file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.session import schema
from workbench.session.row_reader import Damage, described, shown
from workbench.session.schema import SchemaColumn

_MOST = 1e15  # maximum number of tokens, bytes, seconds and rows
_LATEST = 250_000_000_000  # unix seconds, in the year 9892; Python's dates end soon after
_LISTED = 100  # maximum number of damaged rows listed per table
_TYPES = {"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "blob"}
# Key columns that may be empty.
_MAY_BE_EMPTY = {"labels.part", "verdict_counts.prompt", "verdict_counts.context", "study_cells.run_id"}
_ENGINES_OWN = {"log_identity", "requests", "sqlite_sequence"}  # never displayed
_VERDICTS = "'passed', 'failed', 'timeout', 'crashed', 'invalid', 'bypassed', 'error'"
_JSON = {
    "'object'": "runs.config steps.settings calls.sampling candidates.recheck candidates.settings former_verdicts.recheck "
    "studies.declaration study_cells.pointer improvements.plan",
    "'array'": "calls.attempts tasks.tests candidates.suspicious former_verdicts.suspicious docstring_attempts.seen "
    "docstring_attempts.before docstring_attempts.after",
    "'object', 'array'": "tasks.controls candidates.notes",
}
_FURTHER = {
    "candidates.verdict": f"verdict IN ({_VERDICTS})",
    "former_verdicts.verdict": f"verdict IN ({_VERDICTS})",
    "candidates.control": "control IN (0, 1)",
    "candidates.agrees": "agrees IN (0, 1)",
    "tasks.coverage": "coverage <= 1",
    "tasks.leak": "leak <= 1",
    **{
        place: "CASE WHEN json_valid({0}) THEN json_type({0}) IN ({1}) ELSE 0 END".format(
            place.partition(".")[2], kinds
        )
        for kinds, places in _JSON.items()
        for place in places.split()
    },
}
"""Constraints beyond those of the tables."""

# Replacements for invalid values in required columns; others get the default, `?` or 0.
_NEUTRAL = {
    "runs.kind": "CASE WHEN id IN (SELECT run_id FROM tasks) THEN 'regenerate' ELSE 'document' END",
    "runs.state": "'failed'",
    "trials.state": "CASE WHEN readme_blob IS NOT NULL THEN 'done' ELSE 'failed' END",
    "steps.kind": "'invalid'",
    "checks.state": "CASE WHEN result_blob IS NOT NULL THEN 'done' ELSE 'cancelled' END",
    "tasks.docs": "'?'",
    "tasks.state": "'excluded'",  # unknown whether the sample counts, so it must not
    "candidates.state": "CASE WHEN verdict IS NOT NULL THEN 'done' ELSE 'cancelled' END",
    "improvements.state": "'cancelled'",
    "docstring_attempts.state": "'refused'",
    **dict.fromkeys(("calls.sampling", "studies.declaration", "improvements.plan"), "'{}'"),
    "calls.attempts": "'[]'",
    **dict.fromkeys(("runs.config", "steps.target", "checks.run_id", "tasks.tests", "failing_tests.message", "meta.value"), "''"),
    **dict.fromkeys(("tasks.occurrence", "dropped.occurrence"), "1"),
    **dict.fromkeys(("scorecards.rubric", "scorecards.judge", "stages.name", "dropped.path", "dropped.qualified_name"), "'?'"),
    **dict.fromkeys(("checks.executed", "checks.step_seconds", "checks.rules"), "0"),
}  # fmt: skip
# Required columns besides the key; rows without them are left out.
_VITAL = {
    "trials.run_id", "tasks.run_id", "tasks.docs_scope", "candidates.run_id", "candidates.task_id", "candidates.evaluator",
    "candidates.sample", "candidates.control", "scorecards.out_of", "annotations.item", "annotations.text", "former_verdicts.verdict",
}  # fmt: skip
_VITAL_TABLES = {"blobs", "leases", "verdict_counts", "changes"}
# References whose target may be missing.
_FREE = {"checks.run_id", "leases.run_id", "verdict_counts.task_id"}


@dataclass(frozen=True, slots=True)
class _Rule:
    """A column: ``sound`` is SQL that is true for a valid value; ``neutral`` replaces an invalid one, "" for NULL.

    ``vital`` means that a row without a valid value is useless.
    """

    column: SchemaColumn
    sound: str
    neutral: str
    vital: bool

    @property
    def name(self) -> str:
        return self.column.name


@cache
def _rules() -> dict[str, tuple[_Rule, ...]]:
    return {
        table: tuple(_rule(table, column) for column in columns)
        for table, columns in schema.tables().items()
        if table not in _ENGINES_OWN
    }


def _rule(table: str, column: SchemaColumn) -> _Rule:
    name, declared, place = column.name, column.kind, f"{table}.{column.name}"
    neutral = _NEUTRAL.get(place, "")
    if column.required and not (neutral or column.key or place in _VITAL or table in _VITAL_TABLES):
        text = "''" if name.endswith("_blob") else "'?'"
        neutral = column.default or (text if declared == "TEXT" else "0")
    # The range check is sufficient for REAL, because SQLite sorts text and blobs after all numbers.
    conditions = [] if declared == "REAL" else [f"typeof({name}) = '{_TYPES[declared]}'"]
    if declared in {"INTEGER", "REAL"}:
        is_moment = declared == "REAL" and (name == "at" or name.endswith("_at"))
        conditions.append(f"{name} BETWEEN 0 AND {_LATEST if is_moment else _MOST:.0f}")
    if column.allowed:
        conditions.append(f"{name} IN ({column.allowed})")
    elif column.key and declared == "TEXT" and place not in _MAY_BE_EMPTY:
        conditions.append(f"{name} != ''")
    if further := _FURTHER.get(place):
        conditions.append(further)
    if place == "blobs.data":
        conditions.append("(codec != 'raw' OR length(data) = size)")
    sound = f"({' AND '.join(conditions)})"
    required = column.required or column.key
    return _Rule(column, sound if required else f"({name} IS NULL OR {sound})", neutral, required and not neutral)


def _noun(table: str) -> str:
    return {"studies": "study", "blobs": "text"}.get(table, table.replace("_", " ").removesuffix("s"))


def _called(table: str, values: Mapping[str, object]) -> str:
    """Return the description of a row by its key: ``trial 4f21…``, ``step 3 of trial 4f21…``."""
    own, of = [], ""
    for column in (one for one in schema.tables()[table] if one.key):
        text, parent = shown(values.get(column.name)), column.refers_to
        if parent in (None, table):
            own.append(text)
        else:
            of += f" of {_noun(parent)} {text}"
    return f"{_noun(table)} {', '.join(own)}{of}"


class Survey:
    """Find the damage of a session; afterwards its connection only returns valid values.

    With ``copied``, every table is read row by row and kept in memory, for files with unreadable pages.
    """

    def __init__(self, connection: sqlite3.Connection, *, copied: bool = False) -> None:
        self.damage: list[Damage] = []
        self._connection = connection
        self._copied = copied
        with _lenient(connection):
            self._look()

    def _look(self) -> None:
        expected = {
            (kind, name)
            for kind, name, _ in schema.own_schema()
            if kind in {"index", "trigger"} and not name.startswith("sqlite_")
        }
        present = set(self._all("SELECT type, name FROM main.sqlite_master"))
        readable = {name for kind, name in present if kind in {"table", "view"}}
        for kind, name in sorted(expected - present):
            self._note(f"{kind} {name}", "is missing" + ("; changes are not shown live" if kind == "trigger" else ""))
        for table, columns in _rules().items():
            if table not in readable:
                self._note(f"table {table}", "is missing")
                self._hide(table, columns, set())
                continue
            self._table(table, columns)
        self._stand_in_for_runs(_rules()["runs"])
        for table, rules in _rules().items():
            for column in (rule.column for rule in rules):
                parent = column.refers_to
                depends = column.required and column.default is None and f"{table}.{column.name}" not in _FREE
                if depends and parent not in (None, table):
                    self._orphans(table, column.name, parent)

    def _table(self, table: str, columns: Sequence[_Rule]) -> None:
        have = {row[1] for row in self._all(f"PRAGMA table_info({table})")}
        missing = [column for column in columns if column.name not in have]
        if missing:
            names = ", ".join(column.name for column in missing)
            self._note(f"table {table}", f"has no column {names}" if have else "is missing")
            if not have or any(column.vital for column in missing):
                self._hide(table, columns, set())
                return
        if self._copied and table not in {"blobs", "changes"}:
            self._rescue(table, columns, have)
        if table == "changes":
            return  # the feed is long, and only new entries are read: see SessionReader.changes
        present = [column for column in columns if column.name in have]
        all_sound = " AND ".join(column.sound for column in present)
        names = ", ".join(column.name for column in present)
        flags = ", ".join(column.sound for column in present)
        # IS NOT TRUE instead of NOT, because a NULL in a required column makes the whole condition NULL.
        query = f"SELECT {names}, {flags} FROM {table} WHERE ({all_sound}) IS NOT TRUE"
        try:
            bad = self._all(f"{query} LIMIT {_LISTED + 1}")
        except sqlite3.DatabaseError as error:
            _require_damage(error)
            self._note(f"table {table}", f"a page of it is damaged ({error})")
            if table == "blobs":
                return  # texts are read one by one, and unreadable texts are reported then
            self._rescue(table, columns, have)
            bad = self._all(f"{query} LIMIT {_LISTED + 1}")
        for row in bad[:_LISTED]:
            self._name(table, present, row)
        if len(bad) > _LISTED:
            self._note(f"table {table}", f"more than {_LISTED} rows are damaged")
        if bad or missing:
            self._hide(table, columns, have)

    def _name(self, table: str, columns: Sequence[_Rule], row: Sequence[object]) -> None:
        values = {column.name: value for column, value in zip(columns, row, strict=False)}
        wrong = [column for column, flag in zip(columns, row[len(columns) :], strict=True) if not flag]
        lost = any(column.vital for column in wrong)
        faults = ", ".join(f"column {column.name} {described(values[column.name])}" for column in wrong)
        self._note(_called(table, values), f"{faults}; it is left out" if lost else faults)

    def _orphans(self, child: str, column: str, parent: str) -> None:
        key = next(one.name for one in schema.tables()[parent] if one.key)
        query = (
            f"SELECT {column}, count(*) FROM {child} WHERE NOT EXISTS (SELECT 1 FROM {parent} WHERE {parent}.{key} = {column}) "
            f"GROUP BY 1 LIMIT {_LISTED}"
        )
        try:
            found = self._all(query)
        except sqlite3.DatabaseError:
            if self._copied:
                return
            raise
        for name, count in found:
            rows = f"{count:,} of its rows depend" if count != 1 else "a row depends"
            self._note(f"table {child}", f"{rows} on {_noun(parent)} {shown(name)}, which cannot be read or is missing")

    # -- the views and copies that replace damaged tables

    def _hide(self, table: str, columns: Sequence[_Rule], have: set[str]) -> None:
        source = self._beneath(table)
        chosen, conditions = [], []
        for column in columns:
            instead = column.neutral
            if column.name not in have:
                chosen.append(f"{instead or 'NULL'} AS {column.name}")
            elif column.vital:
                chosen.append(f"{column.name} AS {column.name}")
                conditions.append(column.sound)
            else:
                chosen.append(
                    f"CASE WHEN {column.sound} THEN {column.name} ELSE {instead or 'NULL'} END AS {column.name}"
                )
        if not have:
            sql = f"SELECT {', '.join(f'NULL AS {column.name}' for column in columns)}, NULL AS rowid WHERE 0"
        else:
            row = "rowid" if self._has_rowid(table) else "0"
            sql = f"SELECT {', '.join(chosen)}, {row} AS rowid FROM {source} WHERE {' AND '.join(conditions) or '1'}"
        self._connection.execute(f"CREATE TEMP VIEW {table} AS {sql}")

    def _stand_in_for_runs(self, columns: Sequence[_Rule]) -> None:
        """Replace a lost run with a neutral row, because otherwise its trials and tasks could not be found."""
        of_trials, of_tasks = ("SELECT DISTINCT run_id AS id FROM " + table for table in ("trials", "tasks"))
        lost = f"SELECT id FROM ({of_trials} UNION {of_tasks}) WHERE id NOT IN (SELECT id FROM known_runs)"
        names = ", ".join(column.name for column in columns)
        found = self._all("SELECT type, sql FROM temp.sqlite_master WHERE name = 'runs'")
        missing = self._all(lost.replace("known_runs", "runs"))
        if not missing:
            return
        for (key,) in missing:
            self._note(f"run {shown(key)}", "its own row is damaged or missing; everything that belongs to it is shown")
        if found and found[0][0] == "table":
            self._connection.execute("ALTER TABLE temp.runs RENAME TO known_runs")
        elif found:
            self._connection.execute("DROP VIEW temp.runs")
            self._connection.execute(f"CREATE TEMP VIEW known_runs AS {found[0][1].partition(' AS ')[2]}")
        else:
            self._connection.execute(f"CREATE TEMP VIEW known_runs AS SELECT {names} FROM main.runs")
        stand_ins = ", ".join(
            "id" if column.name == "id" else f"{column.neutral or 'NULL'} AS {column.name}" for column in columns
        )
        self._connection.execute(
            f"CREATE TEMP VIEW runs AS SELECT {names}, 0 AS rowid FROM known_runs UNION ALL SELECT {stand_ins}, 0 FROM ({lost})"
        )

    def _beneath(self, table: str) -> str:
        if not self._all("SELECT 1 FROM temp.sqlite_master WHERE name = ?", (table,)):
            return f"main.{table}"
        self._connection.execute(f"ALTER TABLE temp.{table} RENAME TO raw_{table}")
        return f"raw_{table}"

    def _has_rowid(self, table: str) -> bool:
        try:
            self._all(f"SELECT rowid FROM main.{table} LIMIT 0")
        except sqlite3.DatabaseError:
            return False
        return True

    def _rescue(self, table: str, columns: Sequence[_Rule], have: set[str]) -> None:
        """Copy the readable rows of a table into memory, reading it from both ends."""
        present = [column for column in columns if column.name in have]
        names = ", ".join(column.name for column in present)
        keys = [place for place, column in enumerate(present) if column.column.key]
        order = ", ".join(f"{present[place].name} DESC" for place in keys)
        if self._has_rowid(table):
            order = "rowid DESC"
        rows: dict[tuple[object, ...], Sequence[object]] = {}
        for end in ("", f" ORDER BY {order}"):
            try:
                for row in self._connection.execute(f"SELECT {names} FROM {table}{end}"):
                    rows.setdefault(tuple(row[place] for place in keys), row)
            except sqlite3.DatabaseError as error:
                _require_damage(error)
        declared = ", ".join(f"{column.name} {column.column.kind}" for column in present)
        keyed = ", ".join(present[place].name for place in keys)
        self._connection.execute(f"CREATE TEMP TABLE {table} ({declared})")
        self._connection.execute(f"CREATE INDEX temp.keys_of_{table} ON {table} ({keyed})")
        marks = ", ".join("?" * len(present))
        self._connection.executemany(f"INSERT INTO temp.{table} ({names}) VALUES ({marks})", rows.values())

    # -- helpers

    def _all(self, sql: str, arguments: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, tuple(arguments)).fetchall()

    def _note(self, item: str, what: str) -> None:
        self.damage.append(Damage(item, what))


def _require_damage(error: sqlite3.DatabaseError) -> None:
    """Re-raise errors that are not caused by the file's content: I/O, a deleted log, or a lock."""
    if error.sqlite_errorname.startswith(
        ("SQLITE_IOERR", "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_CANTOPEN")
    ):
        raise error


@contextlib.contextmanager
def _lenient(connection: sqlite3.Connection) -> Iterator[None]:
    """Configure a connection to allow temporary views and text that is not UTF-8."""
    before = connection.text_factory
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only = OFF")
    # Without this, a rename parses every view of the file and fails if one refers to a missing table.
    connection.execute("PRAGMA legacy_alter_table = ON")
    try:
        yield
    finally:
        connection.execute("PRAGMA query_only = ON")
        connection.text_factory = before
