"""Adds the orders to improve docstrings of a session, attached as ``src``, to another, ``main``: their runs may have got other names."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from workbench.session.identity import run_id
from workbench.session.rows import AttemptRow, ImprovementRow, columns

_OVER = ("refused", "kept")
"""States of an attempt that came to its end."""
_FURTHER = ("cancelled", "failed", "done")
"""States of an order that nobody executes, that which lacks least last."""
_NOT_SAID = {"improvement_id", "run_id", "at"}
"""What two records of one and the same attempt may differ in."""

_Key = tuple[str, int]
_Row = dict[str, Any]


def add_improvements(connection: sqlite3.Connection, runs: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Add the orders of ``src`` with what was tried for them within the caller's transaction.

    An order that is there, of a copy of the same session, is joined: it gets the attempts that it lacks, and stands as where
    it came further. Where both copies went on by themselves and an attempt came to another end in each, the order is there
    twice, under a new id. Whoever executes an order does so in the session that it was ordered into: here it is cancelled.

    Returns by table how many rows were added, and how many were there already.
    """
    orders, attempts = [0, 0], [0, 0]
    for row in _rows(connection, ImprovementRow, "src.improvements ORDER BY created_at, id"):
        theirs = _attempts(connection, "src", row["id"])
        for made in (row, *theirs.values()):
            for name in {"run_id", "now_run"} & made.keys():
                made[name] = runs.get(made[name], made[name])
        row["state"] = "cancelled" if row["state"] in ("queued", "running") else row["state"]
        there = _same_order(connection, row, theirs)
        if there is None:
            if connection.execute("SELECT 1 FROM main.improvements WHERE id = ?", (row["id"],)).fetchone():
                row["id"] = run_id()
            _insert(connection, "improvements", row)
        else:
            _join(connection, there, row)
        orders[there is not None] += 1
        key, mine = (row["id"], {}) if there is None else (there["id"], _attempts(connection, "main", there["id"]))
        for at, attempt in theirs.items():
            known = mine.get(at)
            if known is None or (
                known["state"] not in _OVER and (attempt["state"] in _OVER or attempt["at"] > known["at"])
            ):
                _insert(connection, "docstring_attempts", {**attempt, "improvement_id": key})
            attempts[known is not None] += 1
    return {"improvements": (orders[0], orders[1]), "docstring_attempts": (attempts[0], attempts[1])}


def _rows(connection: sqlite3.Connection, kind: type[Any], rest: str, arguments: tuple[object, ...] = ()) -> list[_Row]:
    found = connection.execute(f"SELECT {columns(kind)} FROM {rest}", arguments).fetchall()
    return [dict(zip(columns(kind).split(", "), values, strict=True)) for values in found]


def _attempts(connection: sqlite3.Connection, schema: str, order: str) -> dict[_Key, _Row]:
    found = _rows(connection, AttemptRow, f"{schema}.docstring_attempts WHERE improvement_id = ?", (order,))
    return {(one["task_id"], one["number"]): one for one in found}


def _same_order(connection: sqlite3.Connection, row: _Row, theirs: Mapping[_Key, _Row]) -> _Row | None:
    """Return the order of ``main`` that is this one, with no attempt that came to another end; None where there is none."""
    wanted = (row["plan"], row["created_at"])
    for known in _rows(connection, ImprovementRow, "main.improvements WHERE plan = ? AND created_at = ?", wanted):
        mine = _attempts(connection, "main", known["id"])
        if not any(_apart(mine[key], theirs[key]) for key in mine.keys() & theirs.keys()):
            return known
    return None


def _apart(one: _Row, other: _Row) -> bool:
    both_over = one["state"] in _OVER and other["state"] in _OVER
    return both_over and any(one[name] != other[name] for name in one.keys() - _NOT_SAID)


def _join(connection: sqlite3.Connection, there: _Row, row: _Row) -> None:
    if there["run_id"] is None or _FURTHER.index(row["state"]) > _FURTHER.index(there["state"]):
        names = ("run_id", "state", "stage", "now_run", "problem", "finished_at")
        changed = ", ".join(f"{name} = ?" for name in names)
        values = (*(row[name] for name in names), there["id"])
        connection.execute(f"UPDATE main.improvements SET {changed} WHERE id = ?", values)


def _insert(connection: sqlite3.Connection, table: str, row: _Row) -> None:
    """Add a row, or put it in the place of the one that was known under its key."""
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR REPLACE INTO main.{table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
