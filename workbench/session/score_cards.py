"""Decode scorecards; invalid parts are dropped and counted."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from workbench.base.typed_json import WrongForm, convert, decode

_Number = Annotated[float, Meta(ge=-1e15, le=1e15)]  # also excludes infinities
_Points = _Number | None


class _Evidence(TypedDict):
    kind: Literal["readme", "metadata", "fact", "file", "judge"]
    text: str
    start: NotRequired[int | None]
    end: NotRequired[int | None]
    path: NotRequired[str | None]
    line: NotRequired[int | None]


class _Criterion(TypedDict):
    tier: int
    title: str
    points: _Points
    maximum: _Number
    reason: str
    key: NotRequired[str]
    judged_by: NotRequired[str]


class _Spread(TypedDict):
    of: str
    repeats: _Number
    mean: _Number
    low: _Number
    high: _Number
    sd: _Number


def card(text: str) -> tuple[dict[str, Any], int]:
    """Return the valid parts of a scorecard and the number of dropped ones.

    Raises WrongForm if the text is not a JSON object.
    """
    values: dict[str, Any] = decode(dict, text)
    lost = _keep(values, "criteria", _Criterion) + _keep(values, "spread", _Spread)
    for criterion in values["criteria"]:
        criterion.setdefault("key", "")
        lost += _keep(criterion, "evidence", _Evidence) + _keep(criterion, "samples", _Number)
    for part in (values, *values["criteria"]):
        lost += _replace(part, "given", _Points, None)
    for key in ("total", "out_of"):
        lost += _replace(values, key, _Points, None)
    for key in ("rubric", "judge"):
        lost += _replace(values, key, str, "?")
    return values, lost


def _keep(part: dict[str, Any], key: str, kind: Any) -> int:
    parts = part.get(key) or []
    listed = parts if isinstance(parts, list) else []
    part[key] = [one for one in listed if _fits(one, kind)]
    return len(listed) - len(part[key]) + (listed is not parts)


def _replace(part: dict[str, Any], key: str, kind: Any, instead: object) -> int:
    sound = _fits(part.setdefault(key, None), kind)
    part[key] = part[key] if sound else instead
    return int(not sound)


def _fits(value: object, kind: Any) -> bool:
    try:
        convert(kind, value)
    except WrongForm:
        return False
    return True
