"""Conversations as in OpenAI's API and its fine-tuning files: one object ``{"messages": […], "tools": […]}`` a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.interop.formats.atif import without_copies
from workbench.interop.formats.exporting import TrajectoryFormat, Written, write_lines
from workbench.interop.formats.trajectory import CHANGED, Result, ToolCall, Trajectory, TrajectoryStep
from workbench.interop.formats.values import (
    ForeignProblem,
    difference,
    list_of,
    object_of,
    parsed_object,
    patched,
    said,
    text_of,
    text_or_none,
    without,
)
from workbench.session import SessionReader

_KEPT = "openai"
_SOURCES = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}


class OpenAiChat(TrajectoryFormat):
    """A line for each trajectory; of one that ran here, what was sent, byte for byte."""

    about = "conversations as OpenAI chat lines, for fine-tuning"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(value.get("messages"), list)

    def item(self, value: Any, path: Path, place: str) -> Trajectory:
        return read_chat(value)

    def put(self, reader: SessionReader, output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
        lines = (_exact(reader, trial) or to_chat(without_copies(one)) for trial, one in found)
        return Written(write_lines(output, lines), "conversations")


def read_chat(value: Any) -> Trajectory:
    """Return the trajectory of a conversation; model and cost stay empty, as such files lack them."""
    line = object_of(value, "a line")
    steps = steps_of(list_of(line.get("messages"), "messages"))
    if not steps:
        raise ForeignProblem("has no messages")
    tools, model = line.get("tools"), line.get("model")
    plain = Trajectory(
        agent="unknown",
        model=text_of(model, "model") if model is not None else "",
        tools=None if tools is None else list_of(tools, "tools"),
        steps=tuple(steps),
    )
    rest = without(line, "messages", "tools", "model")
    kept = {"extra": rest, CHANGED: difference(to_chat(plain), {key: line[key] for key in line if key not in rest})}
    return replace(plain, extra={_KEPT: {key: one for key, one in kept.items() if one}} if any(kept.values()) else {})


def steps_of(messages: Iterable[Any]) -> list[TrajectoryStep]:
    """Return the turns of messages as the API has them; a tool's answer belongs to the turn that called it."""
    steps: list[TrajectoryStep] = []
    for number, each in enumerate(messages, 1):
        message = object_of(each, f"message {number}")
        role = message.get("role")
        if role == "tool" and steps and steps[-1].source == "agent":
            call, last = message.get("tool_call_id"), steps[-1]
            named = None if call is None else text_of(call, f"the tool_call_id of message {number}")
            steps[-1] = replace(last, results=(*(last.results or ()), Result(_flat(message.get("content")), named)))
        elif role in (*_SOURCES, "tool"):
            calls = list_of(message.get("tool_calls") or [], f"the tool_calls of message {number}")
            steps.append(
                TrajectoryStep(
                    _SOURCES.get(role, "system"),
                    _flat(message.get("content")),
                    reasoning=text_or_none(message.get("reasoning_content")),
                    calls=tuple(_call(one, number) for one in calls),
                )
            )
        else:
            raise ForeignProblem(f"has the role {said(role)} at message {number}, which is none of the API's")
    return steps


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    told = (
        part["text"] if isinstance(part.get("text"), str) else f"[{said(part.get('type'))}]"
        for part in (content if isinstance(content, list) else [])
        if isinstance(part, dict)
    )
    return "\n".join(told)


def _call(value: Any, number: int) -> ToolCall:
    call = object_of(value, f"a tool call of message {number}")
    function = object_of(call.get("function"), f"the function of a call of message {number}")
    name = text_of(function.get("name"), f"the name of a function of message {number}")
    return ToolCall(text_or_none(call.get("id")) or "", name, parsed_object(function.get("arguments")) or {})


# -- out


def to_chat(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory as one line of a fine-tuning file: messages, tools, and further fields of an imported one."""
    kept = trajectory.extra.get(_KEPT, {})
    messages = [one for number, step in enumerate(trajectory.steps, 1) for one in _messages(step, number)]
    line: dict[str, Any] = {"messages": messages}
    if trajectory.tools is not None:
        line["tools"] = list(trajectory.tools)
    if (kept or trajectory.agent == "unknown") and trajectory.model:
        line["model"] = trajectory.model
    return {**patched(line, kept.get(CHANGED)), **kept.get("extra", {})}


def _messages(step: TrajectoryStep, number: int) -> Iterator[Mapping[str, Any]]:
    ids = [call.id or f"step_{number}_call_{place}" for place, call in enumerate(step.calls, 1)]
    first: dict[str, Any] = {"role": "assistant" if step.source == "agent" else step.source, "content": step.text}
    if step.reasoning is not None:
        first["reasoning_content"] = step.reasoning
    if step.calls:
        first["tool_calls"] = [_written(call, identity) for call, identity in zip(step.calls, ids, strict=True)]
    yield first
    for result in step.results or ():
        # Only a call can be answered by a tool; what the environment said otherwise is the user's turn.
        call = ids[0] if result.call is None and ids and len(step.results or ()) == 1 else result.call
        answer = {"role": "tool", "tool_call_id": call} if call is not None else {"role": "user"}
        yield {**answer, "content": result.text}


def _written(call: ToolCall, identity: str) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"id": identity, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _exact(reader: SessionReader, trial: str) -> dict[str, Any] | None:
    """Return the messages of a trial's last usable answer and that answer; None without a model or if imported."""
    if reader.imported(trial) is not None:
        return None
    answers = (row for row in reversed(reader.steps(trial)) if row.kind == "respond" and row.call_id is not None)
    last = next(answers, None)
    call = reader.call(last.call_id) if last is not None and last.call_id is not None else None
    if call is None or call.answer_blob is None:
        return None
    messages = [{"role": role, "content": text} for role, text in reader.messages(call)]
    answer = reader.shown(call.answer_blob, f"the answer of call {call.id}")
    return {"messages": [*messages, {"role": "assistant", "content": answer}]}
