"""Reruns that end in the middle, at random moments and in every way: each candidate has a verdict all the time."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine import killing
from needing_sandboxes import no_bubblewrap
from samples.sessions import integrity_problem
from sweeps import spread

from workbench.commands.summaries import order_summary as summary
from workbench.orders import launching, running
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan
from workbench.plans.task_names import row_id
from workbench.session import SessionReader

pytestmark = [
    *(pytest.mark.sandbox, pytest.mark.network, pytest.mark.slow, pytest.mark.fresh_engines),
    pytest.mark.timeout(1800),
]
Until = Callable[..., Any]
TASKS = 4  # whose originals are looked at again on the cold route after each rerun
SAMPLES = 20
WAYS = ("engine killed", "engine interrupted", "command interrupted", "command killed", "no sandbox", "both killed")
Stand = dict[str, tuple[str | None, float | None, int]]


@pytest.fixture
def session(needs_bubblewrap: None, one_cache: None, tmp_path: Path) -> Path:
    """A finished session: the controls on tasks of word_counter, and near misses of their bodies."""
    path = tmp_path / "tested.session"
    run = order_regeneration(path, RegenerationPlan("word_counter", evaluator="reference", limit=TASKS)).run
    launching.launch(path, run)
    killing.wait(lambda: not killing.states(path) & {"queued", "running"}, "the controls", 300)
    with SessionReader(path) as reader:
        bodies = [(row_id(task), reader.text(task.body_blob)) for task in reader.tasks(run)]
    assert bodies
    file = tmp_path / "answers.jsonl"
    assert killing.write_samples(file, bodies, SAMPLES) == SAMPLES
    assert (
        order_regeneration(path, RegenerationPlan("word_counter", evaluator=f"samples:{file}", limit=TASKS)).run == run
    )
    launching.launch(path, run)
    killing.wait(lambda: not killing.states(path) & {"queued", "running"}, "the samples", 600)
    assert killing.states(path) == {"done"}
    return path


def stand(session: Path) -> Stand:
    """Every candidate's verdict, when it was given, and how many it replaced."""
    with SessionReader(session) as reader:
        rows = reader.query(
            "SELECT id, verdict, at, (SELECT count(*) FROM former_verdicts WHERE candidate_id = candidates.id) FROM candidates"
        )
    return {key: (verdict, at, replaced) for key, verdict, at, replaced in rows}


def figures(session: Path) -> dict[str, Any]:
    with SessionReader(session) as reader:
        run = reader.runs()[0].id
    closing = summary(session, run)
    named = ("pass_at_k", "interval", "verdicts", "candidates", "unfinished", "tasks", "excluded", "controls")
    return {name: closing[name] for name in named}


def stages(session: Path) -> list[tuple[str, str, int, int | None]]:
    with SessionReader(session) as reader:
        return [(row.name, row.state, row.done, row.total) for row in reader.stages(reader.runs()[0].id)]


class Watch:
    """Looks at a session as often as it can, and keeps what must never be seen: a candidate that lost its verdict."""

    def __init__(self, session: Path, before: Stand) -> None:
        self._session, self._before = session, before
        self._stop = threading.Event()
        self.lost: list[object] = []
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.02):
            now = stand(self._session)
            for key, (verdict, at, replaced) in self._before.items():
                seen = now.get(key, (None, None, 0))
                # A verdict as it was, or a new one with the old one in the history: nothing in between.
                if seen != (verdict, at, replaced) and (seen[0] is None or seen[2] != replaced + 1 or seen[1] == at):
                    self.lost.append((key, self._before[key], seen))


def interrupt(session: Path, way: str, command: subprocess.Popen[str]) -> None:
    with SessionReader(session) as reader:
        held = reader.holder(reader.runs()[0].id)
    if way in ("command interrupted", "command killed", "both killed"):
        command.send_signal(signal.SIGINT if way == "command interrupted" else signal.SIGKILL)
    if way in ("engine killed", "engine interrupted", "both killed") and held is not None:
        os.kill(held.pid, signal.SIGINT if way == "engine interrupted" else signal.SIGKILL)


def test_reruns_that_end_in_the_middle_lose_and_double_nothing(session: Path, tmp_path: Path) -> None:
    told, counted, verdicts = figures(session), stages(session), killing.verdicts(session)
    assert sum(told["verdicts"].values()) == told["candidates"] == SAMPLES
    assert {"passed", "failed"} <= set(told["verdicts"])
    (tmp_path / "empty").mkdir()
    replaced = 0
    rng = random.Random(14)
    for way in spread(WAYS, 2):
        before, share = stand(session), rng.uniform(0.02, 0.9)
        environment = {**os.environ, **(no_bubblewrap(tmp_path / "empty") if way == "no sandbox" else {})}
        goal = int(share * len(before)) + 1

        def tested(before: Stand = before) -> int:
            return sum(row != before[key] for key, row in stand(session).items())

        with Watch(session, before) as watch:
            command = subprocess.Popen(
                [sys.executable, "-m", "workbench", "rerun", str(session), "*", "--json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
            if way != "no sandbox":
                killing.wait(lambda: tested() >= goal or command.poll() is not None, f"{goal} of {way}", 300)  # noqa: B023
                threading.Event().wait(rng.uniform(0.0, 0.2))
                interrupt(session, way, command)
            out, err = command.communicate(timeout=300)
            killing.wait(lambda: not killing.states(session) & {"queued", "running"}, "the end", 300)
            at_the_end = tested()
            assert figures(session) == told, way
        assert watch.lost == [], way
        assert "Traceback" not in err, err
        assert "defect" not in err + out
        if way == "no sandbox":
            assert (command.returncode, at_the_end, killing.states(session)) == (1, 0, {"failed"})
            assert "sandbox" in err + out
        if way in ("engine interrupted", "command interrupted"):
            assert killing.states(session) <= {"cancelled", "done"}
            assert json.loads(out.splitlines()[-1])["retesting"] == 0
        if way == "command interrupted" and command.returncode == 130:
            assert "not tested again" in err
        replaced += at_the_end

        # What was killed or failed is taken up again; what was cancelled stands as it was.
        cancelled = killing.states(session) == {"cancelled"}
        running.resume(session)
        killing.wait(lambda: not killing.states(session) & {"queued", "running"}, "the resumed run", 600)
        assert killing.states(session) == {"done"}, way
        after = stand(session)
        again = {key for key in before if after[key] != before[key]}
        assert all(after[key][2] == before[key][2] + 1 for key in again), way
        assert len(again) == (at_the_end if cancelled else len(before)), way
        assert killing.disagreements(verdicts, killing.verdicts(session)) == [], way
        assert figures(session) == told, way
        assert stages(session) == counted, way
        assert running.resume(session) == []
    assert integrity_problem(session) is None
    assert replaced > 0
