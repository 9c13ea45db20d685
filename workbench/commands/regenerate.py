"""``workbench regenerate SOURCE``: have function bodies rewritten from their documentation, and test the results."""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path

from workbench.commands.arguments import plan_arguments, plan_of
from workbench.commands.order_command import ORDERING, carry_out, session_path
from workbench.commands.summaries import watch_order
from workbench.commands.watching import RegenerationWatch, position
from workbench.orders.ordered_asks import OrderedAsk, options_help
from workbench.orders.regenerate import RegenerateOrder
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader

ARGUMENTS = {
    **plan_arguments(RegenerationPlan),
    "--session SESSION": "a session file or name; existing work is kept and completed",
    **ORDERING,
}

EPILOG = options_help()


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if every candidate has a verdict and the self-check passed.

    The exit code is 2 if the order was refused, 130 if the command was interrupted, and otherwise 1.
    """
    session = session_path(arguments.session)
    work = RegenerateOrder(session, plan_of(RegenerationPlan, arguments))
    new, since, began = not session.exists(), position(session), time.time()

    def follow() -> int:
        watch = RegenerationWatch(since, work.order.ask)
        code = watch_order(work.session, work.order, work.process, watch, arguments.json, began=began)
        if code == 2 and new and work.process is not None:
            _remove_empty(work.session, work.order, work.process)
        return code

    return carry_out(arguments, work, follow)


def _remove_empty(session: Path, order: OrderedAsk, process: subprocess.Popen[bytes]) -> None:
    """Delete a session that was created for a refused order, unless it contains other orders."""
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return
    with SessionReader(session) as reader:
        runs = reader.runs()
        if [row.id for row in runs] != [order.run] or reader.holder(order.run) is not None:
            return
        # Another command may have placed an order on this run in the meantime.
        if RegenerationPlan.from_json(runs[0].config).asks != (order.ask,) or reader.candidates(order.run):
            return
    for leftover in (session, Path(f"{session}-wal"), Path(f"{session}-shm")):
        leftover.unlink(missing_ok=True)
