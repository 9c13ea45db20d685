"""Rows of orders that need several runs: studies and improvements of docstrings; fields named and ordered as the columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study: ``declaration`` is the JSON of :class:`workbench.studies.declaration.Study`, ``problem`` why it does not go on."""

    name: str
    declaration: str
    created_at: float
    problem: str | None


@dataclass(frozen=True, slots=True)
class StudyCellRow:
    """A cell of a study, by the names of its row and column.

    ``run_id`` is the run that has its work, ``pointer`` JSON that says what of it is meant: ``{"trials": [id, …]}`` or
    ``{"evaluator", "prompt", "context"}``; ``problem`` is why it could not be planned.
    """

    study: str
    row_name: str
    column_name: str
    position: int
    run_id: str | None
    pointer: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class ImprovementRow:
    """An order to improve docstrings."""

    id: str
    run_id: str | None  # The regeneration with the original docs, None before it was ordered
    plan: str  # JSON of `workbench.engine.improvement_plan.ImprovementPlan`
    state: str
    stage: str  # What it is at, in words
    now_run: str | None
    problem: str | None
    spent_before: float  # US dollars that `run_id` had cost when it was ordered first
    created_at: float
    finished_at: float | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """A docstring that was tried for a task, see :class:`workbench.improving.Attempt`; shares are JSON of [passed, counted]."""

    improvement_id: str
    task_id: str
    number: int
    state: str
    gate: str | None
    reason: str | None
    docstring_blob: str | None
    run_id: str | None
    seen: str | None
    before: str | None
    after: str | None
    held_out_by: str
    at: float
