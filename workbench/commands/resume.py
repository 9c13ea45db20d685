"""``workbench resume SESSION``: do what is missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.commands.arguments import shared
from workbench.commands.closing import order_summary, watch_order, watch_runs
from workbench.commands.output import print_json, say, say_path, tell, tell_damage
from workbench.commands.watching import RegenerationWatch, Scored, asked_for
from workbench.orders import running
from workbench.orders.orders import all_orders
from workbench.orders.regenerate import move
from workbench.session import SessionReader
from workbench.session.pending_work import is_rescored, unfinished
from workbench.session.session_names import resolve_session, writable_copy

ARGUMENTS = shared("session", "--run", "--engine", "--detach", "--json")


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    with SessionReader(session) as reader:
        since = reader.last_change()
        kinds = {row.id: row.kind for row in reader.runs()}
        missing = unfinished(reader)
        code = tell_damage(reader.damage)
    if missing and (not arguments.run or arguments.run in kinds):
        session = writable_copy(session)
    if arguments.engine:
        move(session, arguments.engine, arguments.run)
    runs = running.resume(session, arguments.run or None)
    if arguments.detach:
        say_path(session)
        return code
    with SessionReader(session) as reader:
        held = [row.id for row in reader.runs() if row.id not in runs and reader.holder(row.id) is not None]
    if held and not arguments.run:
        tell(
            f"Being executed right now: {', '.join(held)}. Watch it: workbench open {session}; stop it: workbench cancel "
            f"{session}"
        )
    elif not runs and not arguments.json:
        say("Nothing is missing: every run of this session is done.")

    def trials() -> list[Scored]:
        with SessionReader(session) as reader:
            own = [Scored(row.id) for row in reader.trials() if not arguments.run or row.run_id == arguments.run]
            # Of a run that scored trials of others, those are what it is about.
            others = [
                one
                for row in reader.runs()
                if row.kind == "document" and arguments.run in ("", row.id) and is_rescored(row)
                for one in asked_for(reader, row.id)
            ]
        return own + others

    mine = [key for key, kind in kinds.items() if arguments.run in ("", key) and kind == "regenerate"]
    documents = [key for key in runs if kinds[key] == "document"]
    if documents or not mine:
        code = max(code, watch_runs(session, documents, None, arguments.json, trials))
    return (
        code
        if code == 130
        else max(code, _regenerations(arguments, session, [k for k in runs if k in mine], mine, since))
    )


def _regenerations(arguments: argparse.Namespace, session: Path, taken: list[str], every: list[str], since: int) -> int:
    """Follow the regeneration runs that were taken up; a script gets the summary of those that lacked nothing too."""
    code, watch = 0, RegenerationWatch(since)
    for key in every:
        with SessionReader(session) as reader:
            row = reader.run(key)
        # Every figure that was asked for, not only that of the last order.
        for order in all_orders(row) if row is not None else ():
            if key in taken:
                code = max(code, watch_order(session, order, None, watch, arguments.json))
                if code == 130:
                    return code
            elif arguments.json:
                print_json(order_summary(session, order))
    return code
