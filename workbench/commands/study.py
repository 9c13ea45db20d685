"""``workbench study FILE|NAME``: run a declared matrix of agents or doc systems, and compare its columns.

Only missing work is executed.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.numbers import MOST_REPEATS
from workbench.commands.arguments import Argument, plan_arguments, whole
from workbench.commands.order_command import ORDERING, carry_out, session_path
from workbench.commands.output import interrupted, print_json, print_page, say, tell
from workbench.commands.terminal import Terminal
from workbench.commands.watching import TerminalShow, follow, stop
from workbench.metrics.paper import published_paper
from workbench.metrics.texts import needed
from workbench.orders.study import (
    StudyOrder,
    each_run,
    pending_runs,
    titles_of,
    wait_for_other_runs,
)
from workbench.pages.page import Note, ReportPage
from workbench.pages.paper import paper_json, paper_page
from workbench.pages.study_page import study_page
from workbench.pages.study_report import study_json
from workbench.pages.writing import rendered
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader
from workbench.session.session_names import resolve_session
from workbench.studies.analysis import analyse
from workbench.studies.declaration import PAPER, Study, with_amounts
from workbench.studies.study_files import packaged_studies, study_named
from workbench.studies.study_reader import declared, read_study

FORMATS = ("text", "md", "json")


ARGUMENTS: dict[str, Argument] = {
    "name FILE|NAME": "a study.toml (docs/guides/studies.md), a study of the session, or one of agents, docs, paper (the published "
    "tables)",
    "--session SESSION": "a session file or name (default: study-NAME); existing work is reused",
    "--repeats N": ("trials per cell of agents (default: as declared)", whole(1, MOST_REPEATS)),
    "--samples M": ("candidates per task of docs (default: as declared)", whole(1)),
    "--show": "print the results of the session and start nothing",
    **plan_arguments(
        DocumentPlan,
        "spend_limit",
        spend_limit="stop asking models above this amount, for all runs (default: as declared)",
    ),
    **ORDERING,
    "--format FORMAT": (
        "text for a terminal (default), Markdown, or one JSON object",
        {"choices": FORMATS, "default": "text"},
    ),
}


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if every cell is done, 1 if not, or 130 if interrupted."""
    session = session_path(arguments.session) if arguments.session else None
    study = with_amounts(_declared(arguments.name, session), repeats=arguments.repeats, samples=arguments.samples)
    study = replace(study, spend_limit=arguments.spend_limit or study.spend_limit)
    if arguments.json:
        arguments.format = "json"
    arguments.json = arguments.format == "json"
    if study.kind == PAPER:
        return _paper(arguments.format)
    if session is None:
        session = session_path(f"study-{study.name}")
    if arguments.show:
        return _print(session, study.name, arguments.format)
    return _execute(arguments, session, study)


def _declared(name: str, session: Path | None) -> Study:
    """Return the study with this name in the session, or else a packaged one or one from a file."""
    if session is not None and session.exists() and name not in packaged_studies() and not Path(name).exists():
        with SessionReader(session) as reader:
            if reader.study(name) is not None:
                return declared(reader, name)
    return study_named(name)


def _execute(arguments: argparse.Namespace, session: Path, study: Study) -> int:
    needed("numpy", "a study")
    order = StudyOrder(session, study)

    def follow() -> int:
        if arguments.queue:
            wait_for_other_runs(session, study.name)
        if watch_study(session, study.name, quiet=arguments.json) == 130:
            return 130
        if not arguments.json:
            say()
        return _print(session, study.name, arguments.format)

    return carry_out(arguments, order, follow, here=True)


def _print(session: Path, name: str, form: str) -> int:
    needed("numpy", "tests of a study")
    session = resolve_session(str(session))
    with SessionReader(session) as reader:
        outcome = read_study(reader, name)
        analysis = analyse(reader, outcome)
    if form == "json":
        print_json(study_json(outcome, analysis=analysis))
    else:
        _print_page(study_page(outcome, analysis=analysis), form, Note(f"session: {session}"))
    return 0 if outcome.finished and not outcome.problems else 1


def _print_page(page: ReportPage, form: str, *closing: Note) -> None:
    if form == "md":
        print_page("".join(rendered(page, "md")))
    else:
        terminal = Terminal()
        terminal.print_page(page)
        terminal.parts(closing)


def _paper(form: str) -> int:
    needed("numpy", "the resamples of the study")
    paper = published_paper()
    if form == "json":
        print_json(paper_json(paper))
    else:
        _print_page(paper_page(paper), form)
    return 0


_NAMED = 3


def watch_study(session: Path, name: str, *, quiet: bool = False) -> int:
    """Execute the missing runs of a study and show their progress, or only errors with ``quiet``.

    Return 130 if interrupted, otherwise 0.
    """
    with SessionReader(session) as reader:
        count = len(pending_runs(reader, name))
    current = ""
    try:
        for number, run in enumerate(each_run(session, name), 1):
            current = run
            with SessionReader(session) as reader:
                titles = titles_of(reader, name, run)
            if not quiet:
                more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
                say(f"{number} of {max(number, count)}  {', '.join(titles[:_NAMED])}{more}", flush=True)
            with nullcontext(_errors) if quiet else TerminalShow() as show:
                follow(session, run, None, show)
            current = ""
    except KeyboardInterrupt:
        if current:
            stop(session, current)
        with SessionReader(session) as reader:
            outcome = read_study(reader, name)
        return interrupted(outcome.progress, f"To continue: workbench study {name} --session {session}")
    return 0


def _errors(event: dict[str, Any]) -> None:
    if event["type"] == "error":
        tell(f"workbench: {event['sentence']}")
