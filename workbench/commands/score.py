"""``workbench score README.md``: score any document by the rubric, with or without a test case."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import parse_json, read_bytes
from workbench.base.settings import load
from workbench.catalog import check_there, resolve_case, snapshot_of, view_of
from workbench.checking.pages import untrue_claims
from workbench.claims.project import project_of
from workbench.commands.arguments import Argument, asked, path
from workbench.commands.output import print_json, tell
from workbench.commands.terminal import Terminal
from workbench.models import Gateway, Limits
from workbench.models.types import MemoryCallLog
from workbench.orders.run import resolved_judge
from workbench.pages import wording
from workbench.pages.page import Page
from workbench.pages.session_page import criteria
from workbench.plans.plan import DocumentPlan
from workbench.rubric import Judge, Scorecard, make_judge, parse_judge, rubrics, score
from workbench.rubric.scorecard import NO_FACTS_POINTS
from workbench.session.json_forms import picked
from workbench.session.judges import with_limit

_LARGEST = 20_000_000  # bytes; a README beyond that is a mistake
_LOOKED_AT = 8_000  # bytes; git, too, takes a NUL byte among the first ones as the sign of a binary file


ARGUMENTS: dict[str, Argument] = {
    "readme README.md": ("", path),
    "--metadata FILE": ("schema.org metadata as JSON", path),
    "--case CASE": "a test case: its facts are compared with",
    "--rubric RUBRIC": ("aeo-bench (default) or strict", str, "aeo-bench"),
    "--judge JUDGE": "offline, a model, or package.module:Class; by default what this machine has",
    **asked(DocumentPlan, "judge_repeats"),
    "--json": "print JSON lines; the last is the score",
}


def read_text(path: Path) -> str:
    data = read_bytes(path, most=_LARGEST)
    if b"\0" in data[:_LOOKED_AT]:
        raise UsageError(f"{path} is a binary file, not text.")
    return data.decode("utf-8-sig", errors="replace")


def _metadata(path: Path | None) -> tuple[object, str | None]:
    if path is None:
        return None, None
    text = read_text(path)
    try:
        return parse_json(text), None
    except ValueError as error:
        return None, f"{path} is not JSON ({error}); it counts as no metadata."


def run(arguments: argparse.Namespace) -> int:
    """Score, print; 0 when every tier that applies is scored, 1 when the judge failed on one or the metadata is no JSON."""
    readme = read_text(arguments.readme)
    metadata, problem = _metadata(arguments.metadata)
    if problem:
        tell(f"workbench: {problem}")
    card = asyncio.run(_score(readme, metadata, arguments))
    without_case = not arguments.case
    if arguments.json:
        for criterion in card.to_json()["criteria"]:
            print_json({"type": "criterion", **criterion})
        # An unscored tier is None, and ``out_of`` counts only what is scored.
        tiers = {str(tier): score.points for tier, score in sorted(card.tiers.items())}
        print_json({"type": "score", **picked(card, "rubric", "judge", "total", "out_of"), "tiers": tiers})
    else:
        print_card(card)
    failed = [tier for tier, score in card.tiers.items() if score.points is None and not (without_case and tier == 3)]
    return 1 if failed or problem else 0


async def _score(readme: str, metadata: object, arguments: argparse.Namespace) -> Scorecard:
    known = [info.name for info in rubrics()]
    if arguments.rubric not in known:
        raise UsageError(f"There is no rubric {arguments.rubric!r}. Known rubrics: {', '.join(known)}.")
    settings = load()
    case = resolve_case(arguments.case) if arguments.case else None
    if case is not None:
        check_there(case)
    if parse_judge(arguments.judge or settings.judge or "offline").kind == "replay":
        raise UsageError("Nothing was recorded for this document; a judge is offline, a model or package.module:Class.")
    judge_name = resolved_judge(arguments.judge)
    named = parse_judge(judge_name)
    view = view_of(case, snapshot_of(case)) if case is not None else None

    async def by(judge: Judge) -> Scorecard:
        return await score(
            readme,
            metadata,
            parsed=True,
            rubric=arguments.rubric,
            facts=case.facts if case else None,
            reference_readme=case.reference_readme if case else None,
            view=view,
            judge=judge,
            # A case without facts gets the original's 15; no case at all leaves the tier unscored.
            without_facts=NO_FACTS_POINTS if case is not None else None,
            untrue=untrue_claims(readme, project_of(view)) if view is not None and named.kind == "offline" else (),
        )

    if named.kind == "offline":
        return await by(make_judge(judge_name, None))
    gateway = Gateway(MemoryCallLog(), Limits(timeout_s=settings.request_timeout, tries=settings.max_tries))
    try:
        return await by(make_judge(judge_name, gateway, repeats=arguments.judge_repeats))
    finally:
        await gateway.aclose()


def print_card(card: Scorecard) -> None:
    points = f"{wording.points(card.total)} of {wording.points(card.out_of)} points"
    title = f"{points} · rubric {card.rubric} · judge {with_limit(card.judge, card.judge)}"
    Terminal().print_page(Page(title, (criteria(card),)))
