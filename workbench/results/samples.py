"""Samples: their states, the tests they failed, and the self-check of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.text import plural
from workbench.session.groups import OF_GROUP, Group
from workbench.session.rows import UNDER_WAY, CandidateRow, FailingTestRow, FormerVerdictRow, TaskRow
from workbench.session.sample_counts import CONTROL_FAILS, COUNTS, FailedSelfCheck, SampleCount, sample_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.regeneration.outcome import TaskResult
    from workbench.regeneration.self_check import SelfCheck
    from workbench.session.reader import SessionReader
if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

ROUTES = ("hot", "warm", "cold")
"""The routes to a verdict, fastest first."""
SAMPLE_STATE = (
    f"coalesce(verdict, '') || ' ' || candidates.state || ' ' || CASE WHEN route IN {ROUTES} THEN route ELSE '' END"
)
"""SQL for a candidate's :class:`SampleState`, concatenated over the samples of a task; see :func:`sample_states`."""
_POINTS = 8
_MOST_PROBLEMS = 2_000


class SampleState(NamedTuple):
    """A sample's verdict (None before it has one), the state of its row, and the route that produced the verdict.

    A sample that is being retested keeps its previous verdict until the new one arrives.
    """

    verdict: str | None
    state: str = "done"
    route: str = ""

    @property
    def retesting(self) -> bool:
        return self.verdict is not None and self.state in UNDER_WAY

    @property
    def word(self) -> str:
        if self.verdict is not None:
            return self.verdict
        return (
            "running"
            if self.state in ("asking", "testing")
            else "cancelled"
            if self.state == "cancelled"
            else "waiting"
        )


@cache
def _sample_state(text: str) -> SampleState:
    verdict, state, route = text.split(" ")
    return SampleState(verdict or None, state, route)


def sample_states(text: str) -> tuple[SampleState, ...]:
    """Parse the states of samples that SQLite concatenated, see :data:`SAMPLE_STATE`."""
    return tuple(map(_sample_state, text.split(",")))


def samples_of(reader: SessionReader, task_id: str, group: Group) -> list[CandidateRow]:
    """Return the samples of a task in a group by number, without controls."""
    where = f"WHERE task_id = ? AND {OF_GROUP} AND control = 0 ORDER BY sample"
    return reader.rows(CandidateRow, "candidates", where, (task_id, *group.arguments))


@dataclass(frozen=True, slots=True)
class SampleView:
    """A task with one of its samples (None if it does not exist so far) and the number of the sample, starting at 0."""

    task: TaskRow
    candidate: CandidateRow | None
    number: int
    former: tuple[FormerVerdictRow, ...] = ()  # the sample's previous verdicts
    labels: tuple[str, ...] = ()  # the sample's star and tags
    annotations: tuple[str, ...] = ()


def read_sample(reader: SessionReader, task_id: str, group: Group, number: int) -> SampleView | None:
    """Read a task and its sample ``number``, or return None if the task no longer exists."""
    task = reader.task(task_id)
    samples = samples_of(reader, task_id, group)
    if task is None or not 0 <= number < len(samples):
        return None if task is None else SampleView(task, None, number)
    one = samples[number]
    labels = tuple(row.label for row in reader.labels(one.id))
    remarks = tuple(row.text for row in reader.annotations(one.id))
    return SampleView(task, one, number, tuple(reader.former_verdicts(one.id)), labels, remarks)


def candidates_of(reader: SessionReader, run_id: str) -> list[CandidateRow]:
    """Return the candidates for a run's tasks by group and sample, including those added by later runs."""
    where = "WHERE task_id IN (SELECT id FROM tasks WHERE run_id = ?) ORDER BY control, evaluator, prompt, context, settings, sample"
    return reader.rows(CandidateRow, "candidates", where, (run_id,))


def next_sample(reader: SessionReader, task_id: str, evaluator: str) -> int:
    numbers = "SELECT coalesce(max(sample), -1) + 1 FROM candidates WHERE task_id = ? AND evaluator = ?"
    return int(reader.query(numbers, (task_id, evaluator))[0][0])


def failing_tests(reader: SessionReader, task_id: str, group: Group | None = None) -> list[FailingTestRow]:
    """Return the failing tests of a task's samples by test id, in one group or all, without controls."""
    of = f"SELECT id FROM candidates WHERE task_id = ? AND control = 0{f' AND {OF_GROUP}' if group else ''}"
    arguments = (task_id, *group.arguments) if group is not None else (task_id,)
    return reader.rows(FailingTestRow, "failing_tests", f"WHERE candidate_id IN ({of}) ORDER BY test_id", arguments)


def states_by_group(reader: SessionReader, run_id: str) -> dict[Group, dict[str, tuple[SampleState, ...]]]:
    columns = "docs, evaluator, prompt, context, settings, docs_scope, task"
    rows = reader.query(
        f"SELECT {columns}, group_concat(sample_state) FROM (SELECT docs, evaluator, prompt, context, settings, docs_scope, "
        f"tasks.id AS task, {SAMPLE_STATE} AS sample_state FROM tasks JOIN candidates ON task_id = tasks.id "
        f"WHERE tasks.run_id = ? AND control = 0 ORDER BY {columns}, candidates.sample) GROUP BY {columns}",
        (run_id,),
    )
    found: dict[Group, dict[str, tuple[SampleState, ...]]] = {}
    for *group, task, states in rows:
        found.setdefault(Group(*group), {})[task] = sample_states(states)
    return found


def results_by_group(reader: SessionReader, run_id: str) -> dict[Group, tuple[TaskResult, ...]]:
    """Return the tasks of a run by group, without controls."""
    from workbench.regeneration.outcome import task_results

    tasks = {task.id: task for task in reader.tasks(run_id)}
    counts: dict[Group, list[SampleCount]] = {}
    for row in sample_counts(reader, run_id, by_task=True):
        if not row.control:
            counts.setdefault(row.group, []).append(row)
    return {group: task_results(rows, tasks) for group, rows in counts.items()}


def failed_checks(reader: SessionReader, run_id: str) -> list[FailedSelfCheck]:
    rows = reader.query(
        "SELECT task_id, qualified_name || CASE WHEN occurrence > 1 THEN '#' || occurrence ELSE '' END, "
        "docs, evaluator, prompt, context, settings, docs_scope, control, candidates.sample, coalesce(agrees = 0, 0) AS disagrees, verdict FROM tasks JOIN candidates ON tasks.id = task_id "
        f"WHERE tasks.run_id = ? AND verdict IS NOT NULL AND (disagrees OR {CONTROL_FAILS} OR (candidates.sample = 0 "
        "AND evaluator IN ('reference', 'stub') AND verdict = 'error')) "
        f"ORDER BY position, task_id, control DESC, evaluator, candidates.sample LIMIT {_MOST_PROBLEMS}",
        (run_id,),
    )
    return [
        FailedSelfCheck(row[0], row[1], Group(*row[2:8]), bool(row[8]), row[9], bool(row[10]), row[11]) for row in rows
    ]


def run_check(reader: SessionReader, run_id: str, counts: Sequence[SampleCount], tasks: int) -> SelfCheck:
    """Return the self-check of a run with a given number of tasks; failures name the tasks."""
    from workbench.regeneration.self_check import self_check

    check = self_check(counts, tasks)
    return self_check(counts, tasks, failed_checks(reader, run_id)) if check.suspect else check


def development(reader: SessionReader, run_id: str, group: Group) -> tuple[float, ...]:
    """Return the share of passed samples after each eighth of the counted samples."""
    rows = reader.query(
        f"SELECT count(*), sum(passed) FROM (SELECT verdict = 'passed' AS passed, ntile({_POINTS}) OVER (ORDER BY at) AS part "
        f"FROM candidates WHERE task_id IN (SELECT id FROM tasks WHERE run_id = ? AND state = 'ready') AND {OF_GROUP} "
        f"AND control = 0 AND {COUNTS.format('')}) GROUP BY part ORDER BY part",
        (run_id, *group.arguments),
    )
    points, count, passed = [], 0, 0
    for more, right in rows:
        count, passed = count + more, passed + right
        points.append(passed / count)
    return tuple(points)


# Ids, ports, seconds and dates: every word that contains a digit, except an HTTP status.
_CHANGING = re.compile(r"(?<!status )(?<!code: )\b[\w-]*\d[\w-]*(?:[.:]\d[\w-]*)*")


@dataclass(frozen=True, slots=True)
class ErrorReason:
    """One cause of errors: its first sentence, and the number of items that failed because of it."""

    sentence: str
    count: int

    def __str__(self) -> str:
        return f"{plural(self.count, 'error')}: {self.sentence}"

    def to_json(self) -> dict[str, object]:
        return {"sentence": self.sentence, "count": self.count}


def kind_of(sentence: str) -> str:
    """Return a sentence without its variable parts, so that all sentences about one cause become equal."""
    return _CHANGING.sub("#", sentence)


def counted(sentences: Iterable[tuple[str, int]]) -> tuple[ErrorReason, ...]:
    """Return the causes of (sentence, count) pairs, most frequent first."""
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    for sentence, count in sentences:
        kind = kind_of(sentence)
        first.setdefault(kind, sentence)
        counts[kind] = counts.get(kind, 0) + count
    return tuple(ErrorReason(first[kind], count) for kind, count in sorted(counts.items(), key=lambda item: -item[1]))


def error_reasons(reader: SessionReader, run_id: str, group: Group) -> tuple[ErrorReason, ...]:
    """Return the reasons why samples of a group have no verdict, without controls."""
    rows = reader.query(
        "SELECT verdict_reason, count(*) FROM tasks JOIN candidates ON task_id = tasks.id WHERE tasks.run_id = ? "
        f"AND control = 0 AND verdict = 'error' AND {OF_GROUP} GROUP BY verdict_reason ORDER BY min(at)",
        (run_id, *group.arguments),
    )
    return counted((str(sentence or "no reason was recorded"), int(count)) for sentence, count in rows)
