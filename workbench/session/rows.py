"""What a reader gets: one frozen row type per table, its fields named and ordered as the columns.

Those of trials, of tasks and of orders have modules of their own; all are had from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from workbench.session.groups import settings_of
from workbench.session.order_rows import AttemptRow, ImprovementRow, StudyCellRow, StudyRow
from workbench.session.task_rows import (
    CandidateRow,
    DroppedRow,
    FailingTestRow,
    FormerVerdictRow,
    StageRow,
    TaskRow,
    UnusedTestRow,
)
from workbench.session.trial_rows import AccessedFileRow, CallRow, CheckRow, ScoreRow, StepRow, TrialRow

__all__ = [
    "AccessedFileRow",
    "AnnotationRow",
    "AttemptRow",
    "CallRow",
    "CandidateRow",
    "Change",
    "CheckRow",
    "DroppedRow",
    "FailingTestRow",
    "FormerVerdictRow",
    "ImportedRow",
    "ImprovementRow",
    "LabelRow",
    "RunRow",
    "ScoreRow",
    "StageRow",
    "StepRow",
    "StudyCellRow",
    "StudyRow",
    "TaskRow",
    "TrialRow",
    "UnusedTestRow",
    "columns",
]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run: what a person started. ``config`` is the JSON text of :class:`workbench.engine.plan` objects.

    ``name`` is what a person calls it; ``deleted_at`` is when it was put away, in unix seconds.
    ``turn`` orders the runs that wait for one another (None: it waits for none); ``paused`` is whether it is to stay back.
    """

    id: str
    kind: str
    config: str
    state: str
    created_at: float
    started_at: float | None
    finished_at: float | None
    error: str | None
    note: str | None
    spend_usd: float
    name: str | None = None
    deleted_at: float | None = None
    turn: float | None = None
    paused: int = 0

    @property
    def plan(self) -> dict[str, Any]:
        """What a person asked for, as JSON values; {} where that cannot be read."""
        return settings_of(self.config)


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """A person's remark on a work item and, where given, on a step or a criterion of it.

    ``part`` is a criterion as labels have it, "" for none; the file keeps it in ``item``, see
    :func:`workbench.session.labels.remark_target`.
    """

    id: int
    item: str
    step: int | None
    text: str
    at: float
    part: str = field(default="", metadata={"column": False})

    @property
    def of(self) -> str:
        """The part of the item as labels have it: a step's number, a criterion, or "" for the whole."""
        return self.part or ("" if self.step is None else str(self.step))


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A tag, or a star, of a run, trial, task or candidate.

    ``part`` is the number of a trial's step, one of its criteria (:func:`workbench.session.labels.criterion_part`), or "".
    """

    item: str
    part: str
    label: str
    at: float


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """What was read from another program's file; ``extra_blob`` is JSON of what the other tables have no place for."""

    item: str
    format: str
    source: str
    digest: str
    extra_blob: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the feed.

    ``kind`` is run, trial, step, seen, score, check, annotation, task, dropped, stage, candidate, study or improvement.
    """

    seq: int
    kind: str
    item: str
    part: str | None


def columns(row_type: type[Any]) -> str:
    return ", ".join(one.name for one in fields(row_type) if one.metadata.get("column", True))
