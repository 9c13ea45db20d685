"""``workbench run CASE…``: run an agent on test cases and score what it hands in."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.agents.names import address_of, current_name
from workbench.base import paths, settings
from workbench.base.errors import UsageError
from workbench.base.numbers import MOST_REPEATS
from workbench.base.text import plural
from workbench.catalog import load_cases
from workbench.commands.arguments import Argument, shared, whole
from workbench.commands.output import look_for_damage, print_json, say, say_path, tell
from workbench.commands.watching import Scored, TerminalShow, asked_for, follow, stop, summary
from workbench.orders import client, launching
from workbench.orders.estimate import Estimate, Measured, estimate_trials
from workbench.orders.launching import enqueue
from workbench.orders.measured import measure
from workbench.orders.plan import RUBRICS, DocumentPlan
from workbench.orders.session_names import check_name, named
from workbench.session import SessionReader
from workbench.session.json_forms import picked


def settle(
    arguments: argparse.Namespace, what: str, estimate: Callable[[Measured], Estimate], into: Path | None = None
) -> int | None:
    """Say what work will take where that was asked for, and refuse it where it takes too much to start unasked.

    ``what`` is what it multiplies to, such as ``3 cases × 2 repeats × white``; what the session ``into`` has already is not
    asked for again. Returns the exit code with which the command ends now, None where the work is to start.
    """
    known = settings.load()
    if not arguments.dry_run and (arguments.yes or not (known.ask_above_dollars or known.ask_above_minutes)):
        return None
    told = estimate(measure(into, into))
    if arguments.dry_run:
        if arguments.json:
            names = ("noun", "count", "requests", "seconds", "building:building_seconds", "dollars", "basis", "up_to")
            docs = None if told.documentation is None else asdict(told.documentation)
            values = {**picked(told, *names, "left_out", "without:time_without"), "documentation": docs}
            print_json({"type": "estimate", "what": what, **values, "basis": told.basis or None})
        else:
            say(f"{what} = {told.sentence()}. Nothing was started.")
        return 0
    if why := told.beyond(known.ask_above_dollars, known.ask_above_minutes):
        tell(f"workbench: {what} = {told.sentence()}. That is {why}, so nothing was started; --yes starts it.")
        return 2
    return None


ARGUMENTS: dict[str, Argument] = {
    "cases CASE…": "ids, 'all', or folders, git URL@revision, NAME==VERSION",
    "--agent AGENT": "white (default), planner (planner-2; planner-1 is the fixed walk), single-file, no-exploration, "
    "a2a:URL, or package.module:Class of your own",
    **shared("--model"),
    "--judge JUDGE": "offline, a model, or package.module:Class of your own; trials that the session has are scored by "
    "it, not run again",
    **shared("--rubric", "--judge-repeats"),
    "--check": "also check each README that was written: does it hold?",
    "--repeats N": ("trials per case", whole(1, MOST_REPEATS), 1),
    **shared("--spend-limit", "--session", "--queue", "--dry-run", "--yes", "--detach", "--json"),
}


def session_path(text: str) -> Path:
    """Return the session file that ``--session`` means; without one, a new name of today."""
    if not text:
        return paths.sessions_dir() / time.strftime("%Y-%m-%d-%H%M%S.session")
    written = check_name(text)
    if "/" in text and written.is_dir():
        raise UsageError(f"{written} is a folder, not a session; name a file in it.")
    given = named(written)
    bare = given.parent == Path() and not given.exists()
    return paths.sessions_dir() / given if bare else given


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when all trials are done, 1 if any failed, 130 if interrupted."""
    cases = list(arguments.cases)
    if "all" in cases:
        cases = [case.id for case in load_cases()[0] if case.kind != "own"] + [case for case in cases if case != "all"]
    session = session_path(arguments.session)
    known = settings.load()
    plan = DocumentPlan(
        cases=tuple(cases),
        agent=current_name(arguments.agent or known.agent),
        max_steps=known.max_steps,
        **picked(arguments, "model", "judge", "repeats", "spend_limit", "judge_repeats"),
        rubrics=arguments.rubric or RUBRICS,
        check="run" if arguments.check else "",
    )
    damaged = look_for_damage(session)
    plan = client.with_card(plan)
    if plan.card:
        tell(f"The agent at {address_of(plan.agent)}: {plan.card}")
    if (code := _settle(arguments, session, plan, known.trials_at_once)) is not None:
        return code
    new_run = client.plan_document(session, plan)
    tell_recorded(session, new_run)
    return max(damaged, start(arguments, session, new_run, lambda: planned_trials(session, new_run)))


def _settle(arguments: argparse.Namespace, session: Path, plan: DocumentPlan, at_once: int) -> int | None:
    def estimate(measured: Measured) -> Estimate:
        meant, trials = client.meant_trials(session, plan)
        cases = [trial.case for trial in trials if not trial.state]
        return estimate_trials(
            measured, cases, meant.agent, meant.model, meant.asked_judges, repeats=1, at_once=at_once
        )

    counted = [plural(len(plan.cases), "case")]
    counted += [f"{plan.repeats} repeats"] if plan.repeats > 1 else []
    return settle(arguments, " × ".join([*counted, plan.agent]), estimate, into=session)


def start(arguments: argparse.Namespace, session: Path, run: str, trials: Callable[[], Sequence[Scored | str]]) -> int:
    """Launch a planned run and, unless it is to go on alone, follow it and print the summary of ``trials()``."""
    if getattr(arguments, "queue", False):
        enqueue(session, run)
    process = launching.launch(session, run)
    if arguments.detach:
        say_path(session)
        return 0
    return watch(session, [run], process, arguments.json, trials)


def tell_recorded(session: Path, run_key: str) -> None:
    with SessionReader(session) as reader:
        rows = [row for one in asked_for(reader, run_key) if (row := reader.trial(one.trial)) is not None]
    recorded = [row for row in rows if row.run_id != run_key]
    if recorded:
        tell(
            f"{len(recorded)} of {len(rows)} trials are in the session already: no agent is run for them, only scores that "
            f"they lack are asked for. Once more from the start: workbench rerun {session} {recorded[0].id}"
        )


def planned_trials(session: Path, run_key: str) -> list[Scored]:
    with SessionReader(session) as reader:
        return asked_for(reader, run_key)


def watch(
    session: Path, runs: list[str], process: object, as_json: bool, trials: Callable[[], Sequence[Scored | str]]
) -> int:
    """Follow runs one after the other, then print the summary of ``trials()``; returns the exit code."""
    terminal = None if as_json else TerminalShow()
    show: Callable[[dict[str, Any]], None] = print_json if terminal is None else terminal
    states = []
    for key in runs:
        if as_json:
            print_json({"type": "run", "run": key, "session": str(session)})
        try:
            states.append(follow(session, key, process, show))  # type: ignore[arg-type]
        except KeyboardInterrupt:
            stop(session, key)
            closing = summary(session, trials())
            done = sum(case["status"] == "done" for case in closing["cases"])
            if as_json:
                print_json(closing)
            sentence = f"Interrupted: {done} of {len(closing['cases'])} trials are done and kept."
            tell(f"{sentence} Go on with: workbench resume {session}")
            return 130
    closing = summary(session, trials())
    if terminal is None:
        print_json(closing)
    else:
        terminal.table(closing)
    good = all(state == "done" for state in states) and all(case["status"] == "done" for case in closing["cases"])
    return 0 if good else 1
