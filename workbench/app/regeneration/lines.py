"""One line per task: counted by SQLite, because thousands of candidates must not pass through Python at every look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workbench.app.regeneration.wording import COUNTED, DECIDED
from workbench.glyphs import CANCELLED, RUNNING, VERDICTS, WAITING
from workbench.improving.kinds import Kind, kind_of
from workbench.session.groups import OF_GROUP
from workbench.session.labels import in_words, labels_by_item
from workbench.session.sample_counts import CUT, DOUBTFUL

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

KS = (1, 3)
ROUTES = {"h": "hot", "w": "warm", "c": "cold"}
"""Letters of the paths of a verdict, fastest first; any other stands for a sample that was not tested."""
_CHUNK = 400  # ids in one query; SQLite takes a thousand at least

CELL = (
    "CASE verdict "
    + " ".join(f"WHEN '{verdict}' THEN '{glyph}'" for verdict, glyph in VERDICTS.items())
    + f" ELSE CASE WHEN state IN ('asking', 'testing') THEN '{RUNNING}' WHEN state = 'cancelled' THEN '{CANCELLED}'"
    + f" ELSE '{WAITING}' END END"
)
"""SQL for the glyph of a candidate."""
_ROUTE = (
    "CASE route " + " ".join(f"WHEN '{route}' THEN '{letter}'" for letter, route in ROUTES.items()) + " ELSE '-' END"
)
_FORMER = "CASE WHEN verdict IS NOT NULL AND state IN ('queued', 'asking', 'testing') THEN 'f' ELSE '-' END"


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task under one evaluator.

    ``cells`` has one glyph per sample and ``routes`` one letter (the path of its verdict, see :data:`ROUTES`), ``at``
    pass@k for each k of the run (None while fewer than k samples are decided), ``failing`` the test that failed for most samples
    and ``failing_count`` for how many; ``leak`` is the overlap of the docstring with the body, ``leaking`` whether that is
    enough to be flagged; ``unstable`` counts quarantined tests that execute it; ``rechecked`` verdicts were looked at again
    on the cold path, ``disagreeing`` of them (or of its controls') came out otherwise. ``former`` has an ``f`` for each sample
    that is being tested again: its cell is the former verdict; ``newest`` is when the last verdict was given; ``doubtful``
    counts passes whose body is not plain, ``repaired`` those whose answer had to be repaired; ``documented`` says that the
    function has a docstring; ``labels`` are its star and its tags.
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
    routes: str = ""
    sandboxes: tuple[str, ...] = ()
    branches: int | None = None
    branches_covered: int = 0
    unstable: int = 0
    rechecked: int = 0
    disagreeing: int = 0
    former: str = ""
    newest: float = 0.0
    doubtful: int = 0
    labels: str = ""
    repaired: int = 0
    documented: bool = True
    cut: int = 0

    @property
    def branch_coverage(self) -> float | None:
        """Return the share of the body's branches that the tests take; None where it has none or they were not measured."""
        return self.branches_covered / self.branches if self.branches else None

    @property
    def documented_as(self) -> Kind | None:
        """How its docstring carries it, by the samples that are shown; None while they are still to come."""
        if not self.excluded and not self.counted:
            return None
        return kind_of(self.passed, self.counted, excluded=self.excluded)

    @property
    def decided(self) -> bool:
        """Whether every sample has its verdict."""
        return bool(self.cells) and all(cell in DECIDED for cell in self.cells)

    @property
    def waiting(self) -> int:
        """Return how many samples have no verdict."""
        return sum(cell not in DECIDED for cell in self.cells)

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
    group: Group,
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
        group: Whose samples are shown.
        ks: The k of pass@k.
        ids: Only these tasks.
        limit: Only the first so many tasks, -1 for all.
        failing: Whether to look for the tests that fail, too.
    """
    if ids is not None and len(ids) > _CHUNK:
        wanted = set(ids)
        return [line for line in load_lines(reader, run_id, group, ks, failing=failing) if line.id in wanted]
    where, arguments = "tasks.run_id = ?", [run_id]
    if ids is not None:
        where += f" AND tasks.id IN ({', '.join('?' * len(ids))})"
        arguments += ids
    rows = reader.query(
        "SELECT id, snapshot, path, qualified_name || CASE WHEN occurrence > 1 THEN '#' || occurrence ELSE '' END, "
        "test_count, coverage, leak, coalesce(leak >= ?, 0), state = 'excluded', "
        "coalesce(reason, ''), branches, coalesce(branches_covered, 0), coalesce(unstable, 0), docstring_blob IS NOT NULL "
        f"FROM tasks WHERE {where} ORDER BY position, id LIMIT ?",
        [_leaks_from(), *arguments, limit],
    )
    if limit >= 0:
        where = f"tasks.id IN (SELECT id FROM tasks WHERE {where} ORDER BY position, id LIMIT {limit})"
    samples = _samples(reader, where, arguments, group)
    controls = _disagreeing_controls(reader, where, arguments)
    tests = _failing(reader, where, arguments, group) if failing else {}
    pass_at, labels = _pass_at(), labels_by_item(reader.labels())
    lines = [
        _line(row, samples.get(row[0], _NO_SAMPLES), tests.get(row[0]), controls.get(row[0], 0), ks, pass_at)
        for row in rows
    ]
    return [replace(line, labels=in_words(labels[line.id])) if line.id in labels else line for line in lines]


_Samples = tuple[str, str, "str | None", int, int, str, "float | None", int, int, int]
_NO_SAMPLES: _Samples = ("", "", None, 0, 0, "", None, 0, 0, 0)


def _samples(reader: SessionReader, where: str, arguments: Sequence[object], group: Group) -> dict[str, _Samples]:
    """Return of each task cells, routes, sandboxes, re-checks, disagreements, which are tested again, the last verdict's time."""
    rows = reader.query(
        "SELECT task_id, group_concat(cell, ''), group_concat(route, ''), group_concat(DISTINCT backend), "
        "count(recheck), sum(disagrees), group_concat(former, ''), max(at), sum(doubts), sum(repaired), sum(cut) FROM "
        f"(SELECT task_id, {CELL} AS cell, {_ROUTE} AS route, backend, recheck, {_FORMER} AS former, at, "
        f"coalesce(agrees = 0, 0) AS disagrees, coalesce({DOUBTFUL} AND verdict = 'passed', 0) AS doubts, "
        f"coalesce(repairs > 0 AND verdict = 'passed', 0) AS repaired, coalesce({CUT} AND verdict != 'error', 0) AS cut "
        "FROM candidates "
        f"WHERE task_id IN (SELECT id FROM tasks WHERE {where}) AND {OF_GROUP} AND control = 0 "
        "ORDER BY task_id, evaluator, sample) GROUP BY task_id",
        [*arguments, *group.arguments],
    )
    return {row[0]: row[1:] for row in rows}


def _disagreeing_controls(reader: SessionReader, where: str, arguments: Sequence[object]) -> dict[str, int]:
    rows = reader.query(
        f"SELECT task_id, count(*) FROM candidates WHERE task_id IN (SELECT id FROM tasks WHERE {where}) "
        "AND control = 1 AND agrees = 0 GROUP BY task_id",
        arguments,
    )
    return dict(rows)


def _line(
    row: Sequence[Any],
    samples: _Samples,
    failing: tuple[str, int] | None,
    disagreeing_controls: int,
    ks: Sequence[int],
    pass_at: _PassAt,
) -> TaskLine:
    cells, routes, sandboxes, rechecked, disagreeing, former, newest, doubtful, repaired, cut = samples
    name, count = failing or ("", 0)
    line = TaskLine(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], bool(row[7]), bool(row[8]), row[9], cells,
        failing=name, failing_count=count, routes=routes, sandboxes=tuple(sorted(sandboxes.split(","))) if sandboxes else (),
        branches=row[10], branches_covered=row[11], unstable=row[12], rechecked=rechecked,
        disagreeing=disagreeing + disagreeing_controls, former=former, newest=newest or 0.0, doubtful=doubtful,
        repaired=repaired, documented=bool(row[13]), cut=cut,
    )  # fmt: skip
    return replace(line, at=tuple(pass_at(line.counted, line.passed, k) for k in ks))


def _failing(
    reader: SessionReader, where: str, arguments: Sequence[object], group: Group
) -> dict[str, tuple[str, int]]:
    rows = reader.query(
        "SELECT candidates.task_id, test_id, count(*) FROM candidates JOIN failing_tests ON candidate_id = candidates.id "
        f"WHERE candidates.task_id IN (SELECT id FROM tasks WHERE {where}) AND {OF_GROUP} AND control = 0 "
        "AND verdict IS NOT NULL "
        "GROUP BY candidates.task_id, test_id ORDER BY count(*), test_id DESC",
        [*arguments, *group.arguments],
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
