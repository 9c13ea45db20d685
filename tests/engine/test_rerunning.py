"""Candidates that are tested again keep their former verdicts until the new ones are there, and both stay in the history."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.following import ended, error, state
from engine.tiny_repository import BAD, GOOD, Writer, fenced, make_repository
from loopback.server import EMPTY, LoopbackServer, failure

from workbench.cli import main
from workbench.commands.summaries import order_summary as summary
from workbench.engine.rechecking import write_verdict
from workbench.orders import launching, running
from workbench.orders.regenerate import order_regeneration
from workbench.orders.rerun import RerunOrder
from workbench.plans.plan import RegenerationPlan
from workbench.results.contents import former_failing
from workbench.sandbox import Report, Route, TestOutcome, Verdict, bubblewrap
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.rows import CandidateRow

Until = Callable[..., Any]
MODEL = "openai/scripted"


@pytest.fixture
def sandbox(needs_bubblewrap: None, one_cache: None) -> None:
    """Bubblewrap, and a cache of its own."""


@pytest.fixture
def done(sandbox: None, tmp_path: Path, until: Until) -> tuple[Path, str]:
    """A run over samples: each function's good body, its bad one and text that is no code."""
    lines = [
        {"task_id": f"sums.py::{name}", "completion": f"    {body}\n"}
        for name in GOOD
        for body in (GOOD[name], BAD[name], "return (")
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    session = tmp_path / "run.session"
    repository = make_repository(tmp_path / "small-sums")
    run = order_regeneration(session, RegenerationPlan(str(repository), evaluator=f"samples:{file}")).run
    launching.launch(session, run)
    assert ended(session, run, until) == "done", error(session, run)
    return session, run


def candidates(session: Path, run: str) -> dict[str, CandidateRow]:
    with SessionReader(session) as reader:
        return {row.id: row for row in reader.candidates(run)}


def failing(session: Path, run: str) -> dict[str, list[str]]:
    with SessionReader(session) as reader:
        return {row.id: [test.test_id for test in reader.failing_tests(row.id)] for row in reader.candidates(run)}


def history(session: Path, run: str) -> dict[str, list[str]]:
    with SessionReader(session) as reader:
        return {row.id: [one.verdict for one in reader.former_verdicts(row.id)] for row in reader.candidates(run)}


def figures(session: Path, run: str) -> dict[str, Any]:
    """What a closing summary says, without what is about the last execution."""
    closing = summary(session, run)
    return {
        name: closing[name]
        for name in ("pass_at_k", "interval", "verdicts", "controls", "tasks", "excluded", "unfinished")
    }


def stages(session: Path, run: str) -> list[tuple[str, str, int, int | None]]:
    with SessionReader(session) as reader:
        return [(row.name, row.state, row.done, row.total) for row in reader.stages(run)]


def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "_candidates", lambda: ())


# -- what is written


def test_the_replaced_verdict_moves_into_the_history_with_its_failing_tests(tmp_path: Path) -> None:
    create(tmp_path / "kept.session")
    with SessionWriter(tmp_path / "kept.session") as writer:
        writer.add_run("run", "regenerate", {})
        writer.insert(
            "candidates",
            {"id": "one", "run_id": "run", "task_id": "task", "evaluator": "m", "sample": 0, "state": "testing"},
        )
        test = TestOutcome("tests/test_a.py::test_a", "failed", 0.1, "assert 1 == 2", "E   assert 1 == 2")
        reports = [
            Report(
                "one",
                Verdict.FAILED,
                detail="1 of 1.",
                tests=(test,),
                route=Route.HOT,
                backend="bubblewrap",
            ),
            Report("one", Verdict.PASSED, route=Route.COLD, backend="bubblewrap"),
            Report("one", Verdict.CRASHED, detail="It left.", backend="docker"),
        ]
        for report in reports:
            write_verdict(writer, "one", report)
    with SessionReader(tmp_path / "kept.session") as reader:
        first, second = reader.former_verdicts("one")
        now = reader.candidate("one")
        assert now is not None
        assert (now.verdict, now.backend, reader.failing_tests("one")) == ("crashed", "docker", [])
        assert (first.number, first.verdict, first.verdict_reason, first.route) == (1, "failed", "1 of 1.", "hot")
        assert (second.number, second.verdict, second.route) == (2, "passed", "cold")
        (kept,) = former_failing(reader, first)
        assert (kept.test_id, kept.outcome, kept.message) == (test.id, "failed", "assert 1 == 2")
        assert reader.text(kept.traceback_blob) == "E   assert 1 == 2"
        assert former_failing(reader, second) == []
        assert (first.at or 0) <= (second.at or 0) <= (now.at or 0)


# -- whole runs


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_a_rerun_where_no_sandbox_answers_loses_nothing(done, tmp_path, monkeypatch, capsys, until):
    session, run = done
    before, tests, told, counted = (
        candidates(session, run),
        failing(session, run),
        figures(session, run),
        stages(session, run),
    )
    with monkeypatch.context() as patched:
        without_sandbox(patched)
        assert main(["rerun", str(session), "*"]) == 1
    printed = capsys.readouterr()
    assert "bubblewrap" in printed.err
    assert "9 of 9 samples are still to be tested again" in printed.out
    assert "✓′" in printed.out
    assert state(session, run) == "failed"
    now = candidates(session, run)
    assert {key: row.verdict for key, row in now.items()} == {key: row.verdict for key, row in before.items()}
    assert all(one.retesting for one in now.values())
    assert failing(session, run) == tests
    assert figures(session, run) == told
    assert summary(session, run)["retesting"] == 9
    assert stages(session, run) == counted
    with SessionReader(session) as reader:
        assert {task.state for task in reader.tasks(run)} == {"ready"}
    assert not any(history(session, run).values())

    # Taken up where there is one: every verdict is new, each former one is in the history once.
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done", error(session, run)
    after = candidates(session, run)
    assert not any(one.retesting for one in after.values())
    assert all((after[key].at or 0) > (before[key].at or 0) for key in before)
    assert history(session, run) == {key: [row.verdict] for key, row in before.items()}
    assert figures(session, run) == told
    assert stages(session, run) == counted
    assert running.resume(session) == []
    one = next(key for key, row in after.items() if row.verdict == "failed" and not row.control)
    assert main(["show", str(session), one]) == 0
    shown = capsys.readouterr().out
    assert "before: ✗ failed on 2" in shown
    assert main(["show", str(session), one, "--json"]) == 0
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert [(old["verdict"], len(old["failing_tests"])) for old in line["former"]] == [("failed", len(tests[one]))]


@pytest.mark.sandbox
@pytest.mark.network
def test_a_cancelled_rerun_gives_the_former_verdicts_back(done: tuple[Path, str], until: Until) -> None:
    session, run = done
    before, told, counted = candidates(session, run), figures(session, run), stages(session, run)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        # As a rerun asks for it, and no engine has come yet.
        connection.execute("UPDATE candidates SET state = 'queued'")
        writer.set_run(run, state="queued")
    assert figures(session, run) == told
    running.cancel(session, run)
    assert candidates(session, run) == before
    assert stages(session, run) == counted
    assert summary(session, run)["retesting"] == 0
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done"
    assert candidates(session, run) == before  # nothing was left to test again
    assert stages(session, run) == counted


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_after_a_resume_with_only_re_checks_left_the_stages_are_those_of_an_unbroken_run(done, until):
    session, run = done
    counted = stages(session, run)
    assert ("controls", "done", 6, 6) in counted
    assert ("candidates", "done", 9, 9) in counted
    # Three originals, and of the samples one in a hundred by their ids, which the folder's name decides.
    looked = next((state, done) for name, state, done, total in counted if name == "rechecks" and done == total)
    assert looked[0] == "done"
    assert looked[1] >= 3
    connection = sqlite3.connect(session)
    connection.execute("UPDATE candidates SET recheck = NULL WHERE evaluator = 'reference'")
    connection.execute("UPDATE runs SET state = 'cancelled'")
    connection.commit()
    connection.close()
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done", error(session, run)
    assert stages(session, run) == counted


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_a_control_that_is_tested_again_leaves_its_task_as_it_is_until_it_is_decided(
    done: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    session, run = done
    # As if a broken sandbox had taken a task out: its original failed, its samples were not drawn or stood already.
    connection = sqlite3.connect(session)
    (task,) = connection.execute("SELECT id FROM tasks WHERE qualified_name = 'clamp'").fetchone()
    wrong = ("UPDATE candidates SET verdict = 'failed' WHERE evaluator = 'reference' AND task_id = ?", (task,))
    connection.execute(*wrong)
    connection.execute(
        "UPDATE tasks SET state = 'excluded', reason = 'Its tests: failed with the original body.' WHERE id = ?",
        (task,),
    )
    connection.execute(
        "UPDATE candidates SET state = 'cancelled', verdict = NULL, verdict_reason = 'The task was excluded.' "
        "WHERE task_id = ? AND control = 0 AND sample = 2",
        (task,),
    )
    connection.commit()
    connection.close()
    told, counted = figures(session, run), stages(session, run)
    assert (told["tasks"], told["excluded"]) == (2, 1)

    # Only its samples: nobody tests them, so what they have stands.
    samples = {key: row for key, row in candidates(session, run).items() if row.task_id == task and not row.control}
    for key in samples:
        RerunOrder(session, key).begin()
        assert ended(session, run, until) == "done", error(session, run)
    assert {key: candidates(session, run)[key] for key in samples} == samples
    assert figures(session, run) == told
    assert stages(session, run) == counted

    # The control, too, where it cannot be tested: the task stays out; where it can, it is in again with all of its samples.
    with monkeypatch.context() as patched:
        without_sandbox(patched)
        RerunOrder(session, "clamp").begin()
        assert ended(session, run, until) == "failed"
    assert figures(session, run) == told
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done", error(session, run)
    assert summary(session, run)["tasks"] == 3
    assert summary(session, run)["unfinished"] == 0
    assert summary(session, run)["verdicts"] == {"passed": 3, "failed": 3, "invalid": 3}


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_the_bodies_that_are_tested_again_are_those_that_were_tested(done, tmp_path, until):
    session, run = done
    before = candidates(session, run)
    file = tmp_path / "answers.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("\n".join(json.dumps({**line, "completion": "    return 0\n"}) for line in lines))
    assert RerunOrder(session, "*").begin().orders == [run]
    assert ended(session, run, until) == "done", error(session, run)
    now = candidates(session, run)
    tested = {key for key, row in before.items() if row.verdict != "invalid"}
    assert {key: (now[key].verdict, now[key].body_blob) for key in tested} == {
        key: (before[key].verdict, before[key].body_blob) for key in tested
    }


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_a_verdict_stands_beside_the_body_that_was_tested_whatever_older_rules_had_read(
    sandbox: None, tmp_path: Path, scripted: LoopbackServer, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    scripted.answer = Writer({name: [fenced(body)] for name, body in GOOD.items()})
    session = tmp_path / "run.session"
    plan = RegenerationPlan(str(make_repository(tmp_path / "sums")), evaluator=MODEL, samples=1)
    run = order_regeneration(session, plan).run
    launching.launch(session, run)
    assert ended(session, run, until) == "done", error(session, run)
    before = {key: row for key, row in candidates(session, run).items() if row.evaluator == MODEL}
    with SessionWriter(session) as writer:
        for key in before:
            writer.update("candidates", {"id": key}, {"body_blob": writer.blob("return 0"), "repairs": 9})
    assert RerunOrder(session, "*").begin().orders == [run]
    assert ended(session, run, until) == "done", error(session, run)
    now = candidates(session, run)
    for key, row in before.items():
        assert (now[key].verdict, now[key].body_blob, now[key].repairs) == (row.verdict, row.body_blob, row.repairs)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_an_error_of_ours_replaces_no_verdict(sandbox, tmp_path, scripted, monkeypatch, until):
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "1")
    good = Writer({name: [fenced(body)] for name, body in GOOD.items()})
    broken = False
    scripted.answer = lambda body: (
        good(body)
        if "body of `shout` and" not in str(body["messages"])
        else failure(500, "the server burns")
        if broken
        else EMPTY
    )
    session = tmp_path / "run.session"
    run = order_regeneration(
        session, RegenerationPlan(str(make_repository(tmp_path / "sums")), evaluator=MODEL, samples=1)
    ).run
    launching.launch(session, run)
    assert ended(session, run, until) == "done", error(session, run)
    told = figures(session, run)
    assert told["verdicts"] == {"passed": 2, "invalid": 1}
    broken = True
    assert main(["rerun", str(session), "shout"]) == 1
    assert figures(session, run) == told
    closing = summary(session, run)
    assert (closing["state"], closing["retesting"]) == ("done", 1)
    with SessionReader(session) as reader:
        stage = next(row for row in reader.stages(run) if row.name == "candidates")
    assert (stage.done, stage.total) == (2, 3)
    assert "1 could not be tested again" in (stage.note or "")
    assert "burns" in (stage.note or "")
    broken = False
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done"
    assert figures(session, run) == told
    assert summary(session, run)["retesting"] == 0
