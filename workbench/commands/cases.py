"""The commands ``cases``, ``run`` and ``score``.

They list, show and add test cases, run an agent on them, and score any README by the rubric.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from workbench.agents.names import current_name
from workbench.base.errors import UsageError
from workbench.base.files import parse_json, read_bytes
from workbench.base.settings import load
from workbench.catalog import TestCase, add_case, check_there, load_cases, resolve_case, snapshot_of, view_of
from workbench.checking.pages import untrue_claims
from workbench.claims.project import project_of
from workbench.commands.arguments import Argument, Command, path, plan_arguments, plan_of, shared
from workbench.commands.order_command import ORDERING, carry_out, session_path
from workbench.commands.output import print_json, say, tell
from workbench.commands.summaries import planned_trials, watch
from workbench.commands.terminal import Terminal
from workbench.models import CallLimits, Gateway
from workbench.models.types import MemoryCallLog
from workbench.orders.run import RunOrder, resolved_judge
from workbench.pages import wording
from workbench.pages.page import PageTable, ReportPage, table_of
from workbench.pages.session_page import criteria
from workbench.plans.plan import RUBRICS, DocumentPlan
from workbench.rubric import Judge, Scorecard, make_judge, parse_judge, rubrics
from workbench.rubric import score as score_document
from workbench.rubric.scorecard import NO_FACTS_POINTS
from workbench.session.json_forms import picked
from workbench.session.judges import with_limit

# -- cases

_CASES = {
    "[case]": "show this case, by its id; or a source that is not a case yet",
    "--add SOURCE": "create a case from a folder, a git URL@revision or a source distribution NAME==VERSION",
    "--id ID": "with --add: the id of the new case",
    "--fetch": "with CASE: fetch its repository now",
    "--json": "print JSON lines",
}


def cases(arguments: argparse.Namespace) -> int:
    if arguments.add and (arguments.case or arguments.fetch):
        raise UsageError("--add creates a case; use another command to show or fetch one.")
    if arguments.id and not arguments.add:
        raise UsageError("--id names the case that --add creates: workbench cases --add SOURCE --id ID.")
    if arguments.fetch and not arguments.case:
        raise UsageError("--fetch needs a case: workbench cases CASE --fetch.")
    if arguments.add:
        return _add_case(arguments)
    return _show_case(arguments) if arguments.case else _list_cases(arguments)


def _add_case(arguments: argparse.Namespace) -> int:
    written = add_case(arguments.add, id=arguments.id or None)
    if arguments.json:
        print_json({"type": "added", "path": str(written)})
    else:
        say(
            f"Written: {written}\nFill in its facts so that tier 3 is scored, then: workbench run {written.parent.name}"
        )
    return 0


def _show_case(arguments: argparse.Namespace) -> int:
    case = resolve_case(arguments.case)
    check_there(case)
    shown: dict[str, object] = {
        "type": "case",
        **picked(case, "id", "name", "kind", "domain", "language"),
        "source": case.source or str(case.folder),
        "description": case.description,
        "agent_is_told": case.agent_description,
        "facts": case.facts is not None,
    }
    if arguments.fetch:
        snapshot = snapshot_of(case, progress=tell)
        shown |= {
            "folder": str(snapshot.root),
            "digest": snapshot.digest,
            "files": len(snapshot.files),
            "visible_files": len(view_of(case, snapshot).files),
        }
    if arguments.json:
        print_json(shown)
        return 0
    rows = tuple((key.replace("_", " "), str(value)) for key, value in shown.items() if key != "type")
    Terminal().parts([PageTable(("", ""), rows)])
    return 0


def _list_cases(arguments: argparse.Namespace) -> int:
    found, problems = load_cases()
    if arguments.json:
        for case in found:
            values = picked(case, "id", "kind", "domain", "source")
            print_json({"type": "case", **values, "facts": bool(case.facts)})
        for problem in problems:
            print_json({"type": "problem", "sentence": str(problem)})
        return 1 if problems else 0
    columns: dict[str, Callable[[TestCase], str]] = {
        "case": lambda one: one.id,
        "origin": lambda one: one.kind,
        "domain": lambda one: one.domain,
        "source": lambda one: one.source or "in the program",
        "facts": lambda one: "yes" if one.facts else "no",
    }
    Terminal().parts([table_of(found, columns)])
    for problem in problems:
        tell(f"! {problem}")
    return 1 if problems else 0


# -- run


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if all trials are done, 1 if any failed, or 130 if interrupted."""
    names = list(arguments.cases)
    if "all" in names:
        names = [case.id for case in load_cases()[0] if case.kind != "own"] + [name for name in names if name != "all"]
    known, plan = load(), plan_of(DocumentPlan, arguments, cases=tuple(names))
    agent = current_name(plan.agent or known.agent)
    plan = replace(plan, agent=agent, max_steps=known.max_steps, rubrics=plan.rubrics or RUBRICS)
    order = RunOrder(session_path(arguments.session), plan)
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: planned_trials(order)))


# -- score

_LARGEST = 20_000_000  # bytes; a larger README must be a mistake
_SNIFFED = 8_000  # bytes; a NUL byte among the first bytes marks a file as binary, as in git
_SCORE: dict[str, Argument] = {
    "readme README.md": ("", path),
    "--metadata FILE": ("schema.org metadata as JSON", path),
    "--case CASE": "the test case whose facts to compare with",
    "--rubric RUBRIC": ("aeo-bench (default) or strict", str, "aeo-bench"),
    "--judge JUDGE": "offline, a model, or package.module:Class (default: the best judge of this machine)",
    **plan_arguments(DocumentPlan, "judge_repeats"),
    "--json": "print JSON lines; the last is the score",
}


def score(arguments: argparse.Namespace) -> int:
    """Return 0 if every applicable tier is scored, or 1 if the judge failed on a tier or the metadata is not JSON."""
    readme = _read_text(arguments.readme)
    metadata, problem = _read_metadata(arguments.metadata)
    if problem:
        tell(f"workbench: {problem}")
    card = asyncio.run(_scored(readme, metadata, arguments))
    if arguments.json:
        for criterion in card.to_json()["criteria"]:
            print_json({"type": "criterion", **criterion})
        # An unscored tier is None; ``out_of`` includes only the scored tiers.
        tiers = {str(tier): one.points for tier, one in sorted(card.tiers.items())}
        print_json({"type": "score", **picked(card, "rubric", "judge", "total", "out_of"), "tiers": tiers})
    else:
        points = f"{wording.points(card.total)} of {wording.points(card.out_of)} points"
        title = f"{points} · rubric {card.rubric} · judge {with_limit(card.judge, card.judge)}"
        Terminal().print_page(ReportPage(title, (criteria(card),)))
    unscored = {tier for tier, one in card.tiers.items() if one.points is None} - (set() if arguments.case else {3})
    return 1 if unscored or problem else 0


def _read_text(path: Path) -> str:
    data = read_bytes(path, most=_LARGEST)
    if b"\0" in data[:_SNIFFED]:
        raise UsageError(f"{path} is a binary file, not text.")
    return data.decode("utf-8-sig", errors="replace")


def _read_metadata(path: Path | None) -> tuple[object, str]:
    if path is None:
        return None, ""
    try:
        return parse_json(_read_text(path)), ""
    except ValueError as error:
        return None, f"{path} is not JSON ({error}), so it counts as no metadata."


async def _scored(readme: str, metadata: object, arguments: argparse.Namespace) -> Scorecard:
    known = [info.name for info in rubrics()]
    if arguments.rubric not in known:
        raise UsageError(f"There is no rubric {arguments.rubric!r}; choose from {', '.join(known)}.")
    settings = load()
    case = resolve_case(arguments.case) if arguments.case else None
    if case is not None:
        check_there(case)
    if parse_judge(arguments.judge or settings.judge or "offline").kind == "replay":
        raise UsageError("There is no recording of this document; use offline, a model or package.module:Class.")
    judge_name = resolved_judge(arguments.judge)
    named = parse_judge(judge_name)
    view = view_of(case, snapshot_of(case)) if case is not None else None

    async def by(judge: Judge) -> Scorecard:
        return await score_document(
            readme,
            metadata,
            parsed=True,
            rubric=arguments.rubric,
            facts=case.facts if case else None,
            reference_readme=case.reference_readme if case else None,
            view=view,
            judge=judge,
            # A case without facts gets 15 points, as in the original; if there is no case at all, the tier is unscored.
            without_facts=NO_FACTS_POINTS if case is not None else None,
            untrue=untrue_claims(readme, project_of(view)) if view is not None and named.kind == "offline" else (),
        )

    if named.kind == "offline":
        return await by(make_judge(judge_name, None))
    gateway = Gateway(MemoryCallLog(), CallLimits(timeout_s=settings.request_timeout, tries=settings.max_tries))
    try:
        return await by(make_judge(judge_name, gateway, repeats=arguments.judge_repeats))
    finally:
        await gateway.aclose()


COMMANDS: dict[str, Command] = {
    "cases": (_CASES, cases),
    "run": ({**plan_arguments(DocumentPlan), **shared("--session"), **ORDERING}, run),
    "score": (_SCORE, score),
}
