"""A report on a study, or on the paper's tables, in a format of one's choice, in one consistent look at the session."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import workbench
from workbench.base.errors import UsageError
from workbench.base.text import json_text
from workbench.metrics.paper import published_paper
from workbench.metrics.texts import needed
from workbench.pages import STUDY_FORMATS
from workbench.pages.composing import rendered
from workbench.pages.paper import paper_json, paper_page
from workbench.pages.rows import values_of
from workbench.pages.study_method import method_section
from workbench.pages.study_page import study_page
from workbench.pages.study_rows import study_csv, study_parquet
from workbench.pages.writing import check_place, encoded, write_atomically
from workbench.session.json_forms import picked
from workbench.session.reader import SessionReader
from workbench.statistics.paired import RESAMPLES
from workbench.studies.analysis import NO_TEXTS, Analysis, analyse
from workbench.studies.chances import chances, every_pair, resampled_orders
from workbench.studies.comparing import rankings, taus
from workbench.studies.declaration import AGENTS, DOCS
from workbench.studies.following import read_study
from workbench.studies.leaderboard import judge_agreement, leaderboard
from workbench.studies.outcome import StudyOutcome
from workbench.studies.task_facts import function_facts


def write_study_report(
    session: Path | None,
    study: str,
    format: str,
    out: Path | None,
    *,
    metrics: Sequence[str] = (),
    model: Path | None = None,
) -> Path | bytes:
    """Write a report on a study, or (without a session) on the paper's tables; return the path written, or the bytes.

    ``metrics`` and ``model`` are as in :func:`workbench.studies.analysis.analyse`; a WorkbenchError says what is unknown, cannot be
    read or written, or which package is missing.
    """
    if format not in ("csv", "parquet"):
        needed("numpy", "tests of a study")
    if session is None and metrics:
        raise UsageError(NO_TEXTS)
    chunks = (
        compose_paper(format)
        if session is None
        else compose_study(session, study, format, metrics=metrics, model=model)
    )
    if out is None:
        return b"".join(one if isinstance(one, bytes) else encoded(one) for one in chunks)
    check_place(out, session)
    return write_atomically(out, chunks)


def compose_study(
    session: Path, name: str, format: str, *, metrics: Sequence[str] = (), model: Path | None = None
) -> Iterator[str | bytes]:
    """Yield a report on a study of a session, piece by piece; the rest is as in :func:`write_study_report`."""
    _check(format, STUDY_FORMATS)
    with SessionReader(session) as reader:
        reader.hold()
        outcome = read_study(reader, name)
        if format in ("csv", "parquet"):
            facts = function_facts(reader, outcome) if outcome.study.kind == DOCS else ()
            yield from study_csv(outcome, facts) if format == "csv" else [study_parquet(outcome, facts)]
            return
        method = method_section(reader, outcome)
        analysis = analyse(reader, outcome, metrics, model=model)
    if format == "json":
        values = {"type": "study", **study_json(outcome, analysis=analysis), "method": values_of(method.parts)}
        yield json_text(values, indent=1) + "\n"
        return
    foot = f"Written by Workbench {workbench.__version__}'s report from {session.name}."
    yield from rendered(replace(study_page(outcome, analysis=analysis, method=method), foot=foot), format)


def compose_paper(format: str) -> Iterator[str | bytes]:
    """Yield a report on the published tables of the doc-to-code paper, which have no rows of cells and items."""
    _check(format, ("md", "html", "json", "latex"))
    paper = published_paper()
    if format == "json":
        yield json_text(paper_json(paper), indent=1) + "\n"
    else:
        yield from rendered(paper_page(paper), format)


def _check(format: str, known: Collection[str]) -> None:
    if format not in known:
        raise UsageError(f"There is no report format {format!r} of this study; choose from {', '.join(known)}.")


def study_json(
    outcome: StudyOutcome, *, analysis: Analysis | None = None, resamples: int = RESAMPLES
) -> dict[str, Any]:
    found = rankings(outcome)
    orders = resampled_orders(outcome, resamples=resamples)
    return {
        **outcome.to_json(),
        "declaration": outcome.study.to_json(),
        "comparisons": [
            one.to_json()
            for measure in outcome.study.measures
            for one in chances(outcome, every_pair(outcome), measure, resamples=resamples)
        ],
        "rankings": [one.to_json() for one in found],
        "taus": [{"left": left.words, "right": right.words, "tau": tau} for (left, right), tau in taus(found).items()],
        "orders": [
            {
                "model": model,
                "measure": measure,
                **picked(one, "better", "worse", "repositories:rows", "ties", "of", "resampled"),
            }
            for (model, measure), pairs in orders.items()
            for one in pairs
        ],
        **({} if analysis is None else {"analysis": analysis.to_json()}),
        **(_judged_json(outcome) if outcome.study.kind == AGENTS else {}),
    }


def _judged_json(outcome: StudyOutcome) -> dict[str, Any]:
    lines, pairs = leaderboard(outcome), judge_agreement(outcome)
    return {"leaderboard": [one.to_json() for one in lines], "judges": [one.to_json() for one in pairs]}
