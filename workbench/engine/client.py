"""Ask for work: plan runs in a session file and start the engine process that executes them.

Cheap to import. Calls touch the disk for some milliseconds: the app makes them in a thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from workbench import paths
from workbench.agents.names import agent_info
from workbench.engine.plan import DocumentPlan
from workbench.errors import UsageError, WorkbenchError
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.identity import run_id, trial_id
from workbench.session.rows import RunRow

LOCAL_READ_LIMIT = 1_800  # characters; a small model's window holds a few such files beside the conversation


def engine_log(run: str) -> Path:
    """Return the path of the log of the engine that executes (or executed) a run."""
    return paths.state_dir() / "engine" / f"{run}.log"


def last_words(run: str) -> str:
    """Return the last line that the engine of a run wrote before it ended, "" if there is none."""
    try:
        lines = engine_log(run).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def _engine_process(arguments: list[str], log: Path, *, stdin: int, stdout: int | None) -> subprocess.Popen[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    # Without bytecode files every engine would compile its libraries anew: seconds instead of tenths.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "workbench.engine", *arguments],
            stdin=stdin,
            stdout=stdout if stdout is not None else output,
            stderr=output,
            start_new_session=True,
            env=environment,
            close_fds=True,
        )


class WarmEngine:
    """An engine process that has imported its libraries and waits; closing it never ends a run under way."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process unless one waits already; returns at once."""
        if self._process is None or self._process.poll() is not None:
            self._process = _engine_process(
                ["--warm"], paths.state_dir() / "engine" / "warm.log", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            )

    def serve(self, session: Path, run: str) -> bool:
        """Hand a run to the waiting process and start the next one; False if none waits."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None or process.stdin is None:
            return False
        order = json.dumps({"session": str(session.resolve()), "run": run, "log": str(engine_log(run))})
        try:
            process.stdin.write(order.encode() + b"\n")
            process.stdin.flush()
            process.stdin.close()
        except OSError:
            return False
        with contextlib.suppress(OSError):
            self.start()
        return True

    def close(self) -> None:
        """Let the waiting process end."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()


def _resolved(plan: DocumentPlan) -> DocumentPlan:
    """Return the plan with this machine's defaults written out, so that a resumed run does the same anywhere."""
    from workbench.models.defaults import default_model
    from workbench.settings import load

    settings = load()
    model = plan.model or settings.agent_model or default_model("agent")
    judge = plan.judge or settings.judge
    if not judge:
        judged_by = default_model("judge")
        judge = "offline" if judged_by.startswith("local") else judged_by
    if model.startswith("replay:"):
        recorded = replay_plan(Path(model.removeprefix("replay:")))
        return replace(
            plan,
            model=f"replay:{resolve_session(model.removeprefix('replay:')).resolve()}",
            judge=judge,
            read_limit=plan.read_limit or recorded.read_limit,
            max_steps=recorded.max_steps,
        )
    read_limit = plan.read_limit or (LOCAL_READ_LIMIT if model.startswith("local") else settings.read_limit)
    spend_limit = plan.spend_limit or settings.spend_limit
    return replace(plan, model=model, judge=judge, read_limit=read_limit, spend_limit=spend_limit)


def resolve_session(text: str) -> Path:
    """Return the session file that a person means by a path or a bare name.

    Raises:
        UsageError: There is none.
    """
    given = Path(text).expanduser()
    named = given if given.suffix == ".session" else given.with_name(given.name + ".session")
    places = [given, named, paths.sessions_dir() / named, paths.bundled("sessions") / named]
    for place in places:
        if place.is_file():
            return place
    raise UsageError(f"There is no session {text!r}; `workbench locate sessions` tells where they are kept.")


def replay_plan(session: Path) -> DocumentPlan:
    """Return the plan of the first recorded run of a session, whose limits a replay must keep.

    Raises:
        UsageError: The session is missing or holds no such run.
    """
    with SessionReader(resolve_session(str(session))) as reader:
        for run in reader.runs():
            if run.kind == "document":
                return DocumentPlan.from_json(run.config)
    raise UsageError(f"{session} holds no recorded trials to replay.")


def plan_document(session: Path, plan: DocumentPlan) -> str:
    """Write a run and its trials into a session (created if missing) and return the run's id.

    A trial that the session has already is not added again; see :func:`resume` for unfinished ones.

    Raises:
        UsageError: A case or agent is unknown, or a number makes no sense.
        SessionError: The session cannot be written.
    """
    from workbench.catalog import resolve_case

    agent_info(plan.agent)
    if not plan.cases:
        raise UsageError("Name at least one test case; `workbench cases` lists them.")
    if plan.repeats < 1 or plan.first_repeat < 1:
        raise UsageError("The number of repeats must be 1 or more.")
    plan = _resolved(plan)
    cases = [(text, resolve_case(text)) for text in dict.fromkeys(plan.cases)]
    if not session.exists():
        create(session)
    run = run_id()
    with SessionWriter(session) as writer, writer.transaction():
        writer.add_run(run, "document", plan.to_json())
        position = 0
        for repeat in range(plan.first_repeat, plan.first_repeat + plan.repeats):
            for text, case in cases:
                identity = trial_id(plan.agent, plan.model, case.id, repeat)
                if writer.add_trial(identity, run, position, (text, case.name), plan.agent, plan.model, repeat):
                    position += 1
    return run


def launch(session: Path, run: str, warm: WarmEngine | None = None) -> subprocess.Popen[bytes] | None:
    """Start an engine on a run; it goes on when the caller ends.

    Returns:
        The process where one was started here, so that the caller may see it end; None for a warm one.
    """
    if warm is not None and warm.serve(session, run):
        return None
    return _engine_process(
        ["--session", str(session.resolve()), "--run", run], engine_log(run), stdin=subprocess.DEVNULL, stdout=None
    )


def cancel(session: Path, run: str) -> None:
    """Ask the engine of a run to stop; a run that no engine executes is marked cancelled at once."""
    with SessionReader(session) as reader:
        held = reader.holder(run)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        if held is not None:
            writer.request(run, "cancel")
            return
        writer.set_run(run, state="cancelled")
        mark_cancelled(connection, run)


def mark_cancelled(connection: sqlite3.Connection, run: str) -> None:
    """Mark the unfinished work items of a run as cancelled, within a transaction."""
    connection.execute(
        "UPDATE trials SET state = 'cancelled' WHERE run_id = ? AND state IN ('queued', 'running')", (run,)
    )
    connection.execute("UPDATE candidates SET state = 'cancelled' WHERE run_id = ? AND state != 'done'", (run,))


def unfinished(reader: SessionReader) -> list[RunRow]:
    """Return the runs of a session that no living engine executes and in which something is missing."""
    found = []
    for run in reader.runs():
        if reader.holder(run.id) is not None:
            continue
        if run.kind == "regenerate":
            missing = run.state != "done" or bool(reader.query(_MISSING, (run.id, run.id)))
        else:
            missing = run.state in {"queued", "running"} or any(
                trial.state != "done" for trial in reader.trials(run.id)
            )
        if missing:
            found.append(run)
    return found


def _let_go(reader: SessionReader, run: str | None) -> None:
    """Wait for engines that have ended their run and are about to leave: a resume right after a cancel must find it."""
    pause = threading.Event()
    for row in reader.runs():
        if run in (None, row.id) and row.state not in {"queued", "running"}:
            for _ in range(100):
                if reader.holder(row.id) is None:
                    break
                pause.wait(0.1)


# Candidates without a verdict, or lost by an error of ours; tasks for which the doc system gave no docstring.
_MISSING = """
SELECT 1 FROM candidates JOIN tasks ON tasks.id = candidates.task_id WHERE candidates.run_id = ? AND (
    candidates.verdict = 'error' OR (candidates.state != 'done' AND tasks.state = 'ready'))
UNION ALL SELECT 1 FROM dropped WHERE run_id = ? AND stage = 'documentation' LIMIT 1
"""


def resume(session: Path, run: str | None = None, warm: WarmEngine | None = None) -> list[str]:
    """Execute what is missing in a session, or in one of its runs; returns the ids of the runs taken up.

    Raises:
        UsageError: There is no such run.
        WorkbenchError: The run is being executed right now.
    """
    with SessionReader(session) as reader:
        if run is not None and reader.run(run) is None:
            raise UsageError(f"{session.name} has no run {run!r}.")
        _let_go(reader, run)
        if run is not None:
            held = reader.holder(run)
            if held is not None:
                raise WorkbenchError(f"Run {run} is being executed right now (process {held.pid} on {held.host}).")
        waiting = [row.id for row in unfinished(reader) if run in (None, row.id)]
    if not waiting:
        return []
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key in waiting:
            writer.set_run(key, state="queued", finished_at=None, error=None)
            connection.execute("UPDATE requests SET handled_at = 0 WHERE run_id = ? AND handled_at IS NULL", (key,))
            connection.execute("UPDATE trials SET state = 'queued' WHERE run_id = ? AND state != 'done'", (key,))
            connection.execute("UPDATE candidates SET state = 'queued' WHERE run_id = ? AND state != 'done'", (key,))
    for key in waiting:
        launch(session, key, warm)
    return waiting


def rerun(session: Path, trial: str, *, model: str | None = None, warm: WarmEngine | None = None) -> str:
    """Run a trial once more as the next repeat of the same agent, model and case; returns the new trial's id.

    Args:
        session: The session file.
        trial: Identity of a trial, or its first characters.
        model: Another model to run it with.
        warm: An engine that waits.

    Raises:
        UsageError: There is no such trial, or several begin so.
    """
    with SessionReader(session) as reader:
        matches = [row for row in reader.trials() if row.id.startswith(trial)]
        if len(matches) != 1:
            what = "no trial" if not matches else f"{len(matches)} trials that begin with"
            raise UsageError(f"{session.name} has {what} {trial!r}; `workbench show {session}` lists them.")
        old = matches[0]
        run = reader.run(old.run_id)
        assert run is not None
        chosen = model or old.model
        same = [r.repeat for r in reader.trials() if (r.agent, r.model, r.case_id) == (old.agent, chosen, old.case_id)]
    plan = replace(
        DocumentPlan.from_json(run.config),
        cases=(old.case_id,),
        agent=old.agent,
        model=chosen,
        repeats=1,
        first_repeat=max(same, default=0) + 1,
        read_limit=0 if model else DocumentPlan.from_json(run.config).read_limit,
    )
    new_run = plan_document(session, plan)
    launch(session, new_run, warm)
    with SessionReader(session) as reader:
        return reader.trials(new_run)[0].id
