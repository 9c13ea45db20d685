"""Execute what a study lacks, one run after the other, each by an engine of its own; a failing one is left to the next.

Nothing stands between runs but the session: whoever executes a study, this process or another one, goes on where it stands.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench import paths
from workbench.engine import client
from workbench.engine.launching import engine_process
from workbench.engine.plan import DocumentPlan, RegenerationPlan
from workbench.engine.study_client import pending_runs, study_runs
from workbench.errors import WorkbenchError
from workbench.session import SessionReader, SessionWriter
from workbench.settings import load
from workbench.studies.following import declared

_LOOK_SECONDS = 0.2


def each_run(session: Path, name: str) -> Iterator[str]:
    """Start the runs of a study that lack something, one after the other, and give the id of each once it was started.

    The caller follows the run and asks for the next one when it has ended. A run that was cancelled ends the study, one that
    failed does not. Where the study's spend limit is reached the study's ``problem`` says so and nothing more is started.
    """
    with SessionWriter(session) as writer:
        writer.set_study(name, problem=None)
    met: set[str] = set()
    while True:
        with SessionReader(session) as reader:
            waiting = [run for run in pending_runs(reader, name) if run not in met]
            if not waiting:
                return
            run = waiting[0]
            held = reader.holder(run) is not None
        met.add(run)
        if not held:
            if problem := _limited(session, name, run):
                with SessionWriter(session) as writer:
                    writer.set_study(name, problem=problem)
                return
            try:
                if not client.resume(session, run):
                    continue
            except WorkbenchError:
                # Another engine was faster: then that one is followed.
                with SessionReader(session) as reader:
                    if reader.holder(run) is None:
                        raise
        yield run
        with SessionReader(session) as reader:
            row = reader.run(run)
            if row is not None and row.state == "cancelled":
                return


def _limited(session: Path, name: str, run: str) -> str:
    """Let a run spend what is left of a study's limit; returns the sentence where nothing is left."""
    with SessionReader(session) as reader:
        study = declared(reader, name)
        if not study.spend_limit:
            return ""
        rows = [row for one in study_runs(reader, name) if (row := reader.run(one)) is not None]
        mine = next(row for row in rows if row.id == run)
        spent = sum(row.spend_usd for row in rows)
    left = study.spend_limit - spent
    if left <= 0:
        return (
            f"The study's spend limit of ${study.spend_limit:,.2f} is reached (${spent:,.2f} spent), so what is missing was not "
            "started; raise spend_limit and order it again."
        )
    most = mine.spend_usd + left
    if per_run := load().spend_limit:
        most = min(most, per_run)
    kind = DocumentPlan if mine.kind == "document" else RegenerationPlan
    plan = replace(kind.from_json(mine.config), spend_limit=most)
    with SessionWriter(session) as writer:
        writer.set_run(run, config=json.dumps(plan.to_json(), ensure_ascii=False, sort_keys=True))
    return ""


def execute_study(session: Path, name: str) -> int:
    """Execute what a study lacks, with nobody watching; returns 0 where nothing is missing then, else 1."""
    pause = threading.Event()
    for run in each_run(session, name):
        with SessionReader(session) as reader:
            while (row := reader.run(run)) is not None and reader.run_state(row) in ("queued", "running"):
                pause.wait(_LOOK_SECONDS)
    with SessionReader(session) as reader:
        return 1 if pending_runs(reader, name) else 0


def launch_study(session: Path, name: str) -> subprocess.Popen[bytes]:
    """Start a process that executes what a study lacks; it goes on when the caller exits, and ends with the study."""
    safe = "".join(sign if sign.isalnum() else "-" for sign in name)
    log = paths.state_dir() / "engine" / f"study-{safe}.log"
    return engine_process(
        ["--session", str(session.resolve()), "--study", name], log, stdin=subprocess.DEVNULL, stdout=None
    )
