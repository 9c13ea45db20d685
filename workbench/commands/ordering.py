"""Carry out an order: say what it takes, refuse it where that is too much, submit it, and follow it or leave."""

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
from workbench.orders.estimate import Estimate
from workbench.orders.measured import measure
from workbench.orders.order import WorkOrder
from workbench.session.json_forms import picked
from workbench.session.session_names import check_name, named

#: What every order takes beside its own arguments.
ORDERING = shared("--queue", "--dry-run", "--yes", "--detach", "--json")


def carry_out(arguments: argparse.Namespace, order: WorkOrder, follow: Callable[[], int], *, here: bool = False) -> int:
    """Return the exit code: that of ``follow``, called once an engine has the order, or 1 where the session is damaged.

    ``here`` says that ``follow`` has the engines execute it, one run after the other; where nobody follows another process does.
    """
    damaged = look_for_damage(order.session)
    order.resolve()
    _tell_remarks(order)
    if not arguments.dry_run:
        order.check()  # before an estimate caches anything: a refused order leaves nothing behind
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
    """Say what work will take where that was asked for, and refuse it where it takes too much to start unasked.

    Returns the exit code with which the command ends now, None where the work is to start.
    """
    known = load()
    if not arguments.dry_run and (arguments.yes or not (known.ask_above_dollars or known.ask_above_minutes)):
        return None
    told = order.estimate(measure(order.session, order.session))
    if arguments.dry_run:
        print_estimate(order.what, told, as_json=arguments.json)
        return 0
    if why := told.beyond(known.ask_above_dollars, known.ask_above_minutes):
        tell(f"workbench: {order.what} = {told.sentence()}. That is {why}, so nothing was started; --yes starts it.")
        return 2
    return None


def print_estimate(what: str, told: Estimate, *, as_json: bool) -> None:
    if as_json:
        names = ("noun", "count", "requests", "seconds", "building:building_seconds", "dollars", "basis", "up_to")
        docs = None if told.documentation is None else asdict(told.documentation)
        values = {**picked(told, *names, "left_out", "without:time_without"), "documentation": docs}
        print_json({"type": "estimate", "what": what, **values, "basis": told.basis or None})
    else:
        say(f"{what} = {told.sentence()}. Nothing was started.")


def session_path(text: str) -> Path:
    """Return the session file that ``--session`` means; without one, a new name of today."""
    if not text:
        return paths.sessions_dir() / time.strftime("%Y-%m-%d-%H%M%S.session")
    written = check_name(text)
    if "/" in text and written.is_dir():
        raise UsageError(f"{written} is a folder, not a session; name a file in it.")
    given = named(written)
    bare = given.parent == Path() and not given.exists()
    return paths.sessions_dir() / given if bare else given
