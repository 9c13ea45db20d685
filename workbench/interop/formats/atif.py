"""ATIF, the Agent Trajectory Interchange Format 1.0 to 1.8, in and out.

Its models forbid unknown fields but have an ``extra`` each. Written files validate with the package ``atif``; fields of
the format that the workbench has no name for are kept under ``extra["atif"]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.interop.formats.checking import CHANGED, difference, restored, without_own
from workbench.interop.formats.problems import (
    ForeignProblem,
    amount_of,
    count_of,
    list_of,
    object_of,
    said,
    text_of,
    without,
)
from workbench.interop.formats.trajectory import (
    OWN,
    Result,
    Step,
    ToolCall,
    Totals,
    Trajectory,
    own_of,
    to_json,
    with_own,
)

NEWEST = (1, 8)
_KEPT = "atif"
_VERSION = re.compile(r"ATIF-v(\d{1,4})\.(\d{1,4})", re.ASCII)
_SOURCES = ("system", "user", "agent")
_METRICS = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
_KEYS = "step_id source message model_name reasoning_content tool_calls observation metrics timestamp extra"
_OF_A_STEP = frozenset(_KEYS.split())


def is_atif(value: object) -> bool:
    return isinstance(value, dict) and str(value.get("schema_version", "")).startswith("ATIF-")


def read_atif(value: object) -> Trajectory:
    root = object_of(value, "the whole file")
    _check_version(root.get("schema_version"))
    plain = _plain(root)
    own = own_of(plain.extra)
    return restored(plain, own) if CHANGED in own else plain


def _plain(root: Mapping[str, Any]) -> Trajectory:
    agent = object_of(root.get("agent"), "agent")
    steps = list_of(root.get("steps"), "steps")
    if not steps:
        raise ForeignProblem("has no steps")
    final = root.get("final_metrics")
    totals = object_of(final, "final_metrics") if final is not None else {}
    kept = without(root, "schema_version", "agent", "steps", "extra", "final_metrics")
    kept |= {"schema_version": root["schema_version"], "agent": _rest_of_agent(agent)}
    if final is not None:
        kept["final_metrics"] = final
    tools, model = agent.get("tool_definitions"), agent.get("model_name")
    extra = _extra(root, kept)
    own = own_of(extra)
    return Trajectory(
        agent=text_of(agent.get("name"), "agent.name"),
        version=text_of(agent.get("version", ""), "agent.version"),
        model=text_of(model, "agent.model_name") if model is not None else "",
        task=_task(root, own),
        repeat=count_of(own.get("repeat")) or 1,
        tools=None if tools is None else list_of(tools, "agent.tool_definitions"),
        totals=Totals(
            count_of(totals.get("total_prompt_tokens")),
            count_of(totals.get("total_completion_tokens")),
            amount_of(totals.get("total_cost_usd")),
        ),
        seconds=amount_of(own.get("seconds")),
        problem=str(own.get("problem") or ""),
        submission=own["submission"] if isinstance(own.get("submission"), str) else None,
        steps=tuple(_step(one, number) for number, one in enumerate(steps, 1)),
        extra=extra,
    )


def _check_version(version: object) -> None:
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        raise ForeignProblem(f"has the schema_version {said(version)}, which is none of ATIF's")
    if (int(found[1]), int(found[2])) > NEWEST:
        raise ForeignProblem(
            f"is {said(version)}; the workbench knows versions up to {NEWEST[0]}.{NEWEST[1]}, upgrade it to read this"
        )


def _task(root: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    return next((one for one in (own.get("task"), root.get("session_id")) if isinstance(one, str) and one), "")


def _rest_of_agent(agent: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name", "version", "model_name", "tool_definitions"}
    return {key: one for key, one in agent.items() if key not in named or one is None}


def _extra(values: Mapping[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    given = values.get("extra")
    extra = dict(object_of(given, "extra")) if given is not None else {}
    if _KEPT in extra:
        kept["extra"] = {_KEPT: extra.pop(_KEPT)}
    elif given == {}:
        kept["extra"] = {}
    if kept:
        extra[_KEPT] = kept
    return extra


def _step(value: object, number: int) -> Step:
    step = object_of(value, f"step {number}")
    if step.get("step_id") != number or isinstance(step.get("step_id"), bool):
        raise ForeignProblem(f"has the step_id {said(step.get('step_id'))} where {number} must be: they count 1, 2, 3")
    source = step.get("source")
    if source not in _SOURCES:
        raise ForeignProblem(f"has the source {said(source)} at step {number}; it is system, user or agent")
    kept = without(step, *_OF_A_STEP)
    message = step.get("message")
    if not isinstance(message, str):
        kept["message"] = list_of(message, f"the message of step {number}")
    metrics = step.get("metrics")
    figures = object_of(metrics, f"the metrics of step {number}") if metrics is not None else {}
    tokens = {name: count_of(figures.get(name)) for name in _METRICS[:3]}
    cost = amount_of(figures.get("cost_usd"))
    # Whole where it says more, or says it in another way: 1 where we have 1.0.
    if (
        metrics is not None
        and figures != {key: one for key, one in {**tokens, "cost_usd": cost}.items() if one is not None}
    ) or type(figures.get("cost_usd")) is int:
        kept["metrics"] = metrics
    if metrics == {}:
        kept["metrics"] = {}
    calls = step.get("tool_calls")
    if calls == []:
        kept["tool_calls"] = []
    observation = step.get("observation")
    results = None
    if observation is not None:
        whole = object_of(observation, f"the observation of step {number}")
        results = tuple(
            _result(one, number) for one in list_of(whole.get("results", []), f"the results of step {number}")
        )
        if whole.keys() != {"results"}:
            kept["observation"] = without(whole, "results")
    for name in ("model_name", "reasoning_content", "timestamp"):
        if step.get(name) is not None:
            text_of(step[name], f"{name} of step {number}")
    nothing = [
        name for name in sorted(_OF_A_STEP - {"step_id", "source", "message"}) if name in step and step[name] is None
    ]
    if nothing:
        kept["null"] = nothing
    extra = _extra(step, kept)
    return Step(
        source=source,
        text=_flat(message),
        reasoning=step.get("reasoning_content"),
        calls=tuple(_call(one, number) for one in list_of(calls or [], f"the tool_calls of step {number}")),
        results=results,
        model=step.get("model_name"),
        cost_usd=cost,
        at=step.get("timestamp"),
        seconds=amount_of(own_of(extra).get("seconds")),
        extra=extra,
        **tokens,
    )


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    told = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            told.append(part["text"])
        elif isinstance(part, dict):
            source = part.get("source")
            path = source.get("path") if isinstance(source, dict) else None
            told.append(f"[{part.get('type')}: {path}]")
    return "\n".join(told)


def _call(value: object, number: int) -> ToolCall:
    call = object_of(value, f"a tool call of step {number}")
    extra = dict(call.get("extra") or {}) if isinstance(call.get("extra"), dict) else {}
    kept = without(call, "tool_call_id", "function_name", "arguments", *(["extra"] if extra else []))
    return ToolCall(
        text_of(call.get("tool_call_id"), f"the tool_call_id of a call of step {number}"),
        text_of(call.get("function_name"), f"the function_name of a call of step {number}"),
        object_of(call.get("arguments"), f"the arguments of a call of step {number}"),
        {**extra, _KEPT: kept} if kept else extra,
    )


def _result(value: object, number: int) -> Result:
    result = object_of(value, f"a result of step {number}")
    content, call = result.get("content"), result.get("source_call_id")
    if content is not None and not isinstance(content, str):
        list_of(content, f"the content of a result of step {number}")
    extra = dict(result.get("extra") or {}) if isinstance(result.get("extra"), dict) else {}
    kept = without(result, *(["extra"] if extra else []), *(["source_call_id"] if call is not None else []))
    if isinstance(content, str):
        del kept["content"]
    elif "content" not in result:
        kept["content"] = None  # no content at all, which is not an empty one
        kept["absent"] = True
    return Result(
        _flat(content),
        None if call is None else text_of(call, f"the source_call_id of a result of step {number}"),
        {**extra, _KEPT: kept} if kept else extra,
    )


# -- out


def without_copies(trajectory: Trajectory) -> Trajectory:
    """Leave out steps that were copied from an earlier one: the format forbids training on them."""
    kept = [step for step in trajectory.steps if not dict(step.extra.get(_KEPT, {})).get("is_copied_context")]
    return trajectory if len(kept) == len(trajectory.steps) else replace(trajectory, steps=tuple(kept))


def to_atif(trajectory: Trajectory) -> dict[str, Any]:
    """Return an ATIF document; what the format has no place for is in ``extra["workbench"]``."""
    document = _document(trajectory)
    if _KEPT in trajectory.extra:
        return document
    plain = without_own(to_json(_plain(document)))
    change = difference(plain, without_own(to_json(trajectory)))
    if change is None:
        return document
    extra = document.get("extra", {})
    return {**document, "extra": with_own(extra, {**own_of(trajectory.extra), **own_of(extra), CHANGED: change})}


def _document(trajectory: Trajectory) -> dict[str, Any]:
    extra = dict(trajectory.extra)
    kept = dict(extra.pop(_KEPT, {}))
    agent: dict[str, Any] = {"name": trajectory.agent, "version": trajectory.version or "unknown"}
    if trajectory.model:
        agent["model_name"] = trajectory.model
    if trajectory.tools is not None:
        agent["tool_definitions"] = list(trajectory.tools)
    agent |= kept.pop("agent", {})
    own_extra = kept.pop("extra", None)
    document: dict[str, Any] = {
        "schema_version": kept.pop("schema_version", f"ATIF-v{NEWEST[0]}.{NEWEST[1]}"),
        "agent": agent,
        "steps": [_written(step, number) for number, step in enumerate(trajectory.steps, 1)],
    }
    if "final_metrics" not in kept and _KEPT not in trajectory.extra:
        kept["final_metrics"] = _final(trajectory)
    said_here = {
        "task": trajectory.task if trajectory.task != _task(kept, {}) else "",
        "repeat": trajectory.repeat if trajectory.repeat != 1 else None,
        "seconds": trajectory.seconds,
        "problem": trajectory.problem,
        "submission": trajectory.submission,
    }
    told = {key: value for key, value in said_here.items() if value not in (None, "")}
    if told:
        extra = with_own(extra, told)
    return {**document, **kept, **_as_extra(extra, own_extra)}


def _as_extra(extra: dict[str, Any], own: dict[str, Any] | None) -> dict[str, Any]:
    whole = {**extra, **(own or {})}
    return {"extra": whole} if whole or own == {} else {}


def _final(trajectory: Trajectory) -> dict[str, Any]:
    def total(name: str) -> Any:
        stated = getattr(trajectory.totals, name, None)
        known = [value for step in trajectory.steps if (value := getattr(step, name)) is not None]
        return stated if stated is not None else sum(known) if known else None

    values = {**{f"total_{name}": total(name) for name in _METRICS}, "total_steps": len(trajectory.steps)}
    return {key: value for key, value in values.items() if value is not None}


def _written(step: Step, number: int) -> dict[str, Any]:
    extra = dict(step.extra)
    kept = dict(extra.pop(_KEPT, {}))
    own_extra, nothing = kept.pop("extra", None), kept.pop("null", ())
    values: dict[str, Any] = {"step_id": number, "source": step.source, "message": step.text}
    if step.at is not None:
        values["timestamp"] = step.at
    if step.model is not None and step.source == "agent":
        values["model_name"] = step.model
    if step.reasoning is not None:
        values["reasoning_content"] = step.reasoning
    if step.calls:
        values["tool_calls"] = [_written_call(call, number, place) for place, call in enumerate(step.calls, 1)]
    if step.results is not None:
        known = {call["tool_call_id"] for call in values.get("tool_calls", ())}
        values["observation"] = {
            "results": [_written_result(one, known) for one in step.results],
            **kept.pop("observation", {}),
        }
    metrics = {name: value for name in _METRICS if (value := getattr(step, name)) is not None}
    if metrics and step.source == "agent":
        values["metrics"] = metrics
    if step.seconds is not None:
        extra = with_own(extra, {"seconds": step.seconds})
    return {**values, **dict.fromkeys(nothing), **kept, **_as_extra(extra, own_extra)}


def _written_call(call: ToolCall, number: int, place: int) -> dict[str, Any]:
    extra = dict(call.extra)
    kept = extra.pop(_KEPT, {})
    values = {
        "tool_call_id": call.id or f"step_{number}_call_{place}",
        "function_name": call.name,
        "arguments": dict(call.arguments),
    }
    return {**values, **({"extra": extra} if extra else {}), **kept}


def _written_result(result: Result, known: set[str]) -> dict[str, Any]:
    extra = dict(result.extra)
    kept = dict(extra.pop(_KEPT, {}))
    values: dict[str, Any] = {}
    if result.call is not None and (result.call in known or not known):
        values["source_call_id"] = result.call
    elif result.call is not None:
        # The format knows only calls of the same step.
        extra.setdefault(OWN, {"source_call_id": result.call})
    if kept.pop("absent", False):
        kept.pop("content", None)
    else:
        values["content"] = result.text
    return {**values, **({"extra": extra} if extra else {}), **kept}
