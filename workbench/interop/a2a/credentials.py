"""Headers for agents that want credentials: read from the environment, sent to the origin that they are meant for, never kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from workbench.base.errors import UsageError

VARIABLE = "WORKBENCH_A2A_HEADERS"
"""JSON: ``{"https://agents.example.org": {"Authorization": "Bearer …"}}``."""
_SHAPE = f'{VARIABLE} must be JSON such as {{"https://agents.example.org": {{"Authorization": "Bearer …"}}}}'
_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or _PORTS.get(parts.scheme, 0)}".lower()


def headers_by_origin(environment: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
    """Return the headers to send by origin; raises UsageError, which does not quote the variable, where it has another shape."""
    text = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not text.strip():
        return {}
    try:
        given = json.loads(text)
        found = {origin_of(url): dict(headers) for url, headers in given.items() if urlsplit(url).hostname}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{_SHAPE}.") from None
    texts = [part for headers in found.values() for pair in headers.items() for part in pair]
    if len(found) != len(given) or not all(
        isinstance(one, str) and one.isprintable() and one.isascii() for one in texts
    ):
        raise UsageError(f"{_SHAPE}.")
    return found


def values_of(headers: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return everything in headers that must never be recorded: values, and what follows ``Bearer``."""
    values = {value for each in headers.values() for value in each.values()}
    return values | {value.partition(" ")[2] for value in values if " " in value}
