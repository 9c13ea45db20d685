"""The tables of a session as CSV, JSON lines or Parquet: the same rows that :func:`workbench.open_session` gives, a file each."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import UsageError
from workbench.files import shown
from workbench.interchange.exporting import Written, replaced
from workbench.interchange.frames import session_rows
from workbench.results.tables import TABLES, Rows


def write_tables(session: Path, to: str, output: Path) -> Written:
    """Write every table of a session that has rows into a folder.

    Raises:
        UsageError: The place is a file, or the session is empty.
        OSError: It cannot be written.
    """
    if output.is_file():
        raise UsageError(f"{shown(output)} is a file; the tables are several, so name a folder.")
    count, written = 0, []
    for name in TABLES:
        rows = session_rows(session, name)
        if not rows.values:
            continue
        with replaced(output / f"{name}.{to}") as building:
            _write(building, to, rows)
        count += len(rows.values)
        written.append(name)
    if not written:
        raise UsageError(f"{session.name} has no rows to export.")
    return Written(count, f"rows ({', '.join(written)})")


def _write(path: Path, to: str, rows: Rows) -> None:
    if to == "parquet":
        write_parquet(path, list(_records(rows)))
        return
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        if to == "jsonl":
            file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in _records(rows))
            return
        writer = csv.writer(file)
        writer.writerow(rows.columns)
        writer.writerows([_cell(value) for value in row] for row in rows.values)


def _cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it, as spreadsheets write it themselves."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def _records(rows: Rows) -> Iterator[dict[str, Any]]:
    return (dict(zip(rows.columns, row, strict=True)) for row in rows.values)


def write_parquet(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write records as Parquet; a column whose values differ in kind becomes text.

    Raises:
        UsageError: pyarrow is not installed.
        OSError: It cannot be written.
    """
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
            columns[name] = pyarrow.array([None if one is None else _text(one) for one in values], pyarrow.string())
    parquet.write_table(pyarrow.table(columns), path, compression="zstd")


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text.encode("utf-8", "replace").decode()
