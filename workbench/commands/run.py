"""``workbench run CASE…``: run an agent on test cases and score what it hands in."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SUMMARY = "run an agent on test cases and score what it hands in"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "cases", nargs="+", metavar="CASE", help="ids, 'all', or folders, git URL@revision, NAME==VERSION"
    )
    parser.add_argument("--agent", default="white", help="white (default), planner, single-file, no-exploration")
    parser.add_argument("--model", default="", help="a LiteLLM name, local, or replay:SESSION")
    parser.add_argument("--judge", default="", help="offline, or a model")
    parser.add_argument("--judge-repeats", type=int, default=1, metavar="N", help="times that a model judges each tier")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="trials per case")
    parser.add_argument("--spend-limit", type=float, default=0.0, metavar="USD", help="stop asking beyond this")
    parser.add_argument("--session", help="a session file or name; a new one is made if there is none")
    parser.add_argument("--detach", action="store_true", help="start and leave; watch it in the app")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def session_path(text: str | None) -> Path:
    """Return the session file that ``--session`` means; without one, a new name of today."""
    from workbench import paths

    if not text:
        return paths.sessions_dir() / time.strftime("%Y-%m-%d-%H%M%S.session")
    given = Path(text).expanduser()
    if given.suffix != ".session":
        given = given.with_name(given.name + ".session")
    bare = given.parent == Path() and not given.exists()
    return paths.sessions_dir() / given if bare else given


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when all trials are done, 1 if any failed, 130 if interrupted."""
    from workbench.catalog import load_cases
    from workbench.engine import client
    from workbench.engine.plan import DocumentPlan

    cases = list(arguments.cases)
    if "all" in cases:
        cases = [case.id for case in load_cases()[0] if case.kind != "own"] + [case for case in cases if case != "all"]
    session = session_path(arguments.session)
    plan = DocumentPlan(
        cases=tuple(cases),
        agent=arguments.agent,
        model=arguments.model,
        judge=arguments.judge,
        repeats=arguments.repeats,
        spend_limit=arguments.spend_limit,
        judge_repeats=arguments.judge_repeats,
    )
    new_run = client.plan_document(session, plan)
    process = client.launch(session, new_run)
    if arguments.detach:
        print(session)
        return 0
    return watch(session, [new_run], process, arguments.json, lambda: planned_trials(session, new_run))


def planned_trials(session: Path, run_key: str) -> list[str]:
    """Return the trials that a run asked for, also those that the session had already."""
    from workbench.catalog import resolve_case
    from workbench.engine.plan import DocumentPlan
    from workbench.session import SessionReader
    from workbench.session.identity import trial_id

    with SessionReader(session) as reader:
        row = reader.run(run_key)
    if row is None or row.kind != "document":
        return []
    plan = DocumentPlan.from_json(row.config)
    repeats = range(plan.first_repeat, plan.first_repeat + plan.repeats)
    return [trial_id(plan.agent, plan.model, resolve_case(c).id, repeat) for repeat in repeats for c in plan.cases]


def watch(session: Path, runs: list[str], process: object, as_json: bool, trials: Callable[[], list[str]]) -> int:
    """Follow runs one after the other, then print the summary of ``trials()``; returns the exit code."""
    from workbench.commands.watching import TerminalShow, follow, print_json, stop, summary

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
            print(f"{sentence} Go on with: workbench resume {session}", file=sys.stderr)
            return 130
    closing = summary(session, trials())
    if terminal is None:
        print_json(closing)
    else:
        terminal.table(closing)
    good = all(state == "done" for state in states) and all(case["status"] == "done" for case in closing["cases"])
    return 0 if good else 1
