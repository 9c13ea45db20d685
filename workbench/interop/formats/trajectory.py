"""A trajectory as plain values, into which every format is read and from which it is written.

Its shape is that of ATIF, the richest of the formats. Other fields of a format are in ``extra`` under its name
(``"inspect"``, ``"swe-agent"``, …), so that writing that format again loses nothing and another format can carry it
along.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from workbench.base.text import one_line
from workbench.interop.formats.values import ForeignProblem, misfit, patched

Extra = Mapping[str, Any]
OWN = "workbench"
"""The key of ``extra`` under which the workbench keeps what only it knows: scores, remarks, the case."""
CHANGED = "difference"
"""The key beside it of what a format could not say of a trajectory."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; ``id`` is "" if the format has none, ``arguments`` is a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a tool or the environment; ``call`` is the id of the call, None if it belongs to none."""

    text: str
    call: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One turn. None is always "the file does not say"."""

    source: Annotated[str, ("system", "user", "agent")]
    text: str
    reasoning: str | None = None  # before the message
    calls: Sequence[ToolCall] = ()
    results: Sequence[Result] | None = None  # in order; None: no observation
    model: str | None = None
    prompt_tokens: int | None = None  # cached ones included
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    at: str | None = None  # ISO 8601 as in the file
    seconds: float | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def observed(self) -> str:
        return "\n".join(one.text for one in self.results or ())


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a trajectory as the file states them, None if it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What one agent did on one task."""

    agent: str
    steps: Sequence[Step]
    version: str = ""
    model: str = ""  # "" if unknown
    task: str = ""  # id or name, "" if unknown
    repeat: int = 1  # which attempt, from 1
    tools: Sequence[Any] | None = None  # as OpenAI defines them
    totals: Totals = Totals()
    seconds: float | None = None
    problem: str = ""  # why it ended without a result
    submission: str | None = None  # a patch or text, if known
    extra: Extra = field(default_factory=dict)  # the rest, by format

    @property
    def scores(self) -> list[dict[str, str]]:
        """What the scorers of the original program gave, as texts: ``scorer``, ``value``, ``explanation``."""
        ours = {
            f"{one['card'].get('rubric')} ({one['card'].get('judge')})"
            for one in own_of(self.extra).get("scorecards", [])
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
        """SHA-256 of the content in hex; what people and judges add is no part of it."""
        text = json.dumps(without_own(to_json(self)), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
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


def own_of(extra: Extra) -> dict[str, Any]:
    values = extra.get(OWN)
    return values if isinstance(values, dict) else {}


def with_own(extra: Extra, values: Mapping[str, Any]) -> dict[str, Any]:
    return {**extra, OWN: {**own_of(extra), **values}}


def without_own(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "extra": {key: value for key, value in values["extra"].items() if key != OWN}}


def unix(text: str | None) -> float | None:
    """Return an ISO 8601 time in unix seconds, None if it is invalid; without a zone it is UTC."""
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


# -- as JSON


def _fields(value: ToolCall | Result | Step | Totals | Trajectory) -> dict[str, Any]:
    values = {name: getattr(value, name) for name in value.__dataclass_fields__}
    return {name: dict(one) if isinstance(one, Mapping) else one for name, one in values.items()}


def step_to_json(step: Step) -> dict[str, Any]:
    results = None if step.results is None else [_fields(one) for one in step.results]
    return {**_fields(step), "calls": [_fields(one) for one in step.calls], "results": results}


def step_from_json(values: Mapping[str, Any]) -> Step:
    calls, results = tuple(ToolCall(**one) for one in values["calls"]), values["results"]
    told = None if results is None else tuple(Result(**one) for one in results)
    return Step(**{**values, "calls": calls, "results": told})


def head_to_json(trajectory: Trajectory) -> dict[str, Any]:
    tools = None if trajectory.tools is None else list(trajectory.tools)
    values = {**_fields(trajectory), "tools": tools, "totals": _fields(trajectory.totals)}
    return {name: value for name, value in values.items() if name != "steps"}


def to_json(trajectory: Trajectory) -> dict[str, Any]:
    return {**head_to_json(trajectory), "steps": [step_to_json(step) for step in trajectory.steps]}


def from_head(head: Mapping[str, Any], steps: Sequence[Step]) -> Trajectory:
    return Trajectory(**{**head, "totals": Totals(**head["totals"]), "steps": tuple(steps)})


def restored(plain: Trajectory, ours: Mapping[str, Any]) -> Trajectory:
    """Return the trajectory that the workbench wrote, from a format's content and the difference beside it."""
    own = {key: value for key, value in ours.items() if key != CHANGED}
    try:
        values = patched(without_own(to_json(plain)), ours.get(CHANGED))
        found = from_head(values, [step_from_json(one) for one in values.pop("steps")])
        sound = not misfit(found, Trajectory)
    except (LookupError, TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise ForeignProblem("holds notes of the workbench that do not fit it")
    return replace(found, extra={**found.extra, **({OWN: own} if own else {})})
