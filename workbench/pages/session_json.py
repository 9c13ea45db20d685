"""A session as JSON values with stable names, for ``report --format json`` and ``show --json``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from workbench.base.text import decoded, iso, json_text
from workbench.checking.verdicts import CheckDamaged, checked_of
from workbench.grounding import read_trial
from workbench.grounding.items import NOT_SEEN, NOWHERE, SEEN, UNSEEN
from workbench.pages.excerpts import split_answer
from workbench.pages.usage_page import usage_json
from workbench.results.contents import Contents, Regenerated, Run, Trial, former_failing, tier_points
from workbench.results.spread import own_points
from workbench.session.groups import settings_of
from workbench.session.json_forms import picked
from workbench.session.labels import criterion_of
from workbench.session.reader import SessionReader
from workbench.session.rows import CallRow, CandidateRow, FailingTestRow, FormerVerdictRow, StepRow, TaskRow, TrialRow

Values = dict[str, Any]
JUDGE_SCOPE = "/judge"


def _moments(row: object, *names: str) -> Values:
    return {name: iso(getattr(row, name)) for name in names}


def session_values(contents: Contents) -> Values:
    created = iso(contents.created_at)
    return {**picked(contents, "name", "file"), "created_at": created, **picked(contents, "created_by")}


def run_values(run: Run) -> Values:
    row = run.row
    return {
        **picked(row, "id:run", "name", "kind"),
        "state": run.state,
        "plan": decoded(row.config),
        "items": run.items,
        **_moments(row, "created_at", "started_at", "finished_at"),
        **picked(row, "spend_usd", "error", "note"),
    }


def trial_values(trial: Trial) -> Values:
    """Return a trial's identity, totals and main score; an unscored tier is None."""
    row, main = trial.row, trial.main
    own = own_points(main.total, main.out_of, trial.given) if main else None
    return {
        **picked(row, "id:trial", "run_id:run", "case_id:case", "case_name"),
        "content": row.content or None,
        **picked(row, "agent", "model", "repeat"),
        **{name: getattr(row, name) or None for name in ("parent", "fork_step", "edited")},
        **picked(row, "state:status", "error_kind", "error"),
        "problem": trial.problem or None,
        **picked(main, "rubric", "judge", "total:score", "out_of"),
        "unscored_tiers": list(main.unscored) if main else [],
        "given_by_format": trial.given,
        "own_points": own[0] if own else None,
        "own_out_of": own[1] if own else None,
        "tiers": {str(number): points for number, points in enumerate(tier_points(main), 1)},
        "works": trial.works.to_json() if trial.works else None,
        "steps": row.steps,
        "prompt_tokens": row.prompt_tokens or None,
        "completion_tokens": row.completion_tokens or None,
        **picked(row, "tokens", "cost_usd:cost", "seconds"),
        **_moments(row, "started_at", "finished_at"),
    }


def trial_details(reader: SessionReader, trial: Trial) -> Values:
    """Return a trial's README, metadata and scorecards, and the parts of the repository that the agent saw."""
    row = trial.row
    metadata = reader.text_or_none(row.metadata_blob, f"the metadata of trial {row.id}")
    return {
        "protocol_kept": None if row.parsed is None else bool(row.parsed),
        "readme": reader.text_or_none(row.readme_blob, f"the README of trial {row.id}"),
        "metadata": decoded(metadata),
        "scores": [{**reader.card(score), **_moments(score, "at")} for score in trial.scores],
        "imported_scores": [asdict(score) for score in trial.imported_scores],
        "snapshot": row.snapshot,
        "files": [{"path": path, "size": size} for path, size in reader.files_of(row.snapshot)] if row.snapshot else [],
        "accessed_files": [picked(seen, "path", "access", "step", "size") for seen in reader.accessed_files(row.id)],
        "grounding": grounding_values(reader, row),
        "check": check_values(reader, row),
    }


def grounding_values(reader: SessionReader, trial: TrialRow) -> Values | None:
    """Return grounded items and the exploration; spans are character offsets in the README, and step 0 is the task."""
    if trial.readme_blob is None and not trial.steps:
        return None
    why = read_trial(reader, trial)
    found, explored = why.grounding, why.exploration
    items = [
        {
            "kind": item.kind,
            "text": item.text,
            "status": item.status,
            "lines": [place.line for place in item.places],
            "spans": [[place.start, place.end] for place in item.places],
            "steps": list(item.steps),
            "path": item.path or None,
            "line": item.line or None,
        }
        for item in (found.items if found is not None else ())
    ]
    wanted = () if found is None else (SEEN, UNSEEN, NOWHERE) if found.repository else (SEEN, NOT_SEEN)
    return {
        "repository_at_hand": not why.note,
        "counts": {status: found.counts[status] for status in wanted} if found is not None else None,
        "items": items,
        "exploration": {
            "files": dict(explored.files),
            "bytes": dict(explored.bytes),
            "functions": None if explored.functions is None else dict(explored.functions),
            "patterns": list(explored.patterns),
        },
    }


def check_values(reader: SessionReader, trial: TrialRow) -> Values | None:
    """Return the check of a trial's README, or None if no check counts."""
    try:
        checked = checked_of(reader, trial.id)
    except CheckDamaged as error:
        return {"problem": str(error)}
    return None if checked is None else asdict(checked)


def step_values(reader: SessionReader, step: StepRow) -> Values:
    of = f"step {step.number} of trial {step.trial_id}"
    answer = reader.text_or_none(step.answer_blob, f"the answer of {of}")
    return {
        **picked(step, "number", "kind", "action", "target", "problem"),
        "thought": split_answer(answer)[0] if answer else "",
        "answer": answer,
        "observation": reader.text_or_none(step.observation_blob, f"the observation of {of}"),
        **picked(step, "observation_size", "prompt_tokens", "completion_tokens", "cost_usd:cost", "seconds", "model"),
        "settings": decoded(step.settings),
        "call": step.call_id,
        "at": iso(step.at or None),
    }


def call_values(reader: SessionReader, call: CallRow, keep: Callable[[str, str], object]) -> Values:
    """Return a model call; ``keep(digest, text)`` returns the value that represents the text of a message."""
    of = f"call {call.id}"
    return {
        **picked(call, "id:call", "scope", "purpose", "model", "answered_by"),
        "messages": [
            {"role": role, "text": None if text is None else keep(digest, text)}
            for role, digest in reader.message_digests(call)
            for text in (reader.text_or_none(digest, f"a message of {of}"),)
        ],
        "response_schema": decoded(reader.text_or_none(call.response_schema_blob, f"the response schema of {of}")),
        "sampling": decoded(call.sampling),
        "sample": call.sample,
        "answer": reader.text_or_none(call.answer_blob, f"the answer of {of}"),
        "reasoning": reader.text_or_none(call.reasoning_blob, f"the reasoning of {of}"),
        **picked(call, "finish_reason", "error_kind", "error", "prompt_tokens", "completion_tokens", "cached_tokens"),
        **picked(call, "cost_usd:cost", "latency_s"),
        "attempts": decoded(call.attempts),
        "source": call.source,
        **_moments(call, "started_at"),
    }


def regeneration_values(run: Run, outcome: Regenerated) -> Values:
    return {
        **({"usage": usage_json(run.usage)} if run.usage is not None else {}),
        "stages": [picked(one, "name", "state", "done", "total", "note") for one in outcome.stages],
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
            picked(one, "path", "qualified_name:function", "occurrence", "stage", "reason") for one in outcome.dropped
        ],
    }


def task_values(reader: SessionReader, task: TaskRow, outcome: Regenerated) -> Values:
    of = f"task {task.id}"
    return {
        **picked(task, "id:task", "run_id:run", "snapshot", "path", "qualified_name:function", "occurrence"),
        "lines": [task.start_line, task.end_line],
        "tests": reader.decoded(task.tests, list, f"the tests of {of}"),
        **picked(task, "coverage", "seconds", "docs", "docs_scope"),
        "docstring": reader.text_or_none(task.docstring_blob, f"the docstring of {of}"),
        "body": reader.text_or_none(task.body_blob, f"the body of {of}"),
        "source": reader.text_or_none(task.source_blob, f"the source of {of}"),
        "prompt": decoded(reader.text_or_none(task.prompt_blob, f"the prompt of {of}")),
        "leak": task.leak,
        "controls": decoded(task.controls),
        **picked(task, "state", "reason"),
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
    """Return a candidate with its body, verdict and failing tests.

    If ``again`` is set, the verdict is from before the retest.
    """
    of = f"candidate {candidate.id}"
    return {
        **picked(candidate, "id:candidate", "task_id:task", "run_id:run", "evaluator"),
        "prompt": candidate.prompt or None,
        "context": candidate.context or None,
        "settings": settings_of(candidate.settings),
        "control": bool(candidate.control),
        **picked(candidate, "sample", "state", "verdict", "retesting"),
        "plain": None if candidate.plain is None else bool(candidate.plain),
        **picked(candidate, "doubtful", "verdict_reason", "route"),
        "tested_s": candidate.tested_s,
        "answer": reader.text_or_none(candidate.answer_blob, f"the answer of {of}"),
        "body": reader.text_or_none(candidate.body_blob, f"the body of {of}"),
        "notes": decoded(candidate.notes),
        **picked(candidate, "prompt_tokens", "completion_tokens", "cost_usd:cost", "asked_s", "call_id:call"),
        "failing_tests": [failing_values(reader, test) for test in reader.failing_tests(candidate.id)],
        "former": [former_values(reader, former) for former in reader.former_verdicts(candidate.id)],
        **_moments(candidate, "at"),
    }


def former_values(reader: SessionReader, former: FormerVerdictRow) -> Values:
    return {
        **picked(former, "verdict", "verdict_reason", "route"),
        **picked(former, "tested_s", "backend"),
        "failing_tests": [failing_values(reader, test) for test in former_failing(reader, former)],
        **_moments(former, "at", "replaced_at"),
    }


def failing_values(reader: SessionReader, test: FailingTestRow) -> Values:
    of = f"the traceback of {test.test_id} of candidate {test.candidate_id}"
    return {
        **picked(test, "test_id:test", "outcome", "message"),
        "traceback": reader.text_or_none(test.traceback_blob, of),
    }


def spread_values(contents: Contents) -> list[Values]:
    """Return means with their spread; ``case`` is None for the mean over all cases of an agent and model."""
    return [{**asdict(group), "case": group.case or None} for group in contents.spread]


def agreement_values(contents: Contents) -> list[Values]:
    """Return the agreement of judges.

    ``criterion`` is None for a whole tier, and ``correlation`` is None if one judge's points are constant.
    """
    return [{**asdict(one), "criterion": one.criterion or None} for one in contents.agreement]


def label_values(contents: Contents) -> list[Values]:
    """Return stars and tags; a star is stored as the label ``★``."""
    return [
        {
            "item": one.item,
            "step": int(one.part) if one.part.isdecimal() else None,
            "criterion": one.part.partition(":")[2] if criterion_of(one.part) else None,
            "label": one.label,
            **_moments(one, "at"),
        }
        for one in contents.labels
    ]


def remark_values(contents: Contents) -> list[Values]:
    return [
        {
            **picked(one, "item", "step"),
            "criterion": one.part.partition(":")[2] or None,
            "text": one.text,
            **_moments(one, "at"),
        }
        for one in contents.annotations
    ]


REPORT_VERSION = 1
"""The version of the report's format, which is incremented by changes that would break readers."""


def report_json(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield a whole session as one JSON object; the texts of calls are stored once, in ``texts`` by digest."""
    texts: dict[str, str] = {}

    def keep(digest: str, text: str) -> str:
        texts[digest] = text
        return digest

    def calls(scope: str) -> list[dict[str, Any]]:
        return [call_values(reader, call, keep) for call in reader.calls(scope)]

    def trial(one: Trial) -> dict[str, Any]:
        return {
            **trial_values(one),
            **trial_details(reader, one),
            "trajectory": [step_values(reader, step) for step in reader.steps(one.row.id)],
            "calls": calls(one.row.id) + calls(one.row.id + JUDGE_SCOPE),
        }

    regenerations = []
    for run, outcome in contents.regenerations:
        tasks = []
        for task in outcome.tasks:
            lines = outcome.of_task(task.id)
            candidates = [
                {**candidate_values(reader, candidate), "calls": calls(candidate.id)}
                for line in lines
                for candidate in line.candidates
            ]
            tasks.append({**task_values(reader, task, outcome), "candidates": candidates})
        regenerations.append({"run": run.row.id, **regeneration_values(run, outcome), "tasks": tasks})
    yield json_text(
        {
            "type": "report",
            "report_version": REPORT_VERSION,
            "session": session_values(contents),
            "runs": [run_values(run) for run in contents.runs],
            "means": spread_values(contents),
            "agreement": agreement_values(contents),
            "trials": [trial(one) for one in contents.trials],
            "regenerations": regenerations,
            "annotations": remark_values(contents),
            "labels": label_values(contents),
            "texts": texts,
            # This must be last, because damage is found by reading everything else.
            "damaged": [picked(one, "item", "what") for one in reader.damage],
        },
        indent=1,
    )
    yield "\n"
