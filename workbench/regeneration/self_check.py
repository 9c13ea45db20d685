"""The self-check of a run: both controls on every task, and cold re-checks of verdicts from the fast route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.glyphs import VERDICTS
from workbench.base.text import one_line, plural
from workbench.session.groups import CONTROLS, Group
from workbench.session.json_forms import picked
from workbench.session.sample_counts import FailedSelfCheck, SampleCount

_MUST_PASS = {"reference": 1.0, "stub": 0.0}  # the share of tasks on which each control must pass
_SIGN = VERDICTS["failed"]
_MAX_NAMES = 3  # maximum number of tasks listed in a message


@dataclass(frozen=True, slots=True)
class ControlCounts:
    """The results of a control, counted in tasks."""

    name: str
    expected: float  # the share of tasks on which the control must pass
    decided: int  # tasks with a verdict
    passed: int
    tasks: int
    errors: int = 0  # tasks on which the control could not be tested

    @property
    def wrong(self) -> int:
        return self.passed if self.expected == 0 else self.decided - self.passed

    @property
    def complete(self) -> bool:
        return self.decided >= self.tasks


@dataclass(frozen=True, slots=True)
class RecheckCounts:
    """The number of verdicts that were re-checked on the cold route, and the number of these that differed."""

    done: int = 0
    disagreeing: int = 0


@dataclass(frozen=True, slots=True)
class CheckProblem:
    """A task on which a control or a sample's cold re-check failed."""

    task: str
    name: str
    check: str  # name of the control, or ``recheck``
    evaluator: str = ""
    sample: int | None = None  # index of the sample, from 0
    untested: bool = False  # whether the control could not be tested
    group: Group | None = None

    @property
    def sentence(self) -> str:
        if self.check == "recheck":
            return "a cold re-check gave a different verdict than the fast route"
        if self.untested:
            return f"the control {self.check} could not be tested"
        if self.check == "stub":
            return "its tests pass with a stub"
        return "its tests do not pass with the original body"


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The results of both controls and of the re-checks, and the tasks on which any check failed."""

    controls: tuple[ControlCounts, ...]
    rechecks: RecheckCounts
    problems: tuple[CheckProblem, ...] = ()

    @property
    def suspect(self) -> bool:
        return bool(self.rechecks.disagreeing) or any(control.wrong or control.errors for control in self.controls)

    def banner(self, *, live: bool, named: bool = True) -> str:
        """Return a line per failed check, with tasks if ``named``; while ``live``, untested controls are pending."""
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
            warnings.append(f"{_SIGN} SELF-CHECK FAILED: {'; '.join(failed)}: excluded from pass@k")
        if untested:
            warnings.append(
                f"{_SIGN} SELF-CHECK INCOMPLETE: could not test {'; '.join(untested)}: excluded from pass@k"
            )
        if self.rechecks.disagreeing:
            warnings.append(
                f"{_SIGN} VERDICTS DISAGREE: {self.rechecks.disagreeing:,} of {plural(self.rechecks.done, 'cold re-check')}"
                f" differ{'s' * (self.rechecks.disagreeing == 1)}{_named(found, 'recheck')}"
                + (": the cold verdict counts" if found else "")
            )
        return "\n".join(warnings)

    def to_json(self) -> dict[str, Any]:
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
    """Return the self-check of a run with this number of tasks; ``counts`` also include excluded tasks."""
    rows = list(counts)
    controls = []
    for name in CONTROLS:
        # Only first samples count, because a control may also be the evaluator, with further samples. Sandbox errors
        # are not verdicts.
        samples = [row for row in rows if row.group.evaluator == name and row.first]
        if samples:
            by = {kind: sum(row.count for row in samples if row.verdict == kind) for kind in ("", "passed", "error")}
            decided = sum(row.count for row in samples) - by[""] - by["error"]
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
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return f" ({', '.join(names[:_MAX_NAMES])}{more})"
