"""Counts of samples: totals per task, maintained by triggers, and the samples of a run aggregated by SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.session.groups import Group
from workbench.session.rows import UNDER_WAY, CandidateRow, TaskRow

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

COUNTS = "coalesce({0}verdict != 'error', 0)"
"""SQL for whether a candidate is a sample of pass@k; ``{0}`` is the table with a dot, or "". See :func:`is_counted`."""


def is_counted(verdict: str | None) -> bool:
    """Return whether a candidate is a sample of pass@k: it has a verdict that is not an error of the Workbench."""
    return verdict not in (None, "", "error")


# -- the columns of ``verdict_counts`` and their triggers

GROUPED = ("task_id", "evaluator", "prompt", "context", "settings", "control")
# Column of verdict_counts -> amount that a candidate adds; same rules as workbench.regeneration.outcome.
COUNTED = {
    "samples": "1",
    "waiting": "{0}verdict IS NULL",
    "counted": COUNTS,
    "passed": "coalesce({0}verdict = 'passed', 0)",
    "doubtful": "coalesce({0}verdict = 'passed' AND {0}doubtful IS NOT NULL, 0)",
    "repaired": "coalesce({0}verdict = 'passed' AND {0}repairs > 0, 0)",
    "tokens": "coalesce({0}prompt_tokens, 0) + coalesce({0}completion_tokens, 0)",
    "priced": "{0}cost_usd IS NOT NULL",
    "cost_usd": "coalesce({0}cost_usd, 0)",
    "seconds": "coalesce({0}asked_s, 0) + coalesce({0}tested_s, 0)",
}
_CHANGING = (
    "verdict, doubtful, repairs, prompt_tokens, completion_tokens, cost_usd, asked_s, tested_s, task_id, evaluator, prompt, "
    "context, settings, control"
)


def _counting(side: str, sign: str) -> str:
    sums = ", ".join(f"{name} = {name} {sign} ({sql.format(side)})" for name, sql in COUNTED.items())
    return f"UPDATE verdict_counts SET {sums} WHERE {' AND '.join(f'{name} = {side}{name}' for name in GROUPED)};"


# There is no conflict clause, because the clause of the statement that fires the trigger would override it.
_NEW_GROUP = (
    f"INSERT INTO verdict_counts ({', '.join(GROUPED)}) SELECT {', '.join(f'NEW.{name}' for name in GROUPED)} "
    f"WHERE NOT EXISTS (SELECT 1 FROM verdict_counts WHERE {' AND '.join(f'{name} = NEW.{name}' for name in GROUPED)});"
)
COUNTING = (
    f"CREATE TRIGGER verdict_counts_insert AFTER INSERT ON candidates BEGIN {_NEW_GROUP} {_counting('NEW.', '+')} END;",
    f"CREATE TRIGGER verdict_counts_update AFTER UPDATE OF {_CHANGING} ON candidates BEGIN {_counting('OLD.', '-')} "
    f"{_NEW_GROUP} {_counting('NEW.', '+')} END;",
    f"CREATE TRIGGER verdict_counts_delete AFTER DELETE ON candidates BEGIN {_counting('OLD.', '-')} END;",
)

# -- the samples of a run

CONTROL_FAILS = (
    "(candidates.sample = 0 AND ((evaluator = 'reference' AND verdict NOT IN ('passed', 'error')) "
    "OR (evaluator = 'stub' AND verdict = 'passed')))"
)
"""SQL for whether a candidate is a control with an unexpected verdict."""

DOUBTFUL = "(candidates.doubtful IS NOT NULL)"
"""SQL for whether a verdict is a doubtful pass, which the body might have forged."""
CUT = "EXISTS (SELECT 1 FROM calls WHERE calls.id = candidates.call_id AND finish_reason = 'length')"
"""SQL for whether a candidate's answer was cut at a token limit."""


# Similar samples are grouped by a single text, which is several times as fast in SQLite as grouping by a dozen columns.
_ALIKE = " || char(31) || ".join(
    ("control || (tasks.state = 'excluded') || (sample = 0)", DOUBTFUL, "candidates.state", "coalesce(verdict, '')",
     "coalesce(route, '')", "evaluator", "prompt", "context", "settings", "docs", "docs_scope",
     "(coalesce(repairs, 0) > 0)", CUT)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SampleCount:
    """A number of similar samples."""

    group: Group
    control: bool  # whether the samples are shown as controls
    task: str  # the samples' task, or "" if tasks are counted together
    excluded: bool
    first: bool
    state: str
    verdict: str  # their verdict, or "" for none; the previous one while they are retested
    doubtful: bool = False
    route: str = ""  # the route that produced the verdict, or "" for none
    count: int = 1
    tokens: int = 0  # total tokens of their prompts and answers
    cost_usd: float | None = None  # None if no cost is known
    began: float | None = None  # unix time of the first request
    ended: float | None = None
    rechecked: int = 0  # number retested on the cold route
    disagreeing: int = 0  # number of retested samples with a different verdict
    backends: tuple[str, ...] = ()  # sandboxes that produced the verdicts
    recent: tuple[int, int] = (0, 0)  # number of verdicts after each of the two times in ``since``
    first_recent: float | None = None  # time of the first verdict after the second of these times
    newest: int = 0  # id of the newest row
    repaired: bool = False  # whether their answers had to be repaired to get a body
    cut: bool = False  # whether their answers were cut at a token limit

    @property
    def retesting(self) -> bool:
        return bool(self.verdict) and self.state in UNDER_WAY


def sample_counts(
    reader: SessionReader, run_id: str, *, by_task: bool = False, since: tuple[float, float] = (1e18, 1e18)
) -> list[SampleCount]:
    """Return the samples of a run's tasks, aggregated; ``since`` has two times, the later one first."""
    task = "tasks.id" if by_task else "''"
    return _counts(reader, task, "tasks.run_id = ?3", f"{task} || {_ALIKE}", (*since, run_id))


def counts_of(reader: SessionReader, candidates: Iterable[CandidateRow]) -> list[SampleCount]:
    """Return a :class:`SampleCount` of 1 for each candidate."""
    ids = json.dumps([row.id for row in candidates])
    where = "candidates.id IN (SELECT value FROM json_each(?3))"
    return _counts(reader, "tasks.id", where, "candidates.id", (1e18, 1e18, ids))


def _counts(reader: SessionReader, task: str, where: str, alike: str, arguments: Sequence[object]) -> list[SampleCount]:
    rows = reader.query(
        "SELECT docs, evaluator, prompt, context, settings, docs_scope, control, "
        f"{task}, tasks.state = 'excluded', sample = 0, candidates.state, coalesce(verdict, ''), {DOUBTFUL}, "
        "coalesce(route, ''), count(*), total(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), "
        "sum(cost_usd), min(at - coalesce(asked_s, 0) - coalesce(tested_s, 0)), max(at), count(recheck), total(agrees = 0), "
        "group_concat(DISTINCT backend), total(at >= ?1), total(at >= ?2), min(CASE WHEN at >= ?2 THEN at END), "
        f"coalesce(max(candidates.rowid), 0), coalesce(repairs, 0) > 0, {CUT} "
        f"FROM tasks JOIN candidates ON task_id = tasks.id WHERE {where} GROUP BY {alike}",
        arguments,
    )
    return [
        SampleCount(
            Group(*row[:6]), bool(row[6]), row[7], bool(row[8]), bool(row[9]), row[10], row[11], bool(row[12]), row[13],
            row[14], int(row[15]), row[16], row[17], row[18], row[19], int(row[20]),
            tuple(sorted(row[21].split(","))) if row[21] else (), (int(row[22]), int(row[23])), row[24], row[25], bool(row[26]),
            bool(row[27]),
        )
        for row in rows
    ]  # fmt: skip


def group_of(row: CandidateRow, task: TaskRow) -> Group:
    return Group(task.docs, row.evaluator, row.prompt, row.context, row.settings, task.docs_scope)


@dataclass(frozen=True, slots=True)
class FailedSelfCheck:
    """A candidate that fails a self-check of its run, or an untested control; ``sample`` is numbered from 0."""

    task: str
    name: str
    group: Group
    control: bool
    sample: int
    disagrees: bool
    verdict: str
