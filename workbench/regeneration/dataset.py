"""Write and read a dataset of tasks, a folder of files; see ``docs/dataset.md``."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import typed_json
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import TooDeep, Unreadable, expanded, parse_json, read_text, require_ordinary, shown
from workbench.regeneration.dataset_rows import SCHEMA_VERSION, Row, columns, numbered

FORMATS = ("jsonl", "parquet")
_NAME, _SUMMARY, _DROPPED = "tasks", "summary.json", "dropped.jsonl"


class BadDataset(UsageError):
    """A file is not a dataset of tasks, or this version cannot read it."""


class ParquetMissing(WorkbenchError):
    """Parquet files need pyarrow, which is not installed."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as returned by :func:`read_dataset`."""

    rows: tuple[Row, ...]
    summary: Mapping[str, Any] = field(default_factory=dict)  # counts per stage by repository; empty if it is not there

    @property
    def repositories(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.repo for row in self.rows))


def parse_formats(text: str) -> tuple[str, ...]:
    """Parse a list of formats such as ``jsonl,parquet``. UsageError, ParquetMissing: it cannot be written."""
    formats = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise UsageError(f"--formats takes {' and '.join(FORMATS)}, separated by a comma, not {text!r}.")
    if "parquet" in formats:
        _pyarrow()
    return formats


def write_dataset(
    folder: Path,
    rows: Sequence[Row],
    summary: Mapping[str, Any],
    dropped: Iterable[Mapping[str, Any]] = (),
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write rows, dropped functions and summary, each file atomically; return the files. Raises ParquetMissing."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = numbered(rows)
    written = []
    for name in formats:
        path = folder / f"{_NAME}.{name}"
        write = _write_parquet if name == "parquet" else _write_lines
        _replace(path, lambda part, write=write: write(part, rows))  # type: ignore[misc]
        written.append(path)
    files = [path.name for path in written]
    _replace(folder / _DROPPED, lambda part: _write_json_lines(part, dropped))
    told = {"schema_version": SCHEMA_VERSION, "files": files, **summary}
    text = json.dumps(told, indent=2, ensure_ascii=True) + "\n"
    _replace(folder / _SUMMARY, lambda part: part.write_text(text, encoding="utf-8"))
    return (*written, folder / _DROPPED, folder / _SUMMARY)


def read_dataset(path: Path | str) -> Dataset:
    """Read a dataset from its folder, its ``.jsonl`` or its ``.parquet`` file.

    Raises:
        BadDataset: There is none, a row lacks a column, or its version is newer than this program.
        ParquetMissing: It is a Parquet file, and pyarrow is not installed.
    """
    path = expanded(path)
    file = path
    if path.is_dir():
        found = [path / f"{_NAME}.{name}" for name in FORMATS if (path / f"{_NAME}.{name}").is_file()]
        if not found:
            raise BadDataset(f"{path} holds no dataset: there is neither {_NAME}.jsonl nor {_NAME}.parquet in it.")
        file = found[0]
    elif not path.exists():
        raise BadDataset(f"There is no dataset {shown(path)}.")
    try:
        require_ordinary(file, "The dataset")
    except Unreadable as problem:
        raise BadDataset(str(problem)) from None
    rows = _read_parquet(file) if file.suffix == ".parquet" else _read_lines(file)
    summary: Mapping[str, Any] = {}
    with contextlib.suppress(Unreadable, ValueError):
        told = parse_json(read_text(file.parent / _SUMMARY))
        summary = told if _is_summary(told) else {}
    return Dataset(tuple(_row(file, number, values) for number, values in enumerate(rows, 1)), summary)


def _is_summary(told: Any) -> bool:
    """Return whether a file is a summary written by a build, with counts for each repository."""
    entries = told.get("repositories", []) if isinstance(told, dict) else None
    return isinstance(entries, list) and all(
        isinstance(entry, dict)
        and "repo" in entry
        and all(isinstance(entry.get(name, {}), dict) for name in ("counts", "dropped"))
        for entry in entries
    )


def _row(file: Path, number: int, values: Any) -> Row:
    try:
        if int(values["schema_version"]) > SCHEMA_VERSION:
            raise BadDataset(
                f"{file} was written by a newer version of the workbench (columns {values['schema_version']})."
            )
        return typed_json.convert(Row, values)
    except BadDataset:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as problem:
        raise BadDataset(f"{file}, row {number}: it is no row of a dataset of tasks ({problem}).") from None


def _write_lines(path: Path, rows: Sequence[Row]) -> None:
    _write_json_lines(path, (row.to_json() for row in rows))


def _write_json_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for value in values:
            file.write(json.dumps(value, ensure_ascii=True) + "\n")


def _read_lines(path: Path) -> list[Any]:
    found = []
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    found.append(parse_json(line))
                except TooDeep as problem:
                    raise BadDataset(f"{shown(path)}, line {number}: {problem}.") from None
                except UnicodeDecodeError:
                    raise
                except ValueError:
                    raise BadDataset(f"{shown(path)}, line {number}: it is not JSON.") from None
    except UnicodeDecodeError:
        raise BadDataset(f"{shown(path)} is no dataset of tasks: it is not text in UTF-8.") from None
    return found


def _write_parquet(path: Path, rows: Sequence[Row]) -> None:
    pyarrow, parquet = _pyarrow()
    types = {
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "str": pyarrow.string(),
        "list[str]": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field(name, types[kind.rstrip("?")], nullable=kind.endswith("?"), metadata={"meaning": meaning})
            for name, kind, meaning in columns()
        ],
        metadata={"schema_version": str(SCHEMA_VERSION)},
    )
    table = pyarrow.Table.from_pylist([_storable(row.to_json()) for row in rows], schema=schema)
    parquet.write_table(table, path, compression="zstd")


def _read_parquet(path: Path) -> list[Any]:
    pyarrow, parquet = _pyarrow()
    try:
        return list(parquet.read_table(path).to_pylist())
    except (pyarrow.ArrowException, OSError) as problem:
        raise BadDataset(f"{path} is no Parquet file: {str(problem).splitlines()[0]}") from None


def _storable(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with lone surrogates escaped, because Parquet stores text as UTF-8."""
    return {
        name: value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value
        for name, value in values.items()
    }


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ParquetMissing(
            "Parquet files need pyarrow, which is not installed: pip install 'docs-workbench[dataset]', "
            "or leave them out with --formats jsonl."
        ) from None


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(descriptor)
    part = Path(name)
    try:
        write(part)
        part.chmod(0o644)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
