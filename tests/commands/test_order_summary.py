"""The summary of an order: figures with and without doubtful passes, self-checks, and samples that are tested again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from app.regenerated import RUN, Recorder, word_counter

from workbench.base import glyphs
from workbench.cli import main
from workbench.commands.summaries import exit_code, print_order, self_check_line
from workbench.commands.summaries import order_summary as summary
from workbench.commands.watching import RegenerationWatch
from workbench.engine.rechecking import write_verdict
from workbench.engine.stages import StageTable
from workbench.orders import running
from workbench.orders.ordered_asks import last_ask, last_order
from workbench.orders.rerun import RerunOrder
from workbench.pages import write_report
from workbench.plans.plan import RegenerationPlan
from workbench.results.tasks import load_lines
from workbench.sandbox import Report, Verdict
from workbench.session import SessionReader
from workbench.session.groups import Group
from workbench.session.identity import candidate_id

WHY = "it uses os.write"


@pytest.fixture
def doubtful(recorder: Recorder) -> None:
    """Two tasks of three samples: all of the first passed, one of them doubtful."""
    tasks = [recorder.task(name, place) for place, name in enumerate(("sure", "other"))]
    recorder.controls(tasks)
    for sample in range(3):
        more = {"plain": 0, "doubtful": WHY} if sample == 2 else {"plain": 1}
        ordered(recorder, tasks[0], sample, "✓", **more)
        ordered(recorder, tasks[1], sample, "✗", plain=1)


def ordered(recorder: Recorder, task: str, sample: int, glyph: str, **more: object) -> None:
    """Record a sample under the id that the run's order gives it."""
    with SessionReader(recorder.path) as reader:
        run = reader.run(RUN)
    assert run is not None
    ask = last_order(run).ask
    recorder.sample(task, sample, glyph, id=candidate_id(task, ask.evaluator, ask.prompt_version, sample), **more)


def test_the_summary_has_pass_at_k_with_and_without(recorder, doubtful, capsys):
    closing = summary(recorder.path, RUN)
    assert closing["doubtful"] == 1
    assert closing["pass_at_k"]["1"] == pytest.approx(3 / 6)
    assert closing["pass_at_k_without_doubtful"]["1"] == pytest.approx(2 / 6)
    print_order(recorder.path, RUN, closing)
    shown = " ".join(capsys.readouterr().out.split())
    assert f"✓✓✓{glyphs.DOUBTFUL}" in shown
    assert f"without 1 {glyphs.DOUBTFUL} doubtful: pass@1 0.33" in shown


def test_where_every_pass_is_plain_nothing_is_said(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    task = recorder.task("sure", 0)
    for sample in range(3):
        ordered(recorder, task, sample, "✓", plain=1)
    closing = summary(recorder.path, RUN)
    assert closing["doubtful"] == 0
    assert closing["pass_at_k_without_doubtful"] == closing["pass_at_k"]
    print_order(recorder.path, RUN, closing)
    assert "doubtful" not in capsys.readouterr().out


def test_reports_mark_it_and_say_why(recorder: Recorder, doubtful: None) -> None:
    text = {kind: str(write_report(recorder.path, kind, None)) for kind in ("md", "html", "json")}
    assert f"✓✓✓{glyphs.DOUBTFUL}" in text["md"]
    assert f"{glyphs.DOUBTFUL} doubtful" in text["md"]
    assert WHY in text["html"]
    found = [one for one in objects(json.loads(text["json"])) if "candidate" in one and one.get("doubtful")]
    assert [(one["verdict"], one["plain"], one["doubtful"]) for one in found] == [("passed", False, WHY)]
    rows = list(csv.DictReader(str(write_report(recorder.path, "csv", None)).splitlines()))
    assert [row["doubtful"] for row in rows if row["doubtful"]] == [WHY]


def test_a_replaced_verdict_keeps_its_mark(recorder: Recorder, doubtful: None) -> None:
    with SessionReader(recorder.path) as reader:
        key = next(row.id for row in reader.candidates(RUN) if row.doubtful)
    write_verdict(recorder.writer, key, Report(key, Verdict.PASSED, plain=True, backend="bubblewrap"))
    with SessionReader(recorder.path) as reader:
        now = reader.candidate(key)
        assert now is not None
        assert (now.plain, now.doubtful) == (1, None)
        assert [one.doubtful for one in reader.former_verdicts(key)] == [WHY]


# -- self-checks


def test_checks_that_hold_are_one_quiet_line(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    cold = json.dumps({"why": "original", "verdict": "passed", "route": "cold", "seconds": 1.0, "agrees": True})
    for place, name in enumerate(("a", "b")):
        task = recorder.task(name, place)
        recorder.cells(task, "✓", evaluator="reference", control=True, recheck=cold)
        recorder.cells(task, "✗", evaluator="stub", control=True)
    closing = summary(recorder.path, RUN)
    assert closing["self_check"]["failed"] == []
    assert exit_code("done", closing) == 0
    assert exit_code("interrupted", closing) == 1
    line = "self-check: reference 2/2 · stub 0/2 · cold re-checks 2, disagreements 0"
    assert self_check_line(closing["self_check"]) == line
    print_order(recorder.path, RUN, closing)
    shown = " ".join(capsys.readouterr().out.split())
    assert line in shown
    assert "✗ SELF-CHECK" not in shown
    print_order(recorder.path, RUN, {**closing, "pending_rechecks": 2})
    assert "2 verdicts will be re-checked on the cold route" in capsys.readouterr().out


def test_checks_that_fail_name_their_tasks(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = recorder.task("good", 0), recorder.task("bad", 1)
    recorder.controls([good])
    recorder.controls([bad], stub="✓")
    cold = json.dumps({"why": "random", "verdict": "failed", "route": "cold", "seconds": 1.0, "agrees": False})
    recorder.sample(good, 0, "✗", recheck=cold)
    closing = summary(recorder.path, RUN)
    assert exit_code("done", closing) == 1  # complete, and not to be believed
    checked = closing["self_check"]
    assert checked["controls"]["stub"] == {"passed": 1, "tested": 2, "errors": 0, "tasks": 2}
    assert [(one["id"], one["check"]) for one in checked["tasks"]] == [(good, "recheck"), (bad, "stub")]
    print_order(recorder.path, RUN, closing)
    shown = " ".join(capsys.readouterr().out.split())
    assert "✗ SELF-CHECK FAILED: stub passes on 1 task (bad): excluded from pass@k" in shown
    assert "✗ VERDICTS DISAGREE: 1 of 1 cold re-check differs (good): the cold verdict counts" in shown


def test_a_run_without_controls_says_nothing(recorder: Recorder) -> None:
    recorder.cells(recorder.task("a", 0), "✓")
    assert self_check_line(summary(recorder.path, RUN)["self_check"]) == ""


# -- tested again

# 15 tests, whose ids have 16 quotation marks of their own.
TESTS = [
    *(f'tests/test_count.py::test_quoted["{n}"]' for n in range(8)),
    *(f"tests/test_count.py::test_{n}" for n in range(7)),
]


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setenv("COLUMNS", "160")
    return Recorder(tmp_path / "counted.session")


def named(counted: Recorder) -> dict[tuple[str, int], str]:
    """Give the model's candidates the ids that an engine would have given them; return them by task and sample."""
    with SessionReader(counted.path) as reader:
        run = reader.run(RUN)
        assert run is not None
        ask = last_ask(RegenerationPlan.from_json(run.config))
        rows = [row for row in reader.candidates(RUN) if not row.control]
    ids = {
        (row.task_id, row.sample): candidate_id(row.task_id, row.evaluator, ask.prompt_version, row.sample)
        for row in rows
    }
    with counted.writer.transaction():
        for row in rows:
            key = ids[row.task_id, row.sample]
            counted.writer.update("candidates", {"id": row.id}, {"id": key})
            counted.writer.update("failing_tests", {"candidate_id": row.id}, {"candidate_id": key})
    return ids


def table(session: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    print_order(session, RUN, summary(session, RUN))
    return capsys.readouterr().out


def test_tests_are_counted_alike_everywhere(home, counted, tmp_path, capsys):
    counted.run()
    task = counted.task("count_text", 0, tests=1)
    counted.writer.update("tasks", {"id": task}, {"tests": json.dumps(TESTS), "test_count": 15})
    counted.cells(task, "✓✗✓")
    named(counted)
    row = next(line for line in table(counted.path, capsys).splitlines() if line.startswith("count_text"))
    assert row.split()[1] == "15"
    with SessionReader(counted.path) as reader:
        (line,) = load_lines(reader, RUN, Group("original", "openai/gpt-5-mini"), (1,))
    assert line.tests == 15
    assert main(["show", str(counted.path), task]) == 0
    assert "tests 15" in capsys.readouterr().out
    for kind, words in (("md", "| 15 |"), ("html", ">15</td>")):
        assert main(["report", str(counted.path), "--format", kind, "--output", str(tmp_path / f"report.{kind}")]) == 0
        assert words in (tmp_path / f"report.{kind}").read_text()


def test_what_is_tested_again_is_said_with_its_former_verdicts(home, counted, tmp_path, capsys, monkeypatch):
    launched: list[str] = []
    monkeypatch.setattr("workbench.orders.launching.launch", lambda session, run, warm: launched.append(run))
    word_counter(counted)
    old = {**OLD, "candidate_id": named(counted)[f"{RUN}-count_text", 1]}
    told = summary(counted.path, RUN)
    assert RerunOrder(counted.path, "count_text").begin().orders == launched == [RUN]
    now = summary(counted.path, RUN)
    # The clock of what is tested again goes on; all that is counted stays.
    groups = zip(now.pop("groups"), told.pop("groups"), strict=True)
    assert all({**one, "retesting": 0, "elapsed_s": None} == {**before, "elapsed_s": None} for one, before in groups)
    assert {**now, "retesting": 0, "state": "done", "elapsed_s": None} == {**told, "elapsed_s": None}
    assert now["retesting"] == 3
    printed = table(counted.path, capsys)
    assert "✓′✗′✓′" in printed
    assert "✗⧖✗ " in printed
    assert "3 of 12 samples are still to be tested again; until then their former verdicts (′) count." in printed

    counted.writer.insert("former_verdicts", old)
    values = {}
    for kind in ("md", "html", "json", "csv"):
        file = tmp_path / f"report.{kind}"
        assert main(["report", str(counted.path), "--format", kind, "--output", str(file)]) == 0
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


def test_a_verdict_that_only_stands_again_is_not_told_as_new(home, counted, monkeypatch):
    monkeypatch.setattr("workbench.orders.launching.launch", lambda session, run, warm: None)
    word_counter(counted)
    told: list[dict[str, Any]] = []
    with SessionReader(counted.path) as reader:
        look = RegenerationWatch(reader.last_change())
        RerunOrder(counted.path, "count_text").begin()
        look(reader, RUN, told.append)
        counted.sample(f"{RUN}-count_text", 1, "✓", at=200.0)  # one was tested before the cancellation
        running.cancel(counted.path, RUN)
        look(reader, RUN, told.append)
    assert [(line["sample"], line["verdict"]) for line in told if line["type"] == "candidate"] == [(1, "passed")]


def test_stages_of_an_earlier_execution_are_not_told_again(home: Path, counted: Recorder) -> None:
    word_counter(counted)
    with SessionReader(counted.path) as reader:
        before = [(row.name, row.state, row.done, row.total, row.at) for row in reader.stages(RUN)]
        told: list[dict[str, Any]] = []
        look = RegenerationWatch(reader.last_change())
        book = StageTable(counted.writer, RUN)
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
        assert now[2:] == before[2:]
        assert [row[1] for row in now[:2]] == ["done", "failed"]
