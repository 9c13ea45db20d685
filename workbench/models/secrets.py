"""Takes keys out of texts that are shown or stored."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|ghp|gho|github_pat|AIza)[-_][A-Za-z0-9_\-*.]{6,}"  # keys by their usual prefixes
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|(?<=[Bb]earer )[^\s\"',}]{6,}"
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
HIDDEN = "[key]"
_SHORTEST = 8  # shorter values are words like "none" or "not-set" and would blank innocent text


def scrub(text: str, also: Iterable[str] = ()) -> str:
    """Return ``text`` without any value of a secret-looking environment variable, ``also``, or key-shaped word."""
    values = {value for name, value in os.environ.items() if _NAMES.search(name)} | set(also)
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, HIDDEN)
    return _USERINFO.sub("", _SHAPES.sub(HIDDEN, text))
