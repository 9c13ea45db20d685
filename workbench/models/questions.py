"""Questions to a judge that one JSON object answers: contents between marks, an answer that fits a schema, asked again if it does not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.base.json_answers import no_constant, objects_in
from workbench.base.text import one_line, sound
from workbench.models.reasoning import split_reasoning
from workbench.models.types import Asker, Message, Request

TRIES = 3
"""How often a question is asked before it stays unanswered; each time with what was wrong with the answer before."""


def mark_for(*contents: str) -> str:
    """Return a mark that none of the contents holds.

    It is derived from the contents, so that the same question is the same request (replay, resume), and cannot be
    forged: a text that holds the hash of itself would have to be found first, and is refused here even then.
    """
    salt = 0
    while True:
        digest = hashlib.sha256(f"{salt}\0".encode() + "\0".join(contents).encode("utf-8", "replace")).hexdigest()[:32]
        if not any(digest in content for content in contents):
            return digest
        salt += 1


def fenced(parts: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines that hold named contents between marker lines."""
    mark = mark_for(*(content for _, content in parts))
    return [
        line
        for name, content in parts
        for line in ("", f"=== BEGIN {name} {mark} ===", content, f"=== END {name} {mark} ===")
    ]


def object_schema(properties: Mapping[str, object]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


async def ask(gateway: Asker, request: Request, shape: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str, str]:
    """Return the object that fits a schema, or None and why there is none, and the source of the last answer."""
    problem, source = "", ""
    for _ in range(TRIES):
        answer = await gateway.complete(request)
        source = answer.source
        value, problem = read_answer(answer.text, shape)
        if value is not None:
            return value, "", source
        again = (
            f"That answer cannot be used: {problem}. Answer again with one JSON object of the shape asked for: "
            "numbers as numbers and within their bounds, no other text."
        )
        shown = Message("assistant", sound(answer.text[:2_000]) or "(empty)")
        request = replace(request, messages=(*request.messages, shown, Message("user", again)))
    return None, f"no usable answer in {TRIES} tries, the last one: {problem}", source


def read_answer(text: str, shape: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the last object in an answer (or inside such an object) that fits the schema, or what is wrong."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    text = split_reasoning(text).answer
    problem, validator = "", validator_for(shape)(shape)
    whole = [found.value for found in reversed(objects_in(text))]
    for value in [*whole, *(part for one in whole for part in one.values() if isinstance(part, dict))]:
        error = best_match(validator.iter_errors(value))
        if error is None:
            return value, ""
        where = "".join(f"{part}: " for part in error.absolute_path)
        problem = problem or sound(one_line(f"{where}{error.message}"[:800], 200))
    return None, problem or _why_none(text)


def _why_none(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return "there is no JSON object in it"
    try:
        json.loads(text[start : end + 1], parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        return f"it is not valid JSON ({sound(one_line(str(error)[:320], 80))})"
    return "it is not valid JSON"
