"""The self-check of a run: both controls on every task, and fast verdicts tested again on the cold route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.glyphs import VERDICTS
from workbench.base.text import one_line, plural
from workbench.session.groups import CONTROLS, Group
from workbench.session.json_forms import picked
from workbench.session.sample_counts import FailedSelfCheck, SampleCount

_MUST_PASS = {"reference": 1.0, "stub": 0.0}  # share of tasks on which each control must pass
_SIGN = VERDICTS["failed"]
_NAMED = 3  # tasks that a sentence names


@dataclass(frozen=True, slots=True)
class ControlCounts:
    """A control: it passed on ``passed`` of ``decided`` of ``tasks`` tasks; on ``errors`` it could not be tested."""

    name: str
    expected: float
    decided: int
    passed: int
    tasks: int
    errors: int = 0

    @property
    def wrong(self) -> int:
        return self.passed if self.expected == 0 else self.decided - self.passed

    @property
    def complete(self) -> bool:
        return self.decided >= self.tasks


@dataclass(frozen=True, slots=True)
class RecheckCounts:
    """Verdicts that were tested again on the cold route, and how many of them came out otherwise."""

    done: int = 0
    disagreeing: int = 0


@dataclass(frozen=True, slots=True)
class CheckProblem:
    """A task on which a self-check failed: by a control, or by the cold re-check of a sample (from 0)."""

    task: str
    name: str
    check: str
    evaluator: str = ""
    sample: int | None = None
    untested: bool = False  # the control could not be tested at all
    group: Group | None = None

    @property
    def sentence(self) -> str:
        if self.check == "recheck":
            return "a cold re-check gave another verdict than the fast path"
        if self.untested:
            return f"the control {self.check} could not be tested"
        if self.check == "stub":
            return "its tests pass with a stub"
        return "its tests do not pass with the original body"


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Both controls, the re-checks, and the tasks on which one of them failed."""

    controls: tuple[ControlCounts, ...]
    rechecks: RecheckCounts
    problems: tuple[CheckProblem, ...] = ()

    @property
    def suspect(self) -> bool:
        return bool(self.rechecks.disagreeing) or any(control.wrong or control.errors for control in self.controls)

    def banner(self, *, live: bool, named: bool = True) -> str:
        """Return a line for each self-check that failed; while ``live``, what was not tested yet may still be.

        ``named``: with the tasks.
        """
        found = self.problems if named else ()
        failed, untested = [], []
        for control in self.controls:
            if control.wrong:
                verb = "does not pass" if control.expected else "passes"
                failed.append(f"{control.name} {verb} on {plural(control.wrong, 'task')}{_named(found, control.name)}")
            elif control.errors and not live:
                untested.append(f"{control.name} on {plural(control.errors, 'task')}{_named(found, control.name)}")
        warnings = []
        if failed:
            warnings.append(f"{_SIGN} SELF-CHECK FAILED: {'; '.join(failed)}: taken out of pass@k")
        if untested:
            warnings.append(f"{_SIGN} SELF-CHECK INCOMPLETE: could not test {'; '.join(untested)}: taken out of pass@k")
        if self.rechecks.disagreeing:
            warnings.append(
                f"{_SIGN} VERDICTS DISAGREE: {self.rechecks.disagreeing:,} of {plural(self.rechecks.done, 'cold re-check')}"
                f" came out otherwise{_named(found, 'recheck')}" + (": the cold verdict counts" if found else "")
            )
        return "\n".join(warnings)

    def to_json(self) -> dict[str, Any]:
        """Return the self-check as JSON values; ``failed`` has a sentence for each failure."""
        failed = self.banner(live=False)
        return {
            "controls": {
                one.name: {"passed": one.passed, "tested": one.decided, "errors": one.errors, "tasks": one.tasks}
                for one in self.controls
            },
            "rechecks": self.rechecks.done,
            "disagreements": self.rechecks.disagreeing,
            "failed": failed.split("\n") if failed else [],
            "tasks": [
                {"id": one.task, "function": one.name, **picked(one, "check", "evaluator", "sample")}
                for one in self.problems
            ],
        }


def self_check(counts: Iterable[SampleCount], tasks: int, failed: Iterable[FailedSelfCheck] = ()) -> SelfCheck:
    """Return the self-check of a run with so many tasks; ``counts`` include excluded tasks."""
    rows = list(counts)
    controls = []
    for name in CONTROLS:
        # Only first samples, because a control may itself be the evaluator; an error is the sandbox's and does not count.
        mine = [row for row in rows if row.group.evaluator == name and row.first]
        if mine:
            by = {kind: sum(row.count for row in mine if row.verdict == kind) for kind in ("", "passed", "error")}
            decided = sum(row.count for row in mine) - by[""] - by["error"]
            controls.append(ControlCounts(name, _MUST_PASS[name], decided, by["passed"], tasks, by["error"]))
    rechecks = RecheckCounts(sum(row.rechecked for row in rows), sum(row.disagreeing for row in rows))
    found = []
    for row in failed:
        name = row.group.evaluator
        is_control = row.sample == 0 and name in CONTROLS
        if is_control and (row.verdict == "error" or (row.verdict == "passed") == (name == "stub")):
            found.append(CheckProblem(row.task, row.name, name, untested=row.verdict == "error", group=row.group))
        if row.disagrees:
            sample = None if row.control else row.sample
            found.append(CheckProblem(row.task, row.name, "recheck", name, sample, group=row.group))
    return SelfCheck(tuple(controls), rechecks, tuple(found))


def _named(named: Sequence[CheckProblem], check: str) -> str:
    names = list(dict.fromkeys(one_line(problem.name, 40) for problem in named if problem.check == check))
    if not names:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{more})"
