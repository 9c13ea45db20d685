"""Rows of a session as JSON values with stable names, for ``report --format json`` and ``show --json``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from workbench.reports import records, wording
from workbench.reports.contents import Contents, Run, Trial, tier_points
from workbench.reports.excerpts import split_answer
from workbench.reports.readme_facts import check_values, grounding_values
from workbench.reports.regenerated import Regenerated, former_failing
from workbench.rubric.totals import own_points
from workbench.session.groups import settings_of
from workbench.session.labels import criterion_of
from workbench.session.reader import SessionReader
from workbench.session.rows import CallRow, CandidateRow, FailingTestRow, FormerVerdictRow, StepRow, TaskRow
from workbench.text import json_text

Values = dict[str, Any]
JUDGE_SCOPE = "/judge"


def session_values(contents: Contents) -> Values:
    """Return the session itself."""
    created = contents.created_at
    return {
        "name": contents.name,
        "file": contents.file,
        "created_at": wording.iso(wording.number(created)),
        "created_by": contents.created_by,
    }


def run_values(run: Run) -> Values:
    """Return a run with its plan and state, without its items."""
    row = run.row
    return {
        "run": row.id,
        "name": row.name,
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
    own = own_points(main.total, main.out_of, trial.given) if main else None
    return {
        "trial": row.id,
        "run": row.run_id,
        "case": row.case_id,
        "case_name": row.case_name,
        "content": row.content or None,
        "agent": row.agent,
        "model": row.model,
        "repeat": row.repeat,
        "parent": row.parent or None,
        "fork_step": row.fork_step or None,
        "edited": row.edited or None,
        "status": row.state,
        "error_kind": row.error_kind,
        "error": row.error,
        "problem": trial.problem or None,
        "rubric": main.rubric if main else None,
        "judge": main.judge if main else None,
        "score": main.total if main else None,
        "out_of": main.out_of if main else None,
        "unscored_tiers": list(main.unscored) if main else [],
        "given_by_format": trial.given,
        "own_points": own[0] if own else None,
        "own_out_of": own[1] if own else None,
        "tiers": {str(number): points for number, points in enumerate(tier_points(main), 1)},
        "works": trial.works.to_json() if trial.works else None,
        "steps": row.steps,
        "prompt_tokens": row.prompt_tokens or None,
        "completion_tokens": row.completion_tokens or None,
        "tokens": row.tokens,
        "cost": row.cost_usd,
        "seconds": row.seconds,
        "started_at": wording.iso(row.started_at),
        "finished_at": wording.iso(row.finished_at),
    }


def trial_details(reader: SessionReader, trial: Trial) -> Values:
    """Return what a trial made: README, metadata, whole scorecards, what the agent saw of the repository."""
    row = trial.row
    metadata = reader.kept(row.metadata_blob, f"the metadata of trial {row.id}")
    return {
        "protocol_kept": None if row.parsed is None else bool(row.parsed),
        "readme": reader.kept(row.readme_blob, f"the README of trial {row.id}"),
        "metadata": wording.decoded(metadata),
        "scores": [{**reader.card(score), "at": wording.iso(score.at)} for score in trial.scores],
        "imported_scores": [asdict(score) for score in trial.imported_scores],
        "snapshot": row.snapshot,
        "files": [{"path": path, "size": size} for path, size in reader.files_of(row.snapshot)] if row.snapshot else [],
        "seen": [
            {"path": seen.path, "how": seen.how, "step": seen.step, "size": seen.size} for seen in reader.seen(row.id)
        ],
        "grounding": grounding_values(reader, row),
        "check": check_values(reader, row),
    }


def step_values(reader: SessionReader, step: StepRow) -> Values:
    """Return a step with its whole answer and observation."""
    of = f"step {step.number} of trial {step.trial_id}"
    answer = reader.kept(step.answer_blob, f"the answer of {of}")
    return {
        "number": step.number,
        "kind": step.kind,
        "action": step.action,
        "target": step.target,
        "problem": step.problem,
        "thought": split_answer(answer)[0] if answer else "",
        "answer": answer,
        "observation": reader.kept(step.observation_blob, f"the observation of {of}"),
        "observation_size": step.observation_size,
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
        "cost": step.cost_usd,
        "seconds": step.seconds,
        "model": step.model,
        "settings": wording.decoded(step.settings),
        "call": step.call_id,
        "at": wording.iso(step.at or None),
    }


def call_values(reader: SessionReader, call: CallRow, keep: Callable[[str, str], object]) -> Values:
    """Return a model call; ``keep(digest, text)`` gives what stands for each message's text."""
    of = f"call {call.id}"
    return {
        "call": call.id,
        "scope": call.scope,
        "purpose": call.purpose,
        "model": call.model,
        "answered_by": call.answered_by,
        "messages": [
            {"role": role, "text": None if text is None else keep(digest, text)}
            for role, digest in reader.message_digests(call)
            for text in (reader.kept(digest, f"a message of {of}"),)
        ],
        "shape": wording.decoded(reader.kept(call.shape_blob, f"the shape of {of}")),
        "sampling": wording.decoded(call.sampling),
        "sample": call.sample,
        "answer": reader.kept(call.answer_blob, f"the answer of {of}"),
        "reasoning": reader.kept(call.reasoning_blob, f"the reasoning of {of}"),
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
        "evaluators": [one.to_json() for one in outcome.groups],
        "self_check": outcome.check.to_json(),
        "failures": [one.to_json() for one in outcome.diagnosis.groups],
        "unsolved": [asdict(one) for one in outcome.diagnosis.unsolved],
        "tests_failing_most": [asdict(one) for one in outcome.diagnosis.tests],
        "files": [
            {
                "path": file.name,
                "group": outcome.name(group),
                "tasks": file.tasks,
                "pass_at_k": {str(one.k): one.value for one in file.pass_at},
            }
            for group, files in outcome.files.items()
            for file in files
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


def task_values(reader: SessionReader, task: TaskRow, outcome: Regenerated) -> Values:
    """Return a task with its documentation, original body and pass@k by group, without its candidates."""
    of = f"task {task.id}"
    return {
        "task": task.id,
        "run": task.run_id,
        "snapshot": task.snapshot,
        "path": task.path,
        "function": task.qualified_name,
        "occurrence": task.occurrence,
        "lines": [task.start_line, task.end_line],
        "tests": reader.decoded(task.tests, list, f"the tests of {of}"),
        "coverage": task.coverage,
        "seconds": task.seconds,
        "docs": task.docs,
        "docs_scope": task.docs_scope,
        "docstring": reader.kept(task.docstring_blob, f"the docstring of {of}"),
        "body": reader.kept(task.body_blob, f"the body of {of}"),
        "source": reader.kept(task.source_blob, f"the source of {of}"),
        "prompt": wording.decoded(reader.kept(task.prompt_blob, f"the prompt of {of}")),
        "leak": task.leak,
        "controls": wording.decoded(task.controls),
        "state": task.state,
        "reason": task.reason,
        "pass_at_k": {
            outcome.name(line.group): {
                "samples": line.result.counted,
                "passed": line.result.passed,
                **{str(k): line.result.at(k) for k in outcome.ks},
            }
            for line in outcome.of_task(task.id)
        },
    }


def candidate_values(reader: SessionReader, candidate: CandidateRow) -> Values:
    """Return a candidate with its body, verdict and failing tests; ``again`` says that the verdict is the former one."""
    of = f"candidate {candidate.id}"
    return {
        "candidate": candidate.id,
        "task": candidate.task_id,
        "run": candidate.run_id,
        "evaluator": candidate.evaluator,
        "prompt": candidate.prompt or None,
        "context": candidate.context or None,
        "settings": settings_of(candidate.settings),
        "control": bool(candidate.control),
        "sample": candidate.sample,
        "state": candidate.state,
        "verdict": candidate.verdict,
        "again": candidate.again,
        "plain": None if candidate.plain is None else bool(candidate.plain),
        "doubtful": candidate.doubtful,
        "verdict_reason": candidate.verdict_reason,
        "route": candidate.route,
        "path_taken": candidate.route,  # the former name, for one version
        "tested_s": candidate.tested_s,
        "answer": reader.kept(candidate.answer_blob, f"the answer of {of}"),
        "body": reader.kept(candidate.body_blob, f"the body of {of}"),
        "notes": wording.decoded(candidate.notes),
        "prompt_tokens": candidate.prompt_tokens,
        "completion_tokens": candidate.completion_tokens,
        "cost": candidate.cost_usd,
        "asked_s": candidate.asked_s,
        "call": candidate.call_id,
        "failing_tests": [failing_values(reader, test) for test in reader.failing_tests(candidate.id)],
        "former": [former_values(reader, former) for former in reader.former_verdicts(candidate.id)],
        "at": wording.iso(candidate.at),
    }


def former_values(reader: SessionReader, former: FormerVerdictRow) -> Values:
    """Return a verdict that a later one replaced, with the tests that failed."""
    return {
        "verdict": former.verdict,
        "verdict_reason": former.verdict_reason,
        "route": former.route,
        "path_taken": former.route,  # the former name, for one version
        "tested_s": former.tested_s,
        "backend": former.backend,
        "failing_tests": [failing_values(reader, test) for test in former_failing(reader, former)],
        "at": wording.iso(former.at),
        "replaced_at": wording.iso(former.replaced_at),
    }


def failing_values(reader: SessionReader, test: FailingTestRow) -> Values:
    """Return a test that did not pass, with its traceback."""
    return {
        "test": test.test_id,
        "outcome": test.outcome,
        "message": test.message,
        "traceback": reader.kept(
            test.traceback_blob, f"the traceback of {test.test_id} of candidate {test.candidate_id}"
        ),
    }


def spread_values(contents: Contents) -> list[Values]:
    """Return the means with their spread; ``case`` is None where the group is all cases of an agent and model."""
    return [{**asdict(group), "case": group.case or None} for group in contents.spread]


def agreement_values(contents: Contents) -> list[Values]:
    """Return how judges agree; ``criterion`` is None for a whole tier, ``correlation`` where one of them gives no variety."""
    return [{**asdict(one), "criterion": one.criterion or None} for one in contents.agreement]


def damage_values(reader: SessionReader) -> list[Values]:
    """Return what of the session could not be read."""
    return [{"item": one.item, "what": one.what} for one in reader.damage]


def label_values(contents: Contents) -> list[Values]:
    """Return stars and tags; a star is the label ``★``."""
    return [
        {
            "item": one.item,
            "step": int(one.part) if one.part.isdecimal() else None,
            "criterion": one.part.partition(":")[2] if criterion_of(one.part) else None,
            "label": one.label,
            "at": wording.iso(one.at),
        }
        for one in contents.labels
    ]


def remark_values(contents: Contents) -> list[Values]:
    """Return people's remarks."""
    return [
        {
            "item": one.item,
            "step": one.step,
            "criterion": one.part.partition(":")[2] or None,
            "text": one.text,
            "at": wording.iso(one.at),
        }
        for one in contents.annotations
    ]


REPORT_VERSION = 1


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield the text of the object."""
    texts: dict[str, str] = {}

    def keep(digest: str, text: str) -> str:
        texts[digest] = text
        return digest

    def calls(scope: str) -> list[dict[str, Any]]:
        return [records.call_values(reader, call, keep) for call in reader.calls(scope)]

    def trial(one: Trial) -> dict[str, Any]:
        return {
            **records.trial_values(one),
            **records.trial_details(reader, one),
            "trajectory": [records.step_values(reader, step) for step in reader.steps(one.row.id)],
            "calls": calls(one.row.id) + calls(one.row.id + records.JUDGE_SCOPE),
        }

    regenerations = []
    for run, outcome in contents.regenerations:
        tasks = []
        for task in outcome.tasks:
            lines = outcome.of_task(task.id)
            candidates = [
                {**records.candidate_values(reader, candidate), "calls": calls(candidate.id)}
                for line in lines
                for candidate in line.candidates
            ]
            tasks.append({**records.task_values(reader, task, outcome), "candidates": candidates})
        regenerations.append({"run": run.row.id, **records.regeneration_values(outcome), "tasks": tasks})
    yield json_text(
        {
            "type": "report",
            "report_version": REPORT_VERSION,
            "session": records.session_values(contents),
            "runs": [records.run_values(run) for run in contents.runs],
            "means": records.spread_values(contents),
            "agreement": records.agreement_values(contents),
            "trials": [trial(one) for one in contents.trials],
            "regenerations": regenerations,
            "annotations": records.remark_values(contents),
            "labels": records.label_values(contents),
            "texts": texts,
            # Last: it holds what was met while the rest was read.
            "damaged": records.damage_values(reader),
        },
        indent=1,
    )
    yield "\n"
