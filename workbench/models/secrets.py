"""Mask keys in texts that are shown or stored.

In error messages, everything that looks like a key is masked, because losing a word does no harm. Answers contain code
that will be tested, so only keys that are configured or were sent are masked there.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# Variables that contain a secret; not GPG_KEY_FILE, KEYBOARD_LAYOUT, TOKENIZERS_PARALLELISM or SECRET_NAME.
_HOLDS_ONE = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)(?:_?\d+)?$", re.IGNORECASE
)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|ghp|gho|github_pat|AIza)[-_][A-Za-z0-9_\-*.]{6,}"  # common prefixes of keys
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|(?<=[Bb]earer )[^\s\"',}]{6,}"
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
HIDDEN = "[key]"
_SHORTEST = 8  # Shorter values are often words like "none" or "not-set", and masking them would damage innocent text.
_LONG = 20  # No ordinary word is this long.


def scrub(text: str, also: Iterable[str] = ()) -> str:
    """Mask the environment's secrets, the values in ``also`` and key-like words in an error message."""
    values = {value for name, value in os.environ.items() if _NAMES.search(name)} | set(also)
    return _USERINFO.sub("", _SHAPES.sub(HIDDEN, _masked(text, values)))


def hide(text: str, also: Iterable[str] = ()) -> str:
    """Mask configured keys and those in ``also`` in an answer, in all their encodings, and change nothing else."""
    return _masked(text, {*configured_secrets(), *filter(looks_like_secret, also)})


def configured_secrets(environment: Mapping[str, str] | None = None) -> set[str]:
    """Return the environment's secret values that cannot be mistaken for ordinary words."""
    environment = os.environ if environment is None else environment
    return {value for name, value in environment.items() if _HOLDS_ONE.search(name) and looks_like_secret(value)}


def looks_like_secret(value: str) -> bool:
    """Return whether a value can be masked anywhere; below 20 characters, it must contain both letters and digits."""
    if len(value) < _SHORTEST or value.startswith(("/", "~", "./")):
        return False
    if len(value) >= _LONG:
        return True
    return not re.search(r"\s", value) and bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))


def secrets_in_url(url: str) -> set[str]:
    """Return the secrets in an endpoint's address: its password and the values in its query."""
    try:
        parts = urlsplit(url)
        found = {parts.password or "", unquote(parts.password or ""), *(value for _, value in parse_qsl(parts.query))}
    except ValueError:
        return set()
    return {value for value in found if value}


def _masked(text: str, values: Iterable[str]) -> str:
    forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
    for form in sorted(forms, key=len, reverse=True):
        if form in text:
            text = text.replace(form, HIDDEN)
    return text


@lru_cache(maxsize=512)
def _forms(value: str) -> frozenset[str]:
    """Return a secret and its encoded forms: for JSON, URLs and HTML, in hex and base64."""
    data = value.encode("utf-8", "surrogatepass")
    forms = {value, json.dumps(value)[1:-1], quote(data, safe=""), quote_plus(data), html.escape(value), data.hex()}
    forms |= {data.hex().upper(), quote(data, safe="").lower()}
    for before in range(3):
        # In base64, the digits depend on the secret's offset in the text, so digits shared with adjacent bytes are left
        # out.
        digits = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        inner = digits[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        forms |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return frozenset(forms)
