"""Follow a study while it is executed: a line for each run, and what that run shows of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.commands.output import say, tell
from workbench.commands.regeneration_watching import RegenerationWatch, position
from workbench.commands.regeneration_watching import TerminalShow as Bars
from workbench.commands.watching import TerminalShow, follow, stop
from workbench.engine.study_client import each_run, pending_runs, titles_of
from workbench.session import SessionReader
from workbench.studies.declaration import AGENTS
from workbench.studies.following import read_study

_NAMED = 3


def watch_study(session: Path, name: str, *, quiet: bool = False) -> int:
    """Execute what a study lacks and show it; returns 130 when interrupted, else 0.

    Args:
        session: The session file.
        name: Name of the study in it.
        quiet: Whether nothing is shown but errors, which go to standard error.
    """
    with SessionReader(session) as reader:
        count = len(pending_runs(reader, name))
    current = ""
    try:
        for number, run in enumerate(each_run(session, name), 1):
            current = run
            with SessionReader(session) as reader:
                row = reader.run(run)
                titles = titles_of(reader, name, run)
            if not quiet:
                more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
                say(f"{number} of {max(number, count)}  {', '.join(titles[:_NAMED])}{more}", flush=True)
            _follow(session, run, row.kind if row is not None else "document", quiet)
            current = ""
    except KeyboardInterrupt:
        if current:
            stop(session, current)
        with SessionReader(session) as reader:
            outcome = read_study(reader, name)
        planned = "?" if outcome.planned is None else f"{outcome.planned:,}"
        items = "trials" if outcome.study.kind == AGENTS else "candidates"
        tell(
            f"Interrupted: {outcome.done:,} of {planned} {items} are done and kept. "
            f"Go on with: workbench study {name} --session {session}"
        )
        return 130
    return 0


def _follow(session: Path, run: str, kind: str, quiet: bool) -> None:
    if quiet:
        follow(session, run, None, _errors)
    elif kind == "document":
        follow(session, run, None, TerminalShow())
    else:
        bars = Bars()
        bars.start()
        try:
            follow(session, run, None, bars, RegenerationWatch(position(session)))
        finally:
            bars.end()


def _errors(event: dict[str, Any]) -> None:
    if event["type"] == "error":
        tell(f"workbench: {event['sentence']}")
