"""The closing figures of a regeneration run: pass@k of what was asked for last, verdicts, controls, what fell out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.commands.self_check import self_check
from workbench.engine.plan import Ask, RegenerationPlan
from workbench.engine.selection import chosen, row_id
from workbench.regeneration.leakage import THRESHOLD
from workbench.regeneration.passk import TaskCount, pass_at_k, summarise
from workbench.session import SessionReader
from workbench.session.identity import candidate_id
from workbench.session.rows import CandidateRow, TaskRow

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Line:
    """One task and its samples; ``counted`` of them have a verdict that is the model's, ``passed`` passed."""

    task: TaskRow
    candidates: tuple[CandidateRow, ...]
    counted: int
    passed: int

    @property
    def leaking(self) -> bool:
        """Whether the docstring carries the code."""
        return self.task.leak is not None and self.task.leak >= THRESHOLD

    def at(self, k: int) -> float | None:
        """Return pass@k of the task, None where it has fewer than k samples."""
        return pass_at_k(self.counted, self.passed, k)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: the plan, its state, and a line per task that was meant."""

    plan: RegenerationPlan
    state: str
    error: str | None
    note: str | None
    spend_usd: float
    lines: tuple[Line, ...]
    controls: dict[str, float]
    dropped: dict[str, int]

    @property
    def ready(self) -> list[Line]:
        """The lines that count."""
        return [line for line in self.lines if line.task.state != "excluded"]


def last_ask(plan: RegenerationPlan) -> Ask:
    """Return what a run was asked for last."""
    wanted = (plan.evaluator, plan.tasks, plan.limit, plan.prompt, plan.context)
    for ask in reversed(plan.asks):
        if (ask.evaluator, ask.tasks, ask.limit, ask.prompt, ask.context) == wanted:
            return ask
    return Ask(plan.evaluator, plan.samples, plan.tasks, plan.limit, plan.prompt, plan.context)


def read_outcome(reader: SessionReader, run: str) -> Outcome:
    """Read what came of a run's last ask."""
    row = reader.run(run)
    assert row is not None, run
    plan = RegenerationPlan.from_json(row.config)
    ask = last_ask(plan)
    rows = reader.tasks(run)
    meant = chosen(ask, [(row_id(task), task.id, task) for task in rows])
    every: dict[str, list[CandidateRow]] = defaultdict(list)
    for candidate in reader.candidates(run):
        every[candidate.task_id].append(candidate)
    lines = []
    for task in meant:
        mine = tuple(one for one in every[task.id] if _belongs(one, task, ask))
        counted = sum(one.verdict is not None and one.verdict != "error" for one in mine)
        lines.append(Line(task, mine, counted, sum(one.verdict == "passed" for one in mine)))
    return Outcome(
        plan=plan,
        state=reader.run_state(row),
        error=row.error,
        note=row.note,
        spend_usd=row.spend_usd,
        lines=tuple(lines),
        controls=_controls(every[task.id] for task in meant),
        dropped=dict(Counter(entry.stage for entry in reader.dropped(run))),
    )


def _belongs(candidate: CandidateRow, task: TaskRow, ask: Ask) -> bool:
    if candidate.evaluator != ask.evaluator or (ask.samples and candidate.sample >= ask.samples):
        return False
    return candidate.id == candidate_id(task.id, ask.evaluator, ask.prompt_version, candidate.sample)


def _controls(candidates: Iterable[Sequence[CandidateRow]]) -> dict[str, float]:
    """Return the share of tasks, taken-out ones included, that pass under each control."""
    found: dict[str, list[bool]] = defaultdict(list)
    for each in candidates:
        for one in each:
            if one.evaluator in ("reference", "stub") and one.sample == 0 and one.verdict not in (None, "error"):
                found[one.evaluator].append(one.verdict == "passed")
    return {name: sum(passed) / len(passed) for name, passed in sorted(found.items())}


def _counts(lines: Iterable[Line]) -> list[TaskCount]:
    return [TaskCount(line.task.id, line.task.snapshot, line.task.path, line.counted, line.passed) for line in lines]


def summary(session: Path, run: str) -> dict[str, Any]:
    """Return the closing JSON line of a run."""
    with SessionReader(session) as reader:
        outcome = read_outcome(reader, run)
        checked = self_check(reader, run)
    plan, ready = outcome.plan, outcome.ready
    estimates = summarise(_counts(ready), plan.k, interval=LEVEL).overall
    clean = [line for line in ready if not line.leaking]
    unleaked = summarise(_counts(clean), plan.k).overall
    sampled = [line.counted for line in ready]
    samples = [one for line in ready for one in line.candidates]
    costs = [one.cost_usd for one in samples if one.cost_usd is not None]
    return {
        "type": "summary",
        "session": str(session),
        "run": run,
        "state": outcome.state,
        "source": plan.source,
        "docs": plan.docs,
        "evaluator": plan.evaluator,
        "prompt": plan.prompt or None,
        "context": plan.context or None,
        "sandbox": plan.sandbox,
        "tasks": len(ready),
        "samples": last_ask(plan).samples or max((len(line.candidates) for line in ready), default=0),
        "candidates": len(samples),
        "pass_at_k": {str(k): estimate.value for k, estimate in estimates.items()},
        "interval": {
            str(k): None if estimate.low is None or estimate.tasks < 2 else [estimate.low, estimate.high]
            for k, estimate in estimates.items()
        },
        # Which figure rests on what: a task with fewer than k samples has no pass@k.
        "tasks_at_k": {str(k): estimate.tasks for k, estimate in estimates.items()},
        "samples_per_task": [min(sampled, default=0), max(sampled, default=0)],
        "leaking": len(ready) - len(clean),
        "pass_at_k_without_leaking": {str(k): estimate.value for k, estimate in unleaked.items()},
        "verdicts": dict(Counter(one.verdict for one in samples if one.verdict is not None)),
        "unfinished": sum(one.verdict is None for one in samples),
        "paths": dict(Counter(one.path_taken for one in samples if one.path_taken)),
        "controls": outcome.controls,
        "self_check": checked,
        "excluded": len(outcome.lines) - len(ready),
        "excluded_tasks": [
            {"id": line.task.id, "task_id": row_id(line.task), "reason": line.task.reason}
            for line in outcome.lines
            if line.task.state == "excluded"
        ],
        "dropped": outcome.dropped,
        "tokens": sum((one.prompt_tokens or 0) + (one.completion_tokens or 0) for one in samples),
        "cost": sum(costs) if costs else None,
        "note": outcome.note,
        "error": outcome.error,
    }
