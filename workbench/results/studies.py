"""Queries for studies: counts by task and group for the cells, and the conditions of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from workbench.session.groups import OF_GROUP, Group
from workbench.session.sample_counts import COUNTS

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_THESE = "IN (SELECT value FROM json_each(?))"
_INFO = f"""
SELECT rowid, id, path, qualified_name, occurrence, test_count, docstring_blob IS NOT NULL FROM tasks
WHERE run_id {_THESE} AND state = 'ready'
"""
_MADE = f"""
SELECT run_id, group_concat(DISTINCT docs_scope), group_concat(DISTINCT snapshot) FROM tasks
WHERE run_id {_THESE} GROUP BY run_id
"""
# Each group is one row, with its tasks as JSON: creating Python objects takes most of the time.
_TALLIES = f"""
SELECT tasks.run_id, counts.evaluator, counts.prompt, counts.context, counts.settings,
       json_group_array(json_array(tasks.rowid, counts.samples, counts.waiting, counts.counted, counts.passed, counts.doubtful,
                                   counts.repaired, 0, 0)),
       sum(counts.tokens), sum(counts.priced), sum(counts.cost_usd), sum(counts.seconds)
FROM tasks JOIN verdict_counts AS counts ON counts.task_id = tasks.id
WHERE tasks.run_id {_THESE} AND tasks.state = 'ready' AND counts.control = 0 AND counts.samples > 0
GROUP BY 1, 2, 3, 4, 5
"""
_CUT = f"""
SELECT task_id, evaluator, prompt, context, settings, count(*), total(verdict = 'passed')
FROM candidates JOIN calls ON calls.id = candidates.call_id
WHERE candidates.run_id {_THESE} AND finish_reason = 'length' AND {COUNTS.format("")}
GROUP BY 1, 2, 3, 4, 5
"""


class TaskInfo(NamedTuple):
    """A task across all evaluators of its run; a tuple for speed, because there are thousands."""

    task: str
    file: str
    function: str
    occurrence: int
    tests: int
    documented: int


Counts = tuple[tuple[TaskInfo, int, int, int, int, int, int, int, int], ...]


class GroupCounts(NamedTuple):
    """The candidates of a run that belong to one group: counts by task, and totals."""

    counts: Counts
    tokens: int
    priced: int
    cost_usd: float
    seconds: float
    settings: str

    @property
    def samples(self) -> int:
        return sum(one[1] for one in self.counts)


def group_counts(reader: SessionReader, runs: Iterable[str]) -> dict[tuple[str, ...], list[GroupCounts]]:
    """Return the groups of runs by run, evaluator, prompt and context, with one entry for each sampling settings."""
    named = json.dumps(sorted(runs))
    infos = {row[0]: TaskInfo._make(row[1:]) for row in reader.query(_INFO, (named,))}
    cut = {tuple(key): (count, int(passed)) for *key, count, passed in reader.query(_CUT, (named,))}
    found: dict[tuple[str, ...], list[GroupCounts]] = {}
    for *key, settings, listed, tokens, priced, cost, seconds in reader.query(_TALLIES, (named,)):
        # A task may have been added between the two queries; the next read will include it.
        tasks = tuple((infos[row], *numbers) for row, *numbers in json.loads(listed) if row in infos)
        if cut:
            tasks = tuple((*one[:7], *cut.get((one[0].task, *key[1:], settings), (0, 0))) for one in tasks)
        found.setdefault(tuple(key), []).append(GroupCounts(tasks, int(tokens), int(priced), cost, seconds, settings))
    return found


def made_under(reader: SessionReader, runs: Iterable[str]) -> dict[str, dict[str, str]]:
    return {
        run: {"docs scope": scope, "snapshot": snapshot}
        for run, scope, snapshot in reader.query(_MADE, (json.dumps(sorted(runs)),))
    }


def runs_of_tasks(reader: SessionReader, tasks: Iterable[str]) -> set[str]:
    return {run for (run,) in reader.query(f"SELECT DISTINCT run_id FROM tasks WHERE id {_THESE}", (_listed(tasks),))}


def counted_bodies(reader: SessionReader, tasks: Iterable[str], group: Group) -> list[tuple[str, str]]:
    """Return (task, digest of the body) for every counted sample of a group."""
    return reader.query(
        f"SELECT task_id, body_blob FROM candidates WHERE task_id {_THESE} AND {OF_GROUP} AND control = 0 "
        f"AND {COUNTS.format('')} AND body_blob IS NOT NULL",
        (_listed(tasks), *group.arguments),
    )


def step_settings(reader: SessionReader, trials: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Return (trial, sampling settings, whether an answer was cut at a token limit) for the steps of trials."""
    rows = reader.query(
        "SELECT trial_id, steps.settings, max(coalesce(finish_reason = 'length', 0)) "
        f"FROM steps LEFT JOIN calls ON calls.id = call_id WHERE trial_id {_THESE} GROUP BY 1, 2",
        (_listed(trials),),
    )
    return [(trial, settings, bool(cut)) for trial, settings, cut in rows]


class TaskFacts(NamedTuple):
    """Facts about a task under one doc system; unknown ones are None."""

    task: str
    leak: float | None = None  # share of the body that the docstring repeats, 0 to 1, see regeneration.leakage
    coverage: float | None = None  # share of the body's lines that its tests execute, 0 to 1
    tests: int = 0  # number of tests in T_i
    lines: int | None = None  # lines of the function
    body: int | None = None  # size of the original body in bytes
    docs: int | None = None  # size of the docstring in bytes
    documented: bool = False


def task_facts(reader: SessionReader, runs: Iterable[str]) -> dict[str, TaskFacts]:
    """Return facts about the tasks of runs; sizes come from the table of blobs, so no text is read."""
    rows = reader.query(
        "SELECT tasks.id, leak, coverage, test_count, end_line - start_line + 1, body.size, docs.size, docstring_blob IS NOT NULL FROM tasks "
        "LEFT JOIN blobs AS body ON body.digest = body_blob LEFT JOIN blobs AS docs ON docs.digest = docstring_blob "
        f"WHERE run_id {_THESE}",
        (_listed(runs),),
    )
    return {row[0]: TaskFacts._make((*row[:7], bool(row[7]))) for row in rows}


def _listed(items: Iterable[str]) -> str:
    return json.dumps(sorted(items))
