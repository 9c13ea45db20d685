"""The candidates of a run as rows: which ones the plan wants, and which still lack a verdict."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workbench.engine.evaluators import CONTROLS, Evaluators, SamplesEvaluator
from workbench.engine.plan import Ask, RegenerationPlan
from workbench.engine.task_rows import TaskItem
from workbench.errors import UsageError
from workbench.regeneration.extraction import Extraction
from workbench.session import SessionReader, SessionWriter
from workbench.session.identity import candidate_id
from workbench.session.rows import CandidateRow


@dataclass(slots=True)
class Work:
    """One candidate on its way.

    Attributes:
        id: Its identity.
        item: Its task.
        ask: Who gives its body.
        sample: Its index.
        control: Whether it is shown as a control, apart from what was asked for.
        decides: Whether its verdict decides about the task.
        answer_text: The model's answer, where the session has it already.
        extraction: The body, once there is one.
    """

    id: str
    item: TaskItem
    ask: Ask
    sample: int
    control: bool
    decides: bool
    answer_text: str | None = None
    extraction: Extraction | None = None


class CandidateTable:
    """The candidates of one run.

    Args:
        writer: The session.
        run: Id of the run.
    """

    def __init__(self, writer: SessionWriter, run: str) -> None:
        self._writer = writer
        self._run = run
        self._asks: dict[str, Ask] = {}
        self._controls = True
        self._tried: set[str] = set()

    def add(self, plan: RegenerationPlan, asked: Mapping[Ask, Sequence[TaskItem]], evaluators: Evaluators) -> None:
        """Write a row for every candidate that the plan wants and the session lacks.

        Raises:
            UsageError: A samples file holds nothing for the tasks meant.
        """
        own = {ask.evaluator for ask in asked}
        self._controls = plan.controls
        with self._writer.transaction() as connection:
            if plan.controls:
                every = {item.id: item for items in asked.values() for item in items}
                for name in CONTROLS:
                    for item in every.values():
                        self._add(item, Ask(name, 1), 0, control=name not in own)
            for name in own.intersection(CONTROLS):
                connection.execute(
                    "UPDATE candidates SET control = 0 WHERE run_id = ? AND evaluator = ? AND control = 1",
                    (self._run, name),
                )
            for ask, items in asked.items():
                try:
                    evaluator = evaluators.of(ask)
                except UsageError:
                    # A samples file that is gone is no reason to refuse what else was asked for since.
                    if ask.evaluator == plan.evaluator or len(asked) == 1:
                        raise
                    continue
                if isinstance(evaluator, SamplesEvaluator):
                    evaluator.require_some(items)
                for item in items:
                    wanted = ask.samples
                    if isinstance(evaluator, SamplesEvaluator):
                        wanted = min(evaluator.count(item), ask.samples or evaluator.count(item))
                    for sample in range(wanted):
                        self._add(item, ask, sample, control=False)

    def remarks(self, asked: Mapping[Ask, Sequence[TaskItem]], evaluators: Evaluators, tasks: Collection[str]) -> str:
        """Return what a person should know of what was asked for: lines of a samples file that name no task.

        Args:
            asked: As for :meth:`add`.
            evaluators: As for :meth:`add`.
            tasks: Readable ids of all tasks of the repository, also of those that nobody asked for.
        """
        told = []
        known = {*tasks, *(item.id for items in asked.values() for item in items)}
        for ask in asked:
            with contextlib.suppress(UsageError):
                evaluator = evaluators.of(ask)
                if isinstance(evaluator, SamplesEvaluator):
                    told.append(evaluator.ignored(known))
        return " ".join(dict.fromkeys(filter(None, told)))

    def _add(self, item: TaskItem, ask: Ask, sample: int, *, control: bool) -> None:
        identity = candidate_id(item.id, ask.evaluator, ask.prompt_version, sample)
        if identity in self._asks:
            return
        self._asks[identity] = ask
        self._writer.insert(
            "candidates",
            {
                "id": identity,
                "run_id": self._run,
                "task_id": item.id,
                "evaluator": ask.evaluator,
                "sample": sample,
                "control": int(control),
                "state": "queued",
            },
            conflict="IGNORE",
        )

    def works(self, items: Mapping[str, TaskItem]) -> list[Work]:
        """Return the candidates without a verdict, tasks in order, then samples; an error is tried once a process."""
        places = {task: place for place, task in enumerate(items)}
        with SessionReader(self._writer.path) as reader:
            excluded = {task.id for task in reader.tasks(self._run) if task.state == "excluded"}
            rows = [row for row in reader.candidates(self._run) if row.id in self._asks and self._is_due(row)]
            again = {row.task_id for row in rows if self._decides(row)}
            rows = [row for row in rows if row.task_id not in excluded or row.task_id in again]
            rows.sort(key=lambda row: (places[row.task_id], row.sample, row.evaluator))
            works = [
                Work(
                    row.id,
                    items[row.task_id],
                    self._asks[row.id],
                    row.sample,
                    bool(row.control),
                    self._decides(row),
                    reader.text(row.answer_blob) if row.answer_blob else None,
                )
                for row in rows
            ]
        self._tried.update(work.id for work in works)
        return works

    def _decides(self, row: CandidateRow) -> bool:
        return self._controls and row.evaluator in CONTROLS and row.sample == 0

    def _is_due(self, row: CandidateRow) -> bool:
        return row.state != "done" or (row.verdict == "error" and row.id not in self._tried)

    def finished(self) -> dict[bool, int]:
        """Return how many controls (True) and candidates (False) have a verdict and are not under way."""
        with SessionReader(self._writer.path) as reader:
            rows = [
                row
                for row in reader.candidates(self._run)
                if row.state == "done" and not (row.verdict == "error" and row.id in self._tried)
            ]
        return {kind: sum(bool(row.control) is kind for row in rows) for kind in (True, False)}
