"""What the command line says of candidates that are tested again, and how many tests a task has."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from app.regenerated import RUN, Recorder, word_counter

from workbench.cli import main
from workbench.commands.closing import order_summary as summary
from workbench.commands.closing import print_order
from workbench.commands.watching import RegenerationWatch
from workbench.engine.stages import StageTable
from workbench.orders import running
from workbench.orders.orders import last_ask
from workbench.orders.rerun import RerunOrder
from workbench.plans.plan import RegenerationPlan
from workbench.results.tasks import load_lines
from workbench.session import SessionReader
from workbench.session.groups import Group
from workbench.session.identity import candidate_id

# 15 tests, whose ids have 16 quotation marks of their own.
TESTS = [
    *(f'tests/test_count.py::test_quoted["{n}"]' for n in range(8)),
    *(f"tests/test_count.py::test_{n}" for n in range(7)),
]


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setenv("COLUMNS", "160")
    return Recorder(tmp_path / "counted.session")


def named(recorder: Recorder) -> dict[tuple[str, int], str]:
    """Give the model's candidates the ids that an engine would have given them; return them by task and sample."""
    with SessionReader(recorder.path) as reader:
        run = reader.run(RUN)
        assert run is not None
        ask = last_ask(RegenerationPlan.from_json(run.config))
        rows = [row for row in reader.candidates(RUN) if not row.control]
    ids = {
        (row.task_id, row.sample): candidate_id(row.task_id, row.evaluator, ask.prompt_version, row.sample)
        for row in rows
    }
    with recorder.writer.transaction():
        for row in rows:
            key = ids[row.task_id, row.sample]
            recorder.writer.update("candidates", {"id": row.id}, {"id": key})
            recorder.writer.update("failing_tests", {"candidate_id": row.id}, {"candidate_id": key})
    return ids


def table(session: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    print_order(session, RUN, summary(session, RUN))
    return capsys.readouterr().out


def test_tests_are_counted_alike_everywhere(
    home: Path, recorder: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder.run()
    task = recorder.task("count_text", 0, tests=1)
    recorder.writer.update("tasks", {"id": task}, {"tests": json.dumps(TESTS), "test_count": 15})
    recorder.cells(task, "✓✗✓")
    named(recorder)
    row = next(line for line in table(recorder.path, capsys).splitlines() if line.startswith("count_text"))
    assert row.split()[1] == "15"
    with SessionReader(recorder.path) as reader:
        (line,) = load_lines(reader, RUN, Group("original", "openai/gpt-5-mini"), (1,))
    assert line.tests == 15
    assert main(["show", str(recorder.path), task]) == 0
    assert "tests 15" in capsys.readouterr().out
    for kind, words in (("md", "| 15 |"), ("html", ">15</td>")):
        assert main(["report", str(recorder.path), "--format", kind, "--output", str(tmp_path / f"report.{kind}")]) == 0
        assert words in (tmp_path / f"report.{kind}").read_text()


def test_what_is_tested_again_is_said_with_its_former_verdicts(
    home: Path, recorder: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []
    monkeypatch.setattr("workbench.orders.launching.launch", lambda session, run, warm: launched.append(run))
    word_counter(recorder)
    old = {**OLD, "candidate_id": named(recorder)[f"{RUN}-count_text", 1]}
    told = summary(recorder.path, RUN)
    assert RerunOrder(recorder.path, "count_text").begin().orders == launched == [RUN]
    now = summary(recorder.path, RUN)
    # The clock of what is tested again goes on; all that is counted stays.
    groups = zip(now.pop("groups"), told.pop("groups"), strict=True)
    assert all({**one, "retesting": 0, "elapsed_s": None} == {**before, "elapsed_s": None} for one, before in groups)
    assert {**now, "retesting": 0, "state": "done", "elapsed_s": None} == {**told, "elapsed_s": None}
    assert now["retesting"] == 3
    printed = table(recorder.path, capsys)
    assert "✓′✗′✓′" in printed
    assert "✗⧖✗ " in printed
    assert "3 of 12 samples are still to be tested again; until then their former verdicts (′) count." in printed

    recorder.writer.insert("former_verdicts", old)
    values = {}
    for kind in ("md", "html", "json", "csv"):
        file = tmp_path / f"report.{kind}"
        assert main(["report", str(recorder.path), "--format", kind, "--output", str(file)]) == 0
        values[kind] = file.read_text()
    assert "✓′✗′✓′" in values["md"]
    assert "before: ⧖ timeout on 1970-01-01 00:00 UTC, warm, 9.00 s: It took too long." in values["md"].replace(
        "\\", ""
    )
    assert "before: ⧖ timeout on 1970-01-01" in values["html"]
    assert "the former verdict, being tested again" in values["html"]
    found = [one for one in objects(json.loads(values["json"])) if one.get("candidate") == old["candidate_id"]]
    assert [(one["retesting"], [each["verdict"] for each in one["former"]]) for one in found] == [(True, ["timeout"])]
    rows = {row["candidate"]: row for row in csv.DictReader(io.StringIO(values["csv"]))}
    assert (rows[old["candidate_id"]]["retesting"], rows[old["candidate_id"]]["former"]) == (
        "1",
        "timeout 1970-01-01T00:00:50.000Z",
    )
    assert sum(row["retesting"] == "1" for row in rows.values()) == 5  # with both controls of the task


OLD: dict[str, Any] = {
    "number": 1, "verdict": "timeout", "route": "warm",
    "verdict_reason": "It took too long.", "tested_s": 9.0, "at": 50.0, "replaced_at": 60.0,
}  # fmt: skip


def objects(value: Any) -> list[dict[str, Any]]:
    """Every object of a JSON value."""
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in objects(each))]
    return [found for each in value for found in objects(each)] if isinstance(value, list) else []


def test_a_verdict_that_only_stands_again_is_not_told_as_new(
    home: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.orders.launching.launch", lambda session, run, warm: None)
    word_counter(recorder)
    told: list[dict[str, Any]] = []
    with SessionReader(recorder.path) as reader:
        look = RegenerationWatch(reader.last_change())
        RerunOrder(recorder.path, "count_text").begin()
        look(reader, RUN, told.append)
        recorder.sample(f"{RUN}-count_text", 1, "✓", at=200.0)  # one was tested before the cancellation
        running.cancel(recorder.path, RUN)
        look(reader, RUN, told.append)
    assert [(line["sample"], line["verdict"]) for line in told if line["type"] == "candidate"] == [(1, "passed")]


def test_stages_of_an_earlier_execution_are_not_told_again(home: Path, recorder: Recorder) -> None:
    word_counter(recorder)
    with SessionReader(recorder.path) as reader:
        counted = [(row.name, row.state, row.done, row.total, row.at) for row in reader.stages(RUN)]
        told: list[dict[str, Any]] = []
        look = RegenerationWatch(reader.last_change())
        book = StageTable(recorder.writer, RUN)
        look(reader, RUN, told.append)
        assert told == []
        book.update("fetch", "done", done=5, total=5)
        book.update("environment")
        look(reader, RUN, told.append)
        assert [(line["name"], line["state"], line["done"], line["total"]) for line in told] == [
            ("fetch", "done", 5, 5),
            ("environment", "running", 0, None),
        ]
        book.failed()
        look(reader, RUN, told.append)
        assert [line["name"] for line in told[2:]] == ["environment"]
        # What the run did not come to stands as it did before.
        now = [
            (row.name, row.state, row.done, row.total, row.at) for row in reader.stages(RUN) if row.name != "rechecks"
        ]
        assert now[2:] == counted[2:]
        assert [row[1] for row in now[:2]] == ["done", "failed"]
