"""``workbench fork SESSION TRIAL --step N``: go on from a step of a recorded trial, with one text of it edited."""

from __future__ import annotations

import argparse
import sys

from workbench.base.errors import UsageError
from workbench.base.files import expanded, read_text
from workbench.commands.arguments import Argument, asked, shared
from workbench.commands.closing import watch
from workbench.commands.ordering import ORDERING, carry_out
from workbench.orders.fork import Edit, ForkOrder
from workbench.plans.plan import DocumentPlan
from workbench.session.session_names import resolve_session

ARGUMENTS: dict[str, Argument] = {
    **shared("session"),
    "trial": "a trial's id or its first characters; `workbench show SESSION` lists them",
    "--step N": ("the last step that is taken over; the model goes on after it", {"required": True}),
    "--observation FILE": "what the agent is told at that step instead; - reads standard input",
    "--message FILE": "what the model answers at that step instead; - reads standard input",
    **asked(DocumentPlan, "model", "spend_limit", model="go on with this model; the trial's own unless given"),
    **ORDERING,
}


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when the fork is done, 1 if it failed, 130 if interrupted."""
    if arguments.observation and arguments.message:
        arguments.parser.error("argument --message: not allowed with argument --observation")
    what = "observation" if arguments.observation else "message" if arguments.message else ""
    edit = Edit(what, _text(arguments.observation or arguments.message)) if what else Edit()
    session, how = resolve_session(arguments.session), {"model": arguments.model, "spend_limit": arguments.spend_limit}
    order = ForkOrder(session, arguments.trial, arguments.step, edit, **how)
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: [order.trial]))


def _text(name: str) -> str:
    if name != "-":
        return read_text(expanded(name))
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("Standard input is no text in UTF-8.") from None
