"""Structured questions to a judge: delimited content, an answer validated by a schema, and retries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.base.json_answers import no_constant, objects_in
from workbench.base.text import one_line, sound
from workbench.models.reasoning import split_reasoning
from workbench.models.types import Message, ModelClient, Request

TRIES = 3
"""Number of attempts per question; each retry states the problem with the previous answer."""


def mark_for(*contents: str) -> str:
    """Return a delimiter that occurs in none of the contents.

    It is derived from the contents, so the same question is always the same request (for replay and resume). It cannot
    be forged: a text would have to contain its own hash, and even then another delimiter would be chosen.
    """
    salt = 0
    while True:
        digest = hashlib.sha256(f"{salt}\0".encode() + "\0".join(contents).encode("utf-8", "replace")).hexdigest()[:32]
        if not any(digest in content for content in contents):
            return digest
        salt += 1


def fenced(parts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines of named contents between delimiter lines."""
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


async def ask(
    gateway: ModelClient, request: Request, shape: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, str, str]:
    """Return the object that matches the schema or None, the problem, and the source of the last answer."""
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
    """Return the last object in an answer (even if nested) that matches the schema, or None with the problem."""
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
        return "it has no JSON object"
    try:
        json.loads(text[start : end + 1], parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        return f"it is not valid JSON ({sound(one_line(str(error)[:320], 80))})"
    return "it is not valid JSON"
