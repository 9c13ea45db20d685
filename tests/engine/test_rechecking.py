"""Fast verdicts get a re-check on the cold route: a wrong one is found, replaced and shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.following import ended
from engine.tiny_repository import TASKS, make_repository

from workbench.commands.watching import candidate_line
from workbench.orders import launching, running
from workbench.orders.ordered_asks import RANDOM_SHARE, recheck_reason
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader
from workbench.session.identity import candidate_id

Until = Callable[..., Any]


def test_originals_always_and_one_verdict_in_a_hundred() -> None:
    ids = [candidate_id(f"task {number}", "m", "v1", 0) for number in range(20_000)]
    assert all(recheck_reason(name, "reference", "hot", "passed") == "original" for name in ids[:50])
    share = sum(recheck_reason(name, "m", "warm", "failed") == "random" for name in ids) / len(ids)
    assert RANDOM_SHARE * 0.7 < share < RANDOM_SHARE * 1.3
    assert not any(recheck_reason(name, "reference", "cold", "passed") for name in ids[:50])
    assert not any(recheck_reason(name, "reference", "hot", "error") for name in ids[:50])


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
def test_a_false_fast_verdict_is_found_replaced_and_shown(
    needs_bubblewrap, home, tmp_path, tmp_path_factory, monkeypatch, until
):
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    session = tmp_path / "looked.session"
    answers = tmp_path / "answers.jsonl"
    body = "import sys\nsys.path.append('/nowhere')\nreturn first + second"
    answers.write_text(json.dumps({"task_id": TASKS[0], "completion": body}) + "\n")
    plan = RegenerationPlan(str(make_repository(tmp_path / "small")), evaluator=f"samples:{answers}", samples=1, k=(1,))
    run = order_regeneration(session, plan).run

    def work() -> None:
        assert ended(session, run, until) == "done"

    launching.launch(session, run)
    work()
    looks = {row.evaluator: json.loads(row.recheck) for row in candidates(session, run) if row.recheck}
    assert looks["reference"] == {**looks["reference"], "why": "original", "verdict": "passed", "agrees": True}
    assert looks["reference"]["route"] == "cold"
    originals = [row for row in candidates(session, run) if row.evaluator == "reference"]
    assert len(originals) == len(TASKS)
    assert all(row.recheck and row.route == "hot" and row.backend == "bubblewrap" for row in originals)
    # A pass that changed the process is tested again at once.
    (changed,) = (
        row for row in candidates(session, run) if row.evaluator.startswith("samples:") and row.plain is not None
    )
    assert (changed.verdict, changed.route, json.loads(changed.recheck or "{}")["why"]) == (
        "passed",
        "cold",
        "suspicious",
    )
    assert "it changed sys.path" in str(candidate_line(changed, TASKS[0])["doubtful"])

    # What a broken fast route would have left behind: originals that failed, and tasks taken out for it.
    connection = sqlite3.connect(session)
    connection.execute("UPDATE candidates SET verdict = 'failed', recheck = NULL WHERE evaluator = 'reference'")
    connection.execute("UPDATE tasks SET state = 'excluded', reason = 'Its tests: failed with the original body.'")
    connection.execute("UPDATE runs SET state = 'cancelled'")
    connection.commit()
    connection.close()
    assert running.resume(session) == [run]
    work()
    for row in candidates(session, run):
        if row.evaluator == "reference":
            assert (row.verdict, row.route) == ("passed", "cold")
            look = json.loads(row.recheck or "{}")
            assert (look["first"], look["verdict"], look["agrees"]) == ("failed", "passed", False)
    with SessionReader(session) as reader:
        assert {task.state for task in reader.tasks(run)} == {"ready"}
        stage = next(stage for stage in reader.stages(run) if stage.name == "rechecks")
    looked = len(TASKS) + 1  # the pass that changed the process as well
    assert (stage.state, stage.done, stage.total) == ("done", looked, looked)
    assert stage.note == f"{len(TASKS)} disagree"


def candidates(session: Path, run: str) -> list[Any]:
    with SessionReader(session) as reader:
        return list(reader.candidates(run))


# Longer than the five seconds that a function with fast tests gets.
SOURCE = '''import time

time.sleep(6)


def double(number):
    """Return twice the number."""
    return 2 * number
'''


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.nightly
@pytest.mark.timeout(480)
def test_the_second_look_has_time_to_import(needs_bubblewrap, one_cache, tmp_path, until):
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "slow.py").write_text(SOURCE)
    (folder / "test_slow.py").write_text("from slow import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
    session = tmp_path / "slow.session"
    run = order_regeneration(session, RegenerationPlan(str(folder), evaluator="reference", sandbox="bubblewrap")).run
    launching.launch(session, run)
    ended(session, run, until)
    with SessionReader(session) as reader:
        verdicts = {row.evaluator: row for row in reader.candidates(run)}
    look = json.loads(verdicts["reference"].recheck or "{}")
    assert (verdicts["reference"].verdict, look["agrees"], look["route"]) == ("passed", True, "cold")
    assert look["seconds"] > 5
    assert verdicts["stub"].verdict == "failed"
