"""Write a foreign trajectory into a session: the rows that every screen reads, and beside them what rows have no place for.

A trajectory is one transaction. What its rows would give back is compared with the trajectory, and the difference is stored
(:mod:`workbench.interchange.checking`), so that nothing can be lost that this module forgot.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from workbench.agents.protocol import OPEN
from workbench.interchange.checking import difference
from workbench.interchange.files_seen import seen_in
from workbench.interchange.own import OwnValues, put_own, step_values, without_held
from workbench.interchange.trajectory import Result, Step, ToolCall, Trajectory, head_to_json, step_to_json
from workbench.session import SessionWriter
from workbench.session.blobs import put
from workbench.session.rows import StepRow, TrialRow
from workbench.text import one_line

_TARGETS = ("path", "file_path", "filename", "command", "cmd", "query", "pattern", "url", "code", "input")
_WIDTH = 200
UNKNOWN = "unknown"
"""The name of a case or an agent of which the file says nothing."""


def record(
    writer: SessionWriter,
    run: str,
    position: int,
    trial: str,
    trajectory: Trajectory,
    origin: Mapping[str, str],
    *,
    case: str = "",
    readme: str | None = None,
) -> None:
    """Record a trajectory as a trial that is done (or failed), in one transaction.

    Args:
        writer: The session.
        run: The run that it becomes part of.
        position: Place in it.
        trial: Identity of the trial.
        trajectory: The trajectory.
        origin: Format, name and SHA-256 of its file: ``format``, ``source``, ``digest``.
        case: Id of the test case that it is about, "" for what the file says.
        readme: The README that was handed in, where that is known from outside.
    """
    own = OwnValues.of(trajectory)
    shown = [step for step in trajectory.steps if not step_values(step).get("prompt")]
    rows = [_step_row(trial, number, step) for number, step in enumerate(shown, 1)]
    row = _trial_row(trial, run, position, trajectory, own, [row for row, _, _ in rows], case)
    extra = {
        "head": difference(head_of(row), head_to_json(without_held(trajectory))),
        "steps": {
            str(number): found
            for number, (step, kept) in enumerate(zip(shown, rows, strict=True), 1)
            if (found := difference(step_to_json(read_row(kept[0], kept[1], kept[2])), step_to_json(step))) is not None
        },
        "prompts": [
            [place, step_to_json(step)]
            for place, step in enumerate(trajectory.steps)
            if step_values(step).get("prompt")
        ],
        "scores": trajectory.scores,
    }
    with writer.transaction() as connection:
        values = {name: getattr(row, name) for name in TrialRow.__dataclass_fields__}
        readme = readme if readme is not None else own.readme
        if readme is not None:
            values |= {"readme_blob": put(connection, readme), "parsed": 1 if own.parsed is None else own.parsed}
            values["metadata_blob"] = put(connection, json.dumps(own.metadata, ensure_ascii=False, indent=2))
        writer.insert("trials", values)
        for kept, answer, observation in rows:
            stored = replace(
                kept,
                answer_blob=put(connection, answer) if answer else None,
                observation_blob=put(connection, observation) if observation else None,
            )
            writer.insert("steps", {name: getattr(stored, name) for name in StepRow.__dataclass_fields__})
        # What the agent itself recorded counts over what can be read out of its calls.
        for number, step in enumerate(() if own.seen else shown, 1):
            for one in seen_in(step):
                seen = {"trial_id": trial, "path": one.path, "how": one.how, "step": number, "size": 0}
                writer.insert("seen", seen, conflict="IGNORE")
        put_own(writer, trial, own)
        kept_beside = put(connection, json.dumps(extra, ensure_ascii=False))
        writer.insert("imported", {"item": trial, **origin, "extra_blob": kept_beside, "at": time.time()})


def _trial_row(
    trial: str, run: str, position: int, trajectory: Trajectory, own: OwnValues, steps: Sequence[StepRow], case: str
) -> TrialRow:
    """Return the row of a trial; sums are those that the file states, else those of the steps that have any."""
    totals = trajectory.totals
    times = [row.at for row in steps if row.at]
    costs = [row.cost_usd for row in steps if row.cost_usd is not None]
    name = _word(case or own.case_id or trajectory.task or UNKNOWN)
    summed_prompt = sum(row.prompt_tokens or 0 for row in steps)
    summed_completion = sum(row.completion_tokens or 0 for row in steps)
    return TrialRow(
        id=trial,
        run_id=run,
        position=position,
        case_id=name,
        case_name=name if case else _word(own.case_name or name),
        agent=_word(trajectory.agent or UNKNOWN),
        model=_word(trajectory.model),
        repeat=trajectory.repeat,
        state="failed" if trajectory.problem else "done",
        error_kind="imported" if trajectory.problem else None,
        error=trajectory.problem or None,
        snapshot=own.snapshot,
        parsed=None,
        readme_blob=None,
        metadata_blob=None,
        steps=len(steps),
        prompt_tokens=totals.prompt_tokens if totals.prompt_tokens is not None else summed_prompt,
        completion_tokens=totals.completion_tokens if totals.completion_tokens is not None else summed_completion,
        cost_usd=totals.cost_usd if totals.cost_usd is not None else sum(costs) if costs else None,
        started_at=min(times, default=None),
        finished_at=max(times, default=None),
        seconds=trajectory.seconds,
        content=own.content,
    )


def _word(text: str) -> str:
    return one_line(text, _WIDTH)


def head_of(row: TrialRow) -> dict[str, Any]:
    return head_to_json(
        Trajectory(
            agent=row.agent,
            steps=(),
            model=row.model,
            task=row.case_id,
            repeat=row.repeat,
            seconds=row.seconds,
            problem=row.error or "",
        )
    )


def _step_row(trial: str, number: int, step: Step) -> tuple[StepRow, str, str]:
    values = step_values(step)
    answer = values.get("answer")
    if not isinstance(answer, str):
        answer = answer_text(step)
    kind, action, target = _acted(step, values)
    observed = step.observed
    row = StepRow(
        trial_id=trial,
        number=number,
        kind=kind,
        action=action,
        target=target,
        call_id=None,
        answer_blob=None,
        observation_blob=None,
        observation_size=len(observed.encode("utf-8", "surrogatepass")),
        problem=values["problem"] if isinstance(values.get("problem"), str) else None,
        prompt_tokens=step.prompt_tokens,
        completion_tokens=step.completion_tokens,
        cost_usd=step.cost_usd,
        seconds=step.seconds,
        model=step.model,
        settings=json.dumps(values["settings"]) if isinstance(values.get("settings"), dict) else "{}",
        at=unix(step.at) or 0.0,
    )
    return row, answer, observed


def answer_text(step: Step) -> str:
    """Return a turn as the workbench writes an agent's answer: thoughts, words, and each call between ``<json>`` tags."""
    parts = [part for part in (step.reasoning, step.text) if part]
    parts += [
        f"<json>{json.dumps({'name': call.name, 'kwargs': dict(call.arguments)}, ensure_ascii=False)}</json>"
        for call in step.calls
    ]
    return "\n".join(parts)


def read_row(row: StepRow, answer: str, observation: str) -> Step:
    """Return the step that a row and its texts alone give back."""
    source = row.action if row.kind == "plan" and row.action in {"system", "user"} else "agent"
    text, calls = parts_of(answer) if source == "agent" else (answer, ())
    return Step(
        source=source,
        text=text,
        calls=calls,
        results=(Result(observation),) if observation or row.observation_size else None,
        model=row.model,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost_usd=row.cost_usd,
        at=iso(row.at) if row.at else None,
        seconds=row.seconds,
    )


def _acted(step: Step, values: Mapping[str, Any]) -> tuple[str, str, str]:
    kind, action, target = (values.get(name) for name in ("kind", "action", "target"))
    if kind in {"tool", "respond", "invalid", "plan", "error"} and isinstance(action, str) and isinstance(target, str):
        return str(kind), action, target
    if step.source != "agent":
        return "plan", step.source, one_line(step.text, _WIDTH)
    if not step.calls:
        return "plan", "message", one_line(step.text, _WIDTH)
    first = step.calls[0]
    arguments = first.arguments
    named = next((arguments[name] for name in _TARGETS if isinstance(arguments.get(name), str)), None)
    if named is None:
        named = next((value for value in arguments.values() if isinstance(value, str)), "")
    return "tool", one_line(", ".join(call.name for call in step.calls), _WIDTH), one_line(named, _WIDTH)


def unix(text: str | None) -> float | None:
    """Return an ISO 8601 time in unix seconds, None where it is none; a time without a zone is taken for UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def iso(moment: float) -> str:
    """Return unix seconds as ISO 8601 in UTC, to the microsecond."""
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def parts_of(answer: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the words of an answer and its calls, without ids; an answer whose tags hold no calls is all words."""
    start = answer.find(OPEN)
    if start < 0:
        return answer, ()
    calls, position = [], start
    decoder = json.JSONDecoder(strict=False)
    while position >= 0:
        try:
            value, end = decoder.raw_decode(answer, position + len(OPEN))
        except (ValueError, RecursionError):
            return answer, ()
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("name"), str)
            or not isinstance(value.get("kwargs", {}), dict)
        ):
            return answer, ()
        calls.append(ToolCall("", value["name"], value.get("kwargs", {})))
        position = answer.find(OPEN, end)
    return answer[:start].rstrip("\n"), tuple(calls)
