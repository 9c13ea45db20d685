"""OpenAI chat and fine-tuning files, with one object ``{"messages": […], "tools": […]}`` per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.interop.formats.atif import without_copies
from workbench.interop.formats.exporting import TrajectoryFormat, Written, write_lines
from workbench.interop.formats.trajectory import CHANGED, Result, Step, ToolCall, Trajectory
from workbench.interop.formats.values import (
    ForeignProblem,
    difference,
    list_of,
    object_of,
    parsed_object,
    patched,
    quoted_value,
    text_of,
    text_or_none,
    without,
)
from workbench.session import SessionReader

_KEPT = "openai"
_SOURCES = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}


class OpenAiChat(TrajectoryFormat):
    """One line per trajectory; for a trial that ran here, it contains the messages exactly as they were sent."""

    about = "conversations as OpenAI chat lines, for fine-tuning"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(value.get("messages"), list)

    def item(self, value: Any, path: Path, place: str) -> Trajectory:
        return read_chat(value)

    def put(self, reader: SessionReader, output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
        lines = (_exact(reader, trial) or to_chat(without_copies(one)) for trial, one in found)
        return Written(write_lines(output, lines), "conversations")


def read_chat(value: Any) -> Trajectory:
    """Return the trajectory of a conversation, without model and cost, which such files do not contain."""
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
    original = {"extra": rest, CHANGED: difference(to_chat(plain), {key: line[key] for key in line if key not in rest})}
    return replace(
        plain, extra={_KEPT: {key: one for key, one in original.items() if one}} if any(original.values()) else {}
    )


def steps_of(messages: Iterable[Any]) -> list[Step]:
    """Convert API messages to steps; a tool's result belongs to the step that called the tool."""
    steps: list[Step] = []
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
                Step(
                    _SOURCES.get(role, "system"),
                    _flat(message.get("content")),
                    reasoning=text_or_none(message.get("reasoning_content")),
                    calls=tuple(_call(one, number) for one in calls),
                )
            )
        else:
            raise ForeignProblem(f"has the role {quoted_value(role)} at message {number}, which the API does not have")
    return steps


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = (
        part["text"] if isinstance(part.get("text"), str) else f"[{quoted_value(part.get('type'))}]"
        for part in (content if isinstance(content, list) else [])
        if isinstance(part, dict)
    )
    return "\n".join(texts)


def _call(value: Any, number: int) -> ToolCall:
    call = object_of(value, f"a tool call of message {number}")
    function = object_of(call.get("function"), f"the function of a call of message {number}")
    name = text_of(function.get("name"), f"the name of a function of message {number}")
    return ToolCall(text_or_none(call.get("id")) or "", name, parsed_object(function.get("arguments")) or {})


# -- export


def to_chat(trajectory: Trajectory) -> dict[str, Any]:
    """Return a line of a fine-tuning file: messages, tools, and extra fields of an imported line."""
    original = trajectory.extra.get(_KEPT, {})
    messages = [one for number, step in enumerate(trajectory.steps, 1) for one in _messages(step, number)]
    line: dict[str, Any] = {"messages": messages}
    if trajectory.tools is not None:
        line["tools"] = list(trajectory.tools)
    if (original or trajectory.agent == "unknown") and trajectory.model:
        line["model"] = trajectory.model
    return {**patched(line, original.get(CHANGED)), **original.get("extra", {})}


def _messages(step: Step, number: int) -> Iterator[Mapping[str, Any]]:
    ids = [call.id or f"step_{number}_call_{place}" for place, call in enumerate(step.calls, 1)]
    first: dict[str, Any] = {"role": "assistant" if step.source == "agent" else step.source, "content": step.text}
    if step.reasoning is not None:
        first["reasoning_content"] = step.reasoning
    if step.calls:
        first["tool_calls"] = [_written(call, identity) for call, identity in zip(step.calls, ids, strict=True)]
    yield first
    for result in step.results or ():
        # A tool message must answer a call, so any other output of the environment becomes a user message.
        call = ids[0] if result.call is None and ids and len(step.results or ()) == 1 else result.call
        answer = {"role": "tool", "tool_call_id": call} if call is not None else {"role": "user"}
        yield {**answer, "content": result.text}


def _written(call: ToolCall, identity: str) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"id": identity, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _exact(reader: SessionReader, trial: str) -> dict[str, Any] | None:
    """Return the conversation up to a trial's last usable answer, or None if it has no model or was imported."""
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
