"""Write and read datasets of tasks with the columns of RealCode and repotest; see ``docs/reference/dataset.md``."""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from workbench.base import typed_json
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import TooDeep, Unreadable, expanded, parse_json, read_text, replaced, require_ordinary, shown
from workbench.regeneration.environment import Environment
from workbench.regeneration.tasks import Task, TaskSet, located
from workbench.repository.functions import Function
from workbench.repository.lines import decode, source_encoding

#: Incremented whenever the name or meaning of a column changes.
SCHEMA_VERSION = 1


def _column(kind: str, meaning: str) -> Any:
    return field(metadata={"kind": kind, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One task: the body, the file around it, its tests, and their environment.

    ``left_context + gt + right_context`` is the whole file. Columns up to ``test_command`` use RealCode's names.
    """

    id: int = _column("int", "row number in this file, from 0")
    repo: str = _column("str", "owner/name, or the name of the case or project")
    base_commit: str = _column("str", "commit of a git source, else the digest of the fetched content")
    fn: str = _column("str", "path of the file, relative to the repository")
    path_from_root: str = _column("str", "the same, under the name of RealCode's first rows")
    intent: str = _column("str", "name of the function, followed by [function]")
    intent_type: str = _column("str", "always function (methods and nested functions included)")
    left_context: str = _column("str", "the file up to the body, signature and docstring included")
    gt: str = _column("str", "the original body")
    right_context: str = _column("str", "the file after the body")
    doc: str | None = _column("str?", "value of the original docstring; null if there is none")
    total_tests: int = _column("int", "number of tests in PASS_TO_PASS")
    PASS_TO_PASS: tuple[str, ...] = _column("list[str]", "T_i: pytest node ids, parameters kept, in pytest's order")
    FAIL_TO_PASS: tuple[str, ...] = _column(
        "list[str]", "always empty, as in RealCode, because all tests pass with the original body"
    )
    image_name: str = _column("str", "Docker image of the Python version with which the tests ran here")
    build_command: str = _column(
        "str", "installs the exact packages of the environment, and pytest-json-report for repotest"
    )
    test_command: str = _column("str", "runs the test files of T_i from the repository's root, as repotest expects")
    schema_version: int = _column("int", "version of these columns")
    task_id: str = _column("str", "path::qualified name, with #n from the second definition of the name on")
    source: str = _column("str", "the fetched source: NAME==VERSION, a git URL@revision, a folder, a case")
    snapshot: str = _column("str", "digest of the repository's content, 64 hexadecimal digits")
    source_sha256: str = _column("str", "digest of the file, 64 hexadecimal digits")
    encoding: str = _column("str", "encoding of the file; left_context + gt + right_context encoded is the file")
    qualified_name: str = _column("str", "Python's __qualname__")
    occurrence: int = _column("int", "position among the file's definitions of that name, from 1")
    kind: str = _column("str", "function, method or nested")
    signature: str = _column("str", "the header as one line")
    start_line: int = _column("int", "line of def, from 1")
    end_line: int = _column("int", "last line of the body")
    body: str = _column("str", "the original body exactly as the workbench replaces it, from the end of the docstring")
    statements: int = _column("int", "executable lines of the body, nested functions included")
    statements_covered: int = _column("int", "statements that T_i executes")
    coverage: float = _column("float", "statements_covered / statements, 0 to 1")
    branches: int = _column("int", "exits of the body's lines that have several (an if has two)")
    branches_covered: int = _column("int", "branches that T_i takes")
    branch_coverage: float | None = _column("float?", "branches_covered / branches, 0 to 1; null without branches")
    seconds: float = _column("float", "duration of T_i with the original, setup and teardown included")
    import_time: bool = _column("bool", "whether the body also runs while modules are imported or tests collected")
    unstable_tests: tuple[str, ...] = _column("list[str]", "quarantined tests that execute the function; not in T_i")
    python: str = _column("str", "version of the interpreter")
    environment: str = _column("str", "digest of the environment, 64 hexadecimal digits")
    sandbox: str = _column("str", "bubblewrap, docker or process")
    stub: str = _column("str", "version of the stubs with which its tests fail")

    def to_json(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @property
    def file(self) -> bytes:
        return (self.left_context + self.gt + self.right_context).encode(self.encoding, "surrogateescape")

    def task(self) -> Task:
        return Task(**{each.name: getattr(self, _COLUMNS_OF_TASK.get(each.name, each.name)) for each in fields(Task)})


#: Columns whose names differ from the corresponding field of `Task`.
_COLUMNS_OF_TASK = {
    "id": "task_id", "path": "fn", "tests": "PASS_TO_PASS", "covered": "statements_covered", "docstring": "doc",
    "unstable": "unstable_tests",
}  # fmt: skip


def columns() -> tuple[tuple[str, str, str], ...]:
    """Return (name, kind, meaning) of every column; a kind that ends in ``?`` may be null."""
    return tuple((each.name, each.metadata["kind"], each.metadata["meaning"]) for each in fields(DatasetRow))


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a repository's tasks."""

    repo: str  # ``owner/name``, or just a name
    source: str  # the source that was fetched
    revision: str  # git commit; for other sources, another digest or ""
    snapshot: str  # digest of the snapshot's content
    root: Path  # root folder of the pristine tree
    environment: Environment


def numbered(rows: Sequence[DatasetRow]) -> tuple[DatasetRow, ...]:
    return tuple(replace(row, id=number) for number, row in enumerate(rows))


def repository_name(name: str, source: str) -> str:
    """Return ``owner/name`` for a repository on GitHub, otherwise its short name."""
    found = re.search(r"github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?(?:@.*)?/?$", source)
    return found[1] if found else name


def make_rows(origin: Origin, built: TaskSet) -> list[DatasetRow]:
    """Return a row for every task, numbered from 0. Raises WorkbenchError if a file has changed since the build."""
    rows: list[DatasetRow] = []
    python = _python(origin.environment)
    build = " ".join(["pip install", *origin.environment.installed, "pytest-json-report"])
    for task, function, source in located(origin.root, built.tasks):
        encoding = source_encoding(source)
        left, body, right = (decode(part, encoding) for part in _parts(source, function))
        row = DatasetRow(
            **{_COLUMNS_OF_TASK.get(each.name, each.name): getattr(task, each.name) for each in fields(Task)},
            id=len(rows),
            repo=origin.repo,
            base_commit=origin.revision or origin.snapshot,
            path_from_root=task.path,
            intent=f"{function.name}[function]",
            intent_type="function",
            left_context=left,
            gt=body,
            right_context=right,
            total_tests=len(task.tests),
            FAIL_TO_PASS=(),
            image_name=f"python:{python.rpartition('.')[0]}",
            build_command=build,
            test_command=_test_command(origin.environment, task.tests),
            schema_version=SCHEMA_VERSION,
            source=origin.source,
            snapshot=origin.snapshot,
            encoding=encoding,
            coverage=task.coverage,
            branch_coverage=task.branch_coverage,
            python=python,
            environment=origin.environment.digest,
            sandbox=built.backend,
            stub=built.stub,
        )
        rows.append(row)
    return rows


def _parts(source: bytes, function: Function) -> tuple[bytes, bytes, bytes]:
    """Split the file at line starts before and after the body, as in RealCode's rows."""
    start, end = function.body
    blank = re.match(rb"[ \t\f]*(?:\r\n|\r|\n)", source[start:end])
    start += blank.end() if blank else 0
    line_end = re.match(rb"[ \t\f]*(?:\r\n|\r|\n)", source[end:])
    end += line_end.end() if line_end else 0
    return source[:start], source[start:end], source[end:]


def _python(environment: Environment) -> str:
    with contextlib.suppress(OSError):
        text = (environment.folder / "pyvenv.cfg").read_text(encoding="utf-8")
        if version := re.search(r"^version(?:_info)?\s*=\s*([\d.]+)", text, re.M):
            return version[1]
    return ""


def _test_command(environment: Environment, tests: Sequence[str]) -> str:
    workspace = environment.workspace
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    report = ("--json-report", "--json-report-file=report_pytest.json")
    words = ["python", "-m", "pytest", *workspace.pytest_args, *report, *files]
    return f"PYTHONPATH={':'.join(workspace.import_roots)} {shlex.join(words)}"


FORMATS = ("jsonl", "parquet")
_NAME, _SUMMARY, _DROPPED = "tasks", "summary.json", "dropped.jsonl"


class BadDataset(UsageError):
    """A file is not a dataset of tasks, or this version cannot read it."""


class ParquetMissing(WorkbenchError):
    """pyarrow, which is required for Parquet files, is not installed."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as returned by :func:`read_dataset`."""

    rows: tuple[DatasetRow, ...]
    # number of functions at each stage, by repository; empty if the summary is missing
    summary: Mapping[str, Any] = field(default_factory=dict)

    @property
    def repositories(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.repo for row in self.rows))


def parse_formats(text: str) -> tuple[str, ...]:
    """Parse a list of formats such as ``jsonl,parquet``. Raises UsageError or ParquetMissing for unusable formats."""
    formats = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise UsageError(f"--formats takes {' and '.join(FORMATS)}, separated by commas, not {text!r}.")
    if "parquet" in formats:
        _pyarrow()
    return formats


def write_dataset(
    folder: Path,
    rows: Sequence[DatasetRow],
    summary: Mapping[str, Any],
    dropped: Iterable[Mapping[str, Any]] = (),
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write rows, dropped functions and a summary, each file atomically; return the files. Raises ParquetMissing."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = numbered(rows)
    written = []
    values = [row.to_json() for row in rows]
    for name in formats:
        path = folder / f"{_NAME}.{name}"
        with replaced(path) as part:
            (_write_parquet if name == "parquet" else _write_json_lines)(part, values)
        written.append(path)
    files = [path.name for path in written]
    with replaced(folder / _DROPPED) as part:
        _write_json_lines(part, dropped)
    data = {"schema_version": SCHEMA_VERSION, "files": files, **summary}
    with replaced(folder / _SUMMARY) as part:
        part.write_text(json.dumps(data, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")
    return (*written, folder / _DROPPED, folder / _SUMMARY)


def read_dataset(path: Path | str) -> Dataset:
    """Read a dataset from its folder, or from its ``.jsonl`` or ``.parquet`` file.

    Raises:
        BadDataset: There is no dataset, a row lacks a column, or the format is newer than this version supports.
        ParquetMissing: It is a Parquet file, and pyarrow is not installed.
    """
    path = expanded(path)
    file = path
    if path.is_dir():
        found = [path / f"{_NAME}.{name}" for name in FORMATS if (path / f"{_NAME}.{name}").is_file()]
        if not found:
            raise BadDataset(f"{path} is not a dataset: it contains neither {_NAME}.jsonl nor {_NAME}.parquet.")
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
        data = parse_json(read_text(file.parent / _SUMMARY))
        summary = data if _is_summary(data) else {}
    return Dataset(tuple(_row(file, number, values) for number, values in enumerate(rows, 1)), summary)


def _is_summary(data: Any) -> bool:
    """Return whether a file is a build summary with counts for each repository."""
    entries = data.get("repositories", []) if isinstance(data, dict) else None
    return isinstance(entries, list) and all(
        isinstance(entry, dict)
        and "repo" in entry
        and all(isinstance(entry.get(name, {}), dict) for name in ("counts", "dropped"))
        for entry in entries
    )


def _row(file: Path, number: int, values: Any) -> DatasetRow:
    try:
        if int(values["schema_version"]) > SCHEMA_VERSION:
            raise BadDataset(
                f"{file} was written by a newer version of the workbench (columns {values['schema_version']})."
            )
        return typed_json.convert(DatasetRow, values)
    except BadDataset:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as problem:
        raise BadDataset(f"{file}, row {number}: this is not a row of a dataset of tasks ({problem}).") from None


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
                    raise BadDataset(f"{shown(path)}, line {number}: this is not JSON.") from None
    except UnicodeDecodeError:
        raise BadDataset(f"{shown(path)} is not a dataset of tasks: it is not text in UTF-8.") from None
    return found


def _write_parquet(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
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
    table = pyarrow.Table.from_pylist([_storable(row) for row in rows], schema=schema)
    parquet.write_table(table, path, compression="zstd")


def _read_parquet(path: Path) -> list[Any]:
    pyarrow, parquet = _pyarrow()
    try:
        return list(parquet.read_table(path).to_pylist())
    except (pyarrow.ArrowException, OSError) as problem:
        raise BadDataset(f"{path} is not a Parquet file: {str(problem).splitlines()[0]}") from None


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
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
            "or write only JSON Lines with --formats jsonl."
        ) from None
