"""Adds the orders to improve docstrings of a session, attached as ``src``, to another, ``main``: their runs may have got other names."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from workbench.session.rows import AttemptRow, ImprovementRow, columns


def add_improvements(connection: sqlite3.Connection, runs: Mapping[str, str]) -> None:
    """Add the orders of ``src`` with what was tried for them within the caller's transaction; one that is there stays as it is.

    Args:
        connection: Both databases.
        runs: New names of the runs of ``src``.
    """
    known = {key for (key,) in connection.execute("SELECT id FROM main.improvements")}
    orders, tried = columns(ImprovementRow), columns(AttemptRow)
    for values in connection.execute(f"SELECT {orders} FROM src.improvements ORDER BY created_at, id").fetchall():
        row = dict(zip(orders.split(", "), values, strict=True))
        if row["id"] in known:
            continue
        for name in ("run_id", "now_run"):
            row[name] = runs.get(row[name], row[name])
        # Whoever executes it does so in the session that it was ordered into.
        row["state"] = "cancelled" if row["state"] in ("queued", "running") else row["state"]
        places = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO main.improvements ({orders}) VALUES ({places})", tuple(row.values()))
        for attempt in connection.execute(
            f"SELECT {tried} FROM src.docstring_attempts WHERE improvement_id = ?", (row["id"],)
        ).fetchall():
            made = dict(zip(tried.split(", "), attempt, strict=True))
            made["run_id"] = runs.get(made["run_id"], made["run_id"])
            places = ", ".join("?" * len(made))
            connection.execute(f"INSERT INTO main.docstring_attempts ({tried}) VALUES ({places})", tuple(made.values()))
