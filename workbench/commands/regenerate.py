"""``workbench regenerate SOURCE``: write function bodies again from their documentation, and test them."""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.numbers import whole as whole_number
from workbench.base.settings import load
from workbench.base.text import plural
from workbench.catalog import check_python, resolve_case
from workbench.commands.arguments import Argument, shared
from workbench.commands.output import look_for_damage, say_path
from workbench.commands.regeneration_watching import RegenerationWatch, position, watch_regeneration
from workbench.commands.run import session_path, settle
from workbench.orders import defaults, launching
from workbench.orders.estimate import Estimate, Measured
from workbench.orders.launching import enqueue
from workbench.orders.orders import Order, options_help
from workbench.orders.plan import RegenerationPlan
from workbench.orders.plan_checks import check_regeneration
from workbench.orders.regeneration_client import order_regeneration
from workbench.orders.regeneration_estimate import estimate_order
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked

_AS_GIVEN = (
    *("source", "docs", "docs_scope", "selection", "evaluator", "samples", "limit", "sandbox", "prompt", "context"),
    *("extra_body", "spend_limit", "rebuild", "engine"),
)
"""Arguments that a plan has under the same name."""


ARGUMENTS: dict[str, Argument] = {
    "source SOURCE": "a case id, a folder, git URL@revision, or NAME==VERSION",
    "--docs DOCS": (
        "original (default), none, llm:MODEL, repoagent:MODEL, osa:MODEL (see workbench docs), folder:PATH, source:SOURCE, "
        "'command:PROGRAM… {folder}' (docs/doc-systems.md), or package.module:Class of your own",
        str,
        "original",
    ),
    "--docs-scope SCOPE": "repository (default): all docstrings of the tree are the doc system's; target: only the "
    "function's own; docstrings-only: as repository, and other strings, __doc__ and comments that document code are "
    "taken out",
    "--evaluator EVALUATOR": "a LiteLLM name, local, reference, stub, replay:SESSION, or samples:FILE",
    "--selection SELECTION": "which functions are tasks: filtered (default), or published, the rule of the paper's "
    "counts (docs/dataset.md)",
    "--samples M": "candidates per task (3)",
    "--k K": ("the k of pass@k, separated by commas (1,3)", str, "1,3"),
    **shared("--limit", "--task"),
    "--session SESSION": "a session file or name; what it has of this work is kept and completed",
    "--no-controls": "do not test the original and a stub on every task",
    "--sandbox SANDBOX": "bubblewrap, docker, process, or package.module:Class; that of the run which the session has, "
    "else the strongest one",
    "--engine ENGINE": "where candidates are tested: dask://HOST:PORT, or local (default); docs/cluster.md",
    "--prompt PROMPT": "the prompt: paper-content-1, short-1 for small models, or a file with your own, in which "
    "{before} stands for the code",
    "--context CONTEXT": "context policy: prefix-1, signatures-1, tail-1, function-1",
    "--extra-body JSON": "further fields of each request, part of the result's identity; {} for none (qwen3: answers "
    "without thinking)",
    **shared("--spend-limit"),
    "--rebuild": "build the tasks anew although the cache has them",
    **shared("--queue", "--dry-run", "--yes", "--detach", "--json"),
}

EPILOG = options_help()


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when every candidate has a verdict, 1 if that or the self-check failed, 130 if interrupted."""
    session = session_path(arguments.session)
    plan = RegenerationPlan(
        **picked(arguments, *_AS_GIVEN),
        k=numbers(arguments.k),
        tasks=tuple(arguments.task),
        controls=not arguments.no_controls,
    )
    damaged = look_for_damage(session)
    if (leave := _settle(arguments, session, plan)) is not None:
        return leave
    since, began = position(session), time.time()
    new = not session.exists()
    order = order_regeneration(session, plan)
    if arguments.queue:
        enqueue(session, order.run)
    process = launching.launch(session, order.run)
    if arguments.detach:
        say_path(session)
        return damaged
    code = max(
        damaged,
        watch_regeneration(session, order, process, RegenerationWatch(since, order.ask), arguments.json, began=began),
    )
    if code == 2 and new:
        _remove_empty(session, order, process)
    return code


def _settle(arguments: argparse.Namespace, session: Path, plan: RegenerationPlan) -> int | None:
    def estimate(measured: Measured) -> Estimate:
        check_regeneration(plan)
        check_python(resolve_case(plan.source))
        return estimate_order(measured, plan, session)

    evaluator = plan.evaluator or defaults.evaluator(load())
    samples = plan.samples or (1 if evaluator in CONTROLS else defaults.SAMPLES)
    return settle(arguments, f"{plan.source} × {evaluator} × {plural(samples, 'sample')}", estimate, into=session)


def _remove_empty(session: Path, order: Order, process: subprocess.Popen[bytes]) -> None:
    """Remove a session that was made for an order which turned out to be wrong, where nothing else was ordered in it."""
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return
    with SessionReader(session) as reader:
        runs = reader.runs()
        if [row.id for row in runs] != [order.run] or reader.holder(order.run) is not None:
            return
        # Somebody else's order may be on this run by now, and its engine about to take it up.
        if RegenerationPlan.from_json(runs[0].config).asks != (order.ask,) or reader.candidates(order.run):
            return
    for leftover in (session, Path(f"{session}-wal"), Path(f"{session}-shm")):
        leftover.unlink(missing_ok=True)


def numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(whole_number(part, 1) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--k takes whole numbers of 1 or more, separated by commas, not {text!r}.") from None
