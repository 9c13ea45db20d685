"""Rows of a session as JSON values with stable names, for ``report --format json`` and ``show --json``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from workbench.reports import wording
from workbench.reports.contents import Contents, Run, Trial, card_of, tier_points
from workbench.reports.excerpts import split_answer
from workbench.reports.regenerated import Line, Regenerated
from workbench.session.reader import SessionReader
from workbench.session.rows import CallRow, CandidateRow, FailingTestRow, StepRow, TaskRow

Values = dict[str, Any]
# What JSON leaves as it is and a terminal would obey: DEL, C1 controls, bidirectional overrides.
_UNSAFE = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
JUDGE_SCOPE = "/judge"


def json_text(values: Any, indent: int | None = None) -> str:
    """Return JSON that is readable in any language and harmless on any terminal."""
    text = json.dumps(values, ensure_ascii=False, indent=indent)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def session_values(contents: Contents) -> Values:
    """Return the session itself."""
    created = contents.created_at
    return {
        "name": contents.name,
        "file": contents.file,
        "created_at": wording.iso(float(created)) if created else None,
        "created_by": contents.created_by,
    }


def run_values(run: Run) -> Values:
    """Return a run with its plan and state, without its items."""
    row = run.row
    return {
        "run": row.id,
        "kind": row.kind,
        "state": run.state,
        "plan": wording.decoded(row.config),
        "items": run.items,
        "created_at": wording.iso(row.created_at),
        "started_at": wording.iso(row.started_at),
        "finished_at": wording.iso(row.finished_at),
        "spend_usd": row.spend_usd,
        "error": row.error,
        "note": row.note,
    }


def trial_values(trial: Trial) -> Values:
    """Return a trial in one line: its identity, sums and main score; an unscored tier is None."""
    row, main = trial.row, trial.main
    return {
        "trial": row.id,
        "run": row.run_id,
        "case": row.case_id,
        "case_name": row.case_name,
        "agent": row.agent,
        "model": row.model,
        "repeat": row.repeat,
        "status": row.state,
        "error_kind": row.error_kind,
        "error": row.error,
        "rubric": main.rubric if main else None,
        "judge": main.judge if main else None,
        "score": main.total if main else None,
        "out_of": main.out_of if main else None,
        "tiers": {str(number): points for number, points in enumerate(tier_points(main), 1)},
        "steps": row.steps,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "tokens": row.prompt_tokens + row.completion_tokens,
        "cost": row.cost_usd,
        "seconds": row.seconds,
        "started_at": wording.iso(row.started_at),
        "finished_at": wording.iso(row.finished_at),
    }


def trial_details(reader: SessionReader, trial: Trial) -> Values:
    """Return what a trial made: README, metadata, whole scorecards, what the agent saw of the repository."""
    row = trial.row
    metadata = reader.text(row.metadata_blob) if row.metadata_blob else None
    return {
        "protocol_kept": None if row.parsed is None else bool(row.parsed),
        "readme": reader.text(row.readme_blob) if row.readme_blob else None,
        "metadata": wording.decoded(metadata),
        "scores": [{**card_of(reader, score), "at": wording.iso(score.at)} for score in trial.scores],
        "snapshot": row.snapshot,
        "files": [{"path": path, "size": size} for path, size in reader.files_of(row.snapshot)] if row.snapshot else [],
        "seen": [
            {"path": seen.path, "how": seen.how, "step": seen.step, "size": seen.size} for seen in reader.seen(row.id)
        ],
    }


def step_values(reader: SessionReader, step: StepRow) -> Values:
    """Return a step with its whole answer and observation."""
    answer = reader.text(step.answer_blob) if step.answer_blob else None
    return {
        "number": step.number,
        "kind": step.kind,
        "action": step.action,
        "target": step.target,
        "problem": step.problem,
        "thought": split_answer(answer)[0] if answer else "",
        "answer": answer,
        "observation": reader.text(step.observation_blob) if step.observation_blob else None,
        "observation_size": step.observation_size,
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
        "cost": step.cost_usd,
        "seconds": step.seconds,
        "model": step.model,
        "settings": wording.decoded(step.settings),
        "call": step.call_id,
        "at": wording.iso(step.at),
    }


def call_values(reader: SessionReader, call: CallRow, keep: Callable[[str, str], object]) -> Values:
    """Return a model call; ``keep(digest, text)`` gives what stands for each message's text."""
    messages = json.loads(reader.text(call.messages_blob))
    return {
        "call": call.id,
        "scope": call.scope,
        "purpose": call.purpose,
        "model": call.model,
        "answered_by": call.answered_by,
        "messages": [{"role": role, "text": keep(digest, reader.text(digest))} for role, digest in messages],
        "shape": wording.decoded(reader.text(call.shape_blob)) if call.shape_blob else None,
        "sampling": wording.decoded(call.sampling),
        "sample": call.sample,
        "answer": reader.text(call.answer_blob) if call.answer_blob else None,
        "reasoning": reader.text(call.reasoning_blob) if call.reasoning_blob else None,
        "finish_reason": call.finish_reason,
        "error_kind": call.error_kind,
        "error": call.error,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cached_tokens": call.cached_tokens,
        "cost": call.cost_usd,
        "latency_s": call.latency_s,
        "attempts": wording.decoded(call.attempts),
        "source": call.source,
        "started_at": wording.iso(call.started_at),
    }


def regeneration_values(outcome: Regenerated) -> Values:
    """Return what came of a regeneration run as a whole."""
    return {
        "stages": [
            {"name": s.name, "state": s.state, "done": s.done, "total": s.total, "note": s.note} for s in outcome.stages
        ],
        "evaluators": [
            {
                "evaluator": one.name,
                "control": one.control,
                "pass_at_k": {
                    str(k): {"value": e.value, "low": e.low, "high": e.high, "tasks": e.tasks, "undefined": e.undefined}
                    for k, e in one.overall.items()
                },
                "verdicts": dict(one.verdicts),
                "unfinished": one.unfinished,
                "tokens": one.tokens,
                "cost": one.cost_usd,
            }
            for one in outcome.evaluators
        ],
        "dropped": [
            {
                "path": d.path,
                "function": d.qualified_name,
                "occurrence": d.occurrence,
                "stage": d.stage,
                "reason": d.reason,
            }
            for d in outcome.dropped
        ],
    }


def task_values(reader: SessionReader, task: TaskRow, lines: list[Line]) -> Values:
    """Return a task with its documentation, original body and pass@k, without its candidates."""
    return {
        "task": task.id,
        "run": task.run_id,
        "snapshot": task.snapshot,
        "path": task.path,
        "function": task.qualified_name,
        "occurrence": task.occurrence,
        "lines": [task.start_line, task.end_line],
        "tests": wording.decoded(task.tests),
        "coverage": task.coverage,
        "seconds": task.seconds,
        "docs": task.docs,
        "docstring": reader.text(task.docstring_blob) if task.docstring_blob else None,
        "body": reader.text(task.body_blob) if task.body_blob else None,
        "source": reader.text(task.source_blob) if task.source_blob else None,
        "prompt": wording.decoded(reader.text(task.prompt_blob)) if task.prompt_blob else None,
        "leak": task.leak,
        "controls": wording.decoded(task.controls),
        "state": task.state,
        "reason": task.reason,
        "pass_at_k": {
            line.evaluator: {
                "samples": line.counted,
                "passed": line.passed,
                **{str(k): value for k, value in line.pass_at.items()},
            }
            for line in lines
        },
    }


def candidate_values(reader: SessionReader, candidate: CandidateRow) -> Values:
    """Return a candidate with its body, verdict and failing tests."""
    return {
        "candidate": candidate.id,
        "task": candidate.task_id,
        "run": candidate.run_id,
        "evaluator": candidate.evaluator,
        "control": bool(candidate.control),
        "sample": candidate.sample,
        "state": candidate.state,
        "verdict": candidate.verdict,
        "verdict_reason": candidate.verdict_reason,
        "path_taken": candidate.path_taken,
        "tested_s": candidate.tested_s,
        "answer": reader.text(candidate.answer_blob) if candidate.answer_blob else None,
        "body": reader.text(candidate.body_blob) if candidate.body_blob else None,
        "notes": wording.decoded(candidate.notes),
        "prompt_tokens": candidate.prompt_tokens,
        "completion_tokens": candidate.completion_tokens,
        "cost": candidate.cost_usd,
        "asked_s": candidate.asked_s,
        "call": candidate.call_id,
        "failing_tests": [failing_values(reader, test) for test in reader.failing_tests(candidate.id)],
        "at": wording.iso(candidate.at),
    }


def failing_values(reader: SessionReader, test: FailingTestRow) -> Values:
    """Return a test that did not pass, with its traceback."""
    return {
        "test": test.test_id,
        "outcome": test.outcome,
        "message": test.message,
        "traceback": reader.text(test.traceback_blob) if test.traceback_blob else None,
    }


def spread_values(contents: Contents) -> list[Values]:
    """Return the means with their spread; ``case`` is None where the group is all cases of an agent and model."""
    return [{**asdict(group), "case": group.case or None} for group in contents.spread]


def remark_values(contents: Contents) -> list[Values]:
    """Return people's remarks."""
    return [
        {"item": one.item, "step": one.step, "text": one.text, "at": wording.iso(one.at)}
        for one in contents.annotations
    ]
