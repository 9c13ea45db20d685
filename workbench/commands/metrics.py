"""``workbench metrics SESSION``: metrics of texts beside pass@k, and how they go with it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.settings import load
from workbench.base.text import bounds, fixed, one_line
from workbench.commands.arguments import asked, shared
from workbench.commands.output import print_json, tell
from workbench.commands.terminal import Terminal
from workbench.engine.document import gateway_for
from workbench.metrics.helpfulness import Helpfulness, JudgedDocstring, judge_helpfulness
from workbench.metrics.tasks import USUAL, GroupMetrics, docs_of, measure_run, to_json
from workbench.metrics.texts import needed
from workbench.models.names import check_model
from workbench.pages.page import Note, PageTable, Part
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.session_names import resolve_session, working_copy

ARGUMENTS = {
    "session SESSION": "a session file, or the name of one",
    "--run RUN": "only this run: the first characters of its id, or its name",
    "--metric M[,M2]": "bleu, rouge-1, rouge-lsum, completeness-docagent, completeness-strict, truthfulness, leakage; "
    "these unless given; also bertscore-minilm (about a second for two texts) and codebertscore (with --model-path)",
    **shared("--model-path"),
    "--helpfulness": "ask a model (--judge) how helpful each docstring is, from 1 to 5; recorded in the session, asked "
    "once",
    "--judge MODEL": "who judges helpfulness",
    **asked(DocumentPlan, "spend_limit"),
    "--json": "print one JSON object for each group, with every task's values",
}


def run(arguments: argparse.Namespace) -> int:
    """Print the metrics; returns 1 where a judge left docstrings unjudged."""
    needed("scipy", "the correlations with pass@k")
    if arguments.judge and not arguments.helpfulness:
        raise UsageError("--judge judges helpfulness; say --helpfulness, too.")
    session = resolve_session(arguments.session)
    meant = _meant(session, arguments.run)
    judged: dict[str, Helpfulness] = {}
    if arguments.helpfulness:
        session, judged = _judged(session, meant, arguments.judge, arguments.spend_limit)
    with SessionReader(session) as reader:
        found = [
            group
            for run_id in meant
            for group in measure_run(
                reader, run_id, arguments.metric or USUAL, model=arguments.model_path, judged=judged.get(run_id)
            )
        ]
    if not found:
        raise UsageError("No group of the session has a task with samples.")
    for group in found:
        if arguments.json:
            print_json({"type": "metrics", **to_json(group)})
        else:
            Terminal().parts(_parts(group))
    problems = [problem for one in judged.values() for problem in one.problems.values()]
    if problems:
        first = max(dict.fromkeys(problems), key=problems.count)
        tell(f"{len(problems):,} docstrings were not judged, most of them for this reason: {first}")
    return 1 if problems else 0


def _meant(session: Path, named: str) -> list[str]:
    with SessionReader(session) as reader:
        runs = [one for one in reader.runs() if one.kind == "regenerate"]
        meant = [one.id for one in runs if one.id.startswith(named.lower()) or one.name == named]
        if not meant:
            which = f" {one_line(named, 60)!r}" if named else ""
            raise UsageError(f"{reader.path.name} has no regeneration run{which}.")
    return meant


def _judged(session: Path, runs: list[str], judge: str, spend_limit: float) -> tuple[Path, dict[str, Helpfulness]]:
    """Ask a judge about the docs of runs; the session is a copy of its own where the given one may not be written."""
    if not judge or judge.startswith("offline"):
        raise UsageError("Helpfulness is judged by a model: --judge MODEL.")
    settings = load()
    check_model(judge, "the judge", base_url=settings.base_url, local_model_path=settings.local_model_path)

    async def ask(writer: SessionWriter, run_id: str, items: dict[str, JudgedDocstring]) -> Helpfulness:
        with SessionReader(writer.path) as reader:
            row = reader.run(run_id)
        assert row is not None
        gateway, _ = gateway_for(writer, row, spend_limit or settings.spend_limit, settings)
        try:
            return await judge_helpfulness(gateway, judge, items)
        finally:
            await gateway.aclose()

    found = {}
    with working_copy(session) as place:
        for run_id in runs:
            with SessionReader(place) as reader:
                items = docs_of(reader, run_id)
            with SessionWriter(place) as writer:
                found[run_id] = asyncio.run(ask(writer, run_id, items))
    return place, found


def _parts(group: GroupMetrics) -> Iterator[Part]:
    yield Note(
        one_line(f"{group.name} · docs {group.group.docs} · run {group.run}: {group.tasks:,} tasks", 300), "said"
    )
    units: dict[str, None] = {}
    rows: list[tuple[str, ...]] = []
    for one in group.columns:
        mean = f"{fixed(one.mean, 3)} {bounds(one.interval.low, one.interval.high, 3)}".rstrip()
        first = (one.metric, one.pair, f"{len(one.values):,}", mean)
        for k, kinds in one.correlations.items():
            said = [each.words.partition(" over ") for each in kinds]
            units.update({over: None for _, _, over in said if over})
            rows.append((*first, f"pass@{k}", *(value for value, _, _ in said)))
            first = ("", "", "", "")
    heads = ("metric", "of", "tasks", "mean", "with", "Pearson", "Spearman", "Kendall")
    yield PageTable(heads, tuple(rows), frozenset({2, 3}))
    if units:
        over = f"Intervals over {', '.join(units)}; too few of them, or values that do not vary, give none."
        yield Note(over, "said")
    yield from (Note(f"Note: {note}.", "said") for note in group.notes)
