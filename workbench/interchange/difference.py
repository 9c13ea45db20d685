"""What one JSON value has that another has not, and how to put it back: ``patched(a, difference(a, b)) == b`` for all of them.

A difference is None (nothing), ``{"=": value}``, ``{"d": {key: difference}, "-": [keys that go]}`` or ``{"l": {index: difference}}``.
"""

from __future__ import annotations

from typing import Any


def difference(before: Any, after: Any) -> dict[str, Any] | None:
    """Return what turns ``before`` into ``after``; None where they are equal, types included (1 is not 1.0, nor True)."""
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
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
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
    """Return ``before`` with a difference put back.

    Raises:
        KeyError, IndexError, TypeError: The difference is not of such a value.
    """
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
    kept = {key: value for key, value in before.items() if key not in gone}
    return {**kept, **{key: patched(before.get(key), inner) for key, inner in change["d"].items()}}
