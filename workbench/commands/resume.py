"""``workbench resume SESSION``: do what is missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.commands.arguments import shared
from workbench.commands.closing import order_summary, watch_order, watch_runs
from workbench.commands.ordering import print_estimate
from workbench.commands.output import print_json, say, say_path, tell, tell_damage
from workbench.commands.watching import RegenerationWatch, Scored, asked_for, follow, showing
from workbench.orders import running
from workbench.orders.launching import end_of
from workbench.orders.measured import measure
from workbench.orders.missing_work import missing_work
from workbench.orders.orders import all_orders
from workbench.orders.regenerate import move
from workbench.session import SessionReader
from workbench.session.pending_work import is_imported, is_rescored, unfinished
from workbench.session.session_names import resolve_session, writable_copy

ARGUMENTS = shared("session", "--run", "--engine", "--dry-run", "--detach", "--json")


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    with SessionReader(session) as reader:
        since = reader.last_change()
        kinds = {row.id: "import" if is_imported(row) else row.kind for row in reader.runs()}
        missing = unfinished(reader)
        code = tell_damage(reader.damage)
    if arguments.run and arguments.run not in kinds:
        raise UsageError(f"{session.name} has no run {arguments.run!r}.")
    if arguments.dry_run:
        lacking = list(missing_work(session, measure(session, session), arguments.run))
        for what, told in lacking:
            print_estimate(what, told, as_json=arguments.json)
        if not lacking and not arguments.json:
            say("Nothing is missing. Nothing was started.")
        return code
    if missing:
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
    imports = [key for key in runs if kinds[key] == "import"]
    for key in imports:
        with showing(arguments.json) as show:
            show({"type": "run", "run": key, "session": str(session)})
            state = follow(session, key, None, show)
        print_json({"type": "imported", "run": key, "state": state}) if arguments.json else say(end_of(key))
        code = max(code, int(state != "done"))
    documents = [key for key in runs if kinds[key] == "document"]
    if documents or not (mine or imports):
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
