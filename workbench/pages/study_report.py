"""The report on a study, or on the published tables, with a section on its method.

It is read from a single state of the session.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import workbench
from workbench.base.errors import UsageError
from workbench.base.text import NOTHING, json_text, plural, shortened
from workbench.metrics.paper import published_paper
from workbench.metrics.texts import needed
from workbench.pages import STUDY_FORMATS
from workbench.pages.page import BulletList, FactList, Note, PageTable, Part, Section, grid, grid_of
from workbench.pages.paper import paper_json, paper_page
from workbench.pages.rows import values_of
from workbench.pages.study_page import study_page
from workbench.pages.study_rows import study_csv, study_parquet
from workbench.pages.writing import check_place, encoded, rendered, write_atomically
from workbench.regeneration.self_check import self_check
from workbench.results.costs import CallSum, calls_of
from workbench.results.runs import snapshot_sources
from workbench.results.tasks import dropped_stages
from workbench.session.groups import settings_of
from workbench.session.json_forms import picked
from workbench.session.reader import SessionReader
from workbench.session.rows import RunRow
from workbench.session.sample_counts import sample_counts
from workbench.statistics.paired import RESAMPLES
from workbench.studies.analysis import NO_TEXTS, Analysis, analyse
from workbench.studies.cells import STATES, counted_missing
from workbench.studies.comparing import rankings, taus
from workbench.studies.conditions import OF_ROWS
from workbench.studies.declaration import AGENTS, DOCS, Study
from workbench.studies.leaderboard import judge_agreement, leaderboard
from workbench.studies.outcome import StudyOutcome, function_facts
from workbench.studies.significance import adjusted_comparisons, all_pairs, resampled_orders
from workbench.studies.study_reader import read_study
from workbench.studies.wording import dollars


def write_study_report(
    session: Path | None,
    study: str,
    format: str,
    out: Path | None,
    *,
    metrics: Sequence[str] = (),
    model: Path | None = None,
) -> Path | bytes:
    """Write a report on a study, or on the paper's tables if there is no session.

    Return its path, or the bytes if ``out`` is None. For ``metrics`` and ``model``, see
    :func:`workbench.studies.analysis.analyse`.
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
    """Yield a report on a study in pieces; for the arguments, see :func:`write_study_report`."""
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
    """Yield a report on the published tables of the doc-to-code paper; CSV is not available."""
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
            for one in adjusted_comparisons(outcome, all_pairs(outcome), measure, resamples=resamples)
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


# -- method: arguments, versions, prompts, models, seeds, omissions, and self-checks

_REPEATED = {
    "cases", "source", "agent", "model", "docs", "docs_scope", "prompt", "context", "evaluator", "evaluators", "snapshot", "asks",
    "acceptances", "trials", "name", "k", "samples", "limit", "repeats", "spend_limit",
    "page_digests", "should_be_named",
}  # fmt: skip
"""Keys of a run's plan that the rows, the columns or the declaration of the study already contain."""
_MOST_REASONS = 12


def method_section(reader: SessionReader, outcome: StudyOutcome, *, resamples: int = RESAMPLES) -> Section:
    """Return the section on the method; columns from other sessions have their source and their known conditions."""
    return Section("Method", tuple(_method(reader, outcome, resamples)))


def _method(reader: SessionReader, outcome: StudyOutcome, resamples: int) -> Iterator[Part]:
    study = outcome.study
    runs = _runs(reader, outcome)
    scale = [("scored by", " by ".join(outcome.scale))] if study.kind == AGENTS else []
    yield FactList((*_versions(reader), *_declared(study, resamples), *scale, *_plans([run for _, run in runs])))
    yield Note(
        "Intervals are 95 % intervals of a mean over the unit that each names: Wilson's with Student's quantile for a mean of shares, Student's "
        "with a cluster-robust variance for a paired difference. Where there are too few units, the reason is given. A column's mean is "
        "unweighted over its rows. Errors of the workbench and trials with an unscored tier are excluded from means, not counted as 0. Archived "
        "runs are excluded. Columns are paired, tested and ranked only if all their known conditions are equal."
    )
    if sources := dict.fromkeys(f"{one.name}: results from {one.mark}" for one in outcome.columns if one.mark):
        yield BulletList(tuple(sources))
    if asked := calls_of(reader, [run.id for _, run in runs]):
        columns: dict[str, Callable[[CallSum], str]] = {
            "purpose": lambda one: one.purpose,
            "model": lambda one: one.model,
            "answered by": lambda one: one.answered_by or NOTHING,
            "sampling": _sampling,
            "source": lambda one: one.source,
            "requests": lambda one: f"{one.requests:,}",
            "tokens": lambda one: f"{one.tokens:,}",
            "cost": lambda one: dollars(one.cost_usd),
        }
        yield grid_of("Requests to models.", asked, columns, 5)
    if made := _made(outcome):
        yield made
    if study.kind == AGENTS:
        yield from _unscored(outcome)
    else:
        yield from _checked(reader, outcome, runs)
    if revisions := _revisions(reader, runs):
        heads = (study.row_noun, "source", "revision", "content")
        yield grid("Where the rows come from.", heads, revisions, 4)


def _versions(reader: SessionReader) -> Iterator[tuple[str, str]]:
    meta = reader.meta()
    yield "written by", f"Workbench {workbench.__version__}, Python {platform.python_version()}"
    yield "session made by", meta.get("created_by", "")
    yield "session", reader.path.name


def _declared(study: Study, resamples: int) -> Iterator[tuple[str, str]]:
    yield "repeats", str(study.repeats) if study.kind == AGENTS else ""
    yield "samples a task", "" if study.kind == AGENTS else str(study.samples)
    yield "k", "" if study.kind == AGENTS else ", ".join(map(str, study.k))
    yield "seed of tests and resamples", str(study.seed)
    yield "resamples", f"{resamples:,}"
    yield "spend limit", dollars(study.spend_limit) if study.spend_limit else "none"
    for name in ("steps", "read", "answer_tokens", "tasks"):
        if value := getattr(study.limits, name):
            yield f"limit of {name.replace('_', ' ')}", f"{value:,}"


def _runs(reader: SessionReader, outcome: StudyOutcome) -> list[tuple[str, RunRow]]:
    """Return the runs that the study executed, each with its row ("" for several rows)."""
    rows: dict[str, set[str]] = {}
    for cell in outcome.cells.values():
        if cell.run and not cell.work.session:
            for run in (cell.run, *(trial.use_run for trial in cell.work.trials if trial.use_run)):
                rows.setdefault(run, set()).add(cell.row)
    return [
        (next(iter(rows[run.id])) if len(rows[run.id]) == 1 else "", run) for run in reader.all_runs() if run.id in rows
    ]


def _plans(runs: Sequence[RunRow]) -> Iterator[tuple[str, str]]:
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        for key, value in run.plan.items():
            if key not in _REPEATED and value not in (None, "", 0, [], {}, False):
                text = ", ".join(map(str, value)) if isinstance(value, list) else "yes" if value is True else str(value)
                values.setdefault(key, {})[text] = None
    for key in sorted(values):
        yield key.replace("_", " "), "; ".join(values[key])


def _sampling(one: CallSum) -> str:
    given = settings_of(one.sampling).items()
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in given if value is not None) or NOTHING


def _made(outcome: StudyOutcome) -> PageTable | None:
    """Return the conditions of each column, except those that vary by row."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for (_, column), cell in outcome.cells.items():
        for name, value in cell.work.conditions.items():
            if name not in OF_ROWS:
                found.setdefault(column, {}).setdefault(name, {})[value] = None
    names = list(dict.fromkeys(name for mine in found.values() for name in mine))
    rows = tuple(
        (one.title, *(", ".join(found[one.column.name].get(name, {})) or NOTHING for name in names))
        for one in outcome.by_column
        if one.column.name in found
    )
    return grid("Conditions of each column.", ("column", *names), rows, len(names) + 1) if names else None


def _unscored(outcome: StudyOutcome) -> Iterator[Part]:
    sentences: dict[str, None] = {}
    for measure in outcome.study.measures:
        missing = counted_missing(one for cell in outcome.cells.values() for one in cell.means[measure].missing)
        name = "a score" if measure == "score" else measure
        sentences |= {
            f"{plural(one.items, 'trial')} without {name}, {one.kind}{f': {one.why}' if one.why else ''}": None
            for one in sorted(missing, key=lambda one: -one.items)[:_MOST_REASONS]
            if one.kind not in ("queued", "running", "not begun") and (measure == "score" or one.kind not in STATES)
        }
    yield BulletList(tuple(sentences) or ("No trial was excluded.",))


def _checked(reader: SessionReader, outcome: StudyOutcome, runs: Iterable[tuple[str, RunRow]]) -> Iterator[Part]:
    sums: dict[str, Counter[str]] = {}  # by row; the denominator of a share begins with "of …"
    excluded: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    failed: dict[str, None] = {}
    for row, run in runs:
        tasks = reader.tasks(run.id)
        mine = Counter(task.reason or "" for task in tasks if task.state == "excluded")
        stages = dropped_stages(reader, run.id)
        excluded += mine
        dropped += stages
        check = self_check(sample_counts(reader, run.id), len(tasks))
        failed |= dict.fromkeys(f"{row}: {line}" for line in check.banner(live=False, named=False).split("\n") if line)
        of_row = sums.setdefault(row, Counter())
        of_row.update(runs=1, tasks=len(tasks) - mine.total(), excluded=mine.total(), dropped=stages.total())
        for name, part, whole in (
            *((f"{one.name} passed", one.passed, one.decided) for one in check.controls),
            ("re-checks that disagree", check.rechecks.disagreeing, check.rechecks.done),
        ):
            of_row.update({name: part, f"of {name}": whole})
    if not sums:
        return

    def share(name: str) -> Callable[[str], str]:
        return lambda row: f"{sums[row][name]:,} of {whole:,}" if (whole := sums[row][f"of {name}"]) else NOTHING

    counts = ("runs", "tasks", "excluded", "dropped")
    columns: dict[str, Callable[[str], str]] = {
        "repository": str,
        **{name: lambda row, name=name: f"{sums[row][name]:,}" for name in counts},  # type: ignore[misc]
        **{name: share(name) for name in ("reference passed", "stub passed", "re-checks that disagree")},
    }
    rows = [row for row in outcome.rows if row in sums]
    yield grid_of("Exclusions and self-checks, summed over the runs of a row.", rows, columns)
    yield Note(
        "A control must pass on all tasks (reference: the original body) or on none (stub). Excluded: tasks whose controls fail; dropped: "
        "functions without a task."
    )
    sentences = [f"Self-check that failed: {one}" for one in failed] or ["No self-check failed."]
    sentences += [
        f"Excluded, {count:,}: {reason or 'no reason was recorded'}"
        for reason, count in excluded.most_common(_MOST_REASONS)
    ]
    sentences += [f"Dropped at {stage}: {count:,}" for stage, count in dropped.most_common(_MOST_REASONS)]
    yield BulletList(tuple(sentences))


def _revisions(reader: SessionReader, runs: Iterable[tuple[str, RunRow]]) -> tuple[tuple[str, ...], ...]:
    snapshots = snapshot_sources(reader)
    found: dict[tuple[str, ...], None] = {}
    for row, run in runs:
        digest = str(run.plan.get("snapshot") or "")
        if row and digest in snapshots:
            source, revision = snapshots[digest]
            found[row, source, shortened(revision, 30), digest[:12]] = None
    return tuple(found)
