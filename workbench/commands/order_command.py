"""Carry out an order: estimate it, submit it, and follow it or exit.

An order that exceeds the limits is refused.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.base.settings import load
from workbench.commands.arguments import shared
from workbench.commands.output import look_for_damage, print_json, say, say_path, tell
from workbench.orders.estimate import WorkEstimate
from workbench.orders.measured import measure
from workbench.orders.order import WorkOrder
from workbench.session.json_forms import picked
from workbench.session.session_names import check_name, named

#: The arguments of every command that orders work.
ORDERING = shared("--queue", "--dry-run", "--yes", "--detach", "--json")


def carry_out(arguments: argparse.Namespace, order: WorkOrder, follow: Callable[[], int], *, here: bool = False) -> int:
    """Submit an order and follow it; return the exit code.

    ``follow`` is called once an engine has the order. Its exit code is returned, or at least 1 if the session is
    damaged. With ``here``, ``follow`` starts the engines itself, one run after another, unless the command detaches.
    """
    damaged = look_for_damage(order.session)
    order.resolve()
    _tell_remarks(order)
    if not arguments.dry_run:
        order.check()  # before an estimate caches anything, because a refused order must not leave anything behind
    if (code := settle(arguments, order)) is not None:
        return code
    if here and not arguments.detach:
        order.submit()
    else:
        order.begin(queue=arguments.queue)
    _tell_remarks(order)
    if arguments.detach:
        say_path(order.session)
        return damaged
    return max(damaged, follow())


def _tell_remarks(order: WorkOrder) -> None:
    for line in order.remarks:
        tell(line)
    order.remarks.clear()


def settle(arguments: argparse.Namespace, order: WorkOrder) -> int | None:
    """Print the estimate of a dry run, or refuse work that exceeds the limits.

    Return the exit code, or None if the work should be started.
    """
    known = load()
    if not arguments.dry_run and (arguments.yes or not (known.ask_above_dollars or known.ask_above_minutes)):
        return None
    estimate = order.estimate(measure(order.session, order.session))
    if arguments.dry_run:
        print_estimate(order.what, estimate, as_json=arguments.json)
        return 0
    if why := estimate.beyond(known.ask_above_dollars, known.ask_above_minutes):
        tell(
            f"workbench: {order.what} = {estimate.sentence()}. That is {why}, so nothing was started; use --yes to start it."
        )
        return 2
    return None


def print_estimate(what: str, estimate: WorkEstimate, *, as_json: bool) -> None:
    if as_json:
        names = ("noun", "count", "requests", "seconds", "building:building_seconds", "dollars", "basis", "up_to")
        docs = None if estimate.documentation is None else asdict(estimate.documentation)
        values = {**picked(estimate, *names, "left_out", "without:time_without"), "documentation": docs}
        if estimate.use is not None:
            values["use"] = picked(estimate.use, "noun", "count", "requests", "seconds", "dollars")
        print_json({"type": "estimate", "what": what, **values, "basis": estimate.basis or None})
    else:
        say(f"{what} = {estimate.sentence()}. Nothing was started.")


def session_path(text: str) -> Path:
    """Return the file that ``--session`` names; the default is a new file named after the current time."""
    if not text:
        return paths.sessions_dir() / time.strftime("%Y-%m-%d-%H%M%S.session")
    path = check_name(text)
    if "/" in text and path.is_dir():
        raise UsageError(f"{path} is a folder, not a session; name a file in it.")
    path = named(path)
    return paths.sessions_dir() / path if path.parent == Path() and not path.exists() else path
