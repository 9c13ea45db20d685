"""A session in Python: ``open_session("NAME")`` gives its tables as data frames of pandas or polars, whichever is installed.

A table is read when it is asked for. Texts stay in the file until :meth:`Session.text` is asked for one: columns that end in
``_blob`` name them. What is not known is missing, never 0.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from workbench.errors import UsageError
from workbench.text import one_line

_TOKENS = (
    "CASE WHEN {0} = 0 AND EXISTS (SELECT 1 FROM imported WHERE item = trials.id) AND NOT EXISTS "
    "(SELECT 1 FROM steps WHERE trial_id = trials.id AND steps.{0} IS NOT NULL) THEN NULL ELSE {0} END AS {0}"
)
_KEPT = "NOT IN (SELECT id FROM runs WHERE deleted_at IS NOT NULL)"
TABLES: dict[str, str] = {
    "trials": (
        "SELECT trials.id AS trial, run_id AS run, case_id, case_name, agent, model, repeat, trials.state, trials.error, steps, "
        f"{_TOKENS.format('prompt_tokens')}, {_TOKENS.format('completion_tokens')}, cost_usd, seconds, trials.started_at, trials.finished_at, "
        "parent, fork_step, readme_blob, metadata_blob, (SELECT format FROM imported WHERE item = trials.id) AS imported_from "
        f"FROM trials JOIN runs ON runs.id = run_id WHERE run_id {_KEPT} ORDER BY runs.created_at, run_id, position"
    ),
    "steps": (
        "SELECT trial_id AS trial, number, kind, action, target, problem, steps.prompt_tokens, steps.completion_tokens, "
        "steps.cost_usd, steps.seconds, steps.model, nullif(at, 0) AS at, observation_size, answer_blob, observation_blob "
        f"FROM steps JOIN trials ON trials.id = trial_id WHERE run_id {_KEPT} ORDER BY trial_id, number"
    ),
    "scores": (
        "SELECT trial_id AS trial, case_id, agent, scorecards.rubric, judge, "
        "CASE WHEN tier1 + tier2 + tier3 + tier4 IS NOT NULL THEN total END AS points, total, out_of, tier1, tier2, tier3, tier4, problem, at "
        f"FROM scorecards JOIN trials ON trials.id = trial_id WHERE run_id {_KEPT} ORDER BY trial_id, rubric, judge"
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
"""Each table with the SELECT that gives it; of ``criteria`` the rows stand in the scorecards."""
CRITERIA = ("trial", "case_id", "agent", "rubric", "judge", "tier", "key", "title", "points", "maximum", "reason")


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: names of columns, and rows in their order."""

    columns: tuple[str, ...]
    values: list[tuple[Any, ...]]


class Session:
    """A session, read-only; use it with ``with``, or call :meth:`close`.

    Args:
        path: The session file.

    Raises:
        SessionError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        from workbench.session import SessionReader

        self.path = path
        self._reader = SessionReader(path)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.path.name}>"

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    @property
    def trials(self) -> Any:
        """A row for each trial: case, agent, model, state, sums, ``imported_from``."""
        return self._frame("trials")

    @property
    def steps(self) -> Any:
        """A row for each step of each trial."""
        return self._frame("steps")

    @property
    def scores(self) -> Any:
        """A row for each trial, rubric and judge: points in all and of each tier."""
        return self._frame("scores")

    @property
    def criteria(self) -> Any:
        """A row for each criterion of each scorecard, with points, maximum and reason."""
        return self._frame("criteria")

    @property
    def tasks(self) -> Any:
        """A row for each regeneration task."""
        return self._frame("tasks")

    @property
    def candidates(self) -> Any:
        """A row for each candidate, controls included, with its verdict."""
        return self._frame("candidates")

    @property
    def failing_tests(self) -> Any:
        """A row for each test that did not pass for a candidate."""
        return self._frame("failing_tests")

    def rows(self, table: str) -> Rows:
        """Return a table as plain tuples, without a library for data frames.

        Raises:
            UsageError: There is no such table.
        """
        if table not in TABLES:
            raise UsageError(f"There is no table {table!r}; there are {', '.join(TABLES)}.")
        if table == "criteria":
            return self._criteria()
        sql = TABLES[table]
        return Rows(self._columns(sql), [tuple(row) for row in self._reader.query(sql)])

    def query(self, sql: str, *arguments: object) -> Any:
        """Return a frame of what a SELECT of your own gives; ``docs/session.md`` has the tables and views.

        Raises:
            UsageError: SQLite refuses it.
        """
        from workbench.session import SessionError

        try:
            return _framed(
                Rows(self._columns(sql, arguments), [tuple(row) for row in self._reader.query(sql, arguments)])
            )
        except SessionError as error:
            if isinstance(error.__cause__, sqlite3.OperationalError):
                raise UsageError(f"SQLite refuses the query: {one_line(str(error.__cause__), 200)}.") from None
            raise

    def text(self, digest: str | None) -> str | None:
        """Return the text that a ``…_blob`` column names; None for None.

        Raises:
            SessionError: It is not there or cannot be read.
        """
        return None if digest is None else self._reader.data(digest).decode("utf-8", "replace")

    def _frame(self, table: str) -> Any:
        return _framed(self.rows(table))

    def _columns(self, sql: str, arguments: Sequence[object] = ()) -> tuple[str, ...]:
        return self._reader.columns_of(sql, arguments)

    def _criteria(self) -> Rows:
        values = []
        trials = {row.id: row for row in self._reader.trials()}
        for score in self._reader.scores():
            trial = trials[score.trial_id]
            for one in self._reader.card(score).get("criteria", ()):
                told = (one.get(name) for name in CRITERIA[5:])
                values.append((trial.id, trial.case_id, trial.agent, score.rubric, score.judge, *told))
        return Rows(CRITERIA, values)


def open_session(session: str | Path) -> Session:
    """Open a session to read: a file, or the name of a session in the folder that ``workbench locate sessions`` tells.

    Raises:
        UsageError: There is none.
        SessionError: It cannot be read.
    """
    from workbench.engine.session_names import resolve_session

    return Session(resolve_session(str(session)))


def session_rows(session: Path, table: str) -> Rows:
    """Return one table of a session as plain tuples.

    Raises:
        SessionError: It cannot be read.
    """
    with Session(session) as opened:
        return opened.rows(table)


def _framed(rows: Rows) -> Any:
    """Return a frame of pandas, else of polars; numbers that may be missing keep that they are missing."""
    data = {name: [row[place] for row in rows.values] for place, name in enumerate(rows.columns)}
    if importlib.util.find_spec("pandas") is not None:
        import pandas

        return pandas.DataFrame(data, columns=list(rows.columns)).convert_dtypes()
    if importlib.util.find_spec("polars") is not None:
        import polars

        return polars.DataFrame({name: _alike(values) for name, values in data.items()}, strict=False)
    raise UsageError(
        "Data frames need pandas or polars: pip install pandas; Session.rows() gives plain tuples without either."
    )


def _alike(values: list[Any]) -> list[Any]:
    """Return values of one kind: a column of several kinds as texts."""
    kinds = {type(one) for one in values if one is not None}
    if len(kinds) <= 1 or kinds == {int, float}:
        return values
    return [None if one is None else one if isinstance(one, str) else json.dumps(one) for one in values]
