"""A session in Python: ``open_session("NAME")`` gives its tables as data frames of pandas or polars, whichever is installed.

A table is read when it is asked for. Texts stay in the file until :meth:`Session.text` is asked for one: columns that end in
``_blob`` name them. What is not known is missing, never 0.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Any

from workbench.errors import UsageError
from workbench.results.tables import Rows, rows_of, table_rows
from workbench.text import one_line


class Session:
    """A session, read-only; use it with ``with``, or call :meth:`close`.

    Args:
        path: The session file.

    Raises:
        SessionError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        from workbench.session import SessionReader

        self.path = path
        self._reader = SessionReader(path)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.path.name}>"

    def close(self) -> None:
        self._reader.close()

    @property
    def trials(self) -> Any:
        """A row for each trial: case, agent, model, state, sums, ``imported_from``."""
        return self._frame("trials")

    @property
    def steps(self) -> Any:
        """A row for each step of each trial."""
        return self._frame("steps")

    @property
    def scores(self) -> Any:
        """A row for each trial, rubric and judge: points in all and of each tier."""
        return self._frame("scores")

    @property
    def criteria(self) -> Any:
        """A row for each criterion of each scorecard, with points, maximum and reason."""
        return self._frame("criteria")

    @property
    def tasks(self) -> Any:
        return self._frame("tasks")

    @property
    def candidates(self) -> Any:
        """A row for each candidate, controls included, with its verdict."""
        return self._frame("candidates")

    @property
    def failing_tests(self) -> Any:
        """A row for each test that did not pass for a candidate."""
        return self._frame("failing_tests")

    def rows(self, table: str) -> Rows:
        """Return a table as plain tuples, without a library for data frames.

        Raises:
            UsageError: There is no such table.
        """
        return table_rows(self._reader, table)

    def query(self, sql: str, *arguments: object) -> Any:
        """Return a frame of what a SELECT of your own gives; ``docs/session.md`` has the tables and views.

        Raises:
            UsageError: SQLite refuses it.
        """
        from workbench.session import SessionError

        try:
            return _framed(rows_of(self._reader, sql, arguments))
        except SessionError as error:
            if isinstance(error.__cause__, sqlite3.OperationalError):
                raise UsageError(f"SQLite refuses the query: {one_line(str(error.__cause__), 200)}.") from None
            raise

    def text(self, digest: str | None) -> str | None:
        """Return the text that a ``…_blob`` column names; None for None.

        Raises:
            SessionError: It is not there or cannot be read.
        """
        return None if digest is None else self._reader.data(digest).decode("utf-8", "replace")

    def _frame(self, table: str) -> Any:
        return _framed(self.rows(table))


def open_session(session: str | Path) -> Session:
    """Open a session to read: a file, or the name of a session in the folder that ``workbench locate sessions`` tells.

    Raises:
        UsageError: There is none.
        SessionError: It cannot be read.
    """
    from workbench.engine.session_names import resolve_session

    return Session(resolve_session(str(session)))


def session_rows(session: Path, table: str) -> Rows:
    """Return one table of a session as plain tuples.

    Raises:
        SessionError: It cannot be read.
    """
    with Session(session) as opened:
        return opened.rows(table)


def _framed(rows: Rows) -> Any:
    """Return a frame of pandas, else of polars; numbers that may be missing keep that they are missing."""
    data = {name: [row[place] for row in rows.values] for place, name in enumerate(rows.columns)}
    if importlib.util.find_spec("pandas") is not None:
        import pandas

        return pandas.DataFrame(data, columns=list(rows.columns)).convert_dtypes()
    if importlib.util.find_spec("polars") is not None:
        import polars

        return polars.DataFrame({name: _alike(values) for name, values in data.items()}, strict=False)
    raise UsageError(
        "Data frames need pandas or polars: pip install pandas; Session.rows() gives plain tuples without either."
    )


def _alike(values: list[Any]) -> list[Any]:
    kinds = {type(one) for one in values if one is not None}
    if len(kinds) <= 1 or kinds == {int, float}:
        return values
    return [None if one is None else one if isinstance(one, str) else json.dumps(one) for one in values]
