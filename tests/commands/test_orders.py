"""Several orders on one run: each command tells of its own, a bad one spoils no other, and none is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import BAD, GOOD, TASKS, samples_file
from samples.sessions import integrity_problem

from workbench.cli import main
from workbench.engine.regenerate import RunRecord
from workbench.orders import launching
from workbench.orders.ordered_asks import is_finished
from workbench.orders.regenerate import MoreSamplesOrder, order_regeneration
from workbench.plans.plan import Acceptance, Ask, RegenerationPlan
from workbench.session import SessionReader, SessionWriter

Until = Callable[..., Any]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "orders.session"


def begin(repository: str, session: Path, *options: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "workbench",
        "regenerate",
        repository,
        "--session",
        str(session),
        "--json",
        *options,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    out, err = process.communicate(timeout=240)
    printed = [json.loads(line) for line in out.splitlines()]
    told = [line["sentence"] for line in printed if line["type"] == "error"]
    return process.returncode, printed[-1] if printed else {}, " ".join([*told, err])


def ordered(session: Path, repository: str, **options: Any) -> Any:
    return order_regeneration(session, RegenerationPlan(repository, **{"evaluator": "stub", **options}))


def plan_of(session: Path, run: str) -> RegenerationPlan:
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return RegenerationPlan.from_json(row.config)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_orders_at_once_tell_each_its_own_and_a_bad_one_spoils_none(needs_bubblewrap, repository, session, tmp_path):
    begun = {
        "reference": begin(repository, session, "--evaluator", "reference", "--k", "1"),
        "again": begin(repository, session, "--evaluator", "reference", "--k", "1"),
        "stub": begin(repository, session, "--evaluator", "stub", "--k", "1,2"),
        "unknown": begin(repository, session, "--evaluator", "stub", "--task", "nothing"),
        "bad": begin(repository, session, "--evaluator", samples_file(tmp_path / "bad.jsonl", BAD), "--k", "1"),
        "foreign": begin(repository, session, "--evaluator", samples_file(tmp_path / "no.jsonl", {"other": "pass"})),
    }
    ended = {name: end(process) for name, process in begun.items()}
    assert {name: one[0] for name, one in ended.items()} == {
        "reference": 0, "again": 0, "stub": 0, "unknown": 2, "bad": 0, "foreign": 2,
    }, ended  # fmt: skip
    assert ended["reference"][1]["pass_at_k"] == ended["again"][1]["pass_at_k"] == {"1": 1.0}
    assert ended["stub"][1]["pass_at_k"] == {"1": 0.0, "2": None}
    assert ended["bad"][1]["pass_at_k"] == {"1": 0.0}
    assert ended["bad"][1]["evaluator"].endswith("bad.jsonl")
    assert {ended[name][1]["candidates"] for name in ("reference", "stub", "bad")} == {3}
    assert "No task is called nothing" in ended["unknown"][2]
    assert "no.jsonl contains no sample for any of the tasks: 'sums.py::other' is not one" in ended["foreign"][2]
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        assert len(reader.tasks(run.id)) == len(TASKS)
        rows = reader.candidates(run.id)
        assert len(rows) == len({row.id for row in rows}) == 3 * len(TASKS)
        assert {row.state for row in rows} == {"done"}
    assert integrity_problem(session) is None


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_an_order_in_the_last_moment_of_an_engine_is_taken_up(needs_bubblewrap, repository, session, until, capsys):
    assert main(["regenerate", repository, "--evaluator", "stub", "--session", str(session)]) == 0
    order = ordered(session, repository)
    # An engine that has ended the run and not let go of it yet: this process, which lives.
    with SessionWriter(session) as leaving:
        leaving.set_run(order.run, state="done")
        held = leaving.acquire(order.run)
        late = ordered(session, repository, evaluator="reference")
        process = launching.launch(session, late.run)
        until(lambda: late.ask in plan_of(session, late.run).waiting, 10)
        with SessionReader(session) as reader:
            assert not is_finished(reader, late)
        leaving.release(held)
    assert process.wait(120) == 0
    with SessionReader(session) as reader:
        assert is_finished(reader, late)
        assert {row.state for row in reader.runs()} == {"done"}


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_an_order_that_a_failing_engine_left_is_taken_up_by_the_next(needs_bubblewrap, repository, session, until):
    first = ordered(session, repository)
    with SessionWriter(session) as failing:
        failing.set_run(first.run, state="running")
        held = failing.acquire(first.run)
        late = ordered(session, repository, evaluator="reference")
        process = launching.launch(session, late.run)
        failing.set_run(first.run, state="failed", error="It fell over.")
        failing.release(held)
    assert process.wait(120) == 0
    with SessionReader(session) as reader:
        assert is_finished(reader, first)
        assert is_finished(reader, late)


def test_a_run_that_grew_is_not_done(home: Path, repository: str, session: Path) -> None:
    order = ordered(session, repository)
    with SessionWriter(session) as writer:
        writer.set_run(order.run, state="running")
        record = RunRecord(writer, order.run)
        assert not record.finish(lambda: False)  # nobody has looked at the order
        record.record_acceptances({}, [order.ask])
        ordered(session, repository, evaluator="reference")
        assert not record.finish(lambda: False)
        record.record_acceptances({}, plan_of(session, order.run).asks)
        assert not record.finish(lambda: True)  # something is tested again
        assert record.finish(lambda: False)
    # From then on an order finds a run at its end, and has it wait again.
    ordered(session, repository, evaluator="reference")
    with SessionReader(session) as reader:
        assert [run.state for run in reader.runs()] == ["queued"]


def test_what_a_file_holds_is_more_than_any_number(home: Path, repository: str, session: Path, tmp_path: Path) -> None:
    evaluator = samples_file(tmp_path / "good.jsonl", GOOD)
    order = ordered(session, repository, evaluator=evaluator, samples=2)
    assert ordered(session, repository, evaluator=evaluator).run == order.run
    (ask,) = plan_of(session, order.run).asks
    assert ask.samples == 0
    assert Acceptance(ask).answers(order.ask)
    assert not Acceptance(order.ask).answers(ask)


def test_more_samples_are_of_the_evaluator_that_is_shown(home: Path, repository: str, session: Path) -> None:
    order = ordered(session, repository, evaluator="local", samples=2)
    ordered(session, repository, evaluator="reference")
    with SessionWriter(session) as writer:
        writer.set_run(order.run, state="running")  # no engine is to be started
        held = writer.acquire(order.run)
        MoreSamplesOrder(session, order.run, 7, evaluator=order.ask.evaluator).begin()
        writer.release(held)
    process = launching.engine_of(order.run)
    assert process is not None
    process.terminate()
    process.wait(30)
    asks = {ask.evaluator: ask.samples for ask in plan_of(session, order.run).asks}
    assert asks == {order.ask.evaluator: 7, "reference": 1}


def test_a_run_without_content_gives_way_to_the_one_that_has_it(home: Path, repository: str, session: Path) -> None:
    first = ordered(session, repository)
    source = Path(repository) / "sums.py"
    before = source.read_text()
    source.write_text(before.replace("first + second", "second + first"))
    second = ordered(session, repository)
    assert second.run != first.run
    # The second never came to anything; the folder is again what it was.
    source.write_text(before)
    assert ordered(session, repository, samples=2).run == first.run
    assert isinstance(plan_of(session, first.run).asks[0], Ask)
