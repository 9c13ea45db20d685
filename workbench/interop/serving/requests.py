"""What an assessor is asked for: agents by address and cases by id, written as JSON or as AEO-Bench's tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.agents.names import agent_info, current_name
from workbench.agents.remote_names import PREFIX
from workbench.base.errors import UsageError
from workbench.base.json_answers import objects_in
from workbench.base.text import plural
from workbench.catalog import find_case, load_cases

MOST_AGENTS, MOST_REPEATS, MOST_TRIALS = 16, 20, 500
_TAG = r"<{0}>\s*(.*?)\s*</{0}>"
_TAGS = (("white_agent_url", "agents"), ("test_config", ""), ("env_config", ""), ("json", ""), ("cases", "cases"))
_SHAPE = (
    'Name agents by address and cases by id, as JSON: {"agents": ["http://127.0.0.1:9002"], "cases": ["word_counter"]}; '
    '"cases" may be "all", and "repeats" a number.'
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was asked for: names of agents (``a2a:URL``), ids of cases, trials per case."""

    agents: tuple[str, ...]
    cases: tuple[str, ...]
    repeats: int = 1

    def words(self) -> str:
        """Return ``2 agents × 3 cases × 5 repeats``."""
        counted = [plural(len(self.agents), "agent")]
        counted.append(plural(len(self.cases), "case"))
        return " × ".join(counted + ([f"{self.repeats} repeats"] if self.repeats > 1 else []))


def read_assessment(message: str) -> Assessment:
    """Return what a message asks for; raises UsageError, which says what is taken, for what is not there or too much."""
    given = _values(message)
    config = given.get("config")
    values = {**(config if isinstance(config, Mapping) else {}), **given}
    named = values.get("agents", values.get("participants"))
    agents = [current_name(one if one.startswith(PREFIX) else PREFIX + one) for one in _texts(named)]
    cases = (
        _numbered(values["test_ids"]) if "test_ids" in values else _texts(values.get("cases", values.get("case_ids")))
    )
    repeats = values.get("repeats", 1)
    if not agents or not cases:
        raise UsageError(_SHAPE)
    if "all" in cases:
        cases = _bundled()
    repeats = int(repeats) if isinstance(repeats, float) and repeats.is_integer() else repeats
    if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
        raise UsageError(f'"repeats" must be a number from 1 to {MOST_REPEATS}.')
    # Only by id: a path or an address in a request would let others read what is on this machine.
    found = Assessment(tuple(dict.fromkeys(agents)), tuple(find_case(one).id for one in dict.fromkeys(cases)), repeats)
    for agent in found.agents:
        agent_info(agent)
    trials = len(found.agents) * len(found.cases) * repeats
    if len(found.agents) > MOST_AGENTS or trials > MOST_TRIALS:
        raise UsageError(
            f"{found.words()} are too many; at most {MOST_AGENTS} agents and {MOST_TRIALS} trials are assessed."
        )
    return found


def _values(message: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for tag, key in _TAGS:
        texts = re.findall(_TAG.format(tag), message, re.S)
        for text in texts:
            decoded = _decoded(text)
            if key:
                found[key] = [*_texts(found.get(key)), *(_texts(decoded) if decoded is not None else [text])]
            elif isinstance(decoded, dict):
                found |= decoded
    if found:
        return found
    objects = [one.value for one in objects_in(message)]
    if not objects:
        raise UsageError(_SHAPE)
    return next((one for one in reversed(objects) if {"agents", "participants"} & set(one)), objects[-1])


def _bundled() -> list[str]:
    return [case.id for case in load_cases()[0] if case.kind != "own"]


def _numbered(test_ids: object) -> list[str]:
    """Return the cases that AEO-Bench counts from 0 in the order of their names; None stands for all."""
    cases = sorted(_bundled())
    if test_ids is None:
        return cases
    asked: list[Any] = test_ids if isinstance(test_ids, list) else [test_ids]
    places = [int(one) for one in asked if type(one) in (int, float) and one in range(len(cases))]
    if len(places) != len(asked):
        raise UsageError(f'"test_ids" count the cases from 0 to {len(cases) - 1}: {", ".join(cases)}.')
    return [cases[place] for place in places]


def _decoded(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except (ValueError, RecursionError):
        return None


def _texts(given: object) -> list[str]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    items: Iterable[object] = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ()
    texts = [one.get("url", one.get("endpoint")) if isinstance(one, Mapping) else one for one in items]
    if not all(isinstance(one, str) for one in texts):
        raise UsageError(_SHAPE)
    return [str(one).strip() for one in texts]
