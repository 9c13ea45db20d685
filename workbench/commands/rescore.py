"""``workbench rescore SESSION``: score recorded trials by other judges or rubrics, without running an agent."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import add_judge_repeats, add_rubrics, dollars, names
from workbench.commands.output import say_path, tell_damage
from workbench.commands.run import planned_trials, watch
from workbench.engine import launching
from workbench.engine.session_names import resolve_session, working_copy
from workbench.engine.trial_orders import plan_rescore
from workbench.session import SessionReader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument(
        "items", nargs="*", metavar="ITEM", help="trials: ids, their first characters, or cases; all unless given"
    )
    parser.add_argument(
        "--judge", type=names, default=(), metavar="J[,J2]", help="offline, or models; by default what this machine has"
    )
    add_rubrics(parser)
    add_judge_repeats(parser)
    parser.add_argument("--spend-limit", type=dollars, default=0.0, metavar="USD", help="stop asking beyond this")
    parser.add_argument("--detach", action="store_true", help="start and leave; watch it in the app")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when every trial meant is scored by every judge, 1 if not, 130 if interrupted."""
    original = resolve_session(arguments.session)
    with SessionReader(original) as reader:
        damaged = tell_damage(reader.damage)
    with working_copy(original) as session:
        new_run = plan_rescore(
            session,
            arguments.items,
            judges=arguments.judge,
            rubrics=arguments.rubric,
            judge_repeats=arguments.judge_repeats,
            spend_limit=arguments.spend_limit,
        )
    process = launching.launch(session, new_run)
    if arguments.detach:
        say_path(session)
        return damaged
    return max(damaged, watch(session, [new_run], process, arguments.json, lambda: planned_trials(session, new_run)))
