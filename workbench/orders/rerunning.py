"""Request parts of a regeneration run again: their tests, more samples, or another evaluator's. Cheap to import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.orders.launching import WarmEngine, launch
from workbench.orders.orders import Order
from workbench.orders.plan import RegenerationPlan, repeating
from workbench.orders.plan_checks import check_regeneration
from workbench.orders.regeneration_client import full_ask, grow
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.rows import CandidateRow, RunRow, TaskRow
from workbench.session.task_names import matches, row_id


def find_items(reader: SessionReader, item: str) -> tuple[list[TaskRow], list[CandidateRow]]:
    """Return the tasks or the candidates that match ``item``; both are empty if nothing matches."""
    runs = [run.id for run in reader.runs() if run.kind == "regenerate"]
    tasks = [task for run in runs for task in reader.tasks(run) if matches(item, row_id(task), task.id)]
    if tasks:
        exact = [task for task in tasks if item in (task.id, row_id(task))]
        return exact or tasks, []
    if len(item) < 4:
        return [], []
    found = [row for run in runs for row in reader.candidates(run) if row.id.startswith(item)]
    return [], found


def rerun_orders(
    session: Path,
    item: str = "",
    *,
    failed: bool = False,
    model: str = "",
    samples: int = 0,
    warm: WarmEngine | None = None,
) -> list[Order | str]:
    """Run tasks or a candidate again; return an order per run, or only the run's id if just the tests run again.

    With a model, that model is asked for the tasks meant, as many samples as the run has, or ``samples``; with ``samples`` alone
    the evaluator of those meant, until each task has that many. With neither, answers that are there are tested again, and
    asked for where there is none: nothing is drawn anew because its result did not please, which would raise pass@k by choice.
    ``item`` is a task (id, prefix of it, glob, function name) or a candidate (id or prefix of it); empty = all.
    """
    with SessionReader(session) as reader:
        touched = _meant(session, reader, item, failed)
    orders: list[Order | str] = []
    grown = {run.id: _asked_again(run, mine, model, samples) for run, mine in touched if model or samples}
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key, mine in ((run.id, mine) for run, mine in touched):
            if model or samples:
                grow(writer, key, grown[key])
                orders.append(Order(key, grown[key].asks[0], grown[key].k))
                continue
            orders.append(key)
            engine_starts.announce(key)
            for row in mine:
                # Without a verdict, verdict_reason says why there is none, so clear it.
                connection.execute(
                    "UPDATE candidates SET state = 'queued', "
                    "verdict_reason = CASE WHEN verdict IS NULL THEN NULL ELSE verdict_reason END WHERE id = ?",
                    (row.id,),
                )
            connection.execute(
                "UPDATE runs SET state = 'queued', finished_at = NULL, error = NULL WHERE id = ? AND state != 'running'",
                (key,),
            )
    for run, _ in touched:
        launch(session, run.id, warm)
    return orders


@dataclass(frozen=True, slots=True)
class Again:
    """What a rerun comes to: of which source and evaluator, how many candidates are asked for, how many only tested."""

    source: str
    evaluator: str
    asked: int
    tested: int


def what_again(
    session: Path, item: str = "", *, failed: bool = False, model: str = "", samples: int = 0
) -> list[Again]:
    """Return what :func:`rerun_orders` would do, one entry per run and nothing written; see there for the arguments."""
    with SessionReader(session) as reader:
        found = []
        for run, mine in _meant(session, reader, item, failed):
            plan = RegenerationPlan.from_json(run.config)
            if not (model or samples):
                evaluator = mine[0].evaluator
                found.append(Again(plan.source, evaluator, 0, len(mine)))
                continue
            asked = _asked_again(run, mine, model, samples)
            had = Counter(row.task_id for row in reader.candidates(run.id) if row.evaluator == asked.evaluator)
            more = sum(max(0, asked.samples - had[task]) for task in asked.tasks)
            found.append(Again(plan.source, asked.evaluator, more, 0))
        return found


def _meant(session: Path, reader: SessionReader, item: str, failed: bool) -> list[tuple[RunRow, list[CandidateRow]]]:
    """Return the runs that are touched, each with those of its candidates that are meant."""
    tasks, one = find_items(reader, item) if item else ([], [])
    if len(one) > 1:
        raise UsageError(f"{item!r} could be {len(one)} candidates; give more characters.")
    rows = one
    if not rows:
        meant = {task.id for task in tasks}
        every = (row for run in reader.runs() if run.kind == "regenerate" for row in reader.candidates(run.id))
        rows = [row for row in every if not item or row.task_id in meant]
    if failed:
        rows = [row for row in rows if not row.control and row.verdict != "passed"]
    elif not one:
        rows = [row for row in rows if not row.control or item]
    if not rows:
        what = "no candidate that failed" if failed else f"no task or candidate {item!r}"
        raise UsageError(f"{session.name} has {what}; `workbench show {session}` lists what it has.")
    runs = {row.id: row for row in reader.runs()}
    touched = dict.fromkeys(row.run_id for row in rows)
    return [(runs[key], [row for row in rows if row.run_id == key]) for key in touched]


def _asked_again(run: RunRow, rows: Sequence[CandidateRow], model: str, samples: int) -> RegenerationPlan:
    plan = RegenerationPlan.from_json(run.config)
    tasks = tuple(dict.fromkeys(row.task_id for row in rows))
    names = list(dict.fromkeys(row.evaluator for row in rows if not row.control))
    if len(names) > 1 and not model:
        raise UsageError(f"There are samples of {', '.join(names[:-1])} and {names[-1]}; say whose with --model.")
    evaluator = model or (names[0] if names else plan.evaluator)
    # The evaluator's own wording: another one would be other work, and the samples that it has would not count.
    before = next((ask for ask in reversed(plan.asks) if ask.evaluator == evaluator), None)
    again = replace(
        plan,
        evaluator=evaluator,
        samples=samples or plan.samples,
        tasks=tasks,
        limit=0,
        prompt=before.prompt if before else "",
        context=before.context if before else "",
        extra_body=(before.extra_body or "{}") if before else "",
    )
    check_regeneration(again)
    ask = full_ask(again)
    return replace(again, **repeating(ask), asks=(ask,))
