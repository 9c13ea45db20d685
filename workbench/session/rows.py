"""One immutable row type per table, with the same columns.

Blobs are digests, times and durations are in seconds, and costs are in US dollars.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

from workbench.session.groups import docs_words, settings_of


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run: work that was planned together."""

    id: str
    kind: str
    config: str  # JSON of a plan, see `workbench.plans.plan`
    state: str
    created_at: float
    started_at: float | None
    finished_at: float | None
    error: str | None
    note: str | None
    spend_usd: float
    name: str | None = None  # chosen by the user
    archived_at: float | None = None  # None unless archived
    queue_position: float | None = None  # position in the queue; None unless queued
    paused: int = 0  # 1 if it is paused in the queue

    @property
    def has_candidates(self) -> bool:
        """Whether the run has tasks and candidates: a regeneration or usage run."""
        return self.kind in ("regenerate", "usage")

    @property
    def plan(self) -> dict[str, Any]:
        """The run's arguments as JSON values, or {} if unreadable."""
        return settings_of(self.config)


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """A person's remark on a work item, or on one of its steps or criteria."""

    id: int
    item: str
    step: int | None
    text: str
    at: float
    part: str = field(default="", metadata={"column": False})

    @property
    def of(self) -> str:
        """The annotated part in label format: a step number, a criterion, or "" for the whole item."""
        return self.part or ("" if self.step is None else str(self.step))


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A tag or star on a run, trial, task or candidate."""

    item: str
    part: str  # a step number, a criterion (`workbench.session.labels.criterion_part`), or ""
    label: str
    at: float


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """The origin of an imported item; ``extra_blob`` is JSON of everything that does not fit into another table."""

    item: str
    format: str
    source: str
    digest: str
    extra_blob: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Change:
    """An entry in the feed of changes."""

    seq: int
    kind: str  # run, trial, step, accessed_file, score, check, annotation, task, dropped, stage, candidate, study or improvement
    item: str
    part: str | None


def columns(row_type: type[Any]) -> str:
    return ", ".join(one.name for one in fields(row_type) if one.metadata.get("column", True))


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study: ``declaration`` is JSON of :class:`.studies.declaration.Study`, ``problem`` is why it stopped."""

    name: str
    declaration: str
    created_at: float
    problem: str | None


@dataclass(frozen=True, slots=True)
class StudyCellRow:
    """A cell of a study, identified by the names of its row and column."""

    study: str
    row_name: str
    column_name: str
    position: int
    run_id: str | None  # the run that produces its results
    pointer: str  # JSON that selects its results: {"trials": [id, …]} or {"evaluator", "prompt", "context"}
    problem: str | None  # why planning failed


@dataclass(frozen=True, slots=True)
class ImprovementRow:
    """A request to improve docstrings."""

    id: str
    run_id: str | None  # the regeneration with the original docs, None before it is started
    plan: str  # JSON of `workbench.plans.plan.ImprovementPlan`
    state: str
    stage: str  # current step, for display
    active_run_id: str | None
    problem: str | None
    spent_before: float  # US dollars that `run_id` had already cost at the start of the improvement
    created_at: float
    finished_at: float | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """A docstring tried for a task; the shares are JSON lists [passed, counted].

    See :class:`workbench.improving.attempts.DocstringAttempt`.
    """

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
    held_out_evaluator: str
    at: float


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial: one repeat of an agent with a model on a test case; tokens and seconds are sums."""

    id: str
    run_id: str
    position: int
    case_id: str
    case_name: str
    agent: str
    model: str
    repeat: int
    state: str
    error_kind: str | None
    error: str | None
    snapshot: str | None
    parsed: int | None
    readme_blob: str | None
    metadata_blob: str | None
    steps: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    started_at: float | None
    finished_at: float | None
    seconds: float | None
    content: str = ""  # digest of the source's content if that can change under its name (a folder), or ""
    parent: str = ""  # for a fork, the trial from which it inherits its first `fork_step` steps
    fork_step: int = 0
    edited: str = ""  # part of the last inherited step replaced by `edit_blob`: `observation`, `message` or ""
    edit_blob: str | None = None

    @property
    def tokens(self) -> int | None:
        """Input plus output tokens, or None if unknown: no model was used, or an imported file has no numbers."""
        return self.prompt_tokens + self.completion_tokens or None


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a trajectory.

    ``problem`` is why an answer was unusable, ``settings`` is JSON, and ``at`` is 0 if unknown.
    """

    trial_id: str
    number: int
    kind: str
    action: str
    target: str
    call_id: int | None
    answer_blob: str | None
    observation_blob: str | None
    observation_size: int
    problem: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    model: str | None
    settings: str
    at: float

    @property
    def tokens(self) -> int | None:
        known = [count for count in (self.prompt_tokens, self.completion_tokens) if count is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class AccessedFileRow:
    """A path that the agent listed or read, with the first step; ``size`` is the number of bytes shown to the agent."""

    trial_id: str
    path: str
    access: str
    step: int
    size: int
    blob: str | None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A model call with its exact messages (``messages_blob`` is a JSON list of ``[role, content digest]``)."""

    id: int
    run_id: str | None
    scope: str
    purpose: str
    model: str
    digest: str
    sample: int
    nth: int
    messages_blob: str
    response_schema_blob: str | None
    sampling: str
    answer_blob: str | None
    reasoning_blob: str | None
    answered_by: str | None
    finish_reason: str | None
    error_kind: str | None
    error: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    latency_s: float | None
    attempts: str
    source: str
    started_at: float


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of a trial by one rubric and judge; a tier without a score is None, and ``problem`` says why."""

    trial_id: str
    rubric: str
    judge: str
    total: float | None
    out_of: float
    tier1: float | None
    tier2: float | None
    tier3: float | None
    tier4: float | None
    card_blob: str
    at: float
    problem: str | None = None

    @property
    def tiers(self) -> tuple[float | None, ...]:
        return self.tier1, self.tier2, self.tier3, self.tier4

    @property
    def unscored(self) -> tuple[int, ...]:
        """Tiers without points; () if the total includes the points of a damaged tier."""
        missing = tuple(number for number, points in enumerate(self.tiers, 1) if points is None)
        known = math.fsum(points for points in self.tiers if points is not None)
        whole = self.total is not None and self.out_of >= 100 and not math.isclose(known, self.total, abs_tol=1e-6)
        return () if whole else missing

    @property
    def points(self) -> float | None:
        """Points out of 100, or None unless all tiers are scored: 40 of 40 known points are not 100 out of 100."""
        if self.total is None or self.unscored or not self.out_of > 0:
            return None
        return 100 * self.total / self.out_of


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check of a trial's README."""

    trial_id: str
    executed: int  # 1 if blocks are executed, 0 if claims are only looked up
    step_seconds: float
    rules: int  # version of the rules of the check, see `workbench.checking.stored`
    run_id: str  # the last run that performed the check
    state: str
    problem: str | None  # why the check failed, or its current step
    rerun_block: int | None  # index of the block to rerun, None for all
    works: int | None  # blocks by verdict, None until it is done; the next columns are other verdicts and claims
    fails: int | None
    differs: int | None
    not_run: int | None
    claims_true: int | None
    claims_untrue: int | None
    claims_unknown: int | None
    partial: str  # JSON of the results so far
    result_blob: str | None  # JSON of the result, see `workbench.checking.stored`
    seconds: float | None
    at: float


UNDER_WAY = ("queued", "asking", "testing")
"""States of an unfinished candidate; one that already has a verdict is being retested."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A regeneration task."""

    id: str
    run_id: str
    position: int
    snapshot: str
    path: str
    qualified_name: str
    occurrence: int
    start_line: int | None
    end_line: int | None
    tests: str  # JSON list of test ids
    coverage: float | None  # share from 0 to 1
    seconds: float | None  # duration of its tests
    source_blob: str | None
    body_blob: str | None
    docstring_blob: str | None
    docs: str
    prompt_blob: str | None
    leak: float | None
    controls: str | None
    state: str
    reason: str | None
    branches: int | None  # jumps in the body, None if not measured
    branches_covered: int | None
    unstable: int | None  # quarantined tests that execute it
    test_count: int  # length of `tests`
    test_files_blob: str | None = None  # JSON of the digest of each test file
    docs_scope: str = "target"  # where the doc system's docstrings are used
    documented_blob: str | None = None  # the file from which prompts are made; None for the scope `target`
    usage_blob: str | None = None  # JSON of `workbench.usage.tasks.UsageTask`; None for a regeneration task

    @property
    def docs_words(self) -> str:
        return docs_words(self.docs, self.docs_scope)


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """A function that did not become a task, with the stage and the reason."""

    run_id: str
    path: str
    qualified_name: str
    occurrence: int
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnusedTestRow:
    """A test that no verdict depends on; ``kind`` is a short reason and ``message`` an explanation."""

    run_id: str
    position: int
    kind: str
    test_id: str
    message: str


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage of task building with its state and progress."""

    run_id: str
    name: str
    position: int
    state: str
    done: int
    total: int | None
    note: str | None
    at: float


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A candidate body, with its verdict once it has been tested."""

    id: str
    run_id: str
    task_id: str
    evaluator: str
    sample: int
    control: int
    state: str
    call_id: int | None
    answer_blob: str | None
    body_blob: str | None
    notes: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    asked_s: float | None
    verdict: str | None
    verdict_reason: str | None
    route: str | None
    tested_s: float | None
    outcomes_blob: str | None
    at: float | None
    backend: str | None
    route_fallback_reason: str | None  # why a faster route was not taken
    suspicious: str | None  # JSON list of anomalies in the test report
    recheck: str | None  # JSON of a re-check on the cold route: why, verdict, route, seconds, agrees
    agrees: int | None  # whether the re-check had the same verdict
    prompt: str
    context: str
    settings: str
    plain: int | None  # whether the body stays within the safe subset, None if not checked
    doubtful: str | None  # why its pass is unverified
    repairs: int | None = None  # number of repairs needed to extract the body from the answer
    page_line: int | None = None  # line of the page that the reader used, None if unknown
    gap: str | None = None  # JSON of `workbench.usage.gaps.Gap`: what the page lacks, if a reader's answer did not pass

    @property
    def retesting(self) -> bool:
        """Whether the candidate is being retested; it keeps its verdict until the new one arrives."""
        return self.verdict is not None and self.state in UNDER_WAY


@dataclass(frozen=True, slots=True)
class FormerVerdictRow:
    """A replaced verdict; ``failing_blob`` is a JSON list of [test, outcome, message, traceback digest]."""

    candidate_id: str
    number: int
    verdict: str
    verdict_reason: str | None
    route: str | None
    tested_s: float | None
    outcomes_blob: str | None
    failing_blob: str | None
    backend: str | None
    route_fallback_reason: str | None
    suspicious: str | None
    recheck: str | None
    at: float | None
    replaced_at: float
    doubtful: str | None = None


@dataclass(frozen=True, slots=True)
class FailingTestRow:
    """A test that did not pass for a candidate."""

    candidate_id: str
    test_id: str
    outcome: str
    message: str
    traceback_blob: str | None
