"""What a reader gets: one frozen row type per table, its fields named and ordered as the columns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from workbench.session.groups import docs_words

Row = TypeVar("Row")


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


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial: one agent with one model on one test case, one repeat. Blobs are digests; tokens and seconds are sums.

    ``content`` is the digest of the source's content where that can change under its name (a folder), else "".
    A fork has the ``parent`` whose first ``fork_step`` steps it inherits; ``edited`` says what of the last of them was
    replaced by ``edit_blob``: ``observation``, ``message`` or "" for nothing.
    """

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
    content: str = ""
    parent: str = ""
    fork_step: int = 0
    edited: str = ""
    edit_blob: str | None = None

    @property
    def tokens(self) -> int | None:
        """Tokens in and out; None where none were counted: no model was asked, or another program's file does not say."""
        return self.prompt_tokens + self.completion_tokens or None


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a trajectory; ``problem`` says why an answer could not be used, ``settings`` is JSON; ``at`` is 0 where it is not known."""

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
        """Tokens in and out, None where they are not known."""
        known = [count for count in (self.prompt_tokens, self.completion_tokens) if count is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class AccessedFileRow:
    """A path that the agent listed or read, at which step first; ``size`` in bytes as shown to the agent."""

    trial_id: str
    path: str
    how: str
    step: int
    size: int
    blob: str | None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A model call with its exact messages (``messages_blob``: JSON list of ``[role, content digest]``)."""

    id: int
    run_id: str | None
    scope: str
    purpose: str
    model: str
    digest: str
    sample: int
    nth: int
    messages_blob: str
    shape_blob: str | None
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
    """The scores of a trial by one rubric and judge; a tier is None where it is unscored, and ``problem`` says why."""

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


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check of a trial's README.

    Attributes:
        trial_id: The trial.
        executed: 1 where blocks are run, 0 where only claims are looked up.
        step_seconds: How long a command or snippet may take.
        rules: Version of the rules of the check, see :mod:`workbench.checking.stored`.
        run_id: The run that did it last.
        state: ``queued``, ``running``, ``done``, ``failed`` or ``cancelled``.
        problem: Why it failed; what it is at while it is under way.
        again: The block that is run once more, None for all of it.
        works: Blocks by verdict; None before it is done. So are the others, of blocks and of claims.
        partial: JSON of what is known while it is under way.
        result_blob: JSON of what came out, see :mod:`workbench.checking.stored`.
        seconds: How long it took.
        at: When its state changed last.
    """

    trial_id: str
    executed: int
    step_seconds: float
    rules: int
    run_id: str
    state: str
    problem: str | None
    again: int | None
    works: int | None
    fails: int | None
    differs: int | None
    not_run: int | None
    claims_true: int | None
    claims_untrue: int | None
    claims_unknown: int | None
    partial: str
    result_blob: str | None
    seconds: float | None
    at: float


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
class TaskRow:
    """A regeneration task.

    ``tests`` is a JSON list of test ids, ``coverage`` a share of 0 to 1, ``seconds`` what its tests take; ``branches`` and
    ``branches_covered`` count jumps of the body (None where they were not measured), ``unstable`` the quarantined tests
    that execute it, ``test_count`` those of ``tests``; ``test_files_blob`` is JSON: the digest of each file that they are in.
    ``docs_scope`` says where the doc system's docstrings stand; for ``repository``, ``documented_blob`` is the file of which
    prompts are made.
    """

    id: str
    run_id: str
    position: int
    snapshot: str
    path: str
    qualified_name: str
    occurrence: int
    start_line: int | None
    end_line: int | None
    tests: str
    coverage: float | None
    seconds: float | None
    source_blob: str | None
    body_blob: str | None
    docstring_blob: str | None
    docs: str
    prompt_blob: str | None
    leak: float | None
    controls: str | None
    state: str
    reason: str | None
    branches: int | None
    branches_covered: int | None
    unstable: int | None
    test_count: int
    test_files_blob: str | None = None
    docs_scope: str = "target"
    documented_blob: str | None = None

    @property
    def docs_words(self) -> str:
        """The doc system, with its scope where that is not ``repository``."""
        return docs_words(self.docs, self.docs_scope)


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """A function that became no task, at which stage and why."""

    run_id: str
    path: str
    qualified_name: str
    occurrence: int
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnusedTestRow:
    """A test of the suite that no verdict rests on; ``kind`` says in a word or two why, ``why`` what it said or did."""

    run_id: str
    position: int
    kind: str
    test_id: str
    why: str


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage of task building: its state and how many of how many are done."""

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
    """A candidate body and, once tested, its verdict.

    ``slower`` says why a faster route was not taken, ``suspicious`` is a JSON list of what made the report doubtful,
    ``recheck`` the JSON of a re-check on the cold route: ``{"why", "verdict", "route", "seconds", "agrees"}``, and
    ``agrees`` whether that came to the same verdict. ``prompt``, ``context`` and ``settings`` belong to its
    :class:`workbench.session.groups.Group`. ``plain`` says whether the body uses only what cannot reach its reporter (None:
    not judged), ``doubtful`` why its pass is marked. ``repairs`` counts what extraction had to leave out of the answer or adjust.
    """

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
    slower: str | None
    suspicious: str | None
    recheck: str | None
    agrees: int | None
    prompt: str
    context: str
    settings: str
    plain: int | None
    doubtful: str | None
    repairs: int | None = None


@dataclass(frozen=True, slots=True)
class FormerVerdictRow:
    """A verdict that a later one replaced; ``failing_blob`` is a JSON list of [test, outcome, message, traceback digest]."""

    candidate_id: str
    number: int
    verdict: str
    verdict_reason: str | None
    route: str | None
    tested_s: float | None
    outcomes_blob: str | None
    failing_blob: str | None
    backend: str | None
    slower: str | None
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
    """An order to improve docstrings.

    Attributes:
        id: Its id.
        run_id: The regeneration with the original docs, None before it was ordered.
        plan: JSON of :class:`workbench.engine.improvement_plan.ImprovementPlan`.
        state: ``queued``, ``running``, ``done``, ``failed`` or ``cancelled``.
        stage: What it is at, in words.
        now_run: The run that is under way for it.
        problem: Why it failed.
        spent_before: US dollars that ``run_id`` had cost when it was ordered first.
        created_at: Unix seconds.
        finished_at: Unix seconds.
    """

    id: str
    run_id: str | None
    plan: str
    state: str
    stage: str
    now_run: str | None
    problem: str | None
    spent_before: float
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
    """Return the column list of a row type for a SELECT."""
    return ", ".join(one.name for one in fields(row_type) if one.metadata.get("column", True))
