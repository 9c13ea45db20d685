"""Text metrics for the tasks of a regeneration run, by group, and their correlation with pass@k.

There are three pairs of texts. ``doc-doc`` compares the docs with the original docstring, taken from a run of the same
session that used the original docs. ``code-code`` is the mean over counted bodies, each compared with the original one.
``code-doc`` compares the original body with the docs. Completeness, truthfulness and leakage use only the docs.
Controls are not included.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import UsageError
from workbench.metrics.docstrings import VERSIONS, completeness, names_of, truthfulness
from workbench.metrics.helpfulness import Helpfulness, JudgedDocstring
from workbench.metrics.texts import TEXT_METRICS, Score, text_metric
from workbench.regeneration.outcome import TaskResult, group_outcomes, ks_of
from workbench.repository.fetching import texts_in_cache
from workbench.repository.functions import find_functions
from workbench.session.groups import Group
from workbench.session.rows import CandidateRow, TaskRow
from workbench.session.sample_counts import group_of, is_counted, sample_counts
from workbench.statistics.correlations import KINDS, Correlation, Pair, correlation
from workbench.statistics.intervals import Interval, Value, clusters_of, difference_interval

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

PAIRS = ("doc-doc", "code-code", "code-doc")
DOC_METRICS = (*(f"completeness-{one}" for one in VERSIONS), "truthfulness", "leakage")
"""Metrics that use only a task's docs."""
METRICS = (*TEXT_METRICS, *DOC_METRICS)
DEFAULT_METRICS = ("bleu", "rouge-1", "rouge-lsum", *DOC_METRICS)
"""Metrics that take about a second and need no model weights."""
FunctionKey = tuple[str, str, str, int]
"""The snapshot, path, qualified name and occurrence of a function."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A metric's value for one task, and the task's pass@k by k, which is None with fewer than k samples."""

    task: str
    repository: str
    file: str
    value: float
    passed: Mapping[int, float | None]


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """One metric of one pair, over the tasks of a group."""

    metric: str
    pair: str  # one of :data:`PAIRS`, or ``doc`` for a metric of the docs alone
    values: Mapping[str, float]  # values by task, without tasks for which a text is missing
    mean: float | None  # unweighted mean over repositories
    interval: Interval
    correlations: Mapping[int, tuple[Correlation, ...]]  # correlations with pass@k of each kind, by k


@dataclass(frozen=True, slots=True)
class GroupMetrics:
    """The metrics of a group; ``notes`` contains the reasons for missing values."""

    run: str
    group: Group
    name: str
    tasks: int
    columns: tuple[MetricColumn, ...]
    notes: tuple[str, ...] = ()


@dataclass
class TaskTexts:
    """The texts of tasks, by task id."""

    function: dict[str, str] = field(default_factory=dict)
    docs: dict[str, str] = field(default_factory=dict)  # docs shown in the prompts
    body: dict[str, str] = field(default_factory=dict)
    original: dict[str, str] = field(default_factory=dict)  # original docs
    names: dict[str, set[str]] = field(default_factory=dict)  # identifiers by snapshot


def measure_run(
    reader: SessionReader,
    run_id: str,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    model: Path | None = None,
    judged: Helpfulness | None = None,
) -> tuple[GroupMetrics, ...]:
    """Compute the metrics of every group of a regeneration run.

    ``model`` is the folder with the weights of ``codebertscore``. ``judged`` is the helpfulness (see :func:`docs_of`)
    to add as columns.

    Raises:
        UsageError: There is no such metric.
        MetricUnavailable: A package or model is missing.
    """
    for name in metrics:
        if name not in METRICS:
            raise UsageError(f"There is no metric {name!r}; choose from {', '.join(METRICS)}.")
    run = reader.run(run_id)
    if run is None or run.kind != "regenerate":
        return ()
    scores = {name: text_metric(name, model) for name in metrics if name in TEXT_METRICS}
    ks = ks_of(run.plan)
    tasks = {task.id: task for task in reader.tasks(run_id)}
    texts, notes = texts_of(reader, tasks, metrics, original_docs(reader, run_id))
    outcomes = [
        one
        for one in group_outcomes(sample_counts(reader, run_id, by_task=True), tasks.values(), ks)
        if not one.control
    ]
    bodies = _bodies(reader, run_id, tasks) if scores else {}
    groups = [one.group for one in outcomes]
    found = []
    for outcome in outcomes:
        results = {one.task: one for one in outcome.results}
        columns = [
            _column(name, pair, values, results, ks)
            for name in metrics
            for pair, values in values_of(name, results, tasks, texts, bodies.get(outcome.group, {}), scores).items()
        ]
        for name, judgements in judged.columns.items() if judged is not None else ():
            mine = {task: value for task, value in judgements.items() if task in results}
            columns += [_column(name, "doc", mine, results, ks)] if mine else []
        found.append(
            GroupMetrics(run_id, outcome.group, outcome.group.name(groups), len(results), tuple(columns), notes)
        )
    return tuple(found)


def docs_of(reader: SessionReader, run_id: str) -> dict[str, JudgedDocstring]:
    """Return the functions of a run's ready tasks, by task, with the docs that their prompts showed (possibly "")."""
    tasks = {task.id: task for task in reader.tasks(run_id) if task.state == "ready"}
    texts, _ = texts_of(reader, tasks, (), {})
    return {task: JudgedDocstring(texts.function[task], texts.docs[task]) for task in tasks}


def values_of(
    metric: str,
    chosen: Iterable[str],
    tasks: Mapping[str, TaskRow],
    texts: TaskTexts,
    bodies: Mapping[str, Sequence[str]],
    scores: Mapping[str, Score],
) -> dict[str, dict[str, float]]:
    """Return one metric by pair and task, leaving out pairs for which every task lacks a text.

    ``bodies`` are the counted bodies; ``scores`` are metrics that compare two texts, see
    :func:`workbench.metrics.texts.text_metric`.
    """
    if metric in scores:
        found = _of_pairs(scores[metric], chosen, texts, bodies)
    else:
        found = {"doc": _of_docs(metric, chosen, tasks, texts)}
    return {pair: values for pair, values in found.items() if values}


def metric_column(metric: str, pair: str, measured: Sequence[Measurement], ks: Sequence[int]) -> MetricColumn:
    rows = [Value(one.repository, one.file, one.value) for one in measured]
    correlations = {}
    for k in ks:
        pairs = [
            Pair(one.repository, one.file, one.value, passed)
            for one in measured
            if (passed := one.passed.get(k)) is not None
        ]
        correlations[k] = tuple(correlation(pairs, kind) for kind in KINDS) if pairs else ()
    # The rule for shares does not apply: BERTScore can be negative, and no metric is a count of successes.
    interval = difference_interval(rows)
    mean = clusters_of(rows).mean if rows else None
    return MetricColumn(metric, pair, {one.task: one.value for one in measured}, mean, interval, correlations)


def _column(
    metric: str, pair: str, values: Mapping[str, float], results: Mapping[str, TaskResult], ks: Sequence[int]
) -> MetricColumn:
    measured = [
        Measurement(task, one.repository, one.file, value, {k: one.at(k) for k in ks})
        for task, value in values.items()
        for one in [results[task]]
    ]
    return metric_column(metric, pair, measured, ks)


def _of_pairs(
    score: Score, chosen: Iterable[str], texts: TaskTexts, bodies: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {pair: {} for pair in PAIRS}
    for task in chosen:
        docs, body = texts.docs.get(task), texts.body.get(task)
        if docs and (original := texts.original.get(task)):
            found["doc-doc"][task] = score(docs, original)
        if body and (mine := bodies.get(task)):
            found["code-code"][task] = math.fsum(score(one, body) for one in mine) / len(mine)
        if docs and body:
            found["code-doc"][task] = score(docs, body)
    return found


def _of_docs(metric: str, chosen: Iterable[str], tasks: Mapping[str, TaskRow], texts: TaskTexts) -> dict[str, float]:
    found = {}
    for task in chosen:
        if metric == "leakage":
            value = tasks[task].leak
        elif metric == "truthfulness":
            value = truthfulness(texts.docs.get(task), texts.names.get(tasks[task].snapshot, set())).value
        else:
            judged = completeness(texts.function.get(task, ""), texts.docs.get(task), version=metric.partition("-")[2])
            value = None if judged is None else judged.value
        if value is not None:
            found[task] = value
    return found


def texts_of(
    reader: SessionReader, tasks: Mapping[str, TaskRow], metrics: Sequence[str], originals: Mapping[FunctionKey, str]
) -> tuple[TaskTexts, tuple[str, ...]]:
    """Return the texts of tasks and notes on missing ones; identifiers are read only if a metric needs them."""
    texts = TaskTexts()
    sources: dict[str, dict[tuple[str, int], str]] = {}
    for key, task in tasks.items():
        texts.docs[key] = _read(reader, task.docstring_blob)
        texts.body[key] = _read(reader, task.body_blob)
        # Comparing the original docs with themselves always yields 1.
        if task.docs != "original":
            texts.original[key] = originals.get(function_key(task), "")
        if task.source_blob and task.source_blob not in sources:
            sources[task.source_blob] = _functions(_read(reader, task.source_blob), task.path)
        known = sources.get(task.source_blob or "", {})
        texts.function[key] = known.get((task.qualified_name, task.occurrence), "")
    notes = _known_names(reader, tasks, texts) if "truthfulness" in metrics else []
    if all(task.docs == "original" for task in tasks.values()):
        notes.append("no doc-doc: the docs are the originals")
    elif not any(texts.original.values()):
        notes.append("no doc-doc: the session has no run with the original docs of these tasks")
    return texts, tuple(notes)


def _known_names(reader: SessionReader, tasks: Mapping[str, TaskRow], texts: TaskTexts) -> list[str]:
    """Add each repository's identifiers, from all its Python files and paths or only from the files with tasks."""
    notes: dict[str, None] = {}
    for snapshot in {task.snapshot for task in tasks.values()}:
        files = texts_in_cache(snapshot, lambda path: path.endswith((".py", ".pyi")))
        if files is None:
            blobs = {task.source_blob for task in tasks.values() if task.snapshot == snapshot}
            texts.names[snapshot] = {name for blob in blobs for name in names_of(_read(reader, blob))}
            notes[
                "truthfulness looks for names in the files that have tasks: the repository is not in this machine's cache"
            ] = None
        else:
            texts.names[snapshot] = {
                name for path, text in files.items() for name in (*names_of(text), *names_of(path))
            }
            notes["truthfulness looks for names in all Python files of the repository"] = None
    return list(notes)


def original_docs(reader: SessionReader, but: str = "") -> dict[FunctionKey, str]:
    return {
        function_key(task): _read(reader, task.docstring_blob)
        for run in reader.runs()
        if run.kind == "regenerate" and run.id != but
        for task in reader.tasks(run.id)
        if task.docs == "original"
    }


def _bodies(reader: SessionReader, run_id: str, tasks: Mapping[str, TaskRow]) -> dict[Group, dict[str, list[str]]]:
    found: dict[Group, dict[str, list[str]]] = {}
    for row in reader.candidates(run_id):
        if _counts(row) and row.task_id in tasks and (body := _read(reader, row.body_blob)):
            found.setdefault(group_of(row, tasks[row.task_id]), {}).setdefault(row.task_id, []).append(body)
    return found


def _counts(row: CandidateRow) -> bool:
    return not row.control and is_counted(row.verdict) and bool(row.body_blob)


def function_key(task: TaskRow) -> FunctionKey:
    return task.snapshot, task.path, task.qualified_name, task.occurrence


def _functions(source: str, path: str) -> dict[tuple[str, int], str]:
    text = source.encode("utf-8", "surrogateescape")
    return {
        (one.qualified_name, one.occurrence): " " * _indent(text, one.span.start)
        + text[one.span.start : one.span.end].decode("utf-8", "replace")
        for one in find_functions(text, path)
    }


def _indent(text: bytes, start: int) -> int:
    line = text[text.rfind(b"\n", 0, start) + 1 : start]
    return len(line) - len(line.lstrip()) if not line.strip() else 0


def _read(reader: SessionReader, digest: str | None) -> str:
    return reader.text_or_none(digest, "a text of a task") or "" if digest else ""


def to_json(found: GroupMetrics) -> dict[str, Any]:
    return {
        "run": found.run,
        "name": found.name,
        **found.group.to_json(),
        "tasks": found.tasks,
        "notes": list(found.notes),
        "metrics": [column_json(one) for one in found.columns],
    }


def column_json(one: MetricColumn) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "pair": one.pair,
        "tasks": len(one.values),
        "mean": one.mean,
        "low": one.interval.low,
        "high": one.interval.high,
        "interval": one.interval.words,
        "correlations": {
            str(k): {
                each.kind: {"value": each.value, "low": each.low, "high": each.high, "tasks": each.tasks}
                for each in all_kinds
            }
            for k, all_kinds in one.correlations.items()
        },
        "values": dict(one.values),
    }
