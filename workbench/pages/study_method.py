"""How a study was done: what was asked for, by which versions, prompts, models and seeds, what was left out, whether it checks itself."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import workbench
from workbench.base.text import NOTHING, plural, shortened
from workbench.pages.page import Facts, Note, Part, Points, Section, Table, grid, grid_of
from workbench.regeneration.self_check import self_check
from workbench.results.costs import CallSum, calls_of
from workbench.results.runs import snapshot_sources
from workbench.results.tasks import dropped_stages
from workbench.session.groups import settings_of
from workbench.session.reader import SessionReader
from workbench.session.rows import RunRow
from workbench.session.sample_counts import sample_counts
from workbench.statistics.paired import RESAMPLES
from workbench.studies.cells import counted_missing
from workbench.studies.conditions import OF_ROWS
from workbench.studies.declaration import AGENTS, Study
from workbench.studies.outcome import StudyOutcome
from workbench.studies.wording import dollars

_SAID_ELSEWHERE = {
    "cases", "source", "agent", "model", "docs", "docs_scope", "prompt", "context", "evaluator", "evaluators", "snapshot", "asks",
    "acceptances", "trials", "name", "k", "samples", "limit", "repeats", "spend_limit",
}  # fmt: skip
"""What of a run's plan stands in rows and columns, or in the declaration of the study."""
_MOST_REASONS = 12


def method_section(reader: SessionReader, outcome: StudyOutcome, *, resamples: int = RESAMPLES) -> Section:
    """Return the section; of columns of others it says where they come from and what is known of how they were made."""
    return Section("Method", tuple(_parts(reader, outcome, resamples)))


def _parts(reader: SessionReader, outcome: StudyOutcome, resamples: int) -> Iterator[Part]:
    study = outcome.study
    runs = _runs(reader, outcome)
    scale = [("scored by", " by ".join(outcome.scale))] if study.kind == AGENTS else []
    yield Facts((*_versions(reader), *_declared(study, resamples), *scale, *_plans([run for _, run in runs])))
    yield Note(
        "Intervals are of 95 %, of a mean over the unit that each names; a mean of shares has Wilson's with Student's quantile, a paired "
        "difference Student's with a cluster-robust variance. Where too few units carry one there is none, with the reason. A column's "
        "mean is unweighted over its rows. Our own errors and trials of which a tier is unscored are in no mean; they are not 0. Runs that were "
        "archived are in no figure. Columns are paired, tested and ranked only where all that is known of how they were made is the same."
    )
    if sources := dict.fromkeys(f"{one.name}: results from {one.mark}" for one in outcome.columns if one.mark):
        yield Points(tuple(sources))
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
        yield grid_of("What models were asked.", asked, columns, 5)
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
    """Return the runs that the study executed, each with the row it is of ("" for several)."""
    rows: dict[str, set[str]] = {}
    for cell in outcome.cells.values():
        if cell.run and not cell.work.session:
            rows.setdefault(cell.run, set()).add(cell.row)
    return [
        (next(iter(rows[run.id])) if len(rows[run.id]) == 1 else "", run) for run in reader.all_runs() if run.id in rows
    ]


def _plans(runs: Sequence[RunRow]) -> Iterator[tuple[str, str]]:
    """Yield what all runs were asked for alike, and of the rest which values there were."""
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        for key, value in run.plan.items():
            if key not in _SAID_ELSEWHERE and value not in (None, "", 0, [], {}, False):
                said = ", ".join(map(str, value)) if isinstance(value, list) else "yes" if value is True else str(value)
                values.setdefault(key, {})[said] = None
    for key in sorted(values):
        yield key.replace("_", " "), "; ".join(values[key])


def _sampling(one: CallSum) -> str:
    given = settings_of(one.sampling).items()
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in given if value is not None) or NOTHING


def _made(outcome: StudyOutcome) -> Table | None:
    """Return under what each column was made, those of others included; a value that differs from row to row is not named."""
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
    return grid("Under what each column was made.", ("column", *names), rows, len(names) + 1) if names else None


def _unscored(outcome: StudyOutcome) -> Iterator[Part]:
    measure = outcome.study.measures[0]
    missing = counted_missing(one for cell in outcome.cells.values() for one in cell.means[measure].missing)
    said = [
        f"{plural(one.items, 'trial')} without a score, {one.kind}{f': {one.why}' if one.why else ''}"
        for one in sorted(missing, key=lambda one: -one.items)[:_MOST_REASONS]
        if one.kind not in ("queued", "running", "not begun")
    ]
    yield Points(tuple(said) or ("No trial was left out.",))


def _checked(reader: SessionReader, outcome: StudyOutcome, runs: Iterable[tuple[str, RunRow]]) -> Iterator[Part]:
    sums: dict[str, Counter[str]] = {}  # by row; of shares what they are of under another name
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
    yield grid_of("What was left out, and the self-check, summed over the runs of a row.", rows, columns)
    yield Note(
        "A control must pass on all tasks (reference: the original body) or on none (stub). Excluded: tasks whose controls contradict "
        "them; dropped: functions that became no task."
    )
    said = [f"Self-check that failed: {one}" for one in failed] or ["No self-check failed."]
    said += [
        f"Excluded, {count:,}: {reason or 'no reason was kept'}"
        for reason, count in excluded.most_common(_MOST_REASONS)
    ]
    said += [f"Dropped at {stage}: {count:,}" for stage, count in dropped.most_common(_MOST_REASONS)]
    yield Points(tuple(said))


def _revisions(reader: SessionReader, runs: Iterable[tuple[str, RunRow]]) -> tuple[tuple[str, ...], ...]:
    snapshots = snapshot_sources(reader)
    found: dict[tuple[str, ...], None] = {}
    for row, run in runs:
        digest = str(run.plan.get("snapshot") or "")
        if row and digest in snapshots:
            source, revision = snapshots[digest]
            found[row, source, shortened(revision, 30), digest[:12]] = None
    return tuple(found)
