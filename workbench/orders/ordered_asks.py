"""Ordered asks: a regeneration run grows by asks, and each order follows its own ask.

This module also decides which run of a session an order extends: the run with the same identifying arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import catalog
from workbench.base.errors import UsageError, WorkbenchError
from workbench.plans.arguments import Effect, PlanDamaged, arguments_of
from workbench.plans.plan import Ask, CandidatePlan, RegenerationPlan, chosen, repeating
from workbench.plans.task_names import row_id
from workbench.plans.usage import PLANS, candidate_plan
from workbench.sandbox import Route
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.identity import candidate_id
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow, RunRow, TaskRow


@dataclass(frozen=True, slots=True)
class OrderedAsk:
    """An ask within a run, with the k of pass@k; ``ask.samples`` is 0 for all samples of a file."""

    run: str
    ask: Ask
    k: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OrderedWork:
    """The tasks and candidates of an order that exist so far."""

    tasks: tuple[TaskRow, ...]  # Including excluded tasks
    candidates: Mapping[str, tuple[CandidateRow, ...]]  # By task
    controls: Mapping[str, tuple[CandidateRow, ...]]  # By task
    others: bool  # whether other orders of the run have unfinished candidates

    @property
    def missing(self) -> bool:
        """Whether any candidate or control of a ready task is unfinished."""
        ready = {task.id for task in self.tasks if task.state != "excluded"}
        rows = [row for task in ready for row in (*self.candidates[task], *self.controls[task])]
        return any(row.state != "done" for row in rows)

    @property
    def pending_rechecks(self) -> int:
        replayed = {task.id for task in self.tasks if task.usage_blob}
        rows = {row.id: row for rows in (self.candidates, self.controls) for each in rows.values() for row in each}
        return sum(
            not row.recheck
            and bool(
                row.body_blob
                and recheck_reason(row.id, row.evaluator, row.route, row.verdict, replayed=row.task_id in replayed)
            )
            for row in rows.values()
        )


def last_ask(plan: CandidatePlan) -> Ask:
    for ask in reversed(plan.asks):
        if {**repeating(ask), "samples": 0} == {**repeating(plan), "samples": 0}:
            return ask
    return Ask(**repeating(plan))


def last_order(run: RunRow) -> OrderedAsk:
    plan = candidate_plan(run)
    return OrderedAsk(run.id, last_ask(plan), plan.k)


def all_orders(run: RunRow) -> list[OrderedAsk]:
    plan = candidate_plan(run)
    return [OrderedAsk(run.id, ask, plan.k) for ask in plan.asks] or [last_order(run)]


def belongs(candidate: CandidateRow, task: str, ask: Ask) -> bool:
    if candidate.evaluator != ask.evaluator or (ask.samples and candidate.sample >= ask.samples):
        return False
    return candidate.id == candidate_id(task, ask.evaluator, ask.prompt_version, candidate.sample)


def ordered_work(reader: SessionReader, order: OrderedAsk) -> OrderedWork:
    rows = reader.tasks(order.run)
    selected: Sequence[TaskRow] = chosen(order.ask, [(row_id(task), task.id, task) for task in rows])
    own: dict[str, list[CandidateRow]] = {task.id: [] for task in selected}
    controls: dict[str, list[CandidateRow]] = {task.id: [] for task in selected}
    others = False
    ready = {task.id for task in rows if task.state != "excluded"}
    for row in reader.candidates(order.run):
        is_mine = row.task_id in own and belongs(row, row.task_id, order.ask)
        is_control = row.task_id in own and row.evaluator in CONTROLS and row.sample == 0
        if is_mine:
            own[row.task_id].append(row)
        if is_control:
            controls[row.task_id].append(row)
        others |= not (is_mine or is_control) and row.task_id in ready and row.state in ("queued", "asking", "testing")
    return OrderedWork(
        tuple(selected),
        {task: tuple(each) for task, each in own.items()},
        {task: tuple(each) for task, each in controls.items()},
        others,
    )


def refusal(reader: SessionReader, order: OrderedAsk) -> str:
    """Return why an engine refused an order, or "" if it was not refused."""
    plan = _plan(reader, order.run)
    acceptance = plan.acceptance(order.ask) if plan else None
    return acceptance.problem if acceptance else ""


def is_finished(reader: SessionReader, order: OrderedAsk) -> bool:
    """Return whether an order is complete.

    This includes its re-checks unless other orders of the run take precedence.
    """
    plan = _plan(reader, order.run)
    if plan is None or (acceptance := plan.acceptance(order.ask)) is None or acceptance.problem:
        return False
    work = ordered_work(reader, order)
    return not work.missing and (not work.pending_rechecks or work.others or bool(plan.waiting))


def _plan(reader: SessionReader, run: str) -> CandidatePlan | None:
    row = reader.run(run)
    return candidate_plan(row) if row is not None else None


def options_help() -> str:
    lines = ["when the same work is ordered again in a session, a different value of"]
    for effect in (Effect.RUN, Effect.TASK, Effect.CANDIDATE, Effect.NOTHING):
        names = [
            one.usage.split()[-1 if one.usage[0] != "-" else 0]
            for one in arguments_of(RegenerationPlan).values()
            if one.effect is effect
        ]
        lines.append(f"  {', '.join(names)}\n      {effect.value}")
    lines.append("To test again what already has a verdict: workbench rerun SESSION '*'.")
    return "\n".join(lines)


def is_same_work(run: RunRow, plan: CandidatePlan) -> bool:
    """Return whether an order extends a run: it has the same content and the same identifying arguments.

    If the order names no sandbox, it matches the sandbox of the run. If the content is unknown, the source must match.
    """
    if not (run.has_candidates and isinstance(plan, PLANS[run.kind])):
        return False
    try:
        old = candidate_plan(run)
    except PlanDamaged:
        return False
    others = [
        name
        for name, one in arguments_of(plan).items()
        if one.effect is Effect.RUN and name not in ("source", "sandbox")
    ]
    if picked(old, *others) != picked(plan, *others) or (plan.sandbox and plan.sandbox != old.sandbox):
        return False
    known = bool(old.snapshot and plan.snapshot)
    if known and old.snapshot != plan.snapshot:
        return False
    return old.source == plan.source or (known and _settings(old.source) == _settings(plan.source) is not None)


def _settings(source: str) -> tuple[object, ...] | None:
    try:
        case = catalog.resolve_case(source)
    except WorkbenchError:
        return None
    return (case.install, case.test)


def check_samples(session: Path, plan: CandidatePlan) -> None:
    """Raise UsageError if a samples file has changed an answer that was already tested.

    A candidate always belongs to a single answer.
    """
    from workbench.regeneration.extraction import read_samples

    if not plan.evaluator.startswith("samples:") or not session.exists():
        return
    path = Path(plan.evaluator.removeprefix("samples:"))
    now: dict[str, list[str]] = {}
    for sample in read_samples(path):
        now.setdefault(sample.task, []).append(sample.text)
    with SessionReader(session) as reader:
        for run in reader.all_runs():
            if not is_same_work(run, plan):
                continue
            names = {task.id: row_id(task) for task in reader.tasks(run.id) if task.state != "excluded"}
            for row in reader.candidates(run.id):
                if row.evaluator != plan.evaluator or row.answer_blob is None or row.task_id not in names:
                    continue
                lines = [*now.get(names[row.task_id], ()), *now.get(row.task_id, ())]
                if lines[row.sample : row.sample + 1] != [reader.text(row.answer_blob)]:
                    raise UsageError(
                        f"{path.name} has another answer for {names[row.task_id]}, sample {row.sample}, than the "
                        "one tested in this session; put other answers into a separate file."
                    )


#: The share of fast verdicts that are re-checked, in addition to the verdicts on originals.
RANDOM_SHARE = 0.01

_LOOKED_AT = ("passed", "failed", "timeout", "crashed", "bypassed")
_FAST = (Route.HOT, Route.WARM)


def recheck_reason(
    candidate: str, evaluator: str, route: str | None, verdict: str | None, *, replayed: bool = False
) -> str:
    """Return the reason for re-checking a verdict: ``original``, ``random``, or "" if it is not re-checked.

    The reference of a usage task was ``replayed`` in two fresh sandboxes when the task was built, so it is not one of
    the originals that are all re-checked.
    """
    if route not in _FAST or verdict not in _LOOKED_AT:
        return ""
    if evaluator == "reference" and not replayed:
        return "original"
    return "random" if int(candidate[:8], 16) < RANDOM_SHARE * 2**32 else ""
