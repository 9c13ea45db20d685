"""Two tasks side by side: facts, tests and evaluators joined, texts compared, and what a session does not keep is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.regenerated import RUN, Recorder

from workbench.comparison.panes import PairComparison
from workbench.comparison.tasks import compare_tasks, read_task
from workbench.session import SessionReader

OTHER = "openai/other"
FILE = "import os\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    recorder = Recorder(tmp_path / "tasks.session")
    recorder.run()
    file = recorder.writer.blob(FILE)
    first = recorder.task("add", 0, tests=2, source_blob=file, start_line=4, end_line=5, docstring="Add two numbers.")
    second = recorder.task(
        "sub", 1, source_blob=file, start_line=8, end_line=9, docstring="Subtract b from a.",
        tests=1, path="other.py",
    )  # fmt: skip
    recorder.task("bare", 2, docstring=None, prompt_blob=None, start_line=90, end_line=99, source_blob=file)
    recorder.cells(first, "✓✗✗")
    recorder.cells(second, "✓✓✓")
    recorder.cells(second, "✗", evaluator=OTHER)
    recorder.controls([first, second])
    recorder.close()
    return recorder.path


def compared(path: Path, left: str, right: str) -> PairComparison:
    with SessionReader(path) as reader:
        sides = [read_task(reader, f"{RUN}-{name}") for name in (left, right)]
        assert sides[0] is not None
        assert sides[1] is not None
        return compare_tasks(sides[0], sides[1])


def test_functions_tests_and_evaluators(tasks: Path) -> None:
    found = compared(tasks, "add", "sub")
    assert found.panes["Functions"].left.text == "def add(a, b):\n    return a + b"
    assert found.panes["Functions"].right.text == "def sub(a, b):\n    return a - b"
    assert "def sub(text)" in (found.panes["Prompts"].right.text or "")
    assert found.panes["Prompts"].left.title == "prompt paper-1 · prefix-1"
    tests, evaluators, facts = (found.panes[name].rows for name in ("Tests", "Evaluators", "Facts"))
    assert [one.name for one in facts if not one.same] == ["function", "file", "lines", "tests"]
    both = "tests/test_count.py::test_counts_trailing_line"
    assert [(one.name.rpartition("_")[2], one.left is None, one.right is None) for one in tests] == [
        ("0", False, True), ("1", False, True), ("0", True, False), ("line", False, False),
    ]  # fmt: skip
    last = tests[-1]
    assert last.name == both
    assert last.left is not None
    assert last.right is not None
    # Controls are left out: of three samples two fail it, of the other task's four one.
    assert (last.left.failed, last.left.samples, last.right.failed, last.right.samples) == (2, 3, 1, 4)
    assert not last.same
    assert last.left.message == "assert 1 == 2"
    one, other = evaluators
    assert (one.name, one.gaps) == ("openai/gpt-5-mini", (pytest.approx(2 / 3, abs=1e-5), 0.0))
    assert (other.name, other.left, other.gaps) == (OTHER, None, (None, None))
    told = found.to_json()
    assert told["evaluators"][1]["a"] is None
    assert (told["same_function"], told["same_docstring"]) == (False, False)


def test_a_task_beside_itself_and_what_is_not_kept(tasks: Path) -> None:
    same = compared(tasks, "add", "add")
    assert same.panes["Functions"].summary == "the same"
    assert all(one.same for name in ("Tests", "Evaluators") for one in same.panes[name].rows)
    assert all(one.same for one in same.panes["Facts"].rows)
    bare = compared(tasks, "add", "bare")
    assert bare.panes["Docstrings"].right.absent == "no docstring"
    assert bare.panes["Prompts"].right.absent == "no prompt is recorded"
    # Its lines are not in the file that is kept.
    assert bare.panes["Functions"].right.title == "original body"
    with SessionReader(tasks) as reader:
        assert read_task(reader, "nobody") is None
