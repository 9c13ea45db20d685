"""ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8.

Its models forbid unknown fields, but each has an ``extra``. Written files pass validation by the package ``atif``. Any
difference between a document and what the workbench would write is stored under ``extra["atif"]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.files import shown
from workbench.base.typed_json import encode
from workbench.interop.formats.exporting import TrajectoryFormat, Written, file_name, write_text
from workbench.interop.formats.trajectory import (
    CHANGED,
    OWN,
    Result,
    Step,
    ToolCall,
    Totals,
    Trajectory,
    own_of,
    restored,
    with_own,
    without_own,
)
from workbench.interop.formats.values import (
    ForeignProblem,
    amount_of,
    count_of,
    difference,
    list_of,
    object_of,
    patched,
    quoted_value,
    text_of,
    text_or_none,
)
from workbench.session import SessionReader

NEWEST = (1, 8)
_KEPT = "atif"
_VERSION = re.compile(r"ATIF-v(\d{1,4})\.(\d{1,4})", re.ASCII)
_METRICS = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")


class Atif(TrajectoryFormat):
    """Writes a single trajectory to a file, and several to one file each in a folder."""

    about = "trajectories as ATIF 1.8, one file each"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and str(value.get("schema_version", "")).startswith("ATIF-")

    def item(self, value: Any, path: Path, place: str) -> Trajectory:
        return read_atif(value)

    def put(self, reader: SessionReader, output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
        written = Written(0, "trajectories")
        first: tuple[str, Trajectory] | None = None
        folder = output.is_dir() or output.suffix != ".json"
        for trial, one in found:
            if not folder and first is not None:
                raise UsageError(
                    f"There are several trajectories, but {shown(output)} is a file; name a folder or one trial."
                )
            first = first or (trial, one)
            if folder:
                self._put(output / f"{file_name(one, trial)}.json", one)
            written.count += 1
        if first is not None and not folder:
            self._put(output, first[1])
        return written

    def _put(self, path: Path, trajectory: Trajectory) -> None:
        write_text(path, json.dumps(to_atif(trajectory), ensure_ascii=False, indent=2))


def read_atif(value: Any) -> Trajectory:
    root = object_of(value, "the whole file")
    version = root.get("schema_version")
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        raise ForeignProblem(f"has the schema_version {quoted_value(version)}, which is not an ATIF version")
    if (int(found[1]), int(found[2])) > NEWEST:
        raise ForeignProblem(
            f"is {quoted_value(version)}, but the workbench supports versions up to {NEWEST[0]}.{NEWEST[1]}; upgrade it to read this file"
        )
    plain = _plain(root)
    own = own_of(plain.extra)
    return restored(plain, own) if CHANGED in own else plain


def _plain(root: Mapping[str, Any]) -> Trajectory:
    agent = object_of(root.get("agent"), "agent")
    steps = list_of(root.get("steps"), "steps")
    if not steps:
        raise ForeignProblem("has no steps")
    final = root.get("final_metrics")
    totals = object_of({} if final is None else final, "final_metrics")
    tools, model, session = agent.get("tool_definitions"), agent.get("model_name"), root.get("session_id")
    extra = _extra(root)
    extra.pop(_KEPT, None)
    own = own_of(extra)
    plain = Trajectory(
        agent=text_of(agent.get("name"), "agent.name"),
        version=text_of(agent.get("version", ""), "agent.version"),
        model=text_of(model, "agent.model_name") if model is not None else "",
        task=text_or_none(own.get("task")) or text_or_none(session) or "",
        repeat=count_of(own.get("repeat")) or 1,
        tools=None if tools is None else list_of(tools, "agent.tool_definitions"),
        totals=Totals(
            count_of(totals.get("total_prompt_tokens")),
            count_of(totals.get("total_completion_tokens")),
            amount_of(totals.get("total_cost_usd")),
        ),
        seconds=amount_of(own.get("seconds")),
        problem=str(own.get("problem") or ""),
        submission=text_or_none(own.get("submission")),
        steps=tuple(_step(one, number) for number, one in enumerate(steps, 1)),
        extra={**extra, _KEPT: {"session_id": session}},
    )
    return replace(plain, extra={**extra, _KEPT: {"session_id": session, CHANGED: difference(_document(plain), root)}})


def _extra(values: Mapping[str, Any]) -> dict[str, Any]:
    extra = values.get("extra")
    return {} if extra is None else dict(object_of(extra, "extra"))


def _step(value: Any, number: int) -> Step:
    step = object_of(value, f"step {number}")
    if step.get("step_id") != number or isinstance(step.get("step_id"), bool):
        raise ForeignProblem(
            f"has the step_id {quoted_value(step.get('step_id'))} instead of {number}; step ids are consecutive"
        )
    source = step.get("source")
    if source not in ("system", "user", "agent"):
        raise ForeignProblem(f"has the source {quoted_value(source)} at step {number}; expected system, user or agent")
    metrics, observation = step.get("metrics"), step.get("observation")
    figures = object_of(metrics, f"the metrics of step {number}") if metrics is not None else {}
    results = None
    if observation is not None:
        whole = object_of(observation, f"the observation of step {number}")
        listed = list_of(whole.get("results", []), f"the results of step {number}")
        results = tuple(_result(one, number) for one in listed)
    for name in ("model_name", "reasoning_content", "timestamp"):
        if step.get(name) is not None:
            text_of(step[name], f"{name} of step {number}")
    calls = list_of(step.get("tool_calls") or [], f"the tool_calls of step {number}")
    extra = _extra(step)
    return Step(
        source=source,
        text=_flat(step.get("message"), f"the message of step {number}"),
        reasoning=step.get("reasoning_content"),
        calls=tuple(_call(one, number) for one in calls),
        results=results,
        model=step.get("model_name"),
        prompt_tokens=count_of(figures.get("prompt_tokens")),
        completion_tokens=count_of(figures.get("completion_tokens")),
        cached_tokens=count_of(figures.get("cached_tokens")),
        cost_usd=amount_of(figures.get("cost_usd")),
        at=step.get("timestamp"),
        seconds=amount_of(own_of(extra).get("seconds")),
        extra=extra,
    )


def _flat(content: Any, where: str) -> str:
    if isinstance(content, str):
        return content
    texts = []
    for part in list_of(content, where):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict):
            source = part.get("source")
            path = source.get("path") if isinstance(source, dict) else None
            texts.append(f"[{part.get('type')}: {path}]")
    return "\n".join(texts)


def _call(value: Any, number: int) -> ToolCall:
    call = object_of(value, f"a tool call of step {number}")
    return ToolCall(
        text_of(call.get("tool_call_id"), f"the tool_call_id of a call of step {number}"),
        text_of(call.get("function_name"), f"the function_name of a call of step {number}"),
        object_of(call.get("arguments"), f"the arguments of a call of step {number}"),
        call["extra"] if isinstance(call.get("extra"), dict) else {},
    )


def _result(value: Any, number: int) -> Result:
    result = object_of(value, f"a result of step {number}")
    content, call = result.get("content"), result.get("source_call_id")
    return Result(
        "" if content is None else _flat(content, f"the content of a result of step {number}"),
        None if call is None else text_of(call, f"the source_call_id of a result of step {number}"),
        result["extra"] if isinstance(result.get("extra"), dict) else {},
    )


# -- export


def without_copies(trajectory: Trajectory) -> Trajectory:
    """Remove steps copied from an earlier trajectory, because the format forbids training on them."""
    if _KEPT not in trajectory.extra:
        return trajectory
    written = zip(trajectory.steps, to_atif(trajectory)["steps"], strict=True)
    return replace(trajectory, steps=tuple(step for step, one in written if not one.get("is_copied_context")))


def to_atif(trajectory: Trajectory) -> dict[str, Any]:
    """Return an ATIF document, with fields without an equivalent under ``extra["workbench"]``."""
    document = _document(trajectory)
    if _KEPT in trajectory.extra:
        return dict(patched(document, trajectory.extra[_KEPT].get(CHANGED)))
    change = difference(without_own(encode(_plain(document))), without_own(encode(trajectory)))
    if change is None:
        return document
    extra = document.get("extra", {})
    return {**document, "extra": with_own(extra, {**own_of(trajectory.extra), **own_of(extra), CHANGED: change})}


def _document(trajectory: Trajectory) -> dict[str, Any]:
    """Return a document before applying the differences of an imported one."""
    extra = dict(trajectory.extra)
    original = extra.pop(_KEPT, None)
    agent: dict[str, Any] = {"name": trajectory.agent, "version": trajectory.version or "unknown"}
    if trajectory.model:
        agent["model_name"] = trajectory.model
    if trajectory.tools is not None:
        agent["tool_definitions"] = list(trajectory.tools)
    steps = [_written(step, number) for number, step in enumerate(trajectory.steps, 1)]
    document = {"schema_version": f"ATIF-v{NEWEST[0]}.{NEWEST[1]}", "agent": agent, "steps": steps}
    if original is None:
        document["final_metrics"] = _final(trajectory)
    own_values = {
        "task": trajectory.task if original is None or trajectory.task != original.get("session_id") else "",
        "repeat": trajectory.repeat if trajectory.repeat != 1 else None,
        "seconds": trajectory.seconds,
        "problem": trajectory.problem,
        "submission": trajectory.submission,
    }
    if values := {key: value for key, value in own_values.items() if value not in (None, "")}:
        extra = with_own(extra, values)
    return {**document, **({"extra": extra} if extra else {})}


def _final(trajectory: Trajectory) -> dict[str, Any]:
    def total(name: str) -> Any:
        stated = getattr(trajectory.totals, name, None)
        known = [value for step in trajectory.steps if (value := getattr(step, name)) is not None]
        return stated if stated is not None else sum(known) if known else None

    values = {**{f"total_{name}": total(name) for name in _METRICS}, "total_steps": len(trajectory.steps)}
    return {key: value for key, value in values.items() if value is not None}


def _written(step: Step, number: int) -> dict[str, Any]:
    calls = [_written_call(call, f"step_{number}_call_{place}") for place, call in enumerate(step.calls, 1)]
    known = {call["tool_call_id"] for call in calls}
    metrics = {name: value for name in _METRICS if (value := getattr(step, name)) is not None}
    by_agent = step.source == "agent"
    values: dict[str, Any] = {
        "step_id": number,
        "source": step.source,
        "message": step.text,
        "timestamp": step.at,
        "model_name": step.model if by_agent else None,
        "reasoning_content": step.reasoning,
        "tool_calls": calls or None,
        "observation": None
        if step.results is None
        else {"results": [_written_result(one, known) for one in step.results]},
        "metrics": metrics if metrics and by_agent else None,
        "extra": (step.extra if step.seconds is None else with_own(step.extra, {"seconds": step.seconds})) or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _written_call(call: ToolCall, otherwise: str) -> dict[str, Any]:
    values = {"tool_call_id": call.id or otherwise, "function_name": call.name, "arguments": dict(call.arguments)}
    return {**values, **({"extra": dict(call.extra)} if call.extra else {})}


def _written_result(result: Result, known: set[str]) -> dict[str, Any]:
    extra, values = dict(result.extra), {"content": result.text}
    if result.call is not None and (result.call in known or not known):
        values["source_call_id"] = result.call
    elif result.call is not None:
        # A result can refer only to a call in the same step, so any other reference is stored in ``extra``.
        extra.setdefault(OWN, {"source_call_id": result.call})
    return {**values, **({"extra": extra} if extra else {})}
