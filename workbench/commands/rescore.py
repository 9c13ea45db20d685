"""``workbench rescore SESSION``: score recorded trials by other judges or rubrics, without running an agent."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import asked, shared
from workbench.commands.closing import planned_trials, watch
from workbench.commands.ordering import ORDERING, carry_out
from workbench.orders.rescore import RescoreOrder
from workbench.plans.plan import DocumentPlan
from workbench.session.session_names import resolve_session

ARGUMENTS = {
    **shared("session"),
    "[items ITEM…]": "trials: ids, their first characters, or cases; all unless given",
    "--judge J[,J2]": "offline, or models; by default what this machine has",
    **asked(DocumentPlan, "rubrics", "judge_repeats", "spend_limit"),
    **ORDERING,
}


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when every trial meant is scored by every judge, 1 if not, 130 if interrupted."""
    order = RescoreOrder(
        resolve_session(arguments.session),
        arguments.items,
        judges=arguments.judge,
        rubrics=arguments.rubrics,
        judge_repeats=arguments.judge_repeats,
        spend_limit=arguments.spend_limit,
    )
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: planned_trials(order)))
