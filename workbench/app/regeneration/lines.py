"""One line per task: counted by SQLite, because thousands of candidates must not pass through Python at every look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workbench.app.regeneration.wording import CANCELLED, COUNTED, DECIDED, RUNNING, VERDICTS, WAITING

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

KS = (1, 3)
_CHUNK = 400  # ids in one query; SQLite takes a thousand at least

_CELL = (
    "CASE verdict "
    + " ".join(f"WHEN '{verdict}' THEN '{glyph}'" for verdict, glyph in VERDICTS.items())
    + f" ELSE CASE WHEN state IN ('asking', 'testing') THEN '{RUNNING}' WHEN state = 'cancelled' THEN '{CANCELLED}'"
    + f" ELSE '{WAITING}' END END"
)


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task under one evaluator.

    ``cells`` has one glyph per sample, ``at`` pass@k for each k of the run (None until every sample is decided),
    ``failing`` the test that failed for most samples and ``failing_count`` for how many; ``leak`` is the overlap of the
    docstring with the body, ``leaking`` whether that is enough to be flagged.
    """

    id: str
    snapshot: str
    path: str
    name: str
    tests: int
    coverage: float | None
    leak: float | None
    leaking: bool
    excluded: bool
    reason: str
    cells: str = ""
    at: tuple[float | None, ...] = ()
    failing: str = ""
    failing_count: int = 0

    @property
    def decided(self) -> bool:
        """Whether every sample has its verdict."""
        return bool(self.cells) and all(cell in DECIDED for cell in self.cells)

    @property
    def counted(self) -> int:
        """Return how many samples go into pass@k."""
        return sum(cell in COUNTED for cell in self.cells)

    @property
    def passed(self) -> int:
        """Return how many samples passed."""
        return self.cells.count(VERDICTS["passed"])


def load_lines(
    reader: SessionReader,
    run_id: str,
    evaluator: str,
    ks: Sequence[int],
    *,
    ids: Sequence[str] | None = None,
    limit: int = -1,
    failing: bool = True,
) -> list[TaskLine]:
    """Read the lines of a run in the order of its tasks.

    Args:
        reader: The session.
        run_id: The run to which the tasks belong.
        evaluator: Whose samples are shown.
        ks: The k of pass@k.
        ids: Only these tasks.
        limit: Only the first so many tasks, -1 for all.
        failing: Whether to look for the tests that fail, too.
    """
    if ids is not None and len(ids) > _CHUNK:
        wanted = set(ids)
        return [line for line in load_lines(reader, run_id, evaluator, ks, failing=failing) if line.id in wanted]
    where, arguments = "tasks.run_id = ?", [run_id]
    if ids is not None:
        where += f" AND tasks.id IN ({', '.join('?' * len(ids))})"
        arguments += ids
    rows = reader.query(
        "SELECT id, snapshot, path, qualified_name || CASE WHEN occurrence > 1 THEN '#' || occurrence ELSE '' END, "
        "CASE WHEN json_valid(tests) THEN json_array_length(tests) ELSE 0 END, coverage, leak, coalesce(leak >= ?, 0), state = 'excluded', "
        f"coalesce(reason, '') FROM tasks WHERE {where} ORDER BY position, id LIMIT ?",
        [_leaks_from(), *arguments, limit],
    )
    if limit >= 0:
        where = f"tasks.id IN (SELECT id FROM tasks WHERE {where} ORDER BY position, id LIMIT {limit})"
    cells = dict(
        reader.query(
            f"SELECT task_id, group_concat(cell, '') FROM (SELECT task_id, {_CELL} AS cell FROM candidates "
            f"WHERE task_id IN (SELECT id FROM tasks WHERE {where}) AND evaluator = ? AND control = 0 "
            "ORDER BY task_id, evaluator, sample) GROUP BY task_id",
            [*arguments, evaluator],
        )
    )
    tests = _failing(reader, where, arguments, evaluator) if failing else {}
    pass_at = _pass_at()
    return [_line(row, cells.get(row[0], ""), tests.get(row[0]), ks, pass_at) for row in rows]


def _line(
    row: Sequence[Any], cells: str, failing: tuple[str, int] | None, ks: Sequence[int], pass_at: _PassAt
) -> TaskLine:
    line = TaskLine(row[0], row[1], row[2], row[3], row[4], row[5], row[6], bool(row[7]), bool(row[8]), row[9], cells)
    at = tuple(pass_at(line.counted, line.passed, k) if line.decided else None for k in ks)
    name, count = failing or ("", 0)
    return replace(line, at=at, failing=name, failing_count=count)


def _failing(
    reader: SessionReader, where: str, arguments: Sequence[object], evaluator: str
) -> dict[str, tuple[str, int]]:
    rows = reader.query(
        "SELECT candidates.task_id, test_id, count(*) FROM candidates JOIN failing_tests ON candidate_id = candidates.id "
        f"WHERE candidates.task_id IN (SELECT id FROM tasks WHERE {where}) AND evaluator = ? AND control = 0 "
        "GROUP BY candidates.task_id, test_id ORDER BY count(*), test_id DESC",
        [*arguments, evaluator],
    )
    return {task: (test, count) for task, test, count in rows}  # the last one wins: the most frequent


def _leaks_from() -> float:
    from workbench.regeneration.leakage import THRESHOLD

    return THRESHOLD


_PassAt = Callable[[int, int, int], "float | None"]


@lru_cache(maxsize=1)
def _pass_at() -> _PassAt:
    # Imported in a thread and not with the app: the room of regeneration stands on heavier ones.
    from workbench.regeneration.passk import pass_at_k

    return lru_cache(maxsize=4096)(pass_at_k)
