"""Adds the studies of a session, attached as ``src``, to another, ``main``: what they point to may have got other names."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from workbench.session.groups import settings_of
from workbench.session.rows import StudyCellRow, columns


def add_studies(
    connection: sqlite3.Connection, source: str, runs: Mapping[str, str], trials: Mapping[str, str]
) -> None:
    """Add the studies of ``src`` within the caller's transaction.

    One that is declared alike is there once, with the cells of both; one of the same name that is declared otherwise gets the
    name of its session behind its own.
    """
    known = dict(connection.execute("SELECT name, declaration FROM main.studies").fetchall())
    for name, declaration, created_at, problem in connection.execute(
        "SELECT name, declaration, created_at, problem FROM src.studies ORDER BY created_at, name"
    ).fetchall():
        new, number = name, 2
        while new in known and settings_of(known[new]) != {**settings_of(declaration), "name": new}:
            new, number = (f"{name} ({source})", number) if new == name else (f"{name} ({source} {number})", number + 1)
        if new not in known:
            text = json.dumps({**settings_of(declaration), "name": new}, ensure_ascii=False, sort_keys=True)
            known[new] = text
            connection.execute("INSERT INTO main.studies VALUES (?, ?, ?, ?)", (new, text, created_at, problem))
        _add_cells(connection, name, new, runs, trials)


def _add_cells(
    connection: sqlite3.Connection, old: str, new: str, runs: Mapping[str, str], trials: Mapping[str, str]
) -> None:
    names = columns(StudyCellRow)
    rows = connection.execute(f"SELECT {names} FROM src.study_cells WHERE study = ?", (old,)).fetchall()
    for row in (StudyCellRow(*one) for one in rows):
        pointer = settings_of(row.pointer)
        if isinstance(meant := pointer.get("trials"), list):
            pointer["trials"] = [trials.get(one, one) for one in meant]
        run = runs.get(row.run_id, row.run_id) if row.run_id else None
        # A cell that could not be planned here may have been planned there.
        connection.execute(
            f"INSERT INTO main.study_cells ({names}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (study, row_name, column_name) "
            "DO UPDATE SET run_id = excluded.run_id, pointer = excluded.pointer, problem = excluded.problem "
            "WHERE study_cells.problem IS NOT NULL AND excluded.problem IS NULL",
            (new, row.row_name, row.column_name, row.position, run, json.dumps(pointer), row.problem),
        )
