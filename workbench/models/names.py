"""Check model names up front without importing LiteLLM: is the provider known, and is its key set?

LiteLLM takes seconds to import and reports such mistakes only on the first request, after the repository was fetched
and its test suite was run. Therefore, its list of providers is read from its source files. Only the provider itself
knows which models exist.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.models.defaults import PROVIDER_KEYS, base_url_in, is_local, known_models, missing_key
from workbench.models.local_files import LOCAL_NAME, is_gguf, local_model_status

_LONGEST = 200
_ENUM = re.compile(r"^class LlmProviders\(str, Enum\):\n((?:(?:[ ]{4}.*)?\n)+)", re.M)
_MEMBER = re.compile(r'^    [A-Z0-9_]+ = "([^"]+)"', re.M)
# LiteLLM recognises these models by their prefix.
_FINE_TUNED = ("ft:gpt-3.5-turbo", "ft:gpt-4")
_REPLICATE = re.compile(r"[^:]+:[0-9a-f]{64}")


class KeyNotSet(UsageError):
    """The model's provider requires a key that is not set."""


_keys_needed: ContextVar[bool] = ContextVar("keys_needed", default=True)


@contextlib.contextmanager
def keys_unneeded() -> Iterator[None]:
    """Accept models without keys, because only recorded answers are used."""
    token = _keys_needed.set(False)
    try:
        yield
    finally:
        _keys_needed.reset(token)


def check_model(model: str, role: str, *, base_url: str = "", local_model_path: str = "") -> None:
    """Reject an unusable model before anything is fetched, written or run for it.

    ``role`` is what messages call the model (``the judge``); callers must handle ``replay:`` themselves.

    Raises:
        KeyNotSet: The key is missing, except within :func:`keys_unneeded`.
        UsageError: The name is invalid, or its provider is unknown.
    """
    if not model.strip() or model != model.strip():
        raise UsageError(f"No model is set for {role}; write it as PROVIDER/NAME, or local.")
    if len(model) > _LONGEST or not model.isprintable():
        raise UsageError(
            f"{one_line(repr(model), 60)} is not a valid model name for {role}: use at most {_LONGEST} printable characters."
        )
    if is_local(model):
        if not (status := local_model_status(local_model_path)).present:
            raise UsageError(f"{status.detail}.")
        if status.gguf is not None and not is_gguf(status.gguf):
            raise UsageError(f"The model file {status.gguf} is not a GGUF file; correct or unset local_model_path.")
        return
    own_endpoint = bool(base_url or base_url_in())
    if not _is_known(model, own_endpoint):
        raise UsageError(f"{_unknown_message(model, role, own_endpoint)}")
    if (name := missing_key(model, base_url=base_url)) and _keys_needed.get():
        raise KeyNotSet(f"{model} needs a key: set {name}, or use the model `local`, which needs none.")


def _is_known(model: str, own_endpoint: bool) -> bool:
    provider, slash, name = model.partition("/")
    if not slash:
        # A name without a provider is sent to the user's own endpoint, if any; LiteLLM recognises some others by name.
        return own_endpoint or model in known_models() or model.startswith(_FINE_TUNED)
    if not providers():
        return True  # This version of LiteLLM stores its list elsewhere, so LiteLLM will decide later.
    return (provider in providers() and bool(name)) or model in known_models() or bool(_REPLICATE.fullmatch(model))


def _unknown_message(model: str, role: str, own_endpoint: bool) -> str:
    provider, slash, name = model.partition("/")
    shown = one_line(model, 80)
    if provider.lower() == "local":
        return f"There is no embedded model {shown!r} for {role}; it is called local (or {LOCAL_NAME})."
    if slash and not name:
        return f"{shown!r} names a provider but no model for {role}; write it as {provider}/NAME."
    if slash:
        similar = difflib.get_close_matches(provider.lower(), providers(), 3)
        hint = (
            f"did you mean {' or '.join(similar)}?"
            if similar
            else f"known are {', '.join(list(PROVIDER_KEYS)[:8])} and others."
        )
        more = f" For your own server, use openai/{shown}." if own_endpoint else ""
        return f"There is no provider {one_line(provider, 60)!r} for the model {shown!r} of {role}; {hint}{more}"
    similar = difflib.get_close_matches(model.lower(), ["local", "offline", *known_models()], 2, cutoff=0.75)
    if "offline" in similar and role != "the judge":
        similar.remove("offline")
    hint = (
        f"did you mean {' or '.join(similar)}?" if similar else "write it as PROVIDER/NAME, for example openai/gpt-4o."
    )
    return f"There is no provider for the model {shown!r} of {role}; {hint}"


@cache
def providers() -> frozenset[str]:
    """Return LiteLLM's providers; empty if its source files do not have the expected structure."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return frozenset()
    folder = Path(spec.origin).parent
    try:
        found = _ENUM.search((folder / "types" / "utils.py").read_text(encoding="utf-8"))
        names = set(_MEMBER.findall(found[1])) if found else set()
        more = folder / "llms" / "openai_like" / "providers.json"
        if names and more.is_file():
            listed: Mapping[str, object] = json.loads(more.read_text(encoding="utf-8"))
            names |= set(listed)
    except (OSError, ValueError):
        return frozenset()
    return frozenset(names)
