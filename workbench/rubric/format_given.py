"""Points that the format gave: what an answer would have earned if the model had said nothing of its own.

A small model may be held to a grammar that writes headings, code fences and metadata keys itself. The grammar is recorded with
the call. Its shortest text, with no words where the model chooses words and the first of the things where it picks one from
a list, is a skeleton; what that earns under the same rubric was given by the format, whatever the model said.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<one>\[(?:[^\]\\]|\\.)*\])|(?P<times>\{(?P<least>\d+)(?:,\d*)?\}|[*+?])|'
    r"(?P<name>[A-Za-z][\w-]*)|(?P<sign>[()|])|\s+"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_DEEPEST = 40
_LONGEST = 100_000


class _Unreadable(Exception):
    """The text is no grammar that can be read."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What the grammar writes by itself."""

    readme: str
    metadata: object


def skeleton(shape: str) -> Skeleton | None:
    """Return the shortest submission that a GBNF grammar with the rules ``readme`` and ``metadata`` allows.

    None where the shape is no such grammar: then it gave nothing that could be counted.
    """
    rules: dict[str, str] = {}
    for line in shape.splitlines():
        name, found, body = line.partition("::=")
        if found:
            rules[name.strip()] = body
    if "readme" not in rules:
        return None
    try:
        readme = json.loads(f'"{_shortest("readme", rules, 0)}"', strict=False)
        metadata = json.loads(_shortest("metadata", rules, 0), strict=False) if "metadata" in rules else None
    except (_Unreadable, ValueError, RecursionError):
        return None
    return Skeleton(str(readme), metadata)


def _shortest(name: str, rules: dict[str, str], depth: int) -> str:
    """Return the text of a rule with the first of its alternatives, no free characters and the fewest repeats."""
    if name not in rules or depth > _DEEPEST:
        raise _Unreadable
    tokens = _tokens(rules[name])
    text, rest = _alternatives(tokens, 0, rules, depth)
    if rest != len(tokens) or len(text) > _LONGEST:
        raise _Unreadable
    return text


def _tokens(body: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    at = 0
    while at < len(body):
        match = _TOKEN.match(body, at)
        if match is None:
            raise _Unreadable
        if match.group().strip():
            found.append(match)
        at = match.end()
    return found


def _alternatives(tokens: list[re.Match[str]], at: int, rules: dict[str, str], depth: int) -> tuple[str, int]:
    first, at = _sequence(tokens, at, rules, depth)
    while at < len(tokens) and tokens[at]["sign"] == "|":
        at = _past(tokens, at + 1)
    return first, at


def _past(tokens: list[re.Match[str]], at: int) -> int:
    """Return where an alternative ends that is not taken."""
    open_groups = 0
    while at < len(tokens) and (open_groups or tokens[at]["sign"] not in ("|", ")")):
        open_groups += {"(": 1, ")": -1}.get(tokens[at]["sign"] or "", 0)
        at += 1
    return at


def _sequence(tokens: list[re.Match[str]], at: int, rules: dict[str, str], depth: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(tokens) and tokens[at]["sign"] not in ("|", ")"):
        token = tokens[at]
        at += 1
        if token["sign"] == "(":
            item, at = _alternatives(tokens, at, rules, depth)
            if at >= len(tokens) or tokens[at]["sign"] != ")":
                raise _Unreadable
            at += 1
        elif token["name"]:
            item = _shortest(token["name"], rules, depth + 1)
        elif token["text"] is not None:
            item = re.sub(
                r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), token["text"], flags=re.S
            )
        elif token["one"]:
            item = ""
        else:
            raise _Unreadable
        if at < len(tokens) and tokens[at]["times"]:
            times = tokens[at]
            item *= min(int(times["least"]), 1_000) if times["least"] else 1 if times["times"] == "+" else 0
            at += 1
        parts.append(item)
        if sum(map(len, parts)) > _LONGEST:
            raise _Unreadable
    return "".join(parts), at
