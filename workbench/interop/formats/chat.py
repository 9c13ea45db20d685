"""Conversations as in OpenAI's API and its fine-tuning files: one object ``{"messages": […], "tools": […]}`` a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.interop.formats.problems import ForeignProblem, list_of, object_of, said, text_of, without
from workbench.interop.formats.trajectory import Result, Step, ToolCall, Trajectory
from workbench.session import SessionReader

KEY = "openai"
_SOURCES = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}


def is_chat(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def read_chat(value: Any) -> Trajectory:
    """Return the trajectory of a conversation; model and cost stay empty, as such files lack them."""
    line = object_of(value, "a line")
    steps = steps_of(list_of(line.get("messages"), "messages"))
    if not steps:
        raise ForeignProblem("has no messages")
    tools, model = line.get("tools"), line.get("model")
    rest = without(line, "messages", "tools", "model")
    return Trajectory(
        agent="unknown",
        model=text_of(model, "model") if model is not None else "",
        tools=None if tools is None else list_of(tools, "tools"),
        steps=tuple(steps),
        extra={KEY: rest} if rest else {},
    )


def steps_of(messages: Iterable[Any]) -> list[Step]:
    """Return the turns of messages as the API has them; a tool's answer belongs to the turn that called it."""
    steps: list[Step] = []
    for number, each in enumerate(messages, 1):
        message = object_of(each, f"message {number}")
        role = message.get("role")
        if role == "tool" and steps and steps[-1].source == "agent":
            last = steps[-1]
            steps[-1] = replace(last, results=(*(last.results or ()), _result(message, number)))
        elif role in (*_SOURCES, "tool"):
            steps.append(_step(message, number))
        else:
            raise ForeignProblem(f"has the role {said(role)} at message {number}, which is none of the API's")
    return steps


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    told = (
        part["text"] if isinstance(part.get("text"), str) else f"[{said(part.get('type'))}]"
        for part in parts
        if isinstance(part, dict)
    )
    return "\n".join(told)


def _kept(message: Mapping[str, Any], *known: str) -> dict[str, Any]:
    kept = without(message, *known)
    if not isinstance(message.get("content"), str):
        kept["content"] = message.get("content", _ABSENT)
    return kept


_ABSENT = {"absent": True}


def _result(message: Mapping[str, Any], number: int) -> Result:
    call = message.get("tool_call_id")
    kept = _kept(message, "role", "content", *(["tool_call_id"] if call is not None else []))
    named = None if call is None else text_of(call, f"the tool_call_id of message {number}")
    return Result(_flat(message.get("content")), named, {KEY: kept} if kept else {})


def _step(message: Mapping[str, Any], number: int) -> Step:
    role = message["role"]
    calls = [
        _call(one, number) for one in list_of(message.get("tool_calls") or [], f"the tool_calls of message {number}")
    ]
    kept = _kept(message, "role", "content", *(["tool_calls"] if calls else []), "reasoning_content")
    if role not in ("system", "user", "assistant"):
        kept["role"] = role
    reasoning = message.get("reasoning_content")
    if reasoning is not None and not isinstance(reasoning, str):
        kept["reasoning_content"] = reasoning
    return Step(
        _SOURCES.get(role, "system"),
        _flat(message.get("content")),
        reasoning=reasoning if isinstance(reasoning, str) else None,
        calls=tuple(calls),
        extra={KEY: kept} if kept else {},
    )


def _call(value: Any, number: int) -> ToolCall:
    call = object_of(value, f"a tool call of message {number}")
    function = object_of(call.get("function"), f"the function of a call of message {number}")
    name = text_of(function.get("name"), f"the name of a function of message {number}")
    written = function.get("arguments", "")
    arguments: Any = written
    if isinstance(written, str):
        try:
            arguments = json.loads(written)
        except (ValueError, RecursionError):
            arguments = None
    kept = without(call, "id", "type", "function")
    if call.get("type") != "function":
        kept["type"] = call.get("type")
    # Kept as it was written wherever our own way of writing it would be another one.
    if not isinstance(arguments, dict) or json.dumps(arguments, ensure_ascii=False) != written:
        kept["arguments"] = written
    identity = call.get("id")
    shown = arguments if isinstance(arguments, dict) else {}
    return ToolCall(identity if isinstance(identity, str) else "", name, shown, {KEY: kept} if kept else {})


# -- out


def to_chat(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory as one line of a fine-tuning file: messages, tools, and further fields of an imported one."""
    messages: list[dict[str, Any]] = []
    for number, step in enumerate(trajectory.steps, 1):
        messages += _messages(step, number)
    line: dict[str, Any] = {"messages": messages}
    if trajectory.tools is not None:
        line["tools"] = list(trajectory.tools)
    of_chat = KEY in trajectory.extra or trajectory.agent == "unknown"
    if of_chat and trajectory.model:
        line["model"] = trajectory.model
    return {**line, **dict(trajectory.extra.get(KEY, {}))}


def _content(kept: dict[str, Any], text: str) -> dict[str, Any]:
    if "content" not in kept:
        return {"content": text}
    content = kept.pop("content")
    return {} if content == _ABSENT else {"content": content}


def _messages(step: Step, number: int) -> Sequence[dict[str, Any]]:
    kept = dict(step.extra.get(KEY, {}))
    roles = {"agent": "assistant"}
    first = {"role": kept.pop("role", roles.get(step.source, step.source)), **_content(kept, step.text)}
    if step.reasoning is not None:
        first["reasoning_content"] = step.reasoning
    ids = [call.id or f"step_{number}_call_{place}" for place, call in enumerate(step.calls, 1)]
    if step.calls:
        first["tool_calls"] = [_written(call, identity) for call, identity in zip(step.calls, ids, strict=True)]
    answers = []
    for result in step.results or ():
        rest = dict(result.extra.get(KEY, {}))
        # Only a call can be answered by a tool; what the environment said otherwise is the user's turn.
        if result.call is not None or KEY in result.extra:
            answer = {"role": "tool", **_content(rest, result.text)}
            answers.append({**answer, **({"tool_call_id": result.call} if result.call is not None else {}), **rest})
        elif step.calls and len(step.results or ()) == 1:
            answers += [{"role": "tool", "tool_call_id": identity, "content": result.text} for identity in ids[:1]]
        else:
            answers.append({"role": "user", "content": result.text})
    return [{**first, **kept}, *answers]


def _written(call: ToolCall, identity: str) -> dict[str, Any]:
    kept = dict(call.extra.get(KEY, {}))
    arguments = kept.pop("arguments", json.dumps(dict(call.arguments), ensure_ascii=False))
    function = {"name": call.name, "arguments": arguments}
    return {"id": identity, "type": "function", "function": function, **kept}


def exact_chat(reader: SessionReader, trial: str) -> dict[str, Any] | None:
    """Return the messages of a trial's last usable answer and that answer; None without a model or if imported."""
    if reader.imported(trial) is not None:
        return None
    last = next(
        (row for row in reversed(reader.steps(trial)) if row.kind == "respond" and row.call_id is not None), None
    )
    call = reader.call(last.call_id) if last is not None and last.call_id is not None else None
    if call is None or call.answer_blob is None:
        return None
    messages = [{"role": role, "content": text} for role, text in reader.messages(call)]
    return {
        "messages": [
            *messages,
            {"role": "assistant", "content": reader.shown(call.answer_blob, f"the answer of call {call.id}")},
        ]
    }
