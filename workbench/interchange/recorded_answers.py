"""An answer as the workbench writes it, taken apart again: words, and calls between ``<json>`` tags at its end."""

from __future__ import annotations

import json

from workbench.agents.protocol import OPEN
from workbench.interchange.trajectory import ToolCall


def parts_of(answer: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the words of an answer and its calls, without ids; an answer whose tags hold no calls is all words."""
    start = answer.find(OPEN)
    if start < 0:
        return answer, ()
    calls, position = [], start
    decoder = json.JSONDecoder(strict=False)
    while position >= 0:
        try:
            value, end = decoder.raw_decode(answer, position + len(OPEN))
        except (ValueError, RecursionError):
            return answer, ()
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("name"), str)
            or not isinstance(value.get("kwargs", {}), dict)
        ):
            return answer, ()
        calls.append(ToolCall("", value["name"], value.get("kwargs", {})))
        position = answer.find(OPEN, end)
    return answer[:start].rstrip("\n"), tuple(calls)
