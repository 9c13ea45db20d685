"""Validate values in imported files, and compute differences between JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.text import one_line


class ForeignProblem(UsageError):
    """A file or trajectory is unreadable; the message follows its name: ``is not JSON``."""


def quoted_value(value: object, width: int = 60) -> str:
    return one_line(repr(value) if not isinstance(value, str) else value, width)


def text_of(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ForeignProblem(f"has {quoted_value(value)} instead of a text ({where})")
    return value


def object_of(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ForeignProblem(f"has {quoted_value(value)} instead of an object ({where})")
    return value


def list_of(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ForeignProblem(f"has {quoted_value(value)} instead of a list ({where})")
    return value


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in names}


def count_of(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def amount_of(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        return None
    return float(value)


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def object_or_none(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def parsed_object(text: Any) -> dict[str, Any] | None:
    """Return an object, even if it is encoded as JSON text, or None for anything else."""
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# -- differences


def difference(before: Any, after: Any) -> dict[str, Any] | None:
    """Return the change from ``before`` to ``after``, or None if they are equal (1, 1.0 and True are different)."""
    if isinstance(before, dict) and isinstance(after, dict):
        inner = {
            key: {"=": value} if key not in before else found
            for key, value in after.items()
            if key not in before or (found := difference(before[key], value)) is not None
        }
        gone = [key for key in before if key not in after]
        if not inner and not gone:
            return None
        return {"d": inner, "-": gone} if gone else {"d": inner}
    if isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        items = {
            str(index): found
            for index, (one, other) in enumerate(zip(before, after, strict=True))
            if (found := difference(one, other)) is not None
        }
        return {"l": items} if items else None
    if type(before) is type(after) and before == after:
        return None
    return {"=": after}


def patched(before: Any, change: dict[str, Any] | None) -> Any:
    if change is None:
        return before
    if "=" in change:
        return change["="]
    if "l" in change:
        items = list(before)
        for index, inner in change["l"].items():
            items[int(index)] = patched(items[int(index)], inner)
        return items
    gone = set(change.get("-", ()))
    original = {key: value for key, value in before.items() if key not in gone}
    return {**original, **{key: patched(before.get(key), inner) for key, inner in change["d"].items()}}
