"""Problems of foreign files, one sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.text import one_line


class ForeignProblem(UsageError):
    """A file or trajectory is unreadable; the message is a clause that follows its name: ``is no JSON``."""


def said(value: object, width: int = 60) -> str:
    return one_line(repr(value) if not isinstance(value, str) else value, width)


def text_of(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ForeignProblem(f"has {said(value)} where a text must be ({where})")
    return value


def object_of(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ForeignProblem(f"has {said(value)} where an object must be ({where})")
    return value


def list_of(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ForeignProblem(f"has {said(value)} where a list must be ({where})")
    return value


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in names}


def count_of(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None


def amount_of(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        return None
    return float(value)
