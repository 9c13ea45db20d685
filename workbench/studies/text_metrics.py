"""Text metrics for a study of docs, by column and by evaluator, and their correlation with pass@k.

Imports numpy, scipy and the packages of the metrics, so only report and command processes call it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.metrics.helpfulness import JudgedDocstring, recorded_helpfulness
from workbench.metrics.tasks import (
    DEFAULT_METRICS,
    METRICS,
    Measurement,
    MetricColumn,
    TaskTexts,
    column_json,
    metric_column,
    original_docs,
    texts_of,
    values_of,
)
from workbench.metrics.texts import TEXT_METRICS, MetricUnavailable, Score, text_metric
from workbench.results.studies import counted_bodies
from workbench.session.groups import Group
from workbench.session.reader import SessionReader
from workbench.session.rows import TaskRow
from workbench.statistics.correlations import Correlation
from workbench.studies.cells import StudyCell, pass_of
from workbench.studies.declaration import InJson, StudyColumn
from workbench.studies.outcome import FunctionFacts, StudyOutcome, runs_by_session, session_of

MOST_TASKS = 2_000
"""Maximum number of tasks to examine over all doc systems.

If there are more, all systems use the same subset of functions.
"""
LEXICAL = ("bleu", "rouge-1", "rouge-lsum")
"""Metrics that compare the words of two texts."""
_KEPT_SCORES = 50_000


@dataclass(frozen=True, slots=True)
class MetricsOf:
    """Metrics of a column, or of all columns of an evaluator together (``column`` is None)."""

    model: str
    column: StudyColumn | None
    metrics: tuple[MetricColumn, ...]

    def to_json(self) -> dict[str, Any]:
        metrics = [{key: value for key, value in column_json(one).items() if key != "values"} for one in self.metrics]
        return {"model": self.model, "column": None if self.column is None else self.column.name, "metrics": metrics}


@dataclass(frozen=True, slots=True)
class TextMetrics(InJson):
    """Metrics of ``tasks`` out of ``of`` tasks, by column and ``together`` by evaluator; ``notes`` list omissions."""

    together: tuple[MetricsOf, ...]
    by_column: tuple[MetricsOf, ...]
    tasks: int
    of: int
    notes: tuple[str, ...]


def text_metrics(
    reader: SessionReader,
    outcome: StudyOutcome,
    functions: Sequence[FunctionFacts],
    metrics: Sequence[str] = (),
    *,
    model: Path | None = None,
) -> TextMetrics:
    """Compute metrics of a study's docs and bodies as in :func:`workbench.studies.analysis.analyse`.

    If no metrics are requested, helpfulness is included wherever a judge has rated it (``workbench metrics
    --helpfulness``). Raises UsageError for an unknown metric.
    """
    notes: dict[str, None] = {}
    scores = _scores(metrics, model, notes)
    every = list({facts.task: None for one in functions for facts in one.facts.values()})
    step = -(-len(every) // MOST_TASKS)
    chosen = {facts.task for one in functions[:: max(1, step)] for facts in one.facts.values()}
    names = [one for one in metrics or DEFAULT_METRICS if one in scores or one not in TEXT_METRICS]
    measured: dict[str, dict[tuple[str, str], list[Measurement]]] = {one.name: {} for one in outcome.columns}
    for session, runs in runs_by_session(outcome.cells.values()).items():
        with session_of(reader, session) as place:
            originals = original_docs(place) if scores else {}
            for run in runs:
                cells = [one for one in outcome.cells.values() if (one.work.session, one.run) == (session, run)]
                rows = {task.id: task for task in place.tasks(run) if task.id in chosen}
                texts, remarks = texts_of(place, rows, names, originals)
                # The table shows which texts are missing, but not where names were looked up, so a note says it.
                notes |= dict.fromkeys(one for one in remarks if not one.startswith("no doc-doc"))
                judged = {} if metrics else _judgements(place, texts, rows)
                for cell in cells:
                    bodies = _bodies(place, cell, rows) if scores else {}
                    for key, values in _measured(cell, names, rows, texts, bodies, scores, outcome.study.k, judged):
                        measured[cell.column.name].setdefault(key, []).extend(values)
    ks = outcome.study.k
    by_column = tuple(
        MetricsOf(column.model, column, _columns(found, ks))
        for column in outcome.columns
        if (found := measured[column.name])
    )
    together: dict[str, dict[tuple[str, str], list[Measurement]]] = {}
    compared = [one for one in by_column if one.column is not None and not outcome.summary(one.column).apart]
    several = Counter(one.model for one in compared)
    for one in compared:
        for key, values in measured[one.column.name if one.column else ""].items():
            together.setdefault(one.model, {}).setdefault(key, []).extend(values)
    return TextMetrics(
        tuple(MetricsOf(each, None, _columns(found, ks)) for each, found in together.items() if several[each] > 1),
        by_column,
        len(chosen),
        len(every),
        tuple(notes),
    )


def furthest(
    found: MetricsOf, metrics: Sequence[str] = (), *, pair: str = ""
) -> tuple[MetricColumn, int, Correlation] | None:
    """Return the metric whose Pearson correlation with pass@k is furthest from 0, and k.

    ``""`` and ``()`` select all metrics.
    """
    every = [
        (one, k, kinds[0])
        for one in found.metrics
        if (not metrics or one.metric in metrics) and (not pair or one.pair == pair)
        for k, kinds in one.correlations.items()
        if kinds and kinds[0].value is not None
    ]
    return max(every, key=lambda each: abs(each[2].value or 0.0), default=None)


def _columns(found: Mapping[tuple[str, str], Sequence[Measurement]], ks: Sequence[int]) -> tuple[MetricColumn, ...]:
    return tuple(metric_column(metric, pair, values, ks) for (metric, pair), values in found.items())


def _scores(metrics: Sequence[str], model: Path | None, notes: dict[str, None]) -> dict[str, Score]:
    for name in metrics:
        if name not in METRICS:
            raise UsageError(f"There is no metric {name!r}; choose from {', '.join(METRICS)}.")
    found: dict[str, Score] = {}
    for name in metrics or DEFAULT_METRICS:
        if name not in TEXT_METRICS:
            continue
        try:
            # The same docs and bodies recur under every evaluator, and samples are often identical.
            found[name] = functools.lru_cache(_KEPT_SCORES)(text_metric(name, model))
        except MetricUnavailable as error:
            if metrics:
                raise
            notes[str(error).rstrip(".")] = None
    return found


def _measured(
    cell: StudyCell,
    metrics: Sequence[str],
    rows: Mapping[str, TaskRow],
    texts: TaskTexts,
    bodies: Mapping[str, list[str]],
    scores: Mapping[str, Score],
    ks: Sequence[int],
    judged: Mapping[str, Mapping[str, float]],
) -> Iterator[tuple[tuple[str, str], list[Measurement]]]:
    """Yield the values of a cell's tasks by metric and pair."""
    tasks = {one.task: one for one in cell.work.tasks if one.task in rows}
    passed = {key: {k: pass_of(one, k) for k in ks} for key, one in tasks.items()}
    of_pairs = ((metric, values_of(metric, tasks, rows, texts, bodies, scores)) for metric in metrics)
    found = [((metric, pair), values) for metric, pairs in of_pairs for pair, values in pairs.items()]
    for key, values in (*found, *(((name, "doc"), values) for name, values in judged.items())):
        here = {tasks[task]: value for task, value in values.items() if task in tasks}
        yield key, [Measurement(one.task, cell.row, one.file, value, passed[one.task]) for one, value in here.items()]


def _judgements(reader: SessionReader, texts: TaskTexts, tasks: Iterable[str]) -> dict[str, Mapping[str, float]]:
    items = {task: JudgedDocstring(texts.function[task], texts.docs[task]) for task in tasks}
    judged = recorded_helpfulness(reader, items)
    return {name: values for one in judged for name, values in one.columns.items() if values}


def _bodies(reader: SessionReader, cell: StudyCell, tasks: Container[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    mine = [one.task for one in cell.work.tasks if one.task in tasks]
    for task, digest in counted_bodies(reader, mine, Group("", *cell.work.group, cell.work.settings)):
        if body := reader.text_or_none(digest, "a body"):
            found.setdefault(task, []).append(body)
    return found
