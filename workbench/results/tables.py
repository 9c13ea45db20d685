"""The tables of a session as plain rows, for data frames and ``workbench export``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.errors import UsageError
from workbench.results.scores import cards_of
from workbench.session.schema import ARCHIVED_RUNS, COUNTED

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_TOKENS = (
    "CASE WHEN {0} = 0 AND EXISTS (SELECT 1 FROM imported WHERE item = trials.id) AND NOT EXISTS "
    "(SELECT 1 FROM steps WHERE trial_id = trials.id AND steps.{0} IS NOT NULL) THEN NULL ELSE {0} END AS {0}"
)
_KEPT = f"NOT IN {ARCHIVED_RUNS}"
TABLES: dict[str, str] = {
    "trials": (
        "SELECT trials.id AS trial, run_id AS run, case_id, case_name, agent, model, repeat, trials.state, trials.error, steps, "
        f"{_TOKENS.format('prompt_tokens')}, {_TOKENS.format('completion_tokens')}, cost_usd, seconds, trials.started_at, trials.finished_at, "
        "parent, fork_step, readme_blob, metadata_blob, (SELECT format FROM imported WHERE item = trials.id) AS imported_from "
        f"FROM trials JOIN runs ON runs.id = run_id WHERE {COUNTED} ORDER BY runs.created_at, run_id, position"
    ),
    "steps": (
        "SELECT trial_id AS trial, number, kind, action, target, problem, steps.prompt_tokens, steps.completion_tokens, "
        "steps.cost_usd, steps.seconds, steps.model, nullif(at, 0) AS at, observation_size, answer_blob, observation_blob "
        f"FROM steps JOIN trials ON trials.id = trial_id WHERE {COUNTED} ORDER BY trial_id, number"
    ),
    "scores": (
        "SELECT trial_id AS trial, case_id, agent, scorecards.rubric, judge, "
        "CASE WHEN tier1 + tier2 + tier3 + tier4 IS NOT NULL THEN total END AS points, total, out_of, tier1, tier2, tier3, tier4, problem, at "
        f"FROM scorecards JOIN trials ON trials.id = trial_id WHERE {COUNTED} ORDER BY trial_id, rubric, judge"
    ),
    "criteria": "",
    "tasks": (
        "SELECT id AS task, run_id AS run, path, qualified_name AS function, occurrence, docs, docs_scope, state, reason, test_count, "
        "coverage, branches, branches_covered, leak, docstring_blob IS NOT NULL AS documented, snapshot, source_blob, body_blob, "
        f"docstring_blob FROM tasks WHERE run_id {_KEPT} ORDER BY run_id, position"
    ),
    "candidates": (
        "SELECT candidates.id AS candidate, tasks.run_id AS run, task_id AS task, path, qualified_name AS function, docs, docs_scope, "
        "evaluator, prompt, context, settings, sample, control, tasks.state AS task_state, candidates.state, verdict, verdict_reason, "
        "route, backend, doubtful, repairs, prompt_tokens, completion_tokens, cost_usd, asked_s, tested_s, at, "
        "candidates.body_blob, answer_blob, (SELECT format FROM imported WHERE item = candidates.id) AS imported_from "
        f"FROM candidates JOIN tasks ON tasks.id = task_id WHERE tasks.run_id {_KEPT} ORDER BY run, task, evaluator, sample"
    ),
    "failing_tests": (
        "SELECT candidate_id AS candidate, tasks.run_id AS run, task_id AS task, path, qualified_name AS function, evaluator, sample, "
        "control, verdict, test_id, outcome, message, traceback_blob FROM failing_tests JOIN candidates ON candidates.id = candidate_id "
        f"JOIN tasks ON tasks.id = task_id WHERE tasks.run_id {_KEPT} ORDER BY candidate, test_id"
    ),
}
"""The SELECT for each table; the rows of ``criteria`` are read from the scorecards."""
CRITERIA = ("trial", "case_id", "agent", "rubric", "judge", "tier", "key", "title", "points", "maximum", "reason")


@dataclass(frozen=True, slots=True)
class Rows:
    """Column names, and rows with their values in the same order."""

    columns: tuple[str, ...]
    values: list[tuple[Any, ...]]


def table_rows(reader: SessionReader, table: str) -> Rows:
    if table not in TABLES:
        raise UsageError(f"There is no table {table!r}; the tables are {', '.join(TABLES)}.")
    return _criteria(reader) if table == "criteria" else rows_of(reader, TABLES[table])


def rows_of(reader: SessionReader, sql: str, arguments: Sequence[object] = ()) -> Rows:
    return Rows(reader.columns_of(sql, arguments), [tuple(row) for row in reader.query(sql, arguments)])


def _criteria(reader: SessionReader) -> Rows:
    values = []
    trials = {row.id: row for row in reader.trials()}
    for score in reader.scores():
        trial = trials[score.trial_id]
        for card in cards_of(reader, [score]):
            values += [
                (
                    trial.id,
                    trial.case_id,
                    trial.agent,
                    score.rubric,
                    score.judge,
                    *(getattr(one, name) for name in CRITERIA[5:]),
                )
                for one in card.criteria
            ]
    return Rows(CRITERIA, values)
