"""``workbench rerun SESSION ITEM``: run one work item once more."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.commands.arguments import shared
from workbench.commands.output import tell_damage
from workbench.commands.regeneration_watching import RegenerationWatch, position, watch_regeneration
from workbench.commands.run import settle, watch
from workbench.orders import client
from workbench.orders.client import the_trial
from workbench.orders.estimate import estimate_trials
from workbench.orders.regeneration_client import move
from workbench.orders.regeneration_estimate import estimate_again
from workbench.orders.rerunning import rerun_orders, what_again
from workbench.orders.session_names import resolve_session, working_copy
from workbench.session import SessionReader
from workbench.session.pending_work import judges_of

ARGUMENTS = {
    **shared("session"),
    "[item]": "a trial's, task's or candidate's id or its first characters, a task's glob or function name; `workbench "
    "show SESSION` lists them",
    "--model MODEL": "with this model; with --samples also whose samples are meant",
    "--failed": "only candidates that did not pass; without ITEM all of them",
    "--samples M": "go on until each task has M candidates of its evaluator; --model says of which where there are several",
    **shared("--engine", "--dry-run", "--yes", "--json"),
}


def run(arguments: argparse.Namespace) -> int:
    original = resolve_session(arguments.session)
    if not (arguments.item or arguments.failed or arguments.samples):
        raise UsageError("Name an item to run again, or give --failed or --samples M.")
    with SessionReader(original) as reader:
        trials = any(row.id.startswith(arguments.item) for row in reader.trials())
        regenerated = any(row.kind == "regenerate" for row in reader.runs())
        damaged = tell_damage(reader.damage)
    if regenerated and not (arguments.item and trials):
        return max(damaged, _rerun_candidates(arguments, original))
    if arguments.failed or arguments.samples:
        raise UsageError("--failed and --samples are for regeneration runs; this session has none.")
    if arguments.engine:
        raise UsageError("--engine says where candidates are tested; a trial has none.")
    if (leave := _settle_trial(arguments, original)) is not None:
        return leave
    with working_copy(original) as session:
        trial = client.rerun(session, arguments.item, model=arguments.model or None)
    with SessionReader(session) as reader:
        row = reader.trial(trial)
    assert row is not None
    return max(damaged, watch(session, [row.run_id], None, arguments.json, lambda: [trial]))


def _rerun_candidates(arguments: argparse.Namespace, original: Path) -> int:
    if (leave := _settle_candidates(arguments, original)) is not None:
        return leave
    with working_copy(original) as session:
        if arguments.engine:
            move(session, arguments.engine)
        since = position(session)
        runs = rerun_orders(
            session, arguments.item, failed=arguments.failed, model=arguments.model, samples=arguments.samples
        )
    # An interruption cancels, and what a cancelled rerun did not come to is complete as it was.
    advice = "" if arguments.model or arguments.samples else "What was not tested again keeps its former verdict."
    code = 0
    for key in runs:
        code = max(code, watch_regeneration(session, key, None, RegenerationWatch(since), arguments.json, advice))
        if code == 130:
            break
    return code


def _settle_trial(arguments: argparse.Namespace, session: Path) -> int | None:
    with SessionReader(session) as reader:
        old = the_trial(session, reader, arguments.item)
        judges = judges_of(reader.run(old.run_id))
    model = arguments.model or old.model
    return settle(
        arguments,
        f"{old.case_name} × {old.agent} × {model}",
        lambda measured: estimate_trials(measured, [old.case_id], old.agent, model, judges, repeats=1, at_once=1),
        into=session,
    )


def _settle_candidates(arguments: argparse.Namespace, session: Path) -> int | None:
    again = what_again(
        session, arguments.item, failed=arguments.failed, model=arguments.model, samples=arguments.samples
    )
    what = ", ".join(dict.fromkeys(f"{one.source} × {one.evaluator}" for one in again))
    what += "" if any(one.asked for one in again) else ", tested again"
    return settle(arguments, what, lambda measured: estimate_again(measured, again), into=session)
