"""``workbench cancel SESSION``: stop the runs of a session; what is done stays, resume goes on."""

from __future__ import annotations

import argparse

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.commands.arguments import shared
from workbench.commands.output import say, tell_damage
from workbench.commands.watching import stop
from workbench.session import SessionReader
from workbench.session.session_names import is_example, resolve_session

ARGUMENTS = shared("session", "--run")


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    with SessionReader(session) as reader:
        if arguments.run and reader.run(arguments.run) is None:
            raise UsageError(
                f"{session.name} has no run {one_line(arguments.run, 60)!r}; `workbench show {session}` lists its runs."
            )
        waiting = [
            row.id
            for row in reader.runs()
            if not is_example(session)
            and arguments.run in ("", row.id)
            and reader.run_state(row) in {"queued", "running", "interrupted"}
        ]
        code = tell_damage(reader.damage)
    for key in waiting:
        stop(session, key)
    say(f"{len(waiting)} cancelled. Go on with: workbench resume {session}" if waiting else "Nothing was running.")
    return code
