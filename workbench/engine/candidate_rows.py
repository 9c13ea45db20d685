"""A run's candidates in the session: add those that the plan requires, and list those without a verdict."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.errors import UsageError
from workbench.engine.evaluators import SAMPLES, Evaluators, SamplesEvaluator, sampling_text
from workbench.engine.task_rows import TaskItem
from workbench.plans.plan import Ask, CandidatePlan
from workbench.regeneration.extraction import Extraction
from workbench.session import SessionReader, SessionWriter
from workbench.session.groups import CONTROLS
from workbench.session.identity import candidate_id
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow

TAKEN_OUT = "The task was excluded."


@dataclass(slots=True)
class Work:
    """One candidate to be tested."""

    id: str
    item: TaskItem
    ask: Ask  # Contains the evaluator
    sample: int
    control: bool  # Whether it is shown as a control rather than as a sample
    decides: bool  # Whether the task is excluded because of its verdict
    answer_text: str | None = None  # The model's answer, if the session already contains it
    former: str | None = None  # The verdict of an earlier test, shown until there is a new one
    # The body of an earlier test if it came from a samples file, because that file may have changed
    body: str | None = None
    extraction: Extraction | None = None


@dataclass(eq=False)
class CandidateTable:
    """The candidates of a run."""

    _writer: SessionWriter
    _run: str
    _asks: dict[str, Ask] = field(default_factory=dict, init=False)
    _controls: bool = field(default=True, init=False)
    _started: bool = field(default=False, init=False)
    _given_up: set[str] = field(default_factory=set, init=False)

    def refused(self, items_by_ask: Mapping[Ask, Sequence[TaskItem]], evaluators: Evaluators) -> dict[Ask, str]:
        found = {}
        for ask, items in items_by_ask.items():
            if not items:
                found[ask] = f"No task is called {', '.join(ask.tasks)}; `workbench tasks` lists their ids."
                continue
            try:
                evaluator = evaluators.of(ask)
                if isinstance(evaluator, SamplesEvaluator):
                    evaluator.require_some(items)
            except UsageError as error:
                found[ask] = str(error)
        return found

    def add(self, plan: CandidatePlan, items_by_ask: Mapping[Ask, Sequence[TaskItem]], evaluators: Evaluators) -> None:
        own = {ask.evaluator for ask in items_by_ask}
        self._controls = plan.controls
        ordered: set[str] = set()
        with self._writer.transaction() as connection:
            if plan.controls:
                every = {item.id: item for items in items_by_ask.values() for item in items}
                for name in plan.control_names:
                    for item in every.values():
                        self._add(item, Ask(name, 1), 0, control=name not in own)
            for name in own.intersection(CONTROLS):
                connection.execute(
                    "UPDATE candidates SET control = 0 WHERE run_id = ? AND evaluator = ? AND control = 1",
                    (self._run, name),
                )
            for ask, items in items_by_ask.items():
                evaluator = evaluators.of(ask)
                for item in items:
                    count = ask.samples
                    if isinstance(evaluator, SamplesEvaluator):
                        count = min(evaluator.count(item), ask.samples or evaluator.count(item))
                    for sample in range(count):
                        identity = self._add(item, ask, sample, control=False)
                        if ask in plan.waiting:
                            ordered.add(identity)
            self._queue_missing(ordered)

    def remarks(
        self, items_by_ask: Mapping[Ask, Sequence[TaskItem]], evaluators: Evaluators, tasks: Collection[str]
    ) -> str:
        """Return warnings about lines in samples files that do not match any task."""
        warnings = []
        known = {*tasks, *(item.id for items in items_by_ask.values() for item in items)}
        for ask in items_by_ask:
            with contextlib.suppress(UsageError):
                evaluator = evaluators.of(ask)
                if isinstance(evaluator, SamplesEvaluator):
                    warnings.append(evaluator.ignored(known))
        return " ".join(dict.fromkeys(filter(None, warnings)))

    def _queue_missing(self, ordered: set[str]) -> None:
        """Queue the missing candidates of an order; those of other orders stay closed until a resume."""
        with self._writer.transaction() as connection:
            if ordered and not self._started:
                connection.execute(
                    "UPDATE candidates SET state = 'cancelled' WHERE run_id = ? AND state IN ('queued', 'asking') "
                    "AND verdict IS NULL AND answer_blob IS NULL AND control = 0 AND evaluator NOT IN (?, ?) "
                    "AND id NOT IN (SELECT value FROM json_each(?))",
                    (self._run, *CONTROLS, json.dumps(list(ordered))),
                )
            self._started = True
            if ordered:
                connection.execute(
                    "UPDATE candidates SET state = 'queued' WHERE run_id = ? AND (verdict = 'error' OR state = 'cancelled') "
                    "AND (control = 1 OR evaluator IN (?, ?) OR id IN (SELECT value FROM json_each(?)))",
                    (self._run, *CONTROLS, json.dumps(list(ordered))),
                )

    def _add(self, item: TaskItem, ask: Ask, sample: int, *, control: bool) -> str:
        identity = candidate_id(item.id, ask.evaluator, ask.prompt_version, sample)
        if identity in self._asks:
            return identity
        self._asks[identity] = ask
        settings = sampling_text(ask)
        self._writer.insert(
            "candidates",
            {
                "id": identity,
                "run_id": self._run,
                "task_id": item.id,
                **picked(ask, "evaluator", "prompt", "context"),
                "sample": sample,
                "control": int(control),
                "state": "queued",
                "settings": settings,
            },
            conflict="IGNORE",
        )
        # A candidate without an answer is requested with the current settings, so update the settings in its row.
        with self._writer.transaction() as connection:
            connection.execute(
                "UPDATE candidates SET settings = ? "
                "WHERE id = ? AND settings != ? AND call_id IS NULL AND answer_blob IS NULL",
                (settings, identity, settings),
            )
        return identity

    def works(self, items: Mapping[str, TaskItem]) -> list[Work]:
        """Return the candidates to test, ordered by task and then by sample."""
        places = {task: place for place, task in enumerate(items)}
        with SessionReader(self._writer.path) as reader:
            rows = self._due(reader)
            rows.sort(key=lambda row: (places[row.task_id], row.sample, row.evaluator))
            return [
                Work(
                    row.id,
                    items[row.task_id],
                    self._asks[row.id],
                    row.sample,
                    bool(row.control),
                    self._decides(row),
                    reader.text_or_none(row.answer_blob, f"the answer of candidate {row.id}"),
                    row.verdict,
                    reader.text_or_none(row.body_blob, f"the body of candidate {row.id}")
                    if row.verdict not in (None, "invalid") and row.evaluator.startswith(SAMPLES)
                    else None,
                )
                for row in rows
            ]

    def has_due(self) -> bool:
        with SessionReader(self._writer.path) as reader:
            return bool(self._due(reader))

    def _due(self, reader: SessionReader) -> list[CandidateRow]:
        rows = [row for row in reader.candidates(self._run) if row.id in self._asks and self._is_due(row)]
        excluded = {task.id for task in reader.tasks(self._run) if task.state == "excluded"}
        again = {row.task_id for row in rows if self._decides(row)}
        return [row for row in rows if row.task_id not in excluded or row.task_id in again]

    def _decides(self, row: CandidateRow) -> bool:
        return self._controls and row.evaluator in CONTROLS and row.sample == 0

    def _is_due(self, row: CandidateRow) -> bool:
        # A candidate that was taken out is due again, because its task counts again.
        is_open = row.state != "cancelled" or row.verdict_reason == TAKEN_OUT
        return row.id not in self._given_up and row.state != "done" and is_open

    def give_up(self, ids: Collection[str]) -> None:
        """Leave out candidates that could not be retested, until a resume."""
        self._given_up.update(ids)

    def counts(self, works: Collection[Work]) -> dict[bool, tuple[int, int]]:
        """Return (done, total) for controls (True) and candidates (False), counting ``works`` as not done."""
        due = {work.id for work in works}
        with SessionReader(self._writer.path) as reader:
            excluded = {task.id for task in reader.tasks(self._run) if task.state == "excluded"}
            rows = [
                row
                for row in reader.candidates(self._run)
                if row.state == "done"
                or (row.id in self._asks and (row.state != "cancelled" or row.task_id in excluded))
            ]
        done = [row for row in rows if row.id not in due and (row.state == "done" or row.task_id in excluded)]
        return {
            kind: (sum(bool(row.control) is kind for row in done), sum(bool(row.control) is kind for row in rows))
            for kind in (True, False)
        }

    def settle(self) -> None:
        """Close candidates that will not be tested (task excluded, or ask removed), preserving earlier verdicts."""
        with self._writer.transaction() as connection:
            rows = connection.execute(
                "SELECT candidates.id, verdict, tasks.state = 'excluded', EXISTS (SELECT 1 FROM candidates AS control "
                "WHERE control.task_id = tasks.id AND control.sample = 0 AND control.state != 'done' "
                "AND control.evaluator IN (?, ?)) FROM candidates JOIN tasks ON tasks.id = task_id "
                "WHERE candidates.run_id = ? AND candidates.state NOT IN ('done', 'cancelled')",
                (*CONTROLS, self._run),
            ).fetchall()
            for candidate, verdict, excluded, undecided in rows:
                taken_out = excluded and not (undecided and self._controls)
                if verdict is not None and (taken_out or candidate not in self._asks):
                    self._writer.update("candidates", {"id": candidate}, {"state": "done"})
                elif taken_out:
                    gone = {"state": "cancelled", "verdict_reason": TAKEN_OUT}
                    self._writer.update("candidates", {"id": candidate}, gone)
