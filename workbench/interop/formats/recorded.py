"""A trial of a session as a trajectory; an imported one as it was in its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.agents.protocol import RESPOND, TOOLS, Action, parse_action
from workbench.interop.formats.checking import patched
from workbench.interop.formats.recording import (
    UNKNOWN,
    answer_text,
    head_of,
    iso,
    parts_of,
    read_row,
    recorded_own,
    seen_in,
    without_case,
)
from workbench.interop.formats.trajectory import (
    OWN,
    Result,
    Step,
    ToolCall,
    Totals,
    Trajectory,
    from_head,
    own_of,
    step_from_json,
    step_to_json,
)
from workbench.session import SessionReader
from workbench.session.rows import ImportedRow, StepRow, TrialRow

_PATH = {"type": "object", "properties": {"path": {"type": "string"}}}
_README = {"type": "object", "properties": {"readme": {"type": "string"}, "metadata": {"type": "object"}}}
_DESCRIBED = {
    **{name: (text, _PATH) for name, text in TOOLS.items()},
    RESPOND: ("respond(readme, metadata) hands in the finished README and metadata", _README),
}
_TOOLS = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}
    for name, (text, parameters) in _DESCRIBED.items()
]
"""The tools that agents of the workbench have, as OpenAI writes them."""


def recorded_trajectory(reader: SessionReader, trial: TrialRow) -> Trajectory:
    """Return the trajectory of a trial, with scores, remarks and tags in ``extra["workbench"]``."""
    origin = reader.imported(trial.id)
    own = recorded_own(reader, trial)
    if origin is not None:
        found = _imported(reader, trial, origin)
        # What the file said in places of its own is not said a second time.
        own = without_case(own, found.task, UNKNOWN)
        if _is_derived(found, own.get("seen", ())):
            own.pop("seen", None)
        own = {**own, **own_of(found.extra)}
        return replace(found, extra={**found.extra, **({OWN: own} if own else {})})
    return _native(reader, trial, {"trial": trial.id, **without_case(own, trial.case_id)})


def _is_derived(trajectory: Trajectory, seen: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the files seen follow from the calls, so that a reader derives them again."""
    told = {(one.path, one.how) for step in trajectory.steps for one in seen_in(step)}
    return all(not one["size"] and (one["path"], one["how"]) in told for one in seen)


def _texts(reader: SessionReader, row: StepRow) -> tuple[str, str]:
    of = f"of step {row.number} of trial {row.trial_id}"
    answer, observation = (
        reader.kept(row.answer_blob, f"the answer {of}"),
        reader.kept(row.observation_blob, f"the observation {of}"),
    )
    return answer or "", observation or ""


def _imported(reader: SessionReader, trial: TrialRow, origin: ImportedRow) -> Trajectory:
    extra = reader.decoded(
        reader.kept(origin.extra_blob, f"the origin of trial {trial.id}"), dict, f"the origin of trial {trial.id}"
    )
    changes = extra.get("steps", {})
    steps = [
        step_from_json(patched(step_to_json(read_row(row, *_texts(reader, row))), changes.get(str(row.number))))
        for row in reader.steps(trial.id)
    ]
    for place, values in extra.get("prompts", ()):
        steps.insert(place, step_from_json(values))
    return from_head(patched(head_of(trial), extra.get("head")), steps)


# -- what ran here


def _native(reader: SessionReader, trial: TrialRow, own: dict[str, Any]) -> Trajectory:
    rows = reader.steps(trial.id)
    return Trajectory(
        agent=trial.agent,
        version=reader.meta().get("created_by", "").removeprefix("workbench ") or "unknown",
        model=trial.model,
        task=trial.case_id,
        repeat=trial.repeat,
        tools=_TOOLS,
        totals=Totals(trial.prompt_tokens or None, trial.completion_tokens or None, trial.cost_usd)
        if rows
        else Totals(),
        seconds=trial.seconds,
        problem=(trial.error or trial.state) if trial.state != "done" else "",
        steps=(*_prompts(reader, rows), *(_step(reader, row) for row in rows)),
        extra={OWN: own},
    )


def _prompts(reader: SessionReader, rows: Sequence[StepRow]) -> list[Step]:
    call = next((reader.call(row.call_id) for row in rows if row.call_id is not None), None)
    extra = {OWN: {"prompt": True}}
    if call is None:
        return []
    return [Step(role, text, extra=extra) for role, text in reader.messages(call) if role in {"system", "user"}]


def _step(reader: SessionReader, row: StepRow) -> Step:
    answer, observation = _texts(reader, row)
    text, calls = parts_of(answer) if row.kind in {"tool", "respond"} else (answer, ())
    if row.kind in {"tool", "respond"} and not calls and isinstance(action := parse_action(answer), Action):
        text, calls = action.thought, (ToolCall("", action.name, action.kwargs),)
    calls = tuple(
        ToolCall(f"step_{row.number}_call_{place}", one.name, one.arguments) for place, one in enumerate(calls, 1)
    )
    settings = reader.decoded(row.settings, dict, f"the settings of step {row.number} of trial {row.trial_id}")
    own = {name: getattr(row, name) for name in ("kind", "action", "target", "problem")} | {
        "settings": settings or None
    }
    call = reader.call(row.call_id) if row.call_id is not None else None
    reasoning = reader.kept(call.reasoning_blob, f"the reasoning of call {call.id}") if call else None
    step = Step(
        source="agent",
        text=text,
        reasoning=reasoning,
        calls=calls,
        results=(Result(observation, calls[0].id if calls else None),) if row.observation_blob else None,
        model=row.model,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cached_tokens=call.cached_tokens if call else None,
        cost_usd=row.cost_usd,
        at=iso(row.at),
        seconds=row.seconds,
    )
    if answer != answer_text(step):
        own["answer"] = answer
    return replace(step, extra={OWN: {key: value for key, value in own.items() if value is not None}})
