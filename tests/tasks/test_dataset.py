"""Datasets on disk: the same rows from JSON lines and from Parquet, files that come back byte for byte, clear refusals."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tasks.made_up import environment_of

from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.regeneration import dataset
from workbench.regeneration.dataset import (
    SCHEMA_VERSION,
    BadDataset,
    DatasetRow,
    Origin,
    ParquetMissing,
    columns,
    make_rows,
    parse_formats,
    read_dataset,
    repository_name,
    write_dataset,
)
from workbench.regeneration.tasks import Dropped, Task, TaskSet
from workbench.repository.functions import find_functions
from workbench.repository.splicing import body_text, splice

SOURCES = {
    "plain.py": b'def f(x):\n    """Doc."""\n    return x\n\n\nclass A:\n    def g(self): return 1\n',
    "crlf.py": b'\xef\xbb\xbf"""M."""\r\n\r\ndef f(x):\r\n    """D\xc3\xb6c."""\r\n    y = x\r\n    return y\r\n',
    "latin.py": b"# -*- coding: latin-1 -*-\ndef f():\n\treturn '\xe4'",
    "last.py": b'def f(x):\n    "D"; return x',
}


def task_of(path: str, source: bytes, number: int = 0) -> Task:
    function = find_functions(source, path)[number]
    return Task(
        id=function.id,
        path=path,
        qualified_name=function.qualified_name,
        occurrence=function.occurrence,
        kind=function.kind,
        signature=function.signature,
        start_line=function.start_line,
        end_line=function.end_line,
        tests=("tests/test_a.py::test[a/b-c]", "tests/test_a.py::test[\u00e4 \u00f6]"),
        statements=3,
        covered=2,
        seconds=0.25,
        import_time=False,
        body=body_text(source, function),
        docstring=function.docstring,
        source_sha256=hashlib.sha256(source).hexdigest(),
        branches=4,
        branches_covered=1,
        unstable=("tests/test_a.py::test_now_and_then",),
    )


def built_of(tasks: tuple[Task, ...]) -> TaskSet:
    gone = (Dropped("plain.py::h", "stub", "Its 2 tests also pass with the body 'pass'."),)
    return TaskSet(tasks, gone, {}, 2, {}, {}, {}, (1.0, 1.0, 2.0), "bubblewrap", "e" * 64)


@pytest.fixture
def rows(tmp_path: Path) -> list[DatasetRow]:
    root = tmp_path / "repository"
    root.mkdir()
    for name, source in SOURCES.items():
        (root / name).write_bytes(source)
    tasks = tuple(task_of(name, source) for name, source in SOURCES.items())
    tasks += (task_of("plain.py", SOURCES["plain.py"], 1),)
    origin = Origin("owner/name", "name==1.0", "", "d" * 64, root, environment_of(root))
    return make_rows(origin, built_of(tasks))


def test_a_row_holds_the_whole_file_and_the_body_where_the_workbench_replaces_it(rows: list[DatasetRow]) -> None:
    for row in rows:
        assert row.file == SOURCES[row.fn]
        found = {function.id: function for function in find_functions(row.file, row.fn)}[row.task_id]
        assert splice(row.file, found, row.body) == row.file
        assert row.body.strip() in row.left_context + row.gt + row.right_context
        assert row.gt.strip() == row.body.strip(" \t\r\n;") or row.fn == "last.py"
        assert row.task().tests == row.PASS_TO_PASS
        assert (row.total_tests, row.FAIL_TO_PASS, row.intent) == (2, (), f"{found.name}[function]")
        assert row.base_commit == "d" * 64
    plain = rows[0]
    assert plain.left_context == 'def f(x):\n    """Doc."""\n'
    assert plain.gt == "    return x\n"
    assert plain.right_context.startswith("\n\nclass A")
    assert (plain.doc, plain.coverage, plain.branch_coverage) == ("Doc.", 2 / 3, 0.25)
    assert plain.test_command.startswith("PYTHONPATH=. python -m pytest ")
    assert plain.test_command.endswith(" tests/test_a.py")


def test_json_lines_and_parquet_hold_the_same_rows(rows: list[DatasetRow], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    dropped = [{"repo": "owner/name", "task_id": "plain.py::h", "stage": "stub", "reason": "so"}]
    written = write_dataset(folder, rows, {"totals": {"n_tasks": 5}}, dropped)
    assert [path.name for path in written] == ["tasks.jsonl", "tasks.parquet", "dropped.jsonl", "summary.json"]
    by_lines, by_parquet = read_dataset(folder / "tasks.jsonl"), read_dataset(folder / "tasks.parquet")
    assert by_lines == by_parquet == read_dataset(folder)
    assert by_lines.rows == tuple(rows)
    assert by_lines.summary["totals"] == {"n_tasks": 5}
    assert by_lines.repositories == ("owner/name",)
    assert [json.loads(line) for line in (folder / "dropped.jsonl").read_text().splitlines()] == dropped
    # For others: plain JSON, plain Parquet.
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder / "tasks.parquet")
    assert table.column_names == [name for name, _, _ in columns()]
    assert table.column("PASS_TO_PASS").to_pylist()[0] == list(rows[0].PASS_TO_PASS)
    first = json.loads((folder / "tasks.jsonl").read_text().splitlines()[0])
    assert {"repo", "base_commit", "fn", "left_context", "gt", "right_context", "PASS_TO_PASS"} <= set(first)


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.text(max_size=60), min_size=4, max_size=4),
    tests=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=4),
    share=st.one_of(st.none(), st.floats(0, 1)),
)
def test_any_text_survives_both_formats(tmp_path_factory: pytest.TempPathFactory, texts, tests, share) -> None:
    folder = tmp_path_factory.mktemp("any")
    source = SOURCES["plain.py"]
    (folder / "plain.py").write_bytes(source)
    origin = Origin("r", "s", "c", "d" * 64, folder, environment_of(folder))
    row = make_rows(origin, built_of((task_of("plain.py", source),)))[0]
    left, gt, right, doc = (text.encode("utf-8", "ignore").decode() for text in texts)
    row = replace(row, left_context=left, gt=gt, right_context=right, doc=doc, branch_coverage=share)
    row = replace(row, PASS_TO_PASS=tuple(tests))
    write_dataset(folder / "out", [row], {})
    assert read_dataset(folder / "out" / "tasks.jsonl").rows == (row,)
    assert read_dataset(folder / "out" / "tasks.parquet").rows == (row,)


def test_a_lone_surrogate_in_a_docstring_does_not_stop_parquet(rows: list[DatasetRow], tmp_path: Path) -> None:
    write_dataset(tmp_path / "out", [replace(rows[0], doc="odd \udc80")], {})
    assert read_dataset(tmp_path / "out" / "tasks.jsonl").rows[0].doc == "odd \udc80"
    assert read_dataset(tmp_path / "out" / "tasks.parquet").rows[0].doc == "odd \\udc80"


def test_without_pyarrow_there_is_one_sentence(rows, tmp_path, monkeypatch, capsys):
    write_dataset(tmp_path / "out", rows, {})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ParquetMissing, match=r"pip install 'docs-workbench\[dataset\]'.*--formats jsonl"):
        parse_formats("jsonl,parquet")
    with pytest.raises(ParquetMissing):
        read_dataset(tmp_path / "out" / "tasks.parquet")
    assert parse_formats("jsonl") == ("jsonl",)
    assert len(read_dataset(tmp_path / "out").rows) == 5
    assert main(["tasks", "build", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("workbench: Parquet files need pyarrow")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1: this is not JSON"),
        ("[]", "row 1: this is not a row of a dataset"),
        ('{"schema_version": 1, "id": 0}', "missing required field repo"),
        (json.dumps({"schema_version": SCHEMA_VERSION + 1}), "newer version of the workbench"),
    ],
)
def test_what_is_no_dataset_says_so(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "tasks.jsonl").write_text(line + "\n")
    with pytest.raises(BadDataset) as caught:
        read_dataset(tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_there_or_no_parquet_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="There is no dataset"):
        read_dataset(tmp_path / "nothing.jsonl")
    with pytest.raises(BadDataset, match="is not a dataset"):
        read_dataset(tmp_path)
    (tmp_path / "tasks.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadDataset, match="is not a Parquet file"):
        read_dataset(tmp_path / "tasks.parquet")
    with pytest.raises(UsageError, match="--formats takes jsonl and parquet"):
        parse_formats("csv")


def test_a_writing_that_fails_leaves_the_older_file(rows, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    write_dataset(folder, rows, {}, formats=("jsonl",))
    before = (folder / "tasks.jsonl").read_bytes()

    def fails(path: Path, values: object) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dataset, "_write_json_lines", fails)
    with pytest.raises(OSError, match="No space left"):
        write_dataset(folder, rows[:1], {}, formats=("jsonl",))
    assert (folder / "tasks.jsonl").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["dropped.jsonl", "summary.json", "tasks.jsonl"]


def test_the_documentation_names_every_column() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "dataset.md").read_text()
    for name, kind, meaning in columns():
        assert f"| `{name}` | {kind} | {meaning} |" in text


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("git+https://github.com/owner/name.git@main", "owner/name"),
        ("https://github.com/owner/name.py", "owner/name.py"),
        ("git@github.com:owner/name.git", "owner/name"),
        ("schema==0.7.8", "schema"),
        ("/some/folder", "schema"),
    ],
)
def test_repositories_on_github_are_called_owner_and_name(source: str, name: str) -> None:
    assert repository_name("schema", source) == name
