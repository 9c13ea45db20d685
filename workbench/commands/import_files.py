"""``workbench import FILE…``: trajectories, samples and verdicts of other programs into a session."""

from __future__ import annotations

import argparse
import sys

from workbench.commands.arguments import Argument, asked, plan_of, shared
from workbench.commands.ordering import ORDERING, carry_out, session_path
from workbench.commands.output import print_json, say, say_path, tell, tell_over
from workbench.interop.formats.importing import Tally, import_files
from workbench.orders.import_files import ImportOrder
from workbench.orders.launching import enqueue, wait_for_turn
from workbench.plans.plan import ImportPlan
from workbench.session.json_forms import picked
from workbench.session.placing import discard_empty
from workbench.session.session_names import named

ARGUMENTS: dict[str, Argument] = {**asked(ImportPlan), **shared("--session"), **ORDERING}


def run(arguments: argparse.Namespace) -> int:
    """Import and say what came of it; 1 where something could not be read, 130 where it was stopped."""
    order = ImportOrder(named(session_path(arguments.session)), plan_of(ImportPlan, arguments))

    def follow() -> int:
        if arguments.queue:
            enqueue(order.session, order.runs[0])
            wait_for_turn(order.session, order.runs[0])
        return _read(order, as_json=arguments.json)

    return carry_out(arguments, order, follow, here=True)


def _read(order: ImportOrder, *, as_json: bool) -> int:
    session, shown = order.session, not as_json and sys.stderr.isatty()

    def on_progress(tally: Tally) -> None:
        if shown:
            tell_over(
                f"{tally.done:,} of {tally.files:,} files · {tally.added:,} imported · {tally.known:,} there already"
            )

    tally = import_files(session, order.runs[0], on_progress)
    if shown:
        tell_over("")
    there = not (order.made and discard_empty(session))
    for line in (*tally.problems, *tally.remarks):
        tell(line)
    if as_json:
        counts = picked(tally, "added", "known", "files", "problems", "remarks", "stopped")
        place = str(session) if there else None
        print_json({"type": "imported", "session": place, "run": tally.run or None, **counts})
    else:
        if there:
            say_path(session)
        say(tally.sentence())
    return 130 if tally.stopped else 1 if tally.problems else 0
