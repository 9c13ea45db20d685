"""Rows of trials: what was done step by step, asked of models, scored and checked; fields named and ordered as the columns."""

from __future__ import annotations

import math
from dataclasses import dataclass


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

    @property
    def tiers(self) -> tuple[float | None, ...]:
        return self.tier1, self.tier2, self.tier3, self.tier4

    @property
    def unscored(self) -> tuple[int, ...]:
        """Numbers of the tiers without points; none where the total has points of a tier whose own were damaged."""
        missing = tuple(number for number, points in enumerate(self.tiers, 1) if points is None)
        known = math.fsum(points for points in self.tiers if points is not None)
        whole = self.total is not None and self.out_of >= 100 and not math.isclose(known, self.total, abs_tol=1e-6)
        return () if whole else missing

    @property
    def points(self) -> float | None:
        """Points of 100, which only a trial with all tiers scored has: 40 of the 40 points that are known are not 100."""
        if self.total is None or self.unscored or not self.out_of > 0:
            return None
        return 100 * self.total / self.out_of


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check of a trial's README."""

    trial_id: str
    executed: int  # 1 where blocks are run, 0 where only claims are looked up
    step_seconds: float
    rules: int  # Version of the rules of the check, see `workbench.checking.stored`
    run_id: str  # The run that did it last
    state: str
    problem: str | None  # Why it failed; what it is at while it is under way
    again: int | None  # The block that is run once more, None for all of it
    works: int | None  # Blocks by verdict; None before it is done. So are the others, of blocks and of claims
    fails: int | None
    differs: int | None
    not_run: int | None
    claims_true: int | None
    claims_untrue: int | None
    claims_unknown: int | None
    partial: str  # JSON of what is known while it is under way
    result_blob: str | None  # JSON of what came out, see `workbench.checking.stored`
    seconds: float | None
    at: float
