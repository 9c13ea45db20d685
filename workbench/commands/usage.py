"""``workbench usage``: what a reader of a README can do with its project, measured by execution."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator

from workbench.base import settings
from workbench.base.text import one_line, plural
from workbench.catalog import check_python, resolve_case
from workbench.commands.arguments import Argument, Verb, plan_arguments, plan_of, shared
from workbench.commands.order_command import ORDERING, carry_out, session_path
from workbench.commands.output import print_json
from workbench.commands.terminal import StageBars, Terminal
from workbench.commands.usage_results import watch_usage
from workbench.commands.watching import position
from workbench.engine.usage_building import NoUsageTasks, PreparedUsage, dropped_usage, prepare_usage
from workbench.orders.usage import UsageOrder, named_session
from workbench.pages.page import Note, PageTable, Part, Subheading
from workbench.plans.usage import UsagePlan
from workbench.sandbox import choose_backend
from workbench.sandbox.workbench_runner.values import decode
from workbench.usage.building import UsageTaskSet
from workbench.usage.statements import statement
from workbench.usage.tasks import Call, UsageTask
from workbench.usage.verdicts import call_text


def tasks(arguments: argparse.Namespace) -> int:
    """List the usage tasks of a source; the exit code is 0, or 1 if there are none."""
    try:
        prepared = asyncio.run(_prepare(arguments))
    except NoUsageTasks as nothing:
        _print(nothing.built, arguments, None)
        raise
    _print(prepared.built, arguments, prepared)
    return 0


async def _prepare(arguments: argparse.Namespace) -> PreparedUsage:
    check_python(resolve_case(arguments.source))
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with StageBars(Terminal(stderr=True), transient=True) as bars:
        return await prepare_usage(arguments.source, backend, bars, rebuild=arguments.rebuild)


def _print(built: UsageTaskSet, arguments: argparse.Namespace, prepared: PreparedUsage | None) -> None:
    if not arguments.json:
        Terminal().parts(_parts(built))
        return
    for task in built.tasks:
        print_json({
            "type": "task",
            "task_id": task.id,
            "name": task.target.name,
            "kind": task.target.kind,
            "path": task.target.path,
            "line": task.target.line,
            "documented": task.target.documented,
            "parameters": list(task.parameters),
            "shown": [_call_json(call) for call in task.shown],
            "hidden": [_call_json(call) for call in task.hidden],
            "reference": task.target.reference,
            "statement": statement(task),
            "seconds": task.seconds,
        })  # fmt: skip
    for entry in built.dropped:
        print_json({"type": "dropped", "task_id": entry.id, "stage": entry.stage, "reason": entry.reason})
    print_json(
        {
            "type": "summary",
            "source": arguments.source,
            "tasks": len(built.tasks),
            "callables": built.stages["callables"],
            "dropped": dropped_usage(built),
            "stages": dict(built.stages),
            "should_be_named": list(built.should_be_named),
            "tests": built.tests,
            "suite_seconds": built.suite_seconds,
            "sandbox": built.backend,
            "snapshot": prepared.snapshot.digest if prepared else None,
            "cached": prepared.cached if prepared else False,
        }
    )


def _call_json(call: Call) -> dict[str, object]:
    more = {"files": dict(call.files), "stdin": call.stdin}
    return {"inputs": list(call.inputs), "expected": call.expected, **{key: one for key, one in more.items() if one}}


def _parts(built: UsageTaskSet) -> Iterator[Part]:
    if built.tasks:
        rows = tuple(
            (task.target.name, task.target.kind, str(len(task.shown) + len(task.hidden)), _shown(task))
            for task in built.tasks
        )
        yield PageTable(("name", "kind", "calls", "shown"), rows, frozenset({2}), droppable=("shown",))
    if built.dropped:
        entries = tuple((one.stage, one.id, one.reason) for one in built.dropped)
        yield from (Subheading("No task", f"{len(entries):,}"), PageTable(("", "", ""), entries))
    dropped = ", ".join(f"{number} {stage}" for stage, number in dropped_usage(built).items())
    if dropped:
        yield Note(f"Dropped: {dropped}", "plain")
    yield Note(
        f"{plural(len(built.tasks), 'task')} of {built.stages['callables']} public callables and forms of commands · "
        f"{plural(built.tests, 'passing test')} · {built.backend}",
        "strong",
    )


def _shown(task: UsageTask) -> str:
    if task.target.kind != "command":
        return "; ".join(one_line(f"{call_text(call)} == {call.expected}", 50) for call in task.shown)
    results = (one_line(str(decode(call.expected)["stdout"]), 50) for call in task.shown)
    return "; ".join(result or "no output" for result in results)


# -- measure

_MEASURE: dict[str, Argument] = {
    **plan_arguments(UsagePlan),
    "--trial ID…": "with a session: only this trial, or the trials of this case",
    "--session SESSION": "a session file or name; existing work is kept and completed",
    **ORDERING,
}


def measure(arguments: argparse.Namespace) -> int:
    """Return 0 if every answer has a verdict, 130 if interrupted, and otherwise 1; gaps of a page are not errors."""
    plan = plan_of(UsagePlan, arguments)
    named = named_session(plan.source, arguments.trial)
    within = arguments.session or ("" if named is None else str(named))
    order = UsageOrder(session_path(within), plan, tuple(arguments.trial))
    since = position(order.session)
    return carry_out(
        arguments,
        order,
        lambda: watch_usage(
            order.session,
            order.runs,
            order.process,
            since,
            as_json=arguments.json,
            contexts=[subject.pages[-1].context for subject in order.subjects],
        ),
    )


VERBS: dict[str, Verb] = {
    "measure": ("measure what readers can do with a README, or with the READMEs of a session", _MEASURE, measure),
    "tasks": (
        "list the usage tasks of a repository, and why other callables have none",
        {
            "source SOURCE": "a case id, a repository of the catalogue, a folder, git URL@revision, or NAME==VERSION",
            "--sandbox SANDBOX": "bubblewrap, docker, process, or package.module:Class (default: the strongest one)",
            "--rebuild": "rebuild the tasks even if they are cached",
            **shared("--json"),
        },
        tasks,
    ),
}
