"""``workbench rerun SESSION ITEM``: run one work item once more."""

from __future__ import annotations

import argparse

from workbench.base.errors import UsageError
from workbench.commands.arguments import asked, shared
from workbench.commands.closing import watch, watch_order
from workbench.commands.ordering import ORDERING, carry_out
from workbench.commands.watching import RegenerationWatch, position
from workbench.orders.rerun import RerunOrder, RerunTrialOrder
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader
from workbench.session.session_names import resolve_session

ARGUMENTS = {
    **shared("session"),
    "[item]": "a trial's, task's or candidate's id or its first characters, a task's glob or function name; `workbench "
    "show SESSION` lists them",
    "--model MODEL": "with this model; with --samples also whose samples are meant",
    "--failed": "only candidates that did not pass; without ITEM all of them",
    "--samples M": "go on until each task has M candidates of its evaluator; --model says of which where there are several",
    **shared("--engine"),
    **asked(RegenerationPlan, "spend_limit"),
    **ORDERING,
}


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    if not (arguments.item or arguments.failed or arguments.samples):
        raise UsageError("Name an item to run again, or give --failed or --samples M.")
    with SessionReader(session) as reader:
        trials = any(row.id.startswith(arguments.item) for row in reader.trials())
        regenerated = any(row.kind == "regenerate" for row in reader.runs())
    model, spend_limit = arguments.model, arguments.spend_limit
    if regenerated and not (arguments.item and trials):
        how = {"failed": arguments.failed, "samples": arguments.samples, "engine": arguments.engine}
        candidates = RerunOrder(session, arguments.item, model=model, spend_limit=spend_limit, **how)
        since = position(session)

        def follow() -> int:
            # An interruption cancels, and what a cancelled rerun did not come to is complete as it was.
            advice = "" if candidates.asks else "What was not tested again keeps its former verdict."
            code = 0
            for one in candidates.orders:
                watch = RegenerationWatch(since)
                code = max(code, watch_order(candidates.session, one, None, watch, arguments.json, advice))
                if code == 130:
                    break
            return code

        return carry_out(arguments, candidates, follow)
    if arguments.failed or arguments.samples:
        raise UsageError("--failed and --samples are for regeneration runs; this session has none.")
    if arguments.engine:
        raise UsageError("--engine says where candidates are tested; a trial has none.")
    order = RerunTrialOrder(session, arguments.item, model=model, spend_limit=spend_limit)
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: [order.trial]))
