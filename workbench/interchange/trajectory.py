"""A trajectory as every format of this room is read into and written from: plain values, nothing of a session.

Its shape is that of ATIF, the richest of the formats. What a format says beyond it stands in ``extra`` under the name of that
format (``"inspect"``, ``"swe-agent"``, …), so that writing that format again loses nothing and another format can carry it along.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.text import one_line

Extra = Mapping[str, Any]
OWN = "workbench"
"""The key of ``extra`` under which the workbench keeps what only it knows: scores, remarks, the case."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; ``id`` is "" where the format has none, ``arguments`` is a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool or the environment answered; ``call`` is the id of the call, None where it belongs to none."""

    text: str
    call: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of ``source`` (system, user, agent). None is always "the file does not say".

    Attributes:
        source: Who speaks.
        text: What is said.
        reasoning: What the model thought before it spoke.
        calls: Calls of tools, in order.
        results: What came back, in order; None where the file has no observation.
        model: The model that spoke.
        prompt_tokens: Tokens of the prompt, cached ones included.
        completion_tokens: Tokens of the answer.
        cached_tokens: Tokens of the prompt that were cached.
        cost_usd: US dollars.
        at: When, ISO 8601 as the file has it.
        seconds: How long the step took.
        extra: The rest, by format.
    """

    source: str
    text: str
    reasoning: str | None = None
    calls: Sequence[ToolCall] = ()
    results: Sequence[Result] | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    at: str | None = None
    seconds: float | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def observed(self) -> str:
        return "\n".join(one.text for one in self.results or ())


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a trajectory as the file states them; None = it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What one agent did on one task.

    Attributes:
        agent: Its name.
        steps: Its turns, and those of system and user.
        version: Of the agent.
        model: The model, "" where the file does not say.
        task: What it worked on: an id or a name, "" where the file does not say.
        repeat: Which attempt at the task, from 1.
        tools: Definitions of tools as OpenAI writes them, None where the file has none.
        totals: Sums.
        seconds: How long all of it took.
        problem: Why it ended without a result, "" where it did not.
        submission: What it handed in (a patch, a text), None where the file does not say.
        extra: The rest, by format.
    """

    agent: str
    steps: Sequence[Step]
    version: str = ""
    model: str = ""
    task: str = ""
    repeat: int = 1
    tools: Sequence[Any] | None = None
    totals: Totals = Totals()
    seconds: float | None = None
    problem: str = ""
    submission: str | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def scores(self) -> list[dict[str, str]]:
        """What the scorers of the program that wrote it gave, as texts: ``scorer``, ``value``, ``explanation``."""
        own = self.extra.get(OWN)
        ours = {
            f"{one['card'].get('rubric')} ({one['card'].get('judge')})"
            for one in (own.get("scorecards", []) if isinstance(own, dict) else [])
            if isinstance(one, dict) and isinstance(one.get("card"), dict)
        }
        places = [part for name, part in self.extra.items() if name != OWN and isinstance(part, dict)]
        places += [
            part[name] for part in places for name in ("sample", "extra", "info") if isinstance(part.get(name), dict)
        ]
        found: dict[str, dict[str, str]] = {}
        for place in places:
            scores = place.get("scores")
            for name, value in scores.items() if isinstance(scores, dict) else ():
                if name not in ours:
                    found[str(name)] = _score(str(name), value)
            for name in ("score", "reward"):
                if isinstance(place.get(name), bool | int | float | str):
                    found[name] = _score(name, place[name])
        return list(found.values())

    @property
    def digest(self) -> str:
        """SHA-256 of the content, 64 hexadecimal digits: equal trajectories are one. What people and judges add is no part of it."""
        values = to_json(self)
        values["extra"] = {key: value for key, value in values["extra"].items() if key != OWN}
        text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _score(scorer: str, score: Any) -> dict[str, str]:
    values = score if isinstance(score, dict) and "value" in score else {"value": score}
    value, explanation = values["value"], values.get("explanation")
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {
        "scorer": one_line(scorer, 100),
        "value": one_line(shown, 100),
        "explanation": one_line(explanation, 400) if isinstance(explanation, str) else "",
    }


def step_to_json(step: Step) -> dict[str, Any]:
    """Return a step as JSON values."""
    return {
        "source": step.source,
        "text": step.text,
        "reasoning": step.reasoning,
        "calls": [
            {"id": one.id, "name": one.name, "arguments": dict(one.arguments), "extra": dict(one.extra)}
            for one in step.calls
        ],
        "results": None
        if step.results is None
        else [{"text": one.text, "call": one.call, "extra": dict(one.extra)} for one in step.results],
        "model": step.model,
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
        "cached_tokens": step.cached_tokens,
        "cost_usd": step.cost_usd,
        "at": step.at,
        "seconds": step.seconds,
        "extra": dict(step.extra),
    }


def step_from_json(values: Mapping[str, Any]) -> Step:
    """Return the step encoded by :func:`step_to_json`."""
    results = values["results"]
    return Step(
        **{
            **values,
            "calls": tuple(ToolCall(**one) for one in values["calls"]),
            "results": None if results is None else tuple(Result(**one) for one in results),
        }
    )


def head_to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return everything of a trajectory but its steps as JSON values."""
    totals = trajectory.totals
    return {
        "agent": trajectory.agent,
        "version": trajectory.version,
        "model": trajectory.model,
        "task": trajectory.task,
        "repeat": trajectory.repeat,
        "tools": None if trajectory.tools is None else list(trajectory.tools),
        "totals": {
            "prompt_tokens": totals.prompt_tokens,
            "completion_tokens": totals.completion_tokens,
            "cost_usd": totals.cost_usd,
        },
        "seconds": trajectory.seconds,
        "problem": trajectory.problem,
        "submission": trajectory.submission,
        "extra": dict(trajectory.extra),
    }


def to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory as JSON values."""
    return {**head_to_json(trajectory), "steps": [step_to_json(step) for step in trajectory.steps]}


def from_head(head: Mapping[str, Any], steps: Sequence[Step]) -> Trajectory:
    """Return the trajectory encoded by :func:`head_to_json`, with these steps."""
    return Trajectory(**{**head, "totals": Totals(**head["totals"]), "steps": tuple(steps)})
