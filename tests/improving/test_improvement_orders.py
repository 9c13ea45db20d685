"""An order to improve docstrings is interrupted, killed and gone on with: nothing that was answered is asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from loopback.server import Reply
from thin_docs import CUE, GOOD, MODEL, Models, order

from workbench.base.errors import WorkbenchError
from workbench.cli import main
from workbench.engine.improvement import Improvement
from workbench.orders.improve import launch_improvement, plan_of, state_of
from workbench.plans.plan import ImprovementPlan, RegenerationPlan
from workbench.session import SessionReader, SessionWriter, create

Printed = pytest.CaptureFixture[str]
PROSE = "Sure! Here it is: better"


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.slow
@pytest.mark.usefixtures("needs_bubblewrap")
@pytest.mark.fresh_engines
def test_interrupted_and_killed_it_goes_on_and_a_second_evaluator_decides(thin, scripted, home, capsys, until):
    models, held = Models(PROSE, GOOD), {"docstrings": True, "bodies": True}

    def answer(body: dict[str, object]) -> Reply:
        text = models(body)
        name = str(body["model"]).rpartition("/")[2]
        # The second docstring, and the first body from it, are not answered until somebody gave up on them.
        late = "was refused" in str(body["messages"]) if name == "docstrings" else CUE in str(body["messages"])
        return Reply(text=text, wait=120.0) if late and held.get(name) else Reply(text=text)

    scripted.answer = answer
    asked = order(thin, "--second-evaluator", "openai/others", "--json")
    session = home / "data" / "sessions" / "demo.session"
    command = subprocess.Popen(
        [sys.executable, "-m", "workbench", *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(lambda: len(models.asked) == 2, 120, "the second docstring is asked for")
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=110)
    assert command.returncode == 130
    assert "To continue: workbench improve" in said
    assert "Traceback" not in said
    with SessionReader(session) as reader:
        (row,) = reader.improvements()
        assert [(one.number, one.state, one.gate) for one in reader.docstring_attempts(row.id)] == [
            (1, "refused", "answer"), (2, "asking", None)
        ]  # fmt: skip
    assert row.state == "cancelled"
    assert state_of(row) == "cancelled"

    # The next process is killed while a body is asked for.
    held["docstrings"] = False
    process = launch_improvement(session, row.id)
    assert process is not None
    assert launch_improvement(session, row.id) is None, "one process at a time"

    def late() -> bool:
        return any(CUE in str(one.body["messages"]) and "bodies" in str(one.body["model"]) for one in scripted.seen)

    until(late, 120, "a body is asked for")
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    with SessionReader(session) as reader:
        row = reader.improvement(row.id) or row
    assert state_of(row) == "interrupted"

    # The command goes on, by the session alone: writer and second evaluator are those of the order.
    held["bodies"] = False
    asked_before = len(models.asked)
    assert main(["improve", str(thin), "--session", "demo", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (summary["tried"], summary["kept"], summary["second_evaluator"]) == (1, 1, "openai/others")
    assert len(models.asked) == asked_before == 3, "what the writer answered is not asked again"
    with SessionReader(session) as reader:
        kept = reader.docstring_attempts(row.id)[-1]
        assert (kept.state, kept.before, kept.after, kept.held_out_evaluator) == (
            "accepted",
            "[0, 3]",
            "[3, 3]",
            "openai/others",
        )
        counted = dict(reader.query("SELECT evaluator, count(*) FROM candidates WHERE control = 0 GROUP BY evaluator"))
        assert counted == {MODEL: 2 * 2 + 2, "openai/others": 2 * 3}
        assert len(reader.improvements()) == 1

    # Once more nothing is asked; a task that fits nothing is one sentence.
    requests = len(scripted.seen)
    (Path.cwd() / summary["patch"]).unlink()
    assert main(["improve", str(thin), "--session", "demo"]) == 0
    said = capsys.readouterr().out
    assert "held out (openai/others)" in said
    assert "held-out samples and gains are those of openai/others" in said
    (Path.cwd() / summary["patch"]).unlink()
    assert main(["improve", str(thin), "--session", "demo", "--dry-run", "--task", "nothing"]) == 2
    assert capsys.readouterr().err.strip() == (
        "workbench: No task is called nothing; `workbench tasks` lists their ids."
    )
    assert len(scripted.seen) == requests


def test_what_makes_a_result_another_one_makes_another_order() -> None:
    plan = ImprovementPlan(RegenerationPlan("./x", evaluator=MODEL, samples=3), "openai/writer")
    others = (
        replace(plan, second_evaluator="openai/others"),
        replace(plan, writer="openai/other"),
        replace(plan, held_out=7),
        replace(plan, base=replace(plan.base, samples=5)),
        replace(plan, base=replace(plan.base, snapshot="changed")),
    )
    assert len({one.meaning for one in (plan, *others)}) == 1 + len(others)
    same = (
        replace(plan, base=replace(plan.base, extra_body="{}")),
        replace(plan, attempts=9),
        replace(plan, most=1),
        replace(plan, base=replace(plan.base, spend_limit=1.0)),
    )
    assert {one.meaning for one in same} == {plan.meaning}
    assert ImprovementPlan.from_json(json.dumps(plan.to_json())) == plan


def test_the_spend_limit_holds_for_all_runs_of_an_order_and_not_for_what_was_spent_before(tmp_path: Path) -> None:
    session = tmp_path / "demo.session"
    create(session)
    base = RegenerationPlan("./x", evaluator=MODEL, samples=3, spend_limit=2.0)
    plan = ImprovementPlan(base, "openai/writer")
    with SessionWriter(session) as writer:
        for run, spent in (("first", 5.5), ("second", 0.75)):
            writer.add_run(run, "regenerate", base.to_json())
            writer.set_run(run, spend_usd=spent)
        writer.add_improvement("order", plan.to_json())
        writer.set_improvement("order", run_id="first", spent_before=5.0, active_run_id="second")
    with SessionReader(session) as reader:
        row = reader.improvement("order")
    assert row is not None
    execution = Improvement(session, row, plan)
    # 5.5 - 5.0 and 0.75 were spent for it; the run may go up to what it has cost and what is left.
    assert execution.begin("docstrings of attempt 1", "first") == pytest.approx(5.5 + 2.0 - 1.25)
    with SessionWriter(session) as writer:
        writer.set_run("second", spend_usd=1.5)
    with pytest.raises(WorkbenchError, match=r"The spend limit of \$2.00 for the whole order is reached"):
        execution.begin("docstrings of attempt 2", "first")
    assert plan_of(row) == plan
