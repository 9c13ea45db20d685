"""What stays the same when a run is interrupted and resumed: its verdicts and its finished candidates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from engine.mutants import mutants

from workbench.plans.task_names import row_id
from workbench.session import SessionReader, log

Verdicts = dict[tuple[str, str, int], tuple[str, tuple[tuple[str, str], ...]]]


def write_samples(file: Path, bodies: Iterable[tuple[str, str]], wanted: int) -> int:
    """Write mutants, the original and stubs of every ``(task, body)``, ``wanted`` lines in all, and return their number.

    The mutants are shared out evenly; a task with few of them gets some twice, as samples of their own.
    """
    pools: dict[str, list[str]] = {}
    for task, body in bodies:
        whole = textwrap.dedent(body.lstrip("\n"))
        pools.setdefault(task, []).extend(
            [whole, "pass", "return None", *mutants(body), "raise NotImplementedError", "return 0"]
        )
    each = -(-wanted // len(pools))
    lines = [
        json.dumps({"task_id": task, "completion": textwrap.indent(pool[n % len(pool)], "    ") + "\n"})
        for n in range(each)
        for task, pool in pools.items()
    ][:wanted]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)


def verdicts(session: Path) -> Verdicts:
    """Return every candidate's verdict with the outcomes of the tests that it failed."""
    with SessionReader(session) as reader:
        names = {task.id: row_id(task) for run in reader.runs() for task in reader.tasks(run.id)}
        sources = {run.id: str(json.loads(run.config)["source"]) for run in reader.runs()}
        failing: dict[str, list[tuple[str, str]]] = {}
        for candidate, test, outcome in reader.query("SELECT candidate_id, test_id, outcome FROM failing_tests"):
            failing.setdefault(candidate, []).append((test, outcome))
        return {
            (f"{sources[row.run_id]} {names[row.task_id]}", row.evaluator.partition(":")[0], row.sample): (
                row.verdict or row.state,
                tuple(sorted(failing.get(row.id, ()))),
            )
            for run in reader.runs()
            for row in reader.candidates(run.id)
        }


def done(session: Path) -> dict[str, tuple[Any, ...]]:
    """Return what stands in the session of every finished candidate."""
    with SessionReader(session) as reader:
        return {
            row[0]: row
            for row in reader.query("SELECT id, verdict, body_blob, outcomes_blob FROM candidates WHERE state = 'done'")
        }


def states(session: Path) -> set[str]:
    """Return the states of the session's runs."""
    with SessionReader(session) as reader:
        return {reader.run_state(run) for run in reader.runs()}


def wait(condition: Callable[[], object], what: str, seconds: float = 3600.0) -> None:
    """Wait until a condition holds."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not come"
        pause.wait(0.1)


def disagreements(one: Verdicts, other: Verdicts) -> list[tuple[tuple[str, str, int], object, object]]:
    """Return where two runs differ: the candidate, and what each says of it."""
    return [
        (key, one.get(key), other.get(key))
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    ]


def _stands_still(pid: int) -> bool:
    """Whether every thread of a process is stopped, or the process is gone."""
    try:
        states = [stat.read_text().rpartition(")")[2].split()[0] for stat in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:
        return not Path(f"/proc/{pid}").exists()
    return all(state in "TtZX" for state in states)


def copied_over(backup: Path, session: Path, engines: list[int]) -> None:
    """``cp`` a backup over a live session while its engines stand still, and not in the middle of a checkpoint.

    A copy that falls between a checkpoint's look at the file and its writing is the limit that the CHANGELOG names.
    """
    for _ in range(400):
        for pid in engines:
            os.kill(pid, signal.SIGSTOP)
        # A thread that is in a system call stops when that call returns, which on a busy disk is not at once.
        while not all(_stands_still(pid) for pid in engines):
            threading.Event().wait(0.002)
        names = log._names(session, "mode=ro")
        # A checkpoint begins by giving the log another name than the file has, and ends with an empty log.
        if not log.log_size(session) or (names and names[0] == names[1]):
            break
        for pid in engines:
            os.kill(pid, signal.SIGCONT)
        threading.Event().wait(0.02)
    subprocess.run(["cp", str(backup), str(session)], check=True)
    for pid in engines:
        os.kill(pid, signal.SIGCONT)
