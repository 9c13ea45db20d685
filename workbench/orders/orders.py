"""What one person asked a regeneration run for: a run grows by orders, and each is followed by itself.

Also which work a session has already: which options change what a result means, so that an order is new work, and which do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import catalog
from workbench.base.errors import UsageError, WorkbenchError
from workbench.plans.arguments import Counts, PlanDamaged, arguments_of
from workbench.plans.plan import Ask, RegenerationPlan, chosen, repeating
from workbench.sandbox import Route
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.identity import candidate_id
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow, RunRow, TaskRow
from workbench.session.task_names import row_id


@dataclass(frozen=True, slots=True)
class Order:
    """An ask within a run, with the k of the figures that are wanted; ``ask.samples`` 0 means all that a file holds."""

    run: str
    ask: Ask
    k: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OrderedWork:
    """The tasks and candidates of an order, as far as they are rows."""

    tasks: tuple[TaskRow, ...]  # The tasks meant, those taken out included
    candidates: Mapping[str, tuple[CandidateRow, ...]]  # By task, the candidates asked for
    controls: Mapping[str, tuple[CandidateRow, ...]]  # By task, both controls
    others: bool  # Whether other orders of the run still have something under way

    @property
    def missing(self) -> bool:
        """Whether a candidate or control of a task that counts has no verdict yet, or is tested again."""
        ready = {task.id for task in self.tasks if task.state != "excluded"}
        rows = [row for task in ready for row in (*self.candidates[task], *self.controls[task])]
        return any(row.state != "done" for row in rows)

    @property
    def pending_rechecks(self) -> int:

        rows = {row.id: row for rows in (self.candidates, self.controls) for each in rows.values() for row in each}
        return sum(
            not row.recheck and bool(row.body_blob and why_again(row.id, row.evaluator, row.route, row.verdict))
            for row in rows.values()
        )


def last_ask(plan: RegenerationPlan) -> Ask:
    for ask in reversed(plan.asks):
        if {**repeating(ask), "samples": 0} == {**repeating(plan), "samples": 0}:
            return ask
    return Ask(**repeating(plan))


def last_order(run: RunRow) -> Order:
    plan = RegenerationPlan.from_json(run.config)
    return Order(run.id, last_ask(plan), plan.k)


def all_orders(run: RunRow) -> list[Order]:
    plan = RegenerationPlan.from_json(run.config)
    return [Order(run.id, ask, plan.k) for ask in plan.asks] or [last_order(run)]


def belongs(candidate: CandidateRow, task: str, ask: Ask) -> bool:
    if candidate.evaluator != ask.evaluator or (ask.samples and candidate.sample >= ask.samples):
        return False
    return candidate.id == candidate_id(task, ask.evaluator, ask.prompt_version, candidate.sample)


def ordered_work(reader: SessionReader, order: Order) -> OrderedWork:
    rows = reader.tasks(order.run)
    meant: Sequence[TaskRow] = chosen(order.ask, [(row_id(task), task.id, task) for task in rows])
    mine: dict[str, list[CandidateRow]] = {task.id: [] for task in meant}
    controls: dict[str, list[CandidateRow]] = {task.id: [] for task in meant}
    others = False
    ready = {task.id for task in rows if task.state != "excluded"}
    for row in reader.candidates(order.run):
        is_mine = row.task_id in mine and belongs(row, row.task_id, order.ask)
        is_control = row.task_id in mine and row.evaluator in CONTROLS and row.sample == 0
        if is_mine:
            mine[row.task_id].append(row)
        if is_control:
            controls[row.task_id].append(row)
        others |= not (is_mine or is_control) and row.task_id in ready and row.state in ("queued", "asking", "testing")
    return OrderedWork(
        tuple(meant),
        {task: tuple(each) for task, each in mine.items()},
        {task: tuple(each) for task, each in controls.items()},
        others,
    )


def refusal(reader: SessionReader, order: Order) -> str:
    """Return why an engine refused an order, "" if none did."""
    plan = _plan(reader, order.run)
    acceptance = plan.acceptance(order.ask) if plan else None
    return acceptance.problem if acceptance else ""


def is_finished(reader: SessionReader, order: Order) -> bool:
    """Return whether all that was ordered is there; re-checks come last in a run and are waited for unless others come first."""
    plan = _plan(reader, order.run)
    if plan is None or (acceptance := plan.acceptance(order.ask)) is None or acceptance.problem:
        return False
    work = ordered_work(reader, order)
    return not work.missing and (not work.pending_rechecks or work.others or bool(plan.waiting))


def _plan(reader: SessionReader, run: str) -> RegenerationPlan | None:
    row = reader.run(run)
    return RegenerationPlan.from_json(row.config) if row is not None else None


def options_help() -> str:
    lines = ["ordered again into a session that has the work already, another value of"]
    for counts in (Counts.RUN, Counts.TASK, Counts.CANDIDATE, Counts.NOTHING):
        names = [
            one.usage.split()[-1 if one.usage[0] != "-" else 0]
            for one in arguments_of(RegenerationPlan).values()
            if one.counts is counts
        ]
        lines.append(f"  {', '.join(names)}\n      {counts.value}")
    lines.append("Test again what has its verdict: workbench rerun SESSION '*'.")
    return "\n".join(lines)


def is_same_work(run: RunRow, plan: RegenerationPlan) -> bool:
    """Return whether a run is the one that an order continues: same content, doc system, and all else that counts as a run of its own.

    A sandbox that is not named is that of the run, and content that is not known yet is that of its source.
    """
    if run.kind != "regenerate":
        return False
    try:
        old = RegenerationPlan.from_json(run.config)
    except PlanDamaged:
        return False
    others = [
        name
        for name, one in arguments_of(RegenerationPlan).items()
        if one.counts is Counts.RUN and name not in ("source", "sandbox")
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


def check_samples(session: Path, plan: RegenerationPlan) -> None:
    """Refuse, by UsageError, a samples file in which an answer that was tested is another one now: one name never stands for two."""
    from workbench.regeneration.samples_file import read_samples

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
                        f"{path.name} says something else for {names[row.task_id]}, sample {row.sample}, than when it was "
                        "tested in this session; put other answers into a file of their own."
                    )


#: Share of fast verdicts that are looked at again, originals not counted.
RANDOM_SHARE = 0.01

_LOOKED_AT = ("passed", "failed", "timeout", "crashed")
_FAST = (Route.HOT, Route.WARM)


def why_again(candidate: str, evaluator: str, route: str | None, verdict: str | None) -> str:
    """Return why a verdict is due for a re-check: ``original``, ``random`` or nothing."""
    if route not in _FAST or verdict not in _LOOKED_AT:
        return ""
    if evaluator == "reference":
        return "original"
    return "random" if int(candidate[:8], 16) < RANDOM_SHARE * 2**32 else ""
