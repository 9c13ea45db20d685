"""The JSON in a session: what fits its form is taken, what does not is left out and counted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

TIER_NAMES = {1: "Structural", 2: "Sections", 3: "Accuracy", 4: "Quality"}
"""The tiers of every rubric."""

_MAYBE_INT: tuple[type, ...] = (int, type(None))
_EVIDENCE: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "text": (str,),
    "start": _MAYBE_INT,
    "end": _MAYBE_INT,
    "path": (str, type(None)),
    "line": _MAYBE_INT,
}


class WrongForm(ValueError):
    """Invalid JSON, or JSON of another form; the message says which."""


def picked(row: object, *names: str) -> dict[str, Any]:
    """Return attributes of a row under their own names or the one behind a colon, ``total:score``; without a row, all None."""
    pairs = (name.partition(":") for name in names)
    return {wanted or own: None if row is None else getattr(row, own) for own, _, wanted in pairs}


def decoded(text: str, kind: type[Any]) -> Any:
    """Return the value of JSON text. WrongForm: it is no ``kind`` (``list`` or ``dict``), or nested too deep."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise WrongForm("its JSON is nested too deep") from None
    except ValueError:
        raise WrongForm("it is not JSON") from None
    if not isinstance(value, kind):
        raise WrongForm(f"its JSON is no {'list' if kind is list else 'object'}")
    return value


def pairs(text: str, first: type[Any], second: type[Any]) -> list[tuple[Any, Any]]:
    """Return a JSON list of pairs of two types. WrongForm: it is anything else."""
    values = decoded(text, list)
    if not all(_is_pair(value, first, second) for value in values):
        raise WrongForm("its JSON is no list of pairs")
    return [(value[0], value[1]) for value in values]


def _is_pair(value: object, first: type[Any], second: type[Any]) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], first) and isinstance(value[1], second)


def card(text: str) -> tuple[dict[str, Any], int]:
    """Return the valid parts of a scorecard, and how many parts were left out. WrongForm: it is no JSON object."""
    values = decoded(text, dict)
    lost = 0
    for key, sound in (("criteria", _is_criterion), ("spread", _is_spread)):
        given = values.get(key, [])
        listed = given if isinstance(given, list) else []
        kept = [one for one in listed if sound(one)]
        lost += len(listed) - len(kept) + (listed is not given)
        values[key] = kept
    for criterion in values["criteria"]:
        lost += _mend(criterion)
    for part in (values, *values["criteria"]):
        # A card of an earlier version has none, which is no damage.
        if not _is_points(part.setdefault("given", None)):
            part["given"] = None
            lost += 1
    for key in ("total", "out_of"):
        if not _is_points(values.get(key)):
            values[key] = None
            lost += 1
    for key in ("rubric", "judge"):
        if not isinstance(values.get(key), str):
            values[key] = "?"
            lost += 1
    return values, lost


def _mend(criterion: dict[str, Any]) -> int:
    lost = 0
    criterion.setdefault("key", "")
    for key, sound in (("evidence", _is_evidence), ("samples", _is_number)):
        given = criterion.get(key) or []
        kept = [one for one in given if sound(one)] if isinstance(given, list) else []
        lost += 1 if not isinstance(given, list) else len(given) - len(kept)
        criterion[key] = kept
    return lost


def _is_criterion(one: object) -> bool:
    return (
        isinstance(one, Mapping)
        and type(one.get("tier")) is int
        and isinstance(one.get("title"), str)
        and isinstance(one.get("reason"), str)
        and isinstance(one.get("judged_by", ""), str)
        and isinstance(one.get("key", ""), str)
        and "points" in one
        and _is_points(one["points"])
        and _is_number(one.get("maximum"))
    )


def _is_evidence(one: object) -> bool:
    return (
        isinstance(one, Mapping)
        and one.keys() <= _EVIDENCE.keys()
        and {"kind", "text"} <= one.keys()
        and all(isinstance(value, _EVIDENCE[name]) for name, value in one.items())
    )


def _is_spread(one: object) -> bool:
    return (
        isinstance(one, Mapping)
        and isinstance(one.get("of"), str)
        and all(_is_number(one.get(key)) for key in ("mean", "low", "high", "sd", "repeats"))
    )


def _is_points(value: object) -> bool:
    return value is None or _is_number(value)


def number(value: object) -> float | None:
    return value if _is_number(value) else None  # type: ignore[return-value]


def _is_number(value: object) -> bool:
    # A bool is an int in Python, and JSON of ours holds no number without an end.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 and math.isfinite(value)
