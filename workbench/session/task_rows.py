"""Rows of regenerations: tasks and what did not become one, candidates and their verdicts; fields named and ordered as the columns."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.session.groups import docs_words

UNDER_WAY = ("queued", "asking", "testing")
"""States of a candidate that is waited for; one that has a verdict then is being tested again."""


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

    @property
    def again(self) -> bool:
        """Whether it is being tested again: its verdict is the former one until the new one is there."""
        return self.verdict is not None and self.state in UNDER_WAY


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
