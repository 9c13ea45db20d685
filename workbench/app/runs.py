"""Begin, resume and cancel runs: plain functions over the engine's client, called in threads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths
from workbench.engine import client
from workbench.engine.plan import DocumentPlan
from workbench.session import SUFFIX, SessionReader

if TYPE_CHECKING:
    from workbench.engine.client import WarmEngine


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that was begun: its session and its first trial."""

    session: Path
    run: str
    trial: str | None


def is_example(path: Path) -> bool:
    """Return whether a session came with the program; those are only read."""
    return path.resolve().parent == paths.bundled("sessions").resolve()


def is_writable(path: Path) -> bool:
    """Return whether a run may be added to a session file."""
    return not is_example(path) and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def new_session(name: str, day: date | None = None) -> Path:
    """Return the path for a new session, ``YYYY-MM-DD-NAME.session``; numbered where that exists."""
    stem = f"{(day or date.today()).isoformat()}-{_tidy(name)}"
    folder = paths.sessions_dir()
    path, number = folder / f"{stem}{SUFFIX}", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}{SUFFIX}", number + 1
    return path


def _tidy(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    return kept.strip("-")[:40] or "session"


def begin(session: Path | None, name: str, plan: DocumentPlan, warm: WarmEngine | None) -> Begun:
    """Write a run into the session (a new one if that cannot take it) and hand it to an engine.

    Trials go on counting where the session's trials of the same agent, model and case end.

    Raises:
        WorkbenchError: The plan does not fit or the session cannot be written.
    """
    path = session if session is not None and is_writable(session) else new_session(name)
    if path.exists():
        from dataclasses import replace

        with SessionReader(path) as reader:
            same = [
                row.repeat
                for row in reader.trials()
                if row.agent == plan.agent and row.model == plan.model and row.case_id in plan.cases
            ]
        plan = replace(plan, first_repeat=max(same, default=0) + 1)
    run = client.plan_document(path, plan)
    client.launch(path, run, warm)
    with SessionReader(path) as reader:
        trials = reader.trials(run)
    return Begun(path, run, trials[0].id if trials else None)


def cancel_all(session: Path) -> int:
    """Cancel every run of a session that waits or is under way; returns how many."""
    with SessionReader(session) as reader:
        going = [run.id for run in reader.runs() if reader.run_state(run) in {"queued", "running", "interrupted"}]
    for run in going:
        client.cancel(session, run)
    return len(going)


def resume_all(session: Path, warm: WarmEngine | None) -> int:
    """Take up every run of a session in which something is missing; returns how many."""
    return len(client.resume(session, None, warm))
