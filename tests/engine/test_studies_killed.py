"""``workbench study agents``, interrupted and killed on the way, has the cells of an unbroken one whose answers it replays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine import killing
from engine.author import Author
from engine.tiny_repository import BAD, GOOD, make_repository
from loopback.server import LoopbackServer

from workbench.orders.study import execute_study, order_study
from workbench.session import SessionReader
from workbench.studies.declaration import Study, StudyColumn
from workbench.studies.following import read_study
from workbench.studies.study_files import study_named

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.timeout(900)]

SAMPLES = 240

MODEL = "openai/scripted"
Until = Callable[..., Any]


def with_model(model: str) -> Study:
    """The packaged study of agents with one repeat and another model."""
    study = study_named("agents")
    return replace(study, repeats=1, columns=tuple(replace(column, model=model) for column in study.columns))


def cells(session: Path) -> dict[tuple[str, str], object]:
    """Return what stands in each cell, without ids, times and the model's name."""
    with SessionReader(session) as reader:
        outcome = read_study(reader, "agents")
        assert outcome.problems == ()
        return {
            (cell.row, cell.column.system): (
                cell.state,
                cell.done,
                cell.planned,
                cell.means["score"],
                [
                    (trial.repeat, trial.steps, trial.tokens, {by: one.tiers for by, one in trial.scores.items()})
                    for trial in cell.work.trials
                ],
                [
                    reader.text(row.readme_blob)
                    for one in cell.work.trials
                    if (row := reader.trial(one.trial)) is not None
                ],
            )
            for cell in outcome.cells.values()
        }


def finished(session: Path) -> int:
    with SessionReader(session) as reader:
        return int(reader.query("SELECT count(*) FROM trials WHERE state = 'done'")[0][0])


def engines(session: Path) -> list[int]:
    with SessionReader(session) as reader:
        return [held.pid for run in reader.runs() if (held := reader.holder(run.id)) is not None]


def test_killed_twice_the_cells_are_those_of_an_unbroken_study(
    scripted: LoopbackServer, tmp_path: Path, until: Until
) -> None:
    scripted.answer = Author()
    whole, broken, file = tmp_path / "whole.session", tmp_path / "broken.session", tmp_path / "study.toml"
    order_study(whole, with_model(MODEL))
    assert execute_study(whole, "agents") == 0
    wanted = cells(whole)
    assert len(wanted) == 30
    assert {cell[0] for cell in wanted.values()} == {"done"}  # type: ignore[index]
    asked = len(scripted.seen)
    file.write_text(
        'name = "agents"\nkind = "agents"\nrows = ["all"]\n[columns]\n'
        'agents = ["white", "planner-2", "planner-1", "single-file", "no-exploration"]\n'
        f'models = ["replay:{whole}"]\n[settings]\njudges = ["offline"]\n'
    )

    def begin() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "workbench", "study", str(file), "--session", str(broken), "--yes"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    first = begin()
    until(lambda: broken.exists() and finished(broken) >= 3, 240, "three trials")
    first.send_signal(signal.SIGINT)
    assert first.wait(120) == 130
    interrupted = finished(broken)
    assert interrupted < 30
    second = begin()
    until(lambda: finished(broken) >= interrupted + 6 and engines(broken), 240, "six more trials")
    second.kill()
    second.wait()
    for pid in engines(broken):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not engines(broken), 60, "the end of the engine")
    killed = finished(broken)
    assert interrupted < killed < 30
    assert begin().wait(600) == 0
    assert cells(broken) == wanted
    assert len(scripted.seen) == asked


@pytest.mark.sandbox
def test_a_study_of_docs_killed_twice_has_the_verdicts_of_an_unbroken_one(
    needs_bubblewrap: None, one_cache: None, tmp_path: Path
) -> None:
    repository = str(make_repository(tmp_path / "small-sums"))
    answers = tmp_path / "answers.jsonl"
    bodies = [(f"sums.py::{name}", body) for known in (GOOD, BAD) for name, body in known.items()]
    killing.write_samples(answers, bodies, SAMPLES)
    study = Study(
        "docs",
        "docs",
        (repository,),
        tuple(StudyColumn(docs, one) for docs in ("original", "none") for one in (f"samples:{answers}", "reference")),
        samples=SAMPLES // 3,
        k=(1, 5),
    )

    def verdicts(session: Path) -> list[object]:
        with SessionReader(session) as reader:
            return reader.query(
                "SELECT docs, qualified_name, evaluator, sample, control, verdict FROM tasks JOIN candidates ON task_id = tasks.id "
                "ORDER BY 1, 2, 3, 4, 5"
            )

    def outcome(session: Path) -> dict[str, object]:
        with SessionReader(session) as reader:
            found = read_study(reader, "docs")
        return {
            cell.column.name: (cell.state, cell.done, cell.planned, cell.means, cell.documented)
            for cell in found.cells.values()
        }

    whole, broken = tmp_path / "whole.session", tmp_path / "broken.session"
    order_study(whole, study)
    assert execute_study(whole, "docs") == 0
    wanted = verdicts(whole)
    # Answers and originals, both 80 for each of three tasks, and stubs.
    assert len(wanted) == 2 * (2 * SAMPLES + 3)
    order_study(broken, study)
    killed: list[int] = []
    for goal in (20, 2 * SAMPLES + 20):
        executing = threading.Thread(target=execute_study, args=(broken, "docs"))
        executing.start()
        killing.wait(lambda goal=goal: len(killing.done(broken)) >= goal and killing.kill(broken), f"{goal} verdicts")  # type: ignore[misc]
        executing.join()
        killed.append(len(killing.done(broken)))
        order_study(broken, study)
    assert execute_study(broken, "docs") == 0
    assert 0 < killed[0] <= killed[1] < len(wanted)
    assert verdicts(broken) == wanted
    assert outcome(broken) == outcome(whole)
    assert {cell[0] for cell in outcome(whole).values()} == {"done"}  # type: ignore[index]
