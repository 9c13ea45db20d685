"""A study as rows of CSV or Parquet: one for each cell, each item of a cell, and each column.

``kind`` distinguishes them. Both formats have the same columns, each with a single type; values that do not apply to a
kind of row are empty.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.pages.rows import line
from workbench.results.studies import TaskFacts
from workbench.session.json_forms import picked
from workbench.studies.cells import (
    CREDITED,
    FORMATTED,
    SHARES,
    Mean,
    StudyCell,
    missing_of,
    pass_of,
    score_of,
    value_of,
)
from workbench.studies.declaration import AGENTS
from workbench.studies.leaderboard import LeaderLine, leaderboard
from workbench.studies.outcome import ColumnSummary, FunctionFacts, StudyOutcome

Values = dict[str, Any]
_COMMON: dict[str, type] = {
    "kind": str, "study": str, "row": str, "column": str, "system": str, "model": str, "source": str, "state": str,
    "run": str, "item": str,
}  # fmt: skip
_AMOUNTS: dict[str, type] = {"tokens": int, "cost_usd": float, "seconds": float, "problem": str}
_JUDGED: dict[bool, tuple[tuple[str, type], ...]] = {False: (), True: (("good", int), ("judged", int), ("all", int))}
_TIERS = tuple(f"tier{number}" for number in range(1, 5))
_OF_AGENTS: dict[str, type] = {
    "repeat": int, "place": int, "place_of": int, "rubric": str, "judge": str, **dict.fromkeys(_TIERS, float), "steps": int,
    "score_own": float, "score_own_of": float, "credited": int, "with_format": int,
}  # fmt: skip
_OF_DOCS: dict[str, type] = {
    "path": str, "function": str, "occurrence": int, "evaluator": str, "prompt": str, "context": str, "tests": int,
    "documented": float, "samples": int, "counted": int, "passed": int, "doubtful": int, "repaired": int,
    "leak": float, "coverage": float, "body_bytes": int, "docs_bytes": int,
}  # fmt: skip
_STATES: dict[str, type] = {
    "done": int, "planned": int, "cut": int, "conditions": str, "left_out": str, "not_comparable": str,
}  # fmt: skip


def columns_of(outcome: StudyOutcome) -> dict[str, type]:
    names = {measure: field(measure) for measure in outcome.study.measures}
    means = {f"{name}{end}": float for name in names.values() for end in ("", "_low", "_high")}
    intervals = {f"{name}_interval": str for name in names.values()}
    counts: tuple[tuple[str, type], ...] = (
        ("items", int), ("undefined", int), ("missing", str), ("common", float), ("common_items", int),
    )  # fmt: skip
    of = {
        f"{name}_{key}": kind for measure, name in names.items() for key, kind in (*counts, *_JUDGED[measure in SHARES])
    }
    own = _OF_AGENTS if outcome.study.kind == AGENTS else _OF_DOCS
    return {**_COMMON, **own, **means, **intervals, **of, **_STATES, **_AMOUNTS}


def field(measure: str) -> str:
    return measure.replace("@", "_at_")


def rows_of(outcome: StudyOutcome, functions: Iterable[FunctionFacts] = ()) -> Iterator[Values]:
    """Yield a row for each cell, followed by its trials or tasks; then a row for each column."""
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


def _cell(outcome: StudyOutcome, cell: StudyCell) -> Values:
    work = cell.work
    found: Values = {
        "kind": "cell",
        **picked(cell, "state", "done", "planned"),
        **picked(work, "tokens", "cost_usd", "seconds"),
        "problem": cell.problem or None,
        **_doubts(cell.doubts),
        "conditions": "; ".join(f"{name}: {value}" for name, value in work.conditions.items()) or None,
        "left_out": "; ".join(work.left_out) or None,
        "not_comparable": "; ".join(outcome.summary(cell.column).apart) or None,
        **_means(cell.means),
    }
    if outcome.study.kind == AGENTS:
        found["rubric"], found["judge"] = outcome.scale
    else:
        found["documented"] = cell.documented
        found["evaluator"], found["prompt"], found["context"] = (one or None for one in work.group)
    return found


def _trials(outcome: StudyOutcome, cell: StudyCell) -> Iterator[Values]:
    scale, measures = outcome.scale, outcome.study.measures
    for trial in cell.work.trials:
        tiers = trial.scores[scale].tiers if scale in trial.scores else (None,) * 4
        missing = missing_of(trial, "score", scale)
        yield {
            "kind": "trial",
            **picked(trial, "trial:item", "state", "repeat", "steps", "tokens", "cost_usd", "seconds"),
            "rubric": scale[0],
            "judge": scale[1],
            "score": score_of(trial, scale),
            "cut": int(trial.cut),
            **{one: value_of(trial, one, scale) for one in measures if one != "score"},
            **dict(zip(_TIERS, tiers, strict=True)),
            "problem": trial.error or (missing and missing[1]) or None,
            "score_missing": missing and ": ".join(filter(None, missing)),
            **{
                f"{name}_{key}": count
                for name, counts in trial.checks.items()
                if name in measures
                for (key, _), count in zip(_JUDGED[True], counts, strict=True)
            },
        }


def _tasks(
    outcome: StudyOutcome, cell: StudyCell, known: Mapping[tuple[str, str], Mapping[str, TaskFacts]]
) -> Iterator[Values]:
    evaluator, prompt, context = (one or None for one in cell.work.group)
    for task in cell.work.tasks:
        facts = known.get((cell.row, task.name), {}).get(cell.column.name)
        yield {
            "kind": "task",
            **picked(facts, "leak", "coverage", "body:body_bytes", "docs:docs_bytes"),
            **picked(task, "task:item", "file:path", "function", "occurrence", "tests", "samples", "counted", "passed"),
            **picked(task, "doubtful", "repaired", "cut"),
            "evaluator": evaluator,
            "prompt": prompt,
            "context": context,
            "documented": float(task.documented),
            **{field(f"pass@{k}"): pass_of(task, k) for k in outcome.study.k},
        }


def study_csv(outcome: StudyOutcome, functions: Iterable[FunctionFacts] = ()) -> Iterator[str]:
    columns = columns_of(outcome)
    yield line(list(columns))
    for row in rows_of(outcome, functions):
        yield line([row.get(name) for name in columns])


def study_parquet(outcome: StudyOutcome, functions: Iterable[FunctionFacts] = ()) -> bytes:
    """Return the rows as a Parquet file; texts are unchanged, whereas CSV escapes formulas."""
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
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
