"""Trajectories of SWE-agent (``.traj``) and mini-swe-agent (``.json``), for import only.

Tokens and costs of steps are missing unless the model reported them. Fields without an equivalent are stored under
``extra["swe-agent"]`` or ``extra["mini-swe-agent"]``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.interop.formats.chat import steps_of
from workbench.interop.formats.reading import Format
from workbench.interop.formats.trajectory import Result, Step, ToolCall, Totals, Trajectory, iso
from workbench.interop.formats.values import (
    ForeignProblem,
    amount_of,
    count_of,
    list_of,
    object_of,
    object_or_none,
    parsed_object,
    quoted_value,
    text_or_none,
    without,
)

_SWE, _MINI = "swe-agent", "mini-swe-agent"
_SHELL = "bash"
_SPOKEN = ("reasoning", "message", "function_call", "custom_tool_call", "local_shell_call", "shell_call")
"""Output items of the Responses API that the model produces."""
_MINI_FORMAT = "mini-swe-agent-1."


class SweAgent(Format):
    """One trajectory per document; the task's name defaults to that of the file: ``INSTANCE.traj``."""

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(value.get("trajectory"), list) and "info" in value

    def item(self, value: Any, path: Path, place: str) -> Trajectory:
        return read_swe_agent(value, "" if place else path.name.partition(".")[0])


class MiniSweAgent(Format):
    """One trajectory per document; the task's name defaults to that of the file: ``INSTANCE.traj.json``."""

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and str(value.get("trajectory_format", "")).startswith("mini-swe-agent")

    def item(self, value: Any, path: Path, place: str) -> Trajectory:
        return read_mini(value, "" if place else path.name.partition(".")[0])


def _text(value: Any) -> str:
    """Return a value as text: the parts of a message joined, and anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in value):
        return "\n".join(one["text"] for one in value)
    return json.dumps(value, ensure_ascii=False)


# -- SWE-agent


def read_swe_agent(value: Any, named: str = "") -> Trajectory:
    root = object_of(value, "the whole file")
    info = object_of(root.get("info") or {}, "info")
    history = list_of(root.get("history") or [], "history")
    opening = []
    for message in history:
        if not isinstance(message, dict) or message.get("role") not in ("system", "user"):
            break
        opening.append(message)
    spoken = [one for one in history if isinstance(one, dict) and one.get("role") == "assistant"]
    steps = [_opened(message) for message in opening]
    turns = list_of(root["trajectory"], "trajectory")
    for number, each in enumerate(turns, 1):
        turn = object_of(each, f"step {number} of trajectory")
        steps.append(_turn(turn, spoken[number - 1] if len(spoken) == len(turns) else None))
    if not steps:
        raise ForeignProblem("has no steps")
    stats = object_of(info.get("model_stats") or {}, "model_stats")
    config = parsed_object(root.get("replay_config"))
    exit_status = _text(info.get("exit_status"))
    return Trajectory(
        agent="SWE-agent",
        version=_text(info.get("swe_agent_version")),
        model=_deep(config, "agent", "model", "name"),
        # The name in the document takes precedence over that of the file.
        task=_deep(config, "problem_statement", "id") or _text(root.get("instance_id")) or named,
        steps=tuple(steps),
        totals=Totals(
            count_of(stats.get("tokens_sent")),
            count_of(stats.get("tokens_received")),
            amount_of(stats.get("instance_cost")),
        ),
        problem=""
        if not exit_status or exit_status.startswith("submitted")
        else f"SWE-agent ended with {quoted_value(exit_status)}.",
        submission=text_or_none(info.get("submission")),
        extra={_SWE: {**without(root, "trajectory", "history"), "history": history[len(opening) :]}},
    )


def _deep(value: Any, *names: str) -> str:
    for name in names:
        value = (object_or_none(value) or {}).get(name)
    return text_or_none(value) or ""


def _opened(message: Mapping[str, Any]) -> Step:
    content = message.get("content")
    original = without(message, "role", *(["content"] if isinstance(content, str) else []))
    return Step(message["role"], _text(content), extra={_SWE: original} if original else {})


def _turn(turn: Mapping[str, Any], spoken: Mapping[str, Any] | None) -> Step:
    thought, action, response = (turn.get(name) for name in ("thought", "action", "response"))
    calls: tuple[ToolCall, ...] = ()
    if spoken is not None and spoken.get("tool_calls"):
        try:
            calls = tuple(steps_of([{"role": "assistant", "content": "", "tool_calls": spoken["tool_calls"]}])[0].calls)
        except ForeignProblem:
            calls = ()  # the calls remain in the stored history
    if not calls and isinstance(action, str) and action.strip():
        calls = (ToolCall("", _SHELL, {"command": action}),)
    text = _text(thought) or _text(response)
    observed = turn.get("observation")
    return Step(
        "agent",
        text,
        calls=calls,
        results=(Result(observed, calls[0].id or None if len(calls) == 1 else None),)
        if isinstance(observed, str)
        else None,
        seconds=amount_of(turn.get("execution_time")),
        extra={_SWE: without(turn, *(["observation"] if isinstance(observed, str) else []))},
    )


# -- mini-swe-agent


def read_mini(value: Any, named: str = "") -> Trajectory:
    root = object_of(value, "the whole file")
    if not str(root.get("trajectory_format")).startswith(_MINI_FORMAT):
        raise ForeignProblem(
            f"is {quoted_value(root.get('trajectory_format'))}; the workbench supports {_MINI_FORMAT}x"
        )
    info = object_of(root.get("info") or {}, "info")
    steps: list[Step] = []
    for number, each in enumerate(list_of(root.get("messages"), "messages"), 1):
        message = object_of(each, f"message {number}")
        last = steps[-1] if steps and steps[-1].source == "agent" else None
        if last is not None and _is_observation(message):
            steps[-1] = replace(last, results=(*(last.results or ()), _observed(message)))
        elif last is not None and last.results is None and message.get("type") in _SPOKEN:
            steps[-1] = _joined(last, _responded(message, [message]))
        else:
            steps.append(_step_of(message))
    if not steps:
        raise ForeignProblem("has no messages")
    exit_status = _text(info.get("exit_status"))
    return Trajectory(
        agent="mini-swe-agent",
        version=_text(info.get("mini_version")),
        model=_deep(info, "config", "model", "model_name"),
        task=_text(root.get("instance_id")) or named,
        steps=tuple(steps),
        totals=Totals(cost_usd=amount_of(object_of(info.get("model_stats") or {}, "model_stats").get("instance_cost"))),
        problem="" if exit_status in {"", "Submitted"} else f"mini-swe-agent ended with {quoted_value(exit_status)}.",
        submission=text_or_none(info.get("submission")) or None,
        extra={_MINI: without(root, "messages")},
    )


def _extra(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_none(message.get("extra")) or {}


def _is_observation(message: Mapping[str, Any]) -> bool:
    kind = message.get("type")
    responded = isinstance(kind, str) and kind.endswith("_call_output")
    return message.get("role") == "tool" or responded or bool({"returncode", "raw_output"} & _extra(message).keys())


def _observed(message: Mapping[str, Any]) -> Result:
    text, identity = ("output", "call_id") if "output" in message else ("content", "tool_call_id")
    content, call = message.get(text), message.get(identity)
    original = without(
        message, *([text] if isinstance(content, str) else []), *([identity] if isinstance(call, str) else [])
    )
    return Result(_text(content), text_or_none(call), {_MINI: original})


def _step_of(message: Mapping[str, Any]) -> Step:
    if isinstance(message.get("output"), list):
        return _responded(message, message["output"])
    if message.get("type") in _SPOKEN and message.get("role") in (None, "assistant"):
        return _responded(message, [message])
    role, content, extra = message.get("role"), message.get("content"), _extra(message)
    original = without(message, *(["content"] if isinstance(content, str) else []))
    if role != "assistant":
        return Step("user" if role == "user" else "system", _text(content), at=_at(extra), extra={_MINI: original})
    reasoning = text_or_none(message.get("reasoning_content"))
    calls = _calls(message, extra)
    return _measured(Step("agent", _text(content), reasoning=reasoning, calls=calls, extra={_MINI: original}), message)


def _measured(step: Step, message: Mapping[str, Any]) -> Step:
    """Add a message's tokens, cost and time to its step; the two APIs use different names for token counts."""
    extra = _extra(message)
    response = object_or_none(extra.get("response")) or message
    usage = object_or_none(response.get("usage")) or {}
    details = object_or_none(usage.get("prompt_tokens_details") or usage.get("input_tokens_details")) or {}
    return replace(
        step,
        model=text_or_none(response.get("model")) or None,
        prompt_tokens=count_of(usage.get("prompt_tokens", usage.get("input_tokens"))),
        completion_tokens=count_of(usage.get("completion_tokens", usage.get("output_tokens"))),
        cached_tokens=count_of(details.get("cached_tokens")),
        cost_usd=amount_of(extra.get("cost")),
        at=_at(extra),
    )


def _responded(message: Mapping[str, Any], items: Sequence[Any]) -> Step:
    words, reasoning, calls = [], [], []
    for item in items:
        if not isinstance(item, dict):
            continue
        kind = str(item.get("type"))
        if kind == "message":
            words.append(_text(item.get("content")))
        elif kind == "reasoning":
            reasoning += [_text(item[name]) for name in ("summary", "content") if item.get(name)]
        elif kind.endswith("_call"):
            calls.append(_responded_call(item))
    found = calls or list(_calls(message, _extra(message)))
    step = Step(
        "agent",
        "\n".join(filter(None, words)),
        reasoning="\n".join(reasoning) or None,
        calls=tuple(found),
        extra={_MINI: dict(message)},
    )
    return _measured(step, message)


def _responded_call(item: Mapping[str, Any]) -> ToolCall:
    written = item.get("arguments", item.get("action", item.get("input")))
    arguments = parsed_object(written)
    if arguments is None:
        arguments = {"input": written} if isinstance(written, str) else {}
    command = arguments.get("command")
    if isinstance(command, list) and all(isinstance(one, str) for one in command):
        arguments = {**arguments, "command": shlex.join(command)}
    kind, identity = str(item.get("type")), text_or_none(item.get("call_id") or item.get("id")) or ""
    name = text_or_none(item.get("name")) or (_SHELL if "shell" in kind else kind)
    return ToolCall(identity, name, arguments)


def _joined(one: Step, other: Step) -> Step:
    measured = ("model", "prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "at")
    stated = {name: value for name in measured if (value := getattr(other, name)) is not None}
    return replace(
        one,
        text="\n".join(filter(None, (one.text, other.text))),
        reasoning="\n".join(filter(None, (one.reasoning, other.reasoning))) or None,
        calls=(*one.calls, *other.calls),
        extra={_MINI: {"items": [*_items(one), *_items(other)]}},
        **stated,
    )


def _items(step: Step) -> list[Any]:
    original = step.extra.get(_MINI, {})
    return list(original["items"]) if isinstance(original.get("items"), list) else [original]


def _calls(message: Mapping[str, Any], extra: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    if message.get("tool_calls"):
        return tuple(steps_of([{"role": "assistant", "content": "", "tool_calls": message["tool_calls"]}])[0].calls)
    actions = extra.get("actions")
    found = (
        [one for one in actions if isinstance(one, dict) and isinstance(one.get("command"), str)]
        if isinstance(actions, list)
        else []
    )
    return tuple(ToolCall(str(one.get("tool_call_id") or ""), _SHELL, {"command": one["command"]}) for one in found)


def _at(extra: Mapping[str, Any]) -> str | None:
    moment = amount_of(extra.get("timestamp"))
    try:
        return None if moment is None else iso(moment)
    except (ValueError, OverflowError, OSError):
        return None
