"""``workbench metrics SESSION``: text metrics of tasks and their correlation with pass@k."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.settings import load
from workbench.base.text import bounds, fixed, one_line
from workbench.commands.arguments import plan_arguments, shared
from workbench.commands.output import print_json, tell
from workbench.commands.terminal import Terminal
from workbench.engine.document import gateway_for
from workbench.metrics.helpfulness import Helpfulness, JudgedDocstring, judge_helpfulness
from workbench.metrics.tasks import DEFAULT_METRICS, GroupMetrics, docs_of, measure_run, to_json
from workbench.metrics.texts import needed
from workbench.models.names import check_model
from workbench.pages.page import Note, PageTable, Part
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.session_names import resolve_session, working_copy

ARGUMENTS = {
    "session SESSION": "a session file, or the name of one",
    "--run RUN": "only this run, by the first characters of its id, or its name",
    "--metric M[,M2]": "default: bleu, rouge-1, rouge-lsum, completeness-docagent, completeness-strict, truthfulness, leakage; also "
    "bertscore-minilm (about a second per pair of texts) and codebertscore (with --model-path)",
    **shared("--model-path"),
    "--helpfulness": "have a model (--judge) rate each docstring from 1 to 5; the ratings are stored in the session",
    "--judge MODEL": "model that rates helpfulness",
    **plan_arguments(DocumentPlan, "spend_limit"),
    "--json": "print one JSON object for each group, with the values of every task",
}


def run(arguments: argparse.Namespace) -> int:
    """Return 1 if the judge failed to rate some docstrings, otherwise 0."""
    needed("scipy", "the correlations with pass@k")
    if arguments.judge and not arguments.helpfulness:
        raise UsageError("--judge needs --helpfulness.")
    session = resolve_session(arguments.session)
    run_ids = _runs_named(session, arguments.run)
    judged: dict[str, Helpfulness] = {}
    if arguments.helpfulness:
        session, judged = _judged(session, run_ids, arguments.judge, arguments.spend_limit)
    with SessionReader(session) as reader:
        found = [
            group
            for run_id in run_ids
            for group in measure_run(
                reader,
                run_id,
                arguments.metric or DEFAULT_METRICS,
                model=arguments.model_path,
                judged=judged.get(run_id),
            )
        ]
    if not found:
        raise UsageError("The session has no task with samples.")
    for group in found:
        if arguments.json:
            print_json({"type": "metrics", **to_json(group)})
        else:
            Terminal().parts(_parts(group))
    problems = [problem for one in judged.values() for problem in one.problems.values()]
    if problems:
        first = max(dict.fromkeys(problems), key=problems.count)
        tell(f"{len(problems):,} docstrings were not rated, most of them because: {first}")
    return 1 if problems else 0


def _runs_named(session: Path, named: str) -> list[str]:
    with SessionReader(session) as reader:
        runs = [one for one in reader.runs() if one.kind == "regenerate"]
        run_ids = [one.id for one in runs if one.id.startswith(named.lower()) or one.name == named]
        if not run_ids:
            which = f" {one_line(named, 60)!r}" if named else ""
            raise UsageError(f"{reader.path.name} has no regeneration run{which}.")
    return run_ids


def _judged(session: Path, runs: list[str], judge: str, spend_limit: float) -> tuple[Path, dict[str, Helpfulness]]:
    """Have a judge rate the docs of runs, and return the session with the ratings.

    It is a copy if the given session is read-only.
    """
    if not judge or judge.startswith("offline"):
        raise UsageError("--helpfulness needs a model as --judge.")
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
        one_line(f"{group.name} · docs {group.group.docs} · run {group.run}: {group.tasks:,} tasks", 300), "words"
    )
    units: dict[str, None] = {}
    rows: list[tuple[str, ...]] = []
    for one in group.columns:
        mean = f"{fixed(one.mean, 3)} {bounds(one.interval.low, one.interval.high, 3)}".rstrip()
        first = (one.metric, one.pair, f"{len(one.values):,}", mean)
        for k, kinds in one.correlations.items():
            words = [each.words.partition(" over ") for each in kinds]
            units.update({over: None for _, _, over in words if over})
            rows.append((*first, f"pass@{k}", *(value for value, _, _ in words)))
            first = ("", "", "", "")
    heads = ("metric", "of", "tasks", "mean", "with", "Pearson", "Spearman", "Kendall")
    yield PageTable(heads, tuple(rows), frozenset({2, 3}))
    if units:
        over = f"Intervals over {', '.join(units)}; there is none over too few of them or for constant values."
        yield Note(over, "plain")
    yield from (Note(f"Note: {note}.", "plain") for note in group.notes)
