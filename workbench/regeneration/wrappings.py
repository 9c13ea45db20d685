"""Undo what models put around code beside Markdown fences: sessions, line numbers, diffs, quotes, JSON, odd characters.

Nothing here changes a statement. A reading counts only where the text as it stands is no Python.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.text import UNSEEN

_PROMPT = re.compile(r"[ \t]*(?:(?:>>>|In ?\[\d*\]:)(?: |$)(?P<first>.*)|(?:\.\.\.+|\.{3}:)(?:[: ]|$)(?P<more>.*))")
_NUMBER = re.compile(r"[ \t]*[\[(]?[Ll]?(?P<number>\d{1,5})(?P<mark>(?:[ \t]*[:|│→.)\]]{1,2})?)(?P<rest>[ \t].*|$|.*)")
_DIFF = re.compile(r"^(?:diff --git |@@ .*@@|--- \S.*\n\+\+\+ \S|\*\*\* Begin Patch)", re.MULTILINE)
_HUNK = re.compile(r"^@@(?: .*)?$", re.MULTILINE)
#: Quotes in place of a fence.
_QUOTED = re.compile(r"\s*(\"{3}|'{3})[ \t]*(?:python|py)?[ \t]*\n(?P<code>.*?)\n?[ \t]*\1\s*", re.DOTALL)
_MARKUP = re.compile(r"</?(?:br|span|div|p|pre|code|b|i|em|strong|font|a)\b[^<>]*>")
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_OUTSIDE = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''" + r'|"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
    rf"|(?P<space>[{_SPACES}])|(?P<unseen>[{UNSEEN}\u200c\u200d])",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_CODE_KEYS = (
    "body", "code", "completion", "solution", "implementation", "function_body", "function", "answer", "python",
    "python_code", "new_str", "file_text", "content", "source", "input",
)  # fmt: skip
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it may be meant; ``must_define`` where it may as well only use the function."""

    text: str
    note: str
    must_define: bool = False


def readings(text: str) -> Iterator[Reading]:
    """Return what a text that is no Python as it stands may be."""
    lines = text.strip("\n").split("\n")
    if _DIFF.search(text) or _is_all_changes(lines):
        one_place = len(_HUNK.findall(text)) <= 1
        yield Reading(
            _after_change(lines) if one_place else "",
            "the code stood in a diff" + ("" if one_place else " of several places"),
            must_define=True,
        )
        return
    if quoted := _QUOTED.fullmatch(text):
        yield Reading(quoted["code"], "the code stood in quotes", must_define=True)
    if any(_PROMPT.match(line) for line in lines) and (first := next((x for x in lines if x.strip()), "")):
        prompt = _PROMPT.match(first)
        if prompt and prompt["first"] is not None:
            yield Reading(_typed(lines), "the code stood in a session", must_define=True)
    for unnumbered in _without_numbers(lines):
        yield Reading(unnumbered, "line numbers were left out")
    if all(line.startswith(">") for line in lines if line.strip()):
        yield Reading("\n".join(re.sub(r"^> ?", "", line) for line in lines), "the code was quoted")
    plain = _OUTSIDE.sub(lambda one: " " if one["space"] else "" if one["unseen"] else one[0], text)
    if plain != text:
        yield Reading(plain, "invisible characters were left out")
    if _MARKUP.search(text):
        plain = _MARKUP.sub("", re.sub(r"<br[^<>]*>\n?", "\n", text))
        yield Reading(html.unescape(plain).replace("\xa0", " "), "HTML was read")
    elif _ENTITY.search(text):
        yield Reading(html.unescape(text).replace("\xa0", " "), "HTML entities were read")
    if len(lines) == 1 and r"\n" in text:
        yield Reading(text.replace(r"\n", "\n").replace(r"\t", "\t").replace(r"\"", '"'), "escaped line ends were read")


def _is_all_changes(lines: list[str]) -> bool:
    kept = [line for line in lines if line.strip()]
    return all(line[0] in "+- " for line in kept) and sum(line[0] == "+" for line in kept) * 2 >= max(1, len(kept))


def _after_change(lines: list[str]) -> str:
    headers = ("diff ", "index ", "--- ", "+++ ", "*** ", "@@", "new file", "deleted file", "\\ No newline")
    return "\n".join(line[1:] for line in lines if not line.startswith((*headers, "-")))


def _typed(lines: list[str]) -> str:
    typed = []
    for line in lines:
        found = _PROMPT.match(line)
        if found:
            typed.append(found["first"] if found["first"] is not None else found["more"])
    return "\n".join(typed)


def _without_numbers(lines: list[str]) -> Iterator[str]:
    """Return lines without the consecutive numbers at their beginnings: by their separator, and by the column of the code."""
    found = [_NUMBER.match(line) for line in lines]
    numbers = [int(one["number"]) for one in found if one]
    if not numbers or len(numbers) < len(lines) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return
    rests = [one["rest"].removeprefix("\t") if one else "" for one in found]
    if all(not rest or rest.startswith(" ") for rest in rests):
        rests = [rest[1:] for rest in rests]
    yield "\n".join(rests)
    first = next((one for one in found if one and one["rest"].strip()), None)
    if first:
        column = len(first.string) - len(first["rest"].lstrip())
        yield "\n".join(line[column:] for line in lines)


def code_in_json(text: str, *, anywhere: bool = False) -> list[tuple[str, bool]]:
    """Return the texts in JSON that may be the code, the likeliest first, and whether their key says so; [] without JSON.

    Args:
        text: An answer or a block of it.
        anywhere: Whether words may stand before the JSON.
    """
    starts = [0] if not anywhere else [one.start() for one in re.finditer(r"^[ \t]*[{\[]", text, re.MULTILINE)][:20]
    for start in starts:
        value = _decoded(text[start:])
        if isinstance(value, dict | list | str):
            named = list(dict.fromkeys(_under_code_keys(value, 0)))
            others = [one for one in dict.fromkeys(_strings(value, 0)) if one not in named]
            return [*((one, True) for one in named), *((one, False) for one in others)]
    return []


def _decoded(text: str) -> Any:
    text = text.strip()
    if not text.startswith(("{", "[", '"')) or text.startswith('"""'):
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _under_code_keys(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key in _CODE_KEYS:
            if isinstance(value.get(key), str) and _decoded(value[key]) is None:
                yield value[key]
            elif (lines := _as_lines(value.get(key))) is not None:
                yield lines
    for part in _parts(value):
        yield from _under_code_keys(part, depth + 1)


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif (lines := _as_lines(value)) is not None:
        yield lines
    if depth <= _DEEPEST:
        for part in _parts(value):
            yield from _strings(part, depth + 1)


def _as_lines(value: Any) -> str | None:
    if isinstance(value, list) and len(value) > 1 and all(isinstance(one, str) for one in value):
        return "\n".join(one.rstrip("\n") for one in value)
    return None


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    inner = _decoded(value) if isinstance(value, str) else None
    return [inner] if isinstance(inner, dict | list) else []
