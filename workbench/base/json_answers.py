"""Find JSON objects in a model's answer, among prose, fences and other braces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.base.files import is_shallow

_OPENING = re.compile(r"\{\s*(?:[\"'}]|//|/\*)")  # no other brace can open an object
_MOST_FAILURES = 2_000  # the cost of a failed attempt is proportional to the length of the text
_MOST_LOOSE_FAILURES, _LONGEST_LOOSE = 5, 100_000
#: Models' deviations from JSON: single quotes, comments, trailing commas, Python's constants.
_LOOSE = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*")|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<comma>,(?=\s*[}\]]))"""
    r"""|(?P<brace>[{}])|\b(?P<word>True|False|None)\b""",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_NO_ESCAPE = re.compile(r'\\(?![\\"/bfnrtu])(.)', re.DOTALL)


def no_constant(name: str) -> float:
    """Reject ``NaN`` and the infinities, which are not valid JSON."""
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(strict=False, parse_constant=no_constant)  # models write raw newlines inside strings


class FoundObject(NamedTuple):
    """A JSON object with its position in the text; ``strict`` is False for nearly valid JSON."""

    start: int
    end: int
    value: dict[str, Any]
    strict: bool = True


def objects_in(text: str) -> list[FoundObject]:
    """Return the JSON objects in a text in order, without those nested in another.

    A brace that does not open a valid object is skipped, and so is an object that is nested too deeply to be processed.
    """
    return list(_objects(text))


def _loose_object(text: str, start: int) -> tuple[Any, int] | None:
    """Return the nearly valid object that starts at a brace, and its end, or None if there is none.

    Accepts single quotes, comments, trailing commas, unknown escapes, and ``True``, ``False`` and ``None``.
    """
    depth, parts, position = 0, [], start
    for token in _LOOSE.finditer(text, start, start + _LONGEST_LOOSE):
        parts.append(text[position : token.start()])
        position = token.end()
        if (written := token["text"]) is not None:
            parts.append(_NO_ESCAPE.sub(r"\\\\\1", written))
        elif (single := token["single"]) is not None:
            parts.append('"' + _NO_ESCAPE.sub(r"\\\\\1", single.replace("\\'", "'").replace('"', '\\"')) + '"')
        elif brace := token["brace"]:
            parts.append(brace)
            depth += 1 if brace == "{" else -1
            if not depth:
                break
        elif word := token["word"]:
            parts.append(_WORDS[word])
    if depth or not parts:
        return None
    try:
        return _DECODER.decode("".join(parts)), position
    except (ValueError, RecursionError):
        return None


def _objects(text: str) -> Iterator[FoundObject]:
    failures, loose_failures, opening = 0, 0, _OPENING.search(text)
    while opening is not None and failures < _MOST_FAILURES:
        start = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except RecursionError:
            return  # each nested brace would fail in the same way
        except ValueError:
            failures, end = failures + 1, start + 1
            found = _loose_object(text, start) if loose_failures < _MOST_LOOSE_FAILURES else None
            loose_failures += found is None
            if found is not None:
                value, end = found
                if is_shallow(value):
                    yield FoundObject(start, end, value, strict=False)
        else:
            if is_shallow(value):
                yield FoundObject(start, end, value)
        opening = _OPENING.search(text, end)
