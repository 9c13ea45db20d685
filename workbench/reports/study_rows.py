"""A study as rows for other programs: one for each cell, one for each item behind it, one for each column; ``kind`` says which.

The same columns in CSV and Parquet, each with one type; a value that a kind of row lacks is empty.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.errors import WorkbenchError
from workbench.reports.csv_report import line
from workbench.results.studies import TaskFacts
from workbench.studies.cells import Cell, Mean
from workbench.studies.declaration import AGENTS
from workbench.studies.items import CREDITED, FORMATTED, SHARES, missing_of, pass_of, score_of, value_of
from workbench.studies.leaderboard import LeaderLine, leaderboard
from workbench.studies.outcome import ColumnSummary, StudyOutcome
from workbench.studies.task_facts import FunctionFacts

Values = dict[str, Any]
_COMMON: dict[str, type] = {
    "kind": str, "study": str, "row": str, "column": str, "system": str, "model": str, "source": str, "state": str,
    "run": str, "item": str,
}  # fmt: skip
_AMOUNTS: dict[str, type] = {"tokens": int, "cost_usd": float, "seconds": float, "problem": str}
_JUDGED: dict[bool, tuple[tuple[str, type], ...]] = {False: (), True: (("good", int), ("judged", int), ("all", int))}
_TIERS = tuple(f"tier{number}" for number in range(1, 5))


def columns_of(outcome: StudyOutcome) -> dict[str, type]:
    means = {
        name: float
        for measure in outcome.study.measures
        for name in (field(measure), f"{field(measure)}_low", f"{field(measure)}_high")
    }
    intervals = {f"{field(measure)}_interval": str for measure in outcome.study.measures}
    of = {
        f"{field(measure)}_{name}": kind
        for measure in outcome.study.measures
        for name, kind in (
            ("items", int),
            ("undefined", int),
            ("missing", str),
            ("common", float),
            ("common_items", int),
            *_JUDGED[measure in SHARES],
        )
    }
    counts = {"done": int, "planned": int, "cut": int, "conditions": str, "left_out": str, "not_comparable": str}
    if outcome.study.kind == AGENTS:
        own: dict[str, type] = {
            "repeat": int,
            "place": int,
            "place_of": int,
            "rubric": str,
            "judge": str,
            **dict.fromkeys(_TIERS, float),
            "steps": int,
            "score_own": float,
            "score_own_of": float,
            "credited": int,
            "with_format": int,
        }
    else:
        own = {
            "path": str, "function": str, "occurrence": int, "evaluator": str, "prompt": str, "context": str, "tests": int,
            "documented": float, "samples": int, "counted": int, "passed": int, "doubtful": int, "repaired": int,
            "leak": float, "coverage": float, "body_bytes": int, "docs_bytes": int,
        }  # fmt: skip
    return {**_COMMON, **own, **means, **intervals, **of, **counts, **_AMOUNTS}


def field(measure: str) -> str:
    return measure.replace("@", "_at_")


def rows_of(outcome: StudyOutcome, functions: Iterable[FunctionFacts] = ()) -> Iterator[Values]:
    """Yield a row for each cell, each followed by those of its trials or tasks; then a row for each column.

    Args:
        outcome: The study.
        functions: What is known of its functions besides verdicts (:mod:`workbench.studies.task_facts`).
    """
    known = {(one.row, one.name): one.facts for one in functions}
    for cell in outcome.cells.values():
        common = {
            "study": outcome.study.name, "row": cell.row, "column": cell.column.name, "system": cell.column.system,
            "model": cell.column.model, "source": cell.column.mark or None, "run": cell.run or None,
        }  # fmt: skip
        yield {**common, **_cell(outcome, cell)}
        for values in _trials(outcome, cell) if outcome.study.kind == AGENTS else _tasks(outcome, cell, known):
            yield {**common, **values}
    places = {one.summary.column.name: one for one in leaderboard(outcome)} if outcome.study.kind == AGENTS else {}
    for one in outcome.by_column:
        yield {"study": outcome.study.name, **_column(outcome, one), **_place(places.get(one.column.name))}


def _place(line: LeaderLine | None) -> Values:
    return {} if line is None else {"place": line.place, "place_of": line.of if line.place is not None else None}


def _column(outcome: StudyOutcome, one: ColumnSummary) -> Values:
    found: Values = {
        "kind": "column", "column": one.column.name, "system": one.column.system, "model": one.column.model,
        "source": one.column.mark or None, "done": one.done, "planned": one.planned, "tokens": one.tokens, "cost_usd": one.cost_usd,
        "seconds": one.seconds, "not_comparable": "; ".join(one.apart) or None, **_doubts(one.doubts), **_means(one.means),
    }  # fmt: skip
    for measure, common in outcome.common.items():
        found |= {
            f"{field(measure)}_common": common.means.get(one.column.name),
            f"{field(measure)}_common_items": common.items,
        }
    return found


def _doubts(doubts: Mapping[str, int]) -> Values:
    names = {CREDITED: "credited", FORMATTED: "with_format"}
    return {names.get(name, name): count for name, count in doubts.items()}


def _means(means: Mapping[str, Mean]) -> Values:
    found: Values = {}
    for measure, mean in means.items():
        name = field(measure)
        found |= {
            name: mean.value, f"{name}_low": mean.interval.low, f"{name}_high": mean.interval.high,
            f"{name}_interval": mean.interval.words, f"{name}_items": mean.items, f"{name}_undefined": mean.undefined,
            f"{name}_missing": "; ".join(one.words for one in mean.missing) or None,
        }  # fmt: skip
        if mean.own is not None:
            found |= {f"{name}_own": mean.own[0], f"{name}_own_of": mean.own[1]}
        if mean.judged is not None:
            found |= {f"{name}_{key}": count for (key, _), count in zip(_JUDGED[True], mean.judged, strict=True)}
    return found


def _cell(outcome: StudyOutcome, cell: Cell) -> Values:
    work = cell.work
    found: Values = {
        "kind": "cell", "state": cell.state, "done": cell.done, "planned": cell.planned, "tokens": work.tokens,
        "cost_usd": work.cost_usd, "seconds": work.seconds, "problem": cell.problem or None, **_doubts(cell.doubts),
        "conditions": "; ".join(f"{name}: {value}" for name, value in work.conditions.items()) or None,
        "left_out": "; ".join(work.left_out) or None, "not_comparable": "; ".join(outcome.summary(cell.column).apart) or None,
    }  # fmt: skip
    found |= _means(cell.means)
    if outcome.study.kind == AGENTS:
        found["rubric"], found["judge"] = outcome.scale
    else:
        found["documented"] = cell.documented
        found["evaluator"], found["prompt"], found["context"] = (one or None for one in work.group)
    return found


def _trials(outcome: StudyOutcome, cell: Cell) -> Iterator[Values]:
    for trial in cell.work.trials:
        tiers = trial.scores[outcome.scale].tiers if outcome.scale in trial.scores else (None,) * 4
        missing = missing_of(trial, "score", outcome.scale)
        yield {
            "kind": "trial", "item": trial.trial, "state": trial.state, "repeat": trial.repeat, "rubric": outcome.scale[0],
            "judge": outcome.scale[1], "score": score_of(trial, outcome.scale),
            **{one: value_of(trial, one, outcome.scale) for one in outcome.study.measures if one != "score"}, **dict(zip(_TIERS, tiers, strict=True)),
            "steps": trial.steps, "tokens": trial.tokens, "cost_usd": trial.cost_usd, "seconds": trial.seconds,
            "cut": int(trial.cut), "problem": trial.error or (missing and missing[1]) or None,
            "score_missing": missing and ": ".join(filter(None, missing)),
            **{f"{name}_{key}": count for name, counts in trial.checks.items() if name in outcome.study.measures
               for (key, _), count in zip(_JUDGED[True], counts, strict=True)},
        }  # fmt: skip


def _tasks(
    outcome: StudyOutcome, cell: Cell, known: Mapping[tuple[str, str], Mapping[str, TaskFacts]]
) -> Iterator[Values]:
    evaluator, prompt, context = (one or None for one in cell.work.group)
    for task in cell.work.tasks:
        told = known.get((cell.row, task.name), {}).get(cell.column.name)
        facts = (
            {}
            if told is None
            else {"leak": told.leak, "coverage": told.coverage, "body_bytes": told.body, "docs_bytes": told.docs}
        )
        yield {
            **facts,
            "kind": "task", "item": task.task, "path": task.file, "function": task.function, "occurrence": task.occurrence,
            "evaluator": evaluator, "prompt": prompt, "context": context, "tests": task.tests,
            "documented": float(task.documented), "samples": task.samples, "counted": task.counted, "passed": task.passed,
            "doubtful": task.doubtful, "repaired": task.repaired, "cut": task.cut,
            **{field(f"pass@{k}"): pass_of(task, k) for k in outcome.study.k},
        }  # fmt: skip


def study_csv(outcome: StudyOutcome, functions: Iterable[FunctionFacts] = ()) -> Iterator[str]:
    columns = columns_of(outcome)
    yield line(list(columns))
    for row in rows_of(outcome, functions):
        yield line([row.get(name) for name in columns])


def study_parquet(outcome: StudyOutcome, functions: Iterable[FunctionFacts] = ()) -> bytes:
    """Return the table as a Parquet file; texts are as they are, without the marks that CSV puts before formulas.

    Raises:
        WorkbenchError: pyarrow is not installed.
    """
    try:
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise WorkbenchError(
            "Parquet needs the package pyarrow, which is not installed: pip install 'docs-workbench[dataset]'; --format csv has the same rows."
        ) from None
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    columns = columns_of(outcome)
    schema = arrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    rows = [{name: _sound(row.get(name)) for name in columns} for row in rows_of(outcome, functions)]
    written = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows, schema=schema), written)
    return written.getvalue()


def _sound(value: Any) -> Any:
    """Return a text that UTF-8 can hold: a lone surrogate becomes its escape."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
