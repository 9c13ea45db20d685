"""Rerun a trial, or parts of a regeneration run. Cheap to import.

A rerun of a part repeats its tests, or asks for more samples, possibly from another evaluator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.orders.estimate import Again, WorkEstimate, estimate_rerun, estimate_trials
from workbench.orders.fork import ForkOrder
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder, resolve_trial
from workbench.orders.ordered_asks import OrderedAsk
from workbench.orders.plan_checks import check_regeneration
from workbench.orders.regenerate import full_ask, grow, move
from workbench.orders.run import plan_document
from workbench.orders.usage import PageArm, with_reader_asks
from workbench.plans.plan import CandidatePlan, DocumentPlan, RegenerationPlan, repeating
from workbench.plans.task_names import matches, row_id
from workbench.plans.usage import UsagePlan, candidate_plan
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.pending_work import judges_of
from workbench.session.rows import CandidateRow, RunRow, TaskRow


def find_items(reader: SessionReader, item: str) -> tuple[list[TaskRow], list[CandidateRow]]:
    """Return the tasks that match ``item``, or the matching candidates if there are none."""
    runs = [run.id for run in reader.runs() if run.has_candidates]
    tasks = [task for run in runs for task in reader.tasks(run) if matches(item, row_id(task), task.id)]
    if tasks:
        exact = [task for task in tasks if item in (task.id, row_id(task))]
        return exact or tasks, []
    if len(item) < 4:
        return [], []
    found = [row for run in runs for row in reader.candidates(run) if row.id.startswith(item)]
    return [], found


@dataclass(eq=False)
class RerunOrder(WorkOrder):
    """Run tasks or candidates again.

    With a ``model``, that model is asked for ``samples`` candidates of each selected task, by default as many as the
    run has per task. With ``samples`` alone, the evaluator of the selected candidates is asked until each task has that
    many. With neither, existing answers are tested again and missing ones are requested. An answer is never requested
    again because it failed: such a selection would raise pass@k. ``item`` is a task (id, prefix, glob, function name)
    or a candidate (id, prefix); empty selects all.
    """

    item: str = ""
    failed: bool = False
    model: str = ""
    samples: int = 0
    engine: str = ""
    spend_limit: float = 0.0
    # One order per run, or the id of the run if only its tests run again; set by `write`
    orders: list[OrderedAsk | str] = field(default_factory=list, init=False)

    @property
    def asks(self) -> bool:
        return bool(self.model or self.samples)

    @cached_property
    def parts(self) -> list[Again]:
        with SessionReader(self.session) as reader:
            found = []
            for run, mine in _selected(self.session, reader, self.item, self.failed):
                plan = candidate_plan(run)
                if not self.asks:
                    found.append(Again(plan.source, mine[0].evaluator, 0, len(mine)))
                    continue
                asked = _asked_again(run, mine, self.model, self.samples)
                evaluator = asked.asks[0].evaluator
                had = Counter(
                    (row.task_id, row.context) for row in reader.candidates(run.id) if row.evaluator == evaluator
                )
                more = sum(max(0, ask.samples - had[task, ask.context]) for ask in asked.asks for task in asked.tasks)
                found.append(Again(plan.source, asked.evaluator, more, 0))
            return found

    @property
    def what(self) -> str:
        named = ", ".join(dict.fromkeys(f"{one.source} × {one.evaluator}" for one in self.parts))
        return named if any(one.asked for one in self.parts) else f"{named}, tested again"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        return estimate_rerun(measured, self.parts)

    def write(self) -> None:
        if self.engine:
            move(self.session, self.engine)
        with SessionReader(self.session) as reader:
            touched = _selected(self.session, reader, self.item, self.failed)
        self.runs = [run.id for run, _ in touched]
        grown = {run.id: _asked_again(run, mine, self.model, self.samples) for run, mine in touched if self.asks}
        with SessionWriter(self.session) as writer, writer.transaction() as connection:
            for key, mine in ((run.id, mine) for run, mine in touched):
                if self.asks:
                    plan = replace(grown[key], spend_limit=self.spend_limit or grown[key].spend_limit)
                    grow(writer, key, plan)
                    self.orders.append(OrderedAsk(key, plan.asks[0], plan.k))
                    continue
                self.orders.append(key)
                engine_starts.announce(key)
                for row in mine:
                    # Without a verdict, verdict_reason explains why there is none, so clear it.
                    connection.execute(
                        "UPDATE candidates SET state = 'queued', "
                        "verdict_reason = CASE WHEN verdict IS NULL THEN NULL ELSE verdict_reason END WHERE id = ?",
                        (row.id,),
                    )
                connection.execute(
                    "UPDATE runs SET state = 'queued', finished_at = NULL, error = NULL WHERE id = ? AND state != 'running'",
                    (key,),
                )


def _selected(session: Path, reader: SessionReader, item: str, failed: bool) -> list[tuple[RunRow, list[CandidateRow]]]:
    """Return the affected runs, each with its selected candidates."""
    tasks, one = find_items(reader, item) if item else ([], [])
    if len(one) > 1:
        raise UsageError(f"{item!r} matches {len(one)} candidates; give more characters.")
    rows = one
    if not rows:
        selected = {task.id for task in tasks}
        every = (row for run in reader.runs() if run.has_candidates for row in reader.candidates(run.id))
        rows = [row for row in every if not item or row.task_id in selected]
    if failed:
        rows = [row for row in rows if not row.control and row.verdict != "passed"]
    elif not one:
        rows = [row for row in rows if not row.control or item]
    if not rows:
        what = "no candidate that failed" if failed else f"no task or candidate {item!r}"
        raise UsageError(f"{session.name} has {what}; `workbench show {session}` lists its contents.")
    runs = {row.id: row for row in reader.runs()}
    touched = dict.fromkeys(row.run_id for row in rows)
    return [(runs[key], [row for row in rows if row.run_id == key]) for key in touched]


def _asked_again(run: RunRow, rows: Sequence[CandidateRow], model: str, samples: int) -> CandidatePlan:
    plan = candidate_plan(run)
    tasks = tuple(dict.fromkeys(row.task_id for row in rows))
    names = list(dict.fromkeys(row.evaluator for row in rows if not row.control))
    if len(names) > 1 and not model:
        raise UsageError(f"There are samples of {', '.join(names[:-1])} and {names[-1]}; choose one with --model.")
    evaluator = model or (names[0] if names else plan.evaluator)
    # Use the evaluator's previous prompt: with a different one, its existing samples would not count.
    before = next((ask for ask in reversed(plan.asks) if ask.evaluator == evaluator), None)
    changed = replace(
        plan,
        evaluator=evaluator,
        samples=samples or plan.samples,
        tasks=tasks,
        limit=0,
        prompt=before.prompt if before else "",
        context=before.context if before else "",
        extra_body=(before.extra_body or "{}") if before else "",
    )
    check_regeneration(changed)
    if isinstance(changed, UsagePlan):
        contexts = {row.context for row in rows if not row.control}
        pages = [PageArm(ask.context, ask.page) for ask in plan.asks if ask.context in contexts]
        return with_reader_asks(changed, list(dict.fromkeys(pages)))
    assert isinstance(changed, RegenerationPlan)
    ask = full_ask(changed)
    return replace(changed, **repeating(ask), asks=(ask,))


@dataclass(eq=False)
class RerunTrialOrder(WorkOrder):
    """Run a trial again as the next repeat, optionally with another model; a fork is forked again."""

    old: str
    model: str = ""
    spend_limit: float = 0.0
    trial: str = field(default="", init=False)  # The new trial, set by `write`

    def resolve(self) -> None:
        with SessionReader(self.session) as reader:
            self._row = resolve_trial(self.session, reader, self.old)
            self._run = reader.run(self._row.run_id)

    @property
    def what(self) -> str:
        return f"{self._row.case_name} × {self._row.agent} × {self.model or self._row.model}"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        self.resolve()
        old, model = self._row, self.model or self._row.model
        return estimate_trials(measured, [old.case_id], old.agent, model, judges_of(self._run), repeats=1, at_once=1)

    def write(self) -> None:
        self.resolve()
        old, run = self._row, self._run
        if run is None:
            raise UsageError(f"The run of trial {old.id} cannot be read, so it cannot be run again.")
        if old.parent:
            fork = ForkOrder.again(self.session, old, model=self.model, spend_limit=self.spend_limit)
            fork.write()
            self.runs, self.trial = fork.runs, fork.trial
            return
        recorded = DocumentPlan.from_json(run.config)
        plan = replace(
            recorded,
            cases=(old.case_id,),
            agent=old.agent,
            model=self.model or old.model,
            repeats=1,
            first_repeat=0,
            read_limit=0 if self.model else recorded.read_limit,
            spend_limit=self.spend_limit or recorded.spend_limit,
        )
        self.runs = [plan_document(self.session, plan)]
        with SessionReader(self.session) as reader:
            self.trial = reader.trials(self.runs[0])[0].id
