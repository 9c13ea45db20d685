"""Tasks: names, counts, and a line for each with its samples in one group.

SQLite counts the samples, because Python would be too slow for thousands of candidates at every refresh.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.results.samples import ROUTES, SAMPLE_STATE, SampleState, development, sample_states
from workbench.session.groups import OF_GROUP
from workbench.session.labels import in_words, labels_by_item
from workbench.session.sample_counts import COUNTS, CUT, DOUBTFUL
from workbench.session.schema import ARCHIVED_RUNS

if TYPE_CHECKING:
    from workbench.regeneration.outcome import PassFigures, TaskResult
    from workbench.results.usage import PageUse, ReaderUse
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

_CHUNK = 400  # ids per query; SQLite accepts at least a thousand


class TaskName(NamedTuple):
    """A task's function and the docs it uses."""

    id: str
    run: str
    snapshot: str
    path: str
    function: str
    occurrence: int
    docs: str
    state: str


def task_names(reader: SessionReader, run_id: str | None = None) -> list[TaskName]:
    """Return the names of the tasks of a run, or of all runs that are not archived."""
    where, arguments = ("run_id = ?", (run_id,)) if run_id is not None else (f"run_id NOT IN {ARCHIVED_RUNS}", ())
    columns = "id, run_id, snapshot, path, qualified_name, occurrence, docs, state"
    rows = reader.query(f"SELECT {columns} FROM tasks WHERE {where} ORDER BY run_id, position", arguments)
    return list(map(TaskName._make, rows))


def functions_of(reader: SessionReader, run_id: str) -> dict[str, tuple[str, str, str, int]]:
    """Return the function of each task of a run: snapshot, file, name and index among functions of the same name."""
    return {task.id: task[2:6] for task in task_names(reader, run_id)}


def task_states(reader: SessionReader, run_id: str | None = None) -> Counter[str]:
    """Return the number of tasks by state, for a run or for all runs that are not archived."""
    where, arguments = ("run_id = ?", (run_id,)) if run_id is not None else (f"run_id NOT IN {ARCHIVED_RUNS}", ())
    return Counter(dict(reader.query(f"SELECT state, count(*) FROM tasks WHERE {where} GROUP BY state", arguments)))


def dropped_stages(reader: SessionReader, run_id: str) -> Counter[str]:
    return Counter(dict(reader.query("SELECT stage, count(*) FROM dropped WHERE run_id = ? GROUP BY stage", (run_id,))))


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task under one evaluator."""

    id: str
    snapshot: str
    path: str
    name: str
    tests: int
    coverage: float | None
    leak: float | None  # overlap of docstring and body
    leaking: bool
    excluded: bool
    reason: str
    samples: tuple[SampleState, ...] = ()
    counted: int = 0  # samples included in pass@k
    passed: int = 0
    at: tuple[float | None, ...] = ()  # pass@k for each k of the run, None if fewer than k samples count
    failing: str = ""  # the test that fails for most samples
    failing_count: int = 0  # number of samples that fail that test
    sandboxes: tuple[str, ...] = ()
    branches: int | None = None
    branches_covered: int = 0
    unstable: int = 0  # number of quarantined tests that execute the function
    rechecked: int = 0  # verdicts that were checked again on the cold route
    disagreeing: int = 0  # re-checks (including those of controls) with a different verdict
    newest: float = 0.0  # time of the last verdict
    doubtful: int = 0  # doubtful passes, whose bodies are outside the safe subset of Python
    labels: str = ""  # star and tags
    repaired: int = 0  # samples with an answer that had to be repaired
    documented: bool = True  # whether the function has a docstring
    cut: int = 0  # counted samples with an answer cut at a token limit
    usage: bool = False  # whether this is a usage task
    gap: str = ""  # the kind of `workbench.usage.gaps.Gap` of a sample that did not pass

    @property
    def branch_coverage(self) -> float | None:
        """The share of the body's branches that the tests take, or None if there are none or they were not measured."""
        return self.branches_covered / self.branches if self.branches else None

    @property
    def documented_as(self) -> DocstringQuality | None:
        """The quality of its docstring based on the shown samples, or None without counted samples."""
        if not self.excluded and not self.counted:
            return None
        return kind_of(self.passed, self.counted, excluded=self.excluded)

    @property
    def routes(self) -> tuple[str, ...]:
        """The routes that produced verdicts, fastest first."""
        taken = {sample.route for sample in self.samples}
        return tuple(route for route in ROUTES if route in taken)

    @property
    def waiting(self) -> int:
        return sum(sample.verdict is None for sample in self.samples)

    @property
    def decided(self) -> bool:
        return bool(self.samples) and not self.waiting

    @property
    def retesting(self) -> bool:
        return any(sample.retesting for sample in self.samples)

    @property
    def result(self) -> TaskResult:
        from workbench.regeneration.outcome import TaskResult

        return TaskResult(
            self.id, self.snapshot, self.path, self.leaking, self.counted, self.passed, self.doubtful, self.waiting,
            self.repaired, self.documented, self.cut,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figures:
    """pass@k over the tasks of a group, and the share of passed samples over the course of the run."""

    passing: PassFigures
    development: tuple[float, ...] = ()
    use: tuple[PageUse, ReaderUse] | None = None  # of a usage run


def figures_of(
    reader: SessionReader, run_id: str, group: Group, lines: Sequence[TaskLine], ks: Sequence[int]
) -> Figures:
    """Return the figures over all tasks with a sample, without excluded tasks."""
    from workbench.regeneration.outcome import pass_figures

    ready = [line.result for line in lines if not line.excluded and line.samples]
    run = reader.run(run_id)
    use = None
    if run is not None and run.kind == "usage":
        from workbench.results.usage import UsageResults

        use = UsageResults.read(reader, run, [group.context]).of(group)
    return Figures(pass_figures(ready, ks), development(reader, run_id, group), use)


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
    """Read the lines of a run in the order of its tasks; ``failing`` also reads the failing tests."""
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
        "coalesce(reason, ''), branches, coalesce(branches_covered, 0), coalesce(unstable, 0), docstring_blob IS NOT NULL, usage_blob IS NOT NULL "
        f"FROM tasks WHERE {where} ORDER BY position, id LIMIT ?",
        [_leaks_from(), *arguments, limit],
    )
    if limit >= 0:
        where = f"tasks.id IN (SELECT id FROM tasks WHERE {where} ORDER BY position, id LIMIT {limit})"
    samples = _samples(reader, where, arguments, group)
    controls = _disagreeing_controls(reader, where, arguments)
    tests = _failing(reader, where, arguments, group) if failing else {}
    pass_at, labels = _pass_at(), labels_by_item(reader.labels())
    lines = []
    for row in rows:
        of: dict[str, Any] = {"counted": 0, "passed": 0, "disagreeing": 0, **samples.get(row[0], {})}
        of["disagreeing"] += controls.get(row[0], 0)
        test, count = tests.get(row[0], ("", 0))
        lines.append(
            TaskLine(
                row[0], row[1], row[2], row[3], row[4], row[5], row[6], bool(row[7]), bool(row[8]), row[9], branches=row[10],
                branches_covered=row[11], unstable=row[12], documented=bool(row[13]), usage=bool(row[14]), failing=test, failing_count=count,
                at=tuple(pass_at(of["counted"], of["passed"], k) for k in ks), labels=in_words(labels.get(row[0], ())), **of,
            )
        )  # fmt: skip
    return lines


def _samples(
    reader: SessionReader, where: str, arguments: Sequence[object], group: Group
) -> dict[str, dict[str, object]]:
    """Return fields of :class:`TaskLine` by task, based on its samples in one group."""
    rows = reader.query(
        "SELECT task_id, group_concat(sample_state), group_concat(DISTINCT backend), sum(counted), sum(passed), count(recheck), "
        "sum(disagrees), coalesce(max(at), 0.0), sum(passed AND doubts), sum(passed AND repaired), sum(counted AND was_cut), coalesce(min(gap_kind), '') FROM "
        f"(SELECT task_id, {SAMPLE_STATE} AS sample_state, backend, recheck, at, coalesce(agrees = 0, 0) AS disagrees, "
        f"{COUNTS.format('')} AS counted, coalesce(verdict = 'passed', 0) AS passed, {DOUBTFUL} AS doubts, "
        f"coalesce(repairs > 0, 0) AS repaired, {CUT} AS was_cut, "
        "CASE WHEN json_valid(gap) THEN CAST(json_extract(gap, '$.kind') AS TEXT) END AS gap_kind FROM candidates "
        f"WHERE task_id IN (SELECT id FROM tasks WHERE {where}) AND {OF_GROUP} AND control = 0 "
        "ORDER BY task_id, evaluator, sample) GROUP BY task_id",
        [*arguments, *group.arguments],
    )
    names = ("counted", "passed", "rechecked", "disagreeing", "newest", "doubtful", "repaired", "cut", "gap")
    return {
        task: {
            "samples": sample_states(states),
            "sandboxes": tuple(sorted(backends.split(","))) if backends else (),
            **dict(zip(names, sums, strict=True)),
        }
        for task, states, backends, *sums in rows
    }


def _disagreeing_controls(reader: SessionReader, where: str, arguments: Sequence[object]) -> dict[str, int]:
    rows = reader.query(
        f"SELECT task_id, count(*) FROM candidates WHERE task_id IN (SELECT id FROM tasks WHERE {where}) "
        "AND control = 1 AND agrees = 0 GROUP BY task_id",
        arguments,
    )
    return dict(rows)


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
    return {task: (test, count) for task, test, count in rows}  # the last entry wins, so the most frequent test is kept


def _leaks_from() -> float:
    from workbench.regeneration.leakage import THRESHOLD

    return THRESHOLD


_PassAt = Callable[[int, int, int], "float | None"]


@lru_cache(maxsize=1)
def _pass_at() -> _PassAt:
    # Imported here, in a thread, because the package is large.
    from workbench.regeneration.passk import pass_at_k

    return lru_cache(maxsize=4096)(pass_at_k)


#: Default pass@1 below which a docstring is considered bad.
BELOW = 0.5


class DocstringQuality(StrEnum):
    """The quality of a docstring, based on pass@1 of its evaluators."""

    WELL = "well"
    BADLY = "badly"
    UNTESTABLE = "untestable"


def kind_of(passed: int, counted: int, *, excluded: bool, below: float = BELOW) -> DocstringQuality:
    """Return the quality of a docstring; ``excluded`` means that the original body does not pass its tests."""
    if excluded or not counted:
        return DocstringQuality.UNTESTABLE
    return DocstringQuality.BADLY if passed / counted < below else DocstringQuality.WELL
