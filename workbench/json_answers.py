"""JSON objects in what a model answers, whatever words, fences and braces stand around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.files import is_shallow

_OPENING = re.compile(r'\{\s*["}]')  # no other brace can open an object
_MOST_FAILURES = 2_000  # a failed attempt costs time in proportion to the whole text


def no_constant(name: str) -> float:
    """Refuse ``NaN`` and the infinities, which are no JSON."""
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(strict=False, parse_constant=no_constant)  # models write raw newlines inside strings


class FoundObject(NamedTuple):
    """A JSON object and where it stands in the text."""

    start: int
    end: int
    value: dict[str, Any]


def objects_in(text: str) -> list[FoundObject]:
    """Return the JSON objects in a text in their order, without those that are part of another.

    A brace that opens no valid object is passed over, and so is an object that is nested too deeply to be processed.
    """
    return list(_objects(text))


def _objects(text: str) -> Iterator[FoundObject]:
    failures, opening = 0, _OPENING.search(text)
    while opening is not None and failures < _MOST_FAILURES:
        start = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except RecursionError:
            return  # each brace of the nest would fail like this one
        except ValueError:
            failures, end = failures + 1, start + 1
        else:
            if is_shallow(value):
                yield FoundObject(start, end, value)
        opening = _OPENING.search(text, end)
