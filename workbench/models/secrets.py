"""Remove keys from texts that are shown or stored.

From error messages, everything that looks like a key is removed: losing an innocent word does no harm. Answers contain
code that is tested, so in them only the exact values of configured or sent keys are masked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# Variables that hold a secret; not GPG_KEY_FILE, KEYBOARD_LAYOUT, TOKENIZERS_PARALLELISM or SECRET_NAME.
_HOLDS_ONE = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)(?:_?\d+)?$", re.IGNORECASE
)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|ghp|gho|github_pat|AIza)[-_][A-Za-z0-9_\-*.]{6,}"  # keys by their usual prefixes
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|(?<=[Bb]earer )[^\s\"',}]{6,}"
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
HIDDEN = "[key]"
_SHORTEST = 8  # shorter values are often words like "none" or "not-set", and masking them would damage innocent text
_LONG = 20  # no ordinary word is this long


def scrub(text: str, also: Iterable[str] = ()) -> str:
    """Return ``text`` without values of secret-looking environment variables, values in ``also``, and key-like words.

    Meant for error messages; use :func:`hide` for answers.
    """
    values = {value for name, value in os.environ.items() if _NAMES.search(name)} | set(also)
    return _USERINFO.sub("", _SHAPES.sub(HIDDEN, _masked(text, values)))


def hide(text: str, also: Iterable[str] = ()) -> str:
    """Return an answer with the exact values of configured keys and of ``also`` masked, and nothing else changed."""
    return _masked(text, {*configured_secrets(), *filter(looks_like_secret, also)})


def configured_secrets(environment: Mapping[str, str] | None = None) -> set[str]:
    """Return the environment's secret values that cannot be mistaken for a word."""
    environment = os.environ if environment is None else environment
    return {value for name, value in environment.items() if _HOLDS_ONE.search(name) and looks_like_secret(value)}


def looks_like_secret(value: str) -> bool:
    """Return whether a value is safe to mask wherever it occurs: not a word, a path or a placeholder.

    Values shorter than 20 characters must mix letters with digits, as keys do and words do not.
    """
    if len(value) < _SHORTEST or value.startswith(("/", "~", "./")):
        return False
    if len(value) >= _LONG:
        return True
    return not re.search(r"\s", value) and bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))


def secrets_in_url(url: str) -> set[str]:
    """Return the secrets in an endpoint's address: its password and the values of its query."""
    try:
        parts = urlsplit(url)
        found = {parts.password or "", unquote(parts.password or ""), *(value for _, value in parse_qsl(parts.query))}
    except ValueError:
        return set()
    return {value for value in found if value}


def _masked(text: str, values: Iterable[str]) -> str:
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _SHORTEST and value in text:
            text = text.replace(value, HIDDEN)
    return text
