"""``workbench run CASE…``: run an agent on test cases and score what it hands in."""

from __future__ import annotations

import argparse
from dataclasses import replace

from workbench.agents.names import current_name
from workbench.base.settings import load
from workbench.catalog import load_cases
from workbench.commands.arguments import asked, plan_of, shared
from workbench.commands.closing import planned_trials, watch
from workbench.commands.ordering import ORDERING, carry_out, session_path
from workbench.orders.run import RunOrder
from workbench.plans.plan import RUBRICS, DocumentPlan

ARGUMENTS = {**asked(DocumentPlan), **shared("--session"), **ORDERING}


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when all trials are done, 1 if any failed, 130 if interrupted."""
    cases = list(arguments.cases)
    if "all" in cases:
        cases = [case.id for case in load_cases()[0] if case.kind != "own"] + [case for case in cases if case != "all"]
    known, plan = load(), plan_of(DocumentPlan, arguments, cases=tuple(cases))
    agent = current_name(plan.agent or known.agent)
    plan = replace(plan, agent=agent, max_steps=known.max_steps, rubrics=plan.rubrics or RUBRICS)
    order = RunOrder(session_path(arguments.session), plan)
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: planned_trials(order)))
