"""Use a session in Python: ``open_session("NAME")`` returns its tables as pandas or polars data frames.

Tables and texts are read on demand; a column name that ends in ``_blob`` marks keys for :meth:`Session.text`. Unknown
values are missing, never 0.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.files import replaced, shown
from workbench.base.text import one_line
from workbench.interop.formats.exporting import Written, write_lines
from workbench.results.tables import TABLES, Rows, rows_of, table_rows


def _table(name: str) -> Any:
    return property(lambda session: _framed(session.rows(name)))


class Session:
    """A read-only session, to use as a context manager or close explicitly. Raises SessionError if it is unreadable."""

    def __init__(self, path: Path) -> None:
        from workbench.session import SessionReader

        self.path = path
        self._reader = SessionReader(path)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.path.name}>"

    def close(self) -> None:
        self._reader.close()

    # Each table is a data frame; docs/reference/session.md describes the rows.
    trials = _table("trials")
    steps = _table("steps")
    scores = _table("scores")
    criteria = _table("criteria")
    tasks = _table("tasks")
    candidates = _table("candidates")
    failing_tests = _table("failing_tests")

    def rows(self, table: str) -> Rows:
        """Return a table as plain tuples, without a data frame library. Raises UsageError if there is no such table."""
        return table_rows(self._reader, table)

    def query(self, sql: str, *arguments: object) -> Any:
        """Return the result of a SELECT as a data frame. Raises UsageError if the query is invalid.

        See docs/reference/session.md for tables and views.
        """
        from workbench.session import SessionError

        try:
            return _framed(rows_of(self._reader, sql, arguments))
        except SessionError as error:
            if isinstance(error.__cause__, sqlite3.OperationalError):
                raise UsageError(f"SQLite refuses the query: {one_line(str(error.__cause__), 200)}.") from None
            raise

    def text(self, digest: str | None) -> str | None:
        """Return the text of a ``…_blob`` value, or None for None. Raises SessionError if it cannot be read."""
        return None if digest is None else self._reader.data(digest).decode("utf-8", "replace")


def open_session(session: str | Path) -> Session:
    """Open a session by path, or by its name in the folder that ``workbench locate sessions`` prints.

    Raises:
        UsageError: The session does not exist.
        SessionError: The session cannot be read.
    """
    from workbench.session.session_names import resolve_session

    return Session(resolve_session(str(session)))


def _framed(rows: Rows) -> Any:
    data = {name: [row[place] for row in rows.values] for place, name in enumerate(rows.columns)}
    if importlib.util.find_spec("pandas") is not None:
        import pandas

        return pandas.DataFrame(data, columns=list(rows.columns)).convert_dtypes()
    if importlib.util.find_spec("polars") is not None:
        import polars

        return polars.DataFrame({name: _alike(values) for name, values in data.items()}, strict=False)
    raise UsageError(
        "Data frames need pandas or polars: pip install pandas; Session.rows() returns plain tuples without either."
    )


def _alike(values: list[Any]) -> list[Any]:
    kinds = {type(one) for one in values if one is not None}
    if len(kinds) <= 1 or kinds == {int, float}:
        return values
    return [None if one is None else one if isinstance(one, str) else json.dumps(one) for one in values]


class CsvTables:
    """A folder with one file per non-empty table; cells that look like formulas are escaped with an apostrophe."""

    name = ""
    about, suffix = "tables, one .csv file each", "csv"

    def write(self, session: Path, output: Path, items: Sequence[str], accepted: bool) -> Written:
        if output.is_file():
            raise UsageError(f"{shown(output)} is a file; name a folder for the tables.")
        with Session(session) as opened:
            found = {name: rows for name in TABLES if (rows := opened.rows(name)).values}
        for name, rows in found.items():
            with replaced(output / f"{name}.{self.suffix}") as building:
                self.put(building, rows)
        if not found:
            raise UsageError(f"{session.name} has no rows to export.")
        return Written(sum(len(rows.values) for rows in found.values()), f"rows ({', '.join(found)})")

    def put(self, path: Path, rows: Rows) -> None:
        with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(rows.columns)
            writer.writerows([_cell(value) for value in row] for row in rows.values)


class JsonTables(CsvTables):
    """Tables as JSON Lines files, with one object per row."""

    about, suffix = "tables, one .jsonl file each", "jsonl"

    def put(self, path: Path, rows: Rows) -> None:
        write_lines(path, _records(rows))


class ParquetTables(CsvTables):
    """Tables as Parquet files; a column with values of several types becomes text."""

    about, suffix = "tables, one .parquet file each", "parquet"

    def put(self, path: Path, rows: Rows) -> None:
        write_parquet(path, list(_records(rows)))


def _cell(value: object) -> object:
    """Escape a text that a spreadsheet would evaluate as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def _records(rows: Rows) -> Iterator[dict[str, Any]]:
    return (dict(zip(rows.columns, row, strict=True)) for row in rows.values)


def write_parquet(path: Path, records: Sequence[dict[str, Any]]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'docs-workbench[dataset]'") from None
    names = list(dict.fromkeys(name for one in records for name in one))
    columns = {}
    for name in names:
        values = [one.get(name) for one in records]
        try:
            columns[name] = pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, UnicodeEncodeError):
            columns[name] = pyarrow.array(
                [None if one is None else _plain_text(one) for one in values], pyarrow.string()
            )
    parquet.write_table(pyarrow.table(columns), path, compression="zstd")


def _plain_text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text.encode("utf-8", "replace").decode()
