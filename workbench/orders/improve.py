"""Improve docstrings: place, start and cancel an order, and read its state. Cheap to import."""

from __future__ import annotations

import subprocess
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.read_only import must_write
from workbench.base.settings import load
from workbench.improving.attempts import Standing, standings
from workbench.improving.changes import FileChange, Improved, attempts_of, spliced, task_source
from workbench.orders import defaults, running
from workbench.orders.estimate import (
    WorkEstimate,
    added,
    estimate_candidates,
    is_free,
    seconds_of_request,
    task_count,
    total,
)
from workbench.orders.launching import WarmEngine, engine_for
from workbench.orders.measured import MeasuredRates, most_tasks
from workbench.orders.order import WorkOrder
from workbench.orders.ordered_asks import OrderedAsk, is_same_work, ordered_work
from workbench.orders.plan_checks import check_place, check_sandbox
from workbench.orders.regenerate import RegenerateOrder, absolute_source, completed_order, content_of, resolved
from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import Ask, ImprovementPlan, RegenerationPlan, as_text, chosen, filled, repeating
from workbench.plans.task_names import row_id
from workbench.results.tasks import BELOW, DocstringQuality
from workbench.session import SessionReader, SessionWriter, engine_starts, ensure
from workbench.session.identity import run_id
from workbench.session.rows import ImprovementRow

HELD_OUT, ATTEMPTS = 5, 2
"""The default numbers of held-out samples and of attempts."""
_OPEN = ("queued", "running")
_LET_GO_SECONDS, _LOOK_SECONDS = 45.0, 0.05


def resolved_improvement(session: Path, plan: ImprovementPlan) -> ImprovementPlan:
    """Fill in unset arguments (0 and "").

    Values come from the session's run on the source, or else from this machine's defaults.
    """
    settings = load()
    writer = plan.writer or defaults.agent_model(settings)
    for model, role in ((writer, "the writer"), (plan.second_evaluator, "the second evaluator")):
        if model:
            defaults.check_model(model, role)
    base = plan.base
    if (known := _recorded_ask(session, base)) is not None:
        base = replace(filled(base, known, "prompt", "context", "extra_body"), evaluator=known.evaluator, asks=(known,))
        base = replace(base, extra_body=base.extra_body or "{}")
    base = replace(base, samples=base.samples or defaults.SAMPLES)
    for evaluator in (base.evaluator, plan.second_evaluator):
        if evaluator in ("reference", "stub") or evaluator.startswith("samples:"):
            raise UsageError(f"{evaluator.partition(':')[0]} is not an evaluator that reads docstrings; name a model.")
    base = resolved(base)
    if plan.second_evaluator == base.evaluator:
        raise UsageError(f"{base.evaluator} is already the evaluator; the second evaluator must be a different model.")
    return ImprovementPlan(
        replace(base, snapshot=content_of(base.source)),
        writer,
        plan.held_out or HELD_OUT,
        plan.below or BELOW,
        plan.attempts or ATTEMPTS,
        plan.most,
        plan.second_evaluator,
    )


def with_previous_arguments(session: Path, plan: ImprovementPlan) -> ImprovementPlan:
    """Fill in unset arguments (0 and "") from the session's last order for the same source."""
    if not session.exists():
        return plan
    source = absolute_source(plan.base.source)
    with SessionReader(session) as reader:
        orders = [
            one for row in reader.improvements() if (one := plan_of(row)) is not None and one.base.source == source
        ]
    matching = [one for one in orders if not plan.base.evaluator or one.base.evaluator == plan.base.evaluator]
    if not matching:
        return plan
    last = matching[-1]
    base = filled(plan.base, last.base, "samples", "tasks", "sandbox", "prompt", "context", "extra_body", "spend_limit")
    plan = replace(plan, base=replace(base, evaluator=last.base.evaluator))
    return filled(plan, last, "writer", "held_out", "below", "attempts", "most", "second_evaluator")


def plan_of(row: ImprovementRow) -> ImprovementPlan | None:
    try:
        return ImprovementPlan.from_json(row.plan)
    except PlanDamaged:
        return None


def _recorded_ask(session: Path, base: RegenerationPlan) -> Ask | None:
    if not session.exists():
        return None
    plan = resolved(base)
    with SessionReader(session) as reader:
        runs = [run for run in reader.runs() if is_same_work(run, plan)]
    asks = [ask for run in runs for ask in RegenerationPlan.from_json(run.config).asks if ask.prompt]
    matching = [ask for ask in asks if not base.evaluator or ask.evaluator == base.evaluator]
    # Use the first ask, because later asks may be for held-out samples.
    return matching[0] if matching else None


def launch_improvement(session: Path, improvement: str, *, queue: bool = False) -> subprocess.Popen[bytes] | None:
    """Start a process that executes an order and outlives the caller.

    Return None if one is already running.
    """
    must_write("start a run")
    with SessionReader(session) as reader:
        row = reader.improvement(improvement)
    if row is None or row.state not in _OPEN:
        _wait_for_exit(improvement)
    with SessionWriter(session) as writer, writer.transaction():
        if engine_starts.is_coming(improvement):
            return None
        engine_starts.announce(improvement)
        writer.set_improvement(improvement, state="queued", problem=None, finished_at=None)
    process = engine_for(session, "improvement", improvement, queue=queue)
    engine_starts.started(improvement, process.pid)
    return process


def _wait_for_exit(improvement: str) -> None:
    pause, end = threading.Event(), time.monotonic() + _LET_GO_SECONDS
    while engine_starts.is_coming(improvement) and time.monotonic() < end:
        pause.wait(_LOOK_SECONDS)


def cancel_improvement(session: Path, improvement: str) -> None:
    with SessionWriter(session) as writer, writer.transaction(), SessionReader(session) as reader:
        row = reader.improvement(improvement)
        if row is None or row.state not in _OPEN:
            return
        writer.set_improvement(improvement, state="cancelled")
    with SessionReader(session) as reader:
        run = reader.run(row.active_run_id) if row.active_run_id else None
        under_way = run is not None and reader.run_state(run) in _OPEN
    if run is not None and under_way:
        running.cancel(session, run.id)


def state_of(row: ImprovementRow) -> str:
    """Return the state of an order, or ``interrupted`` if its process no longer exists."""
    return "interrupted" if row.state in _OPEN and not engine_starts.is_coming(row.id) else row.state


def improved(session: Path, improvement: str) -> Improved:
    """Read the results of an order so far. Raises PlanDamaged if its plan cannot be read."""
    with SessionReader(session) as reader:
        row = reader.improvement(improvement)
        assert row is not None
        plan = ImprovementPlan.from_json(row.plan)
        attempts = attempts_of(reader, row, plan)
        found = _standings(reader, row, plan)
        kept = [(one.task, task_source(reader, one.task)[0], one.docstring) for one in attempts if one.is_kept]
    changes = tuple(FileChange(path, before, after) for path, (before, after) in sorted(spliced(kept).items()))
    return Improved(found, attempts, changes, plan, row.run_id or "")


def _standings(reader: SessionReader, row: ImprovementRow, plan: ImprovementPlan) -> tuple[Standing, ...]:
    run, base = reader.run(row.run_id) if row.run_id else None, plan.base
    if run is None:
        return ()
    asks = base.asks or (Ask(**repeating(base)),)
    work = ordered_work(reader, OrderedAsk(run.id, asks[0], base.k))
    return standings(work.tasks, work.candidates, reader.dropped(run.id), below=plan.below, samples=base.samples)


@dataclass(eq=False)
class ImproveOrder(WorkOrder):
    """Improve docstrings; unset arguments are taken from the session's last order for the same source."""

    plan: ImprovementPlan
    id: str = field(default="", init=False)  # Set by `write`

    def resolve(self) -> None:
        self.plan = resolved_improvement(self.session, with_previous_arguments(self.session, self.plan))

    @property
    def what(self) -> str:
        plan = self.plan
        second = f", held-out samples by {plan.second_evaluator}" if plan.second_evaluator else ""
        return f"{self.plan.base.source} × {plan.base.evaluator}, docstrings by {plan.writer}{second}"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        """Return an upper bound: every attempt for every function is made, each with held-out samples."""
        plan = self.plan
        base, tried = plan.base, None
        if base.tasks and self.session.exists():
            with SessionReader(self.session) as reader:
                rows = [task for run in reader.runs() if is_same_work(run, base) for task in reader.tasks(run.id)]
            if rows and not chosen(base.asks[0], [(row_id(task), task.id, task) for task in rows]):
                raise UsageError(f"No task is called {', '.join(base.tasks)}; `workbench tasks` lists their ids.")
        if (order := completed_order(self.session, base)) is not None:
            with SessionReader(self.session) as reader:
                work = ordered_work(reader, order)
            found = standings(work.tasks, work.candidates, (), below=plan.below, samples=base.samples)
            tried = sum(one.kind is DocstringQuality.BADLY for one in found)
            first = estimate_candidates(measured, base.source, base.evaluator, candidates=0)
        else:
            first = RegenerateOrder(self.session, base).estimate(measured)
            tasks = task_count(measured, base.source)
            exact = bool(base.tasks) and not set("*?[") & set("".join(base.tasks))
            if tasks is None and not base.tasks:
                tasks = most_tasks(base.source, plan.most)
            tried = len(base.tasks) if exact else tasks
        if tried is not None and plan.most:
            tried = min(tried, plan.most)
        if tried == 0:
            return first
        seen, held_out = plan.attempts * base.samples, (1 + plan.attempts) * plan.held_out
        more = [
            estimate_candidates(measured, base.source, model, candidates=None if tried is None else tried * each)
            for model, each in ((base.evaluator, seen), (plan.held_out_evaluator, held_out))
        ]
        estimate = replace(added((first, *more)), documentation=first.documentation, up_to=True)
        if tried is None:
            return estimate
        written = tried * plan.attempts
        near = seconds_of_request(measured, plan.writer)
        return replace(
            estimate,
            requests=total((estimate.requests, written)),
            seconds=total((estimate.seconds, near[0] * written if near else None)),
            dollars=estimate.dollars if is_free(plan.writer) else None,
        )

    def check(self) -> None:
        must_write("start a run")
        check_sandbox(self.plan.base.sandbox or load().sandbox, self.plan.base.import_folders)
        check_place(self.session)

    def write(self) -> None:
        """Write the order, or continue the existing one whose arguments lead to the same result."""
        ensure(self.session)
        # The search is part of the transaction: of several concurrent orders, only the first is written.
        with SessionWriter(self.session) as writer, writer.transaction(), SessionReader(self.session) as reader:
            orders = [(row, plan_of(row)) for row in reader.improvements()]
            same = [row for row, plan in orders if plan is not None and plan.meaning == self.plan.meaning]
            self.id = same[-1].id if same else run_id()
            if not same:
                writer.add_improvement(self.id, self.plan.to_json())
            elif state_of(same[-1]) not in _OPEN:
                writer.set_improvement(self.id, plan=as_text(self.plan))

    def launch(self, *, queue: bool = False, warm: WarmEngine | None = None) -> None:
        self.process = launch_improvement(self.session, self.id, queue=queue)

    def cancel(self) -> None:
        cancel_improvement(self.session, self.id)
        _wait_for_exit(self.id)

    def resume(self, warm: WarmEngine | None = None) -> None:
        self.launch()
