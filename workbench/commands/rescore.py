"""``workbench rescore SESSION``: score recorded trials by other judges or rubrics, without running an agent."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import shared
from workbench.commands.output import look_for_damage
from workbench.commands.run import planned_trials, start
from workbench.orders.session_names import resolve_session, working_copy
from workbench.orders.trial_orders import plan_rescore

ARGUMENTS = {
    **shared("session"),
    "[items ITEM…]": "trials: ids, their first characters, or cases; all unless given",
    "--judge J[,J2]": "offline, or models; by default what this machine has",
    **shared("--rubric", "--judge-repeats", "--spend-limit", "--detach", "--json"),
}


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when every trial meant is scored by every judge, 1 if not, 130 if interrupted."""
    original = resolve_session(arguments.session)
    damaged = look_for_damage(original)
    with working_copy(original) as session:
        new_run = plan_rescore(
            session,
            arguments.items,
            judges=arguments.judge,
            rubrics=arguments.rubric,
            judge_repeats=arguments.judge_repeats,
            spend_limit=arguments.spend_limit,
        )
    return max(damaged, start(arguments, session, new_run, lambda: planned_trials(session, new_run)))
