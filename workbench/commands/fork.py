"""``workbench fork SESSION TRIAL --step N``: go on from a step of a recorded trial, with one text of it edited."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import expanded, read_text
from workbench.commands.arguments import Argument, shared
from workbench.commands.output import look_for_damage
from workbench.commands.run import settle, start
from workbench.orders.client import the_trial
from workbench.orders.estimate import estimate_fork
from workbench.orders.session_names import resolve_session, working_copy
from workbench.orders.trial_orders import Edit, plan_fork
from workbench.session import SessionReader

ARGUMENTS: dict[str, Argument] = {
    **shared("session"),
    "trial": "a trial's id or its first characters; `workbench show SESSION` lists them",
    "--step N": ("the last step that is taken over; the model goes on after it", {"required": True}),
    "--observation FILE": "what the agent is told at that step instead; - reads standard input",
    "--message FILE": "what the model answers at that step instead; - reads standard input",
    "--model MODEL": "go on with this model; the trial's own unless given",
    **shared("--queue", "--dry-run", "--yes", "--detach", "--json"),
}


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when the fork is done, 1 if it failed, 130 if interrupted."""
    if arguments.observation and arguments.message:
        arguments.parser.error("argument --message: not allowed with argument --observation")
    what = "observation" if arguments.observation else "message" if arguments.message else ""
    edit = Edit(what, _text(arguments.observation or arguments.message)) if what else Edit()
    original = resolve_session(arguments.session)
    damaged = look_for_damage(original)
    if (leave := _settle(arguments, original)) is not None:
        return leave
    with working_copy(original) as session:
        made = plan_fork(session, arguments.trial, arguments.step, edit, model=arguments.model)
    return max(damaged, start(arguments, session, made.run, lambda: [made.trial]))


def _text(name: str) -> str:
    if name != "-":
        return read_text(expanded(name))
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("Standard input is no text in UTF-8.") from None


def _settle(arguments: argparse.Namespace, session: Path) -> int | None:
    with SessionReader(session) as reader:
        parent = the_trial(session, reader, arguments.trial)
        rest = [step for step in reader.steps(parent.id, arguments.step) if step.answer_blob is not None]
    model = arguments.model or parent.model
    left = [(step.seconds or 0.0, step.cost_usd) for step in rest]
    what = f"{parent.case_name} × {parent.agent} × {model} from step {arguments.step}"
    same = model == parent.model
    return settle(arguments, what, lambda measured: estimate_fork(measured, model, left, same=same), into=session)
