"""``workbench fork SESSION TRIAL --step N``: go on from a step of a recorded trial, with one text of it edited."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.commands.arguments import add_queue, whole
from workbench.commands.estimating import add_estimate_arguments, settle
from workbench.commands.output import say_path, tell_damage
from workbench.commands.run import watch
from workbench.engine import launching
from workbench.engine.client import the_trial
from workbench.engine.estimate import Estimate, Measured, estimate_fork
from workbench.engine.queue import enqueue
from workbench.engine.session_names import resolve_session, working_copy
from workbench.engine.trial_orders import Edit, plan_fork
from workbench.errors import UsageError
from workbench.files import expanded, read_text
from workbench.session import SessionReader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument("trial", help="a trial's id or its first characters; `workbench show SESSION` lists them")
    parser.add_argument(
        "--step",
        type=whole(),
        required=True,
        metavar="N",
        help="the last step that is taken over; the model goes on after it",
    )
    edited = parser.add_mutually_exclusive_group()
    edited.add_argument(
        "--observation", metavar="FILE", help="what the agent is told at that step instead; - reads standard input"
    )
    edited.add_argument(
        "--message", metavar="FILE", help="what the model answers at that step instead; - reads standard input"
    )
    parser.add_argument("--model", default="", help="go on with this model; the trial's own unless given")
    add_queue(parser)
    add_estimate_arguments(parser)
    parser.add_argument("--detach", action="store_true", help="start and leave; watch it in the app")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when the fork is done, 1 if it failed, 130 if interrupted."""
    edit = Edit()
    if arguments.observation is not None:
        edit = Edit("observation", _text(arguments.observation))
    elif arguments.message is not None:
        edit = Edit("message", _text(arguments.message))
    original = resolve_session(arguments.session)
    with SessionReader(original) as reader:
        damaged = tell_damage(reader.damage)
    if (leave := _settle(arguments, original)) is not None:
        return leave
    with working_copy(original) as session:
        made = plan_fork(session, arguments.trial, arguments.step, edit, model=arguments.model)
    if arguments.queue:
        enqueue(session, made.run)
    process = launching.launch(session, made.run)
    if arguments.detach:
        say_path(session)
        return damaged
    return max(damaged, watch(session, [made.run], process, arguments.json, lambda: [made.trial]))


def _text(name: str) -> str:
    """Return the text of a file, or of standard input for ``-``."""
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

    def estimate(measured: Measured) -> Estimate:
        left = [(step.seconds or 0.0, step.cost_usd) for step in rest]
        return estimate_fork(measured, model, left, same=model == parent.model)

    return settle(
        arguments, f"{parent.case_name} × {parent.agent} × {model} from step {arguments.step}", estimate, into=session
    )
