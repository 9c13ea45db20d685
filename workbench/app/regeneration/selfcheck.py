"""What a run proves about itself: both controls on every task, and fast verdicts looked at again on the cold path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.regeneration.lines import DISAGREES
from workbench.app.regeneration.wording import plural
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

WRONG = (
    "(candidates.sample = 0 AND ((evaluator = 'reference' AND verdict NOT IN ('passed', 'error')) "
    "OR (evaluator = 'stub' AND verdict = 'passed')))"
)
"""Whether a candidate is a control that does not hold, in SQL."""
CONTROLS = (("reference", 1.0), ("stub", 0.0))
"""The controls and the share of tasks that each must pass."""
_NAMED = 3  # tasks that a sentence names
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Control:
    """A control: it passed on ``passed`` of ``decided`` of ``tasks`` tasks; on ``errors`` it could not be tested."""

    name: str
    expected: float
    decided: int
    passed: int
    tasks: int
    errors: int = 0

    @property
    def wrong(self) -> int:
        """Return on how many tasks the control does not hold."""
        return self.passed if self.expected == 0 else self.decided - self.passed

    @property
    def complete(self) -> bool:
        """Whether it was tested on every task."""
        return self.decided >= self.tasks


@dataclass(frozen=True, slots=True)
class Rechecks:
    """Verdicts that were looked at again on the cold path, and how many of them came out otherwise."""

    done: int = 0
    disagreeing: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A task on which a self-check failed: by a control, or by the cold re-check of its sample (from 0) of an evaluator.

    ``untested`` says that the control could not be tested at all.
    """

    task: str
    name: str
    check: str
    evaluator: str = ""
    sample: int | None = None
    untested: bool = False

    @property
    def sentence(self) -> str:
        """Return what is wrong."""
        if self.check == "recheck":
            return "a cold re-check gave another verdict than the fast path"
        if self.untested:
            return f"the control {self.check} could not be tested"
        if self.check == "stub":
            return "its tests pass with a stub"
        return "its tests do not pass with the original body"


def load_checks(reader: SessionReader, run_id: str) -> tuple[tuple[Control, ...], Rechecks]:
    """Read how both controls and the re-checks of a run came out."""
    tasks = int(reader.query("SELECT count(*) FROM tasks WHERE run_id = ?", (run_id,))[0][0])
    controls = []
    for name, expected in CONTROLS:
        decided, passed, errors = reader.query(
            "SELECT total(verdict != 'error'), total(verdict = 'passed'), total(verdict = 'error') FROM candidates "
            "WHERE run_id = ? AND evaluator = ? AND sample = 0",
            (run_id, name),
        )[0]
        if decided or errors:
            controls.append(Control(name, expected, int(decided), int(passed), tasks, int(errors)))
    done, disagreeing = reader.query(
        f"SELECT count(*), total({DISAGREES}) FROM candidates WHERE run_id = ? AND recheck IS NOT NULL", (run_id,)
    )[0]
    return tuple(controls), Rechecks(int(done), int(disagreeing))


def load_problems(reader: SessionReader, run_id: str) -> tuple[Problem, ...]:
    """Read on which tasks the self-checks of a run failed, in the order of the tasks."""
    rows = reader.query(
        "SELECT task_id, qualified_name || CASE WHEN occurrence > 1 THEN '#' || occurrence ELSE '' END, evaluator, control, "
        "candidates.sample, CASE WHEN recheck IS NULL THEN 0 ELSE "
        f"{DISAGREES} END AS disagrees, verdict FROM candidates JOIN tasks ON tasks.id = task_id "
        f"WHERE candidates.run_id = ? AND verdict IS NOT NULL AND (disagrees OR {WRONG} OR (candidates.sample = 0 "
        "AND evaluator IN ('reference', 'stub') AND verdict = 'error')) "
        f"ORDER BY position, task_id, control DESC, evaluator, candidates.sample LIMIT {_MOST}",
        (run_id,),
    )
    found = []
    for task, name, evaluator, control, sample, disagrees, verdict in rows:
        is_control = sample == 0 and evaluator in {"reference", "stub"}
        if is_control and (verdict == "error" or (verdict == "passed") == (evaluator == "stub")):
            found.append(Problem(task, name, evaluator, untested=verdict == "error"))
        if disagrees:
            found.append(Problem(task, name, "recheck", evaluator, None if control else sample))
    return tuple(found)


def banner(controls: Sequence[Control], rechecks: Rechecks, problems: Sequence[Problem], *, live: bool) -> str:
    """Return what must not be missed, a line for each self-check that failed; "" if all hold.

    Args:
        controls: The controls.
        rechecks: The re-checks.
        problems: Tasks to name; none where there is no room for names.
        live: Whether the run goes on, so that what was not tested yet may still be.
    """
    failed, untested = [], []
    for control in controls:
        if control.wrong:
            verb = "does not pass" if control.expected else "passes"
            failed.append(f"{control.name} {verb} on {plural(control.wrong, 'task')}{_named(problems, control.name)}")
        elif control.errors and not live:
            untested.append(f"{control.name} on {plural(control.errors, 'task')}{_named(problems, control.name)}")
    said = []
    if failed:
        said.append(f"✗ SELF-CHECK FAILED: {'; '.join(failed)}: taken out of pass@k")
    if untested:
        said.append(f"✗ SELF-CHECK INCOMPLETE: could not test {'; '.join(untested)}: taken out of pass@k")
    if rechecks.disagreeing:
        said.append(
            f"✗ VERDICTS DISAGREE: {rechecks.disagreeing:,} of {plural(rechecks.done, 'cold re-check')} came out otherwise"
            f"{_named(problems, 'recheck')}" + (": the cold verdict counts" if problems else "")
        )
    return "\n".join(said)


def _named(problems: Sequence[Problem], check: str) -> str:
    names = list(dict.fromkeys(one_line(problem.name, 40) for problem in problems if problem.check == check))
    if not names:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{more})"
