"""Samples, results, problems and rows of other benchmarks: in, side by side, and out as they were."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.interop.formats.exporting import export
from workbench.interop.formats.tables import open_session
from workbench.session import SessionReader

Into = Callable[..., Any]
EXAMPLE = paths.bundled("sessions") / "example.session"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


def verdicts(session: Path) -> dict[str, list[str | None]]:
    rows = open_session(session).rows("candidates")
    found: dict[str, list[str | None]] = {}
    for row in rows.values:
        values = dict(zip(rows.columns, row, strict=True))
        found.setdefault(values["evaluator"], []).append(values["verdict"])
    return found


def test_results_give_verdicts_to_the_samples_that_are_there(made: Path, into: Into) -> None:
    session, tally = into(made / "openai--model-a.jsonl", made / "model-b.jsonl")
    assert (tally.added, tally.problems) == (8, [])
    assert verdicts(session) == {"openai/model-a": [None] * 4, "model-b": [None] * 4}
    _, tally = into(made / "openai--model-a_eval_results.json", made / "evalplus-problems.jsonl")
    assert tally.added == 4 + 2
    assert sorted(map(str, verdicts(session)["openai/model-a"])) == ["failed", "failed", "failed", "passed"]
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        tasks = reader.tasks(run.id)
        assert [(one.qualified_name, reader.text(one.docstring_blob)) for one in tasks] == [
            ("add", "Return the sum of a and b."),
            ("longest", "Return the longest of words, the first of several; None for none."),
        ]
        failed = next(row for row in reader.candidates(run.id, tasks[0].id) if row.verdict == "failed")
        assert failed.verdict_reason == "base tests: fail, plus tests: fail"
        assert [one.test_id for one in reader.failing_tests(failed.id)] == ["base: [1, 2]", "plus: [-1, 1]"]
    _, again = into(*(made / name for name in ("openai--model-a.jsonl", "model-b.jsonl", "evalplus-problems.jsonl")))
    assert again.added == 0


def test_what_evalplus_wrote_is_written_as_it_was(made: Path, into: Into, tmp_path: Path) -> None:
    session, _ = into(*(made / name for name in ("openai--model-a_eval_results.json", "evalplus-problems.jsonl")))
    export(session, "evalplus-results", tmp_path / "results")
    assert json.loads(only(tmp_path / "results").read_text()) == json.loads(
        (made / "openai--model-a_eval_results.json").read_text()
    )
    assert only(tmp_path / "results").name == "openai--model-a_eval_results.json"
    export(session, "humaneval", tmp_path / "problems.jsonl")
    assert lines(tmp_path / "problems.jsonl") == lines(made / "evalplus-problems.jsonl")
    export(session, "evalplus", tmp_path / "samples.jsonl")
    assert lines(tmp_path / "samples.jsonl") == lines(made / "openai--model-a.jsonl")


def test_samples_are_written_as_they_were(made: Path, into: Into, tmp_path: Path) -> None:
    session, _ = into(made / "openai--model-a.jsonl", made / "model-b.jsonl")
    export(session, "evalplus", tmp_path / "out")
    for name in ("openai--model-a.jsonl", "model-b.jsonl"):
        assert lines(tmp_path / "out" / name) == lines(made / name)
    with pytest.raises(UsageError, match="2 evaluators or groups, but .* is a file"):
        export(session, "evalplus", tmp_path / "one.jsonl")


def test_results_of_human_eval_have_their_verdict(tmp_path: Path, into: Into) -> None:
    path = tmp_path / "m.jsonl"
    told = [("passed", True), ("failed: x", False), ("timed out", False)]
    path.write_text(
        "".join(
            json.dumps({"task_id": "H/0", "completion": "x", "result": result, "passed": passed}) + "\n"
            for result, passed in told
        )
    )
    session, _ = into(path)
    assert verdicts(session) == {"m": ["passed", "failed", "timeout"]}
    export(session, "evalplus", tmp_path / "out.jsonl")
    assert lines(tmp_path / "out.jsonl") == lines(path)


def test_tasks_that_were_built_here_are_rows_and_come_back(tmp_path: Path, into: Into) -> None:
    written = export(EXAMPLE, "repotest", tmp_path / "rows.jsonl")
    rows = lines(tmp_path / "rows.jsonl")
    with SessionReader(EXAMPLE) as reader:
        run = next(run for run in reader.runs() if run.kind == "regenerate")
        tasks = reader.tasks(run.id)
        assert written.count == len(rows) == len({task.id for one in reader.runs() for task in reader.tasks(one.id)})
        for task, row in zip(tasks, rows, strict=False):
            assert row["left_context"] + row["gt"] + row["right_context"] == reader.text(task.source_blob)
            assert (row["gt"], row["total_tests"], row["repo"]) == (
                reader.text(task.body_blob),
                task.test_count,
                "word_counter",
            )
            assert row["left_context"].count("\n") >= (task.start_line or 0)
    session, tally = into(tmp_path / "rows.jsonl")
    assert (tally.added, tally.problems) == (len(rows), [])
    export(session, "repotest", tmp_path / "again.jsonl")
    assert lines(tmp_path / "again.jsonl") == rows
    export(session, "repotest", tmp_path / "rows.parquet")
    other, tally = into(tmp_path / "rows.parquet", name="other")
    assert (tally.added, tally.problems) == (len(rows), [])
    export(other, "repotest", tmp_path / "third.jsonl")
    assert lines(tmp_path / "third.jsonl") == rows


_CHECKED = """
import json, sys
problem = json.load(open(sys.argv[1]))
room = {"__name__": "problem"}
exec(problem["prompt"] + sys.argv[2] + "\\n" + problem["test"], room)
room["check"](room[problem["entry_point"]])
"""


def test_a_problem_of_a_task_puts_the_candidate_into_its_module(tmp_path, monkeypatch):
    export(EXAMPLE, "humaneval", tmp_path / "problems.jsonl")
    problems = {one["entry_point"]: one for one in lines(tmp_path / "problems.jsonl")}
    problem = problems["count_lines"]
    room: dict[str, Any] = {"__name__": "problem"}
    exec(problem["prompt"] + problem["canonical_solution"], room)
    assert room["count_lines"]("one\ntwo") == 1
    # In the repository itself: the original passes, a body that returns nothing fails.
    (tmp_path / "problem.json").write_text(json.dumps(problem))
    repository = Path(__file__).parents[2] / "test_cases" / "word_counter" / "repository"
    codes = [
        subprocess.run(
            [sys.executable, "-B", "-c", _CHECKED, str(tmp_path / "problem.json"), solution],
            cwd=repository, capture_output=True, timeout=200, check=False,
        ).returncode
        for solution in (problem["canonical_solution"], "    return None\n")
    ]  # fmt: skip
    assert codes == [0, 1]
    assert "importlib.import_module('word_counter')" in problem["test"]
    assert "tests/test_counting.py::test_counts_of_bytes" in problem["test"]


def test_prompt_and_completion_are_a_program_that_passes(tmp_path: Path) -> None:
    export(EXAMPLE, "humaneval", tmp_path / "problems.jsonl")
    export(EXAMPLE, "evalplus", tmp_path / "samples")
    export(EXAMPLE, "evalplus-results", tmp_path / "results")
    problems = {one["task_id"]: one for one in lines(tmp_path / "problems.jsonl")}
    passing: dict[str, str] = {}
    compiled = 0
    for file in sorted((tmp_path / "samples").iterdir()):
        results = json.loads((tmp_path / "results" / f"{file.stem}_eval_results.json").read_text())["eval"]
        solved = {
            name: {one["solution"] for one in found if one["base_status"] == "pass"} for name, found in results.items()
        }
        for sample in lines(file):
            problem = problems[sample["task_id"]]
            program = problem["prompt"] + sample["completion"]
            right = [whole for whole in solved[sample["task_id"]] if whole.startswith(program.rstrip("\n"))]
            if right:
                compile(program, "program", "exec")
                compile(right[0], "solution", "exec")
                passing[sample["task_id"]] = sample["completion"]
                compiled += 1
    assert compiled == sum(one == "passed" for one in _own_verdicts())
    name, completion = next(iter(passing.items()))
    (tmp_path / "problem.json").write_text(json.dumps(problems[name]))
    repository = Path(__file__).parents[2] / "test_cases" / "word_counter" / "repository"
    command = [sys.executable, "-B", "-c", _CHECKED, str(tmp_path / "problem.json"), completion]
    subprocess.run(command, cwd=repository, capture_output=True, timeout=200, check=True)


def _own_verdicts() -> list[Any]:
    with SessionReader(EXAMPLE) as reader:
        return [
            row.verdict
            for run in reader.runs()
            for task in reader.tasks(run.id)
            for row in reader.candidates(run.id, task.id)
            if not row.control and row.evaluator not in ("reference", "stub")
        ]


def test_our_verdicts_are_results_and_junit(tmp_path: Path, into: Into) -> None:
    export(EXAMPLE, "evalplus-results", tmp_path / "results")
    export(EXAMPLE, "junit", tmp_path / "junit.xml")
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()
    mine = [
        row
        for row in open_session(EXAMPLE).rows("candidates").values
        if row[12] == 0 and row[7] not in ("reference", "stub")
    ]
    assert len(suites.findall(".//testcase")) == len(mine)
    assert len(suites.findall(".//failure")) == sum(row[15] not in (None, "passed", "error") for row in mine)
    other, tally = into(*(tmp_path / "results").iterdir())
    assert tally.problems == []
    passed = sum(row[15] == "passed" for row in mine)
    assert sum(one == "passed" for found in verdicts(other).values() for one in found) == passed


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_tables_have_all_rows(tmp_path: Path, form: str) -> None:
    export(EXAMPLE, form, tmp_path / "out")
    for name in ("trials", "steps", "criteria", "candidates"):
        path, expected = tmp_path / "out" / f"{name}.{form}", open_session(EXAMPLE).rows(name)
        if form == "csv":
            with path.open(newline="") as file:
                header, *rows = csv.reader(file)
            assert tuple(header) == expected.columns
        elif form == "jsonl":
            rows = [list(one.values()) for one in lines(path)]
            assert rows == [list(row) for row in expected.values]
        else:
            import pyarrow.parquet as parquet

            table = parquet.read_table(path)
            assert tuple(table.column_names) == expected.columns
            rows = table.to_pylist()
        assert len(rows) == len(expected.values)


def test_a_cell_of_a_table_is_no_formula(tmp_path: Path, into: Into) -> None:
    path = tmp_path / "=cmd|calc.jsonl"
    path.write_text(json.dumps({"task_id": "=1+1", "completion": "@x"}) + "\n")
    session, _ = into(path)
    export(session, "csv", tmp_path / "out")
    assert "'=1+1" in (tmp_path / "out" / "tasks.csv").read_text()
    assert ",=1+1" not in (tmp_path / "out" / "tasks.csv").read_text()


def test_a_pipe_or_device_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        export(EXAMPLE, "junit", pipe)
        assert pipe.is_fifo()
        assert ElementTree.fromstring(read.result()).findall(".//testcase")


def test_a_place_that_is_taken_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    assert main(["export", str(EXAMPLE), "--to", "csv", "-o", str(tmp_path / "file")]) == 2
    assert "name a folder" in capsys.readouterr().err
    assert main(["export", str(EXAMPLE), "--to", "junit", "-o", str(tmp_path / "folder")]) == 2
    assert "name a file" in capsys.readouterr().err
    assert main(["export", str(EXAMPLE), "nonsense", "--to", "atif", "-o", str(tmp_path / "o")]) == 2
    assert "has no trial 'nonsense'" in capsys.readouterr().err
