"""Default models by purpose, available keys and context windows, determined without loading LiteLLM."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import parse_json
from workbench.base.settings import Settings
from workbench.base.text import one_line
from workbench.models.local_files import LOCAL_NAMES, LOCAL_WINDOW, local_model_status
from workbench.models.secrets import scrub
from workbench.models.types import CallLimits, Message, Sampling

# Defaults from the literature: AEO-Bench (agent and judge) and DocGenBench (evaluators).
_HOSTED = {
    "agent": "openai/gpt-4o",
    "judge": "openai/gpt-4o-mini",
    "documenter": "openai/gpt-4o-mini",
    "evaluator": "openai/gpt-5-mini",
}
QWEN_WINDOW = 32_768
#: The embedded model's docstrings are rarely longer; without a limit, it repeats itself until its window is full.
LOCAL_DOCSTRING_TOKENS = 256
_SAMPLING = {
    "agent": Sampling(temperature=0.3),
    "judge": Sampling(temperature=0.3),
    "documenter": Sampling(temperature=0.3),
    "evaluator": Sampling(temperature=1.0),
}
# Common providers and the environment variables for their keys (LiteLLM's names).
PROVIDER_KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "azure": ("AZURE_API_KEY",),
}

# Request fields that the workbench sets itself or offers as options.
_OWN_FIELDS = frozenset({
    "model", "messages", "stream", "stream_options", "n", "temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens",
    "stop", "seed", "reasoning_effort", "response_format", "grammar", "api_key", "api_base", "base_url", "extra_body", "extra_headers",
    "headers", "timeout", "tools", "functions",
})  # fmt: skip
_LONGEST_BODY = 10_000
OLLAMA = ("ollama", "ollama_chat")
OLLAMA_ADDRESS = "http://localhost:11434"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One line of ``doctor``: a provider or the embedded model, and whether it is usable."""

    name: str
    available: bool
    detail: str


def known_models() -> Mapping[str, Mapping[str, object]]:
    return _cost_map()


def provider_of(model: str) -> str:
    """Return a model's provider: ``local``, ``replay``, or the part before the first slash (default ``openai``)."""
    if is_local(model):
        return "local"
    if model.startswith("replay:"):
        return "replay"
    return model.split("/", 1)[0] if "/" in model else "openai"


def is_local(model: str) -> bool:
    return model in LOCAL_NAMES


def key_present(provider: str, environment: Mapping[str, str] | None = None) -> bool:
    environment = os.environ if environment is None else environment
    return any(environment.get(name) for name in PROVIDER_KEYS.get(provider, ()))


def missing_key(model: str, *, base_url: str = "") -> str:
    """Return the environment variable that ``model`` needs but is not set, or "" if none is known to be missing.

    This is fast, but covers only ``PROVIDER_KEYS``; the gateway checks again with LiteLLM, which knows all providers.
    """
    provider = provider_of(model)
    if "/" not in model and not (base_url or base_url_in()):
        # Reading LiteLLM's table takes tens of milliseconds, and only names without a provider need it.
        provider = str(_cost_map().get(model, {}).get("litellm_provider", ""))
    if provider not in PROVIDER_KEYS or key_present(provider):
        return ""
    if provider == "azure" or (provider == "openai" and (base_url or base_url_in())):
        return ""
    return PROVIDER_KEYS[provider][0]


def base_url_in(environment: Mapping[str, str] | None = None) -> str:
    environment = os.environ if environment is None else environment
    for name in ("WORKBENCH_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        if environment.get(name):
            return environment[name]
    return ""


def default_model(purpose: str, environment: Mapping[str, str] | None = None, *, base_url: str = "") -> str:
    hosted = _HOSTED.get(purpose, _HOSTED["agent"])
    reachable = key_present(provider_of(hosted), environment) or base_url or base_url_in(environment)
    return hosted if reachable else "local"


def sampling_for(model: str, purpose: str) -> Sampling:
    """Return the sampling settings that the literature uses for ``model`` and ``purpose``."""
    name = model.lower()
    if is_local(model):
        # Without a token limit, a model this small repeats itself endlessly; a temperature of 0.3 keeps it close to the
        # prompt.
        return Sampling(temperature=0.3, max_tokens=512, stop=("<|im_end|>",))
    if "qwen3" in name:
        return Sampling(temperature=0.7, top_p=0.8, top_k=20)
    if "gpt-5" in name:
        return Sampling(temperature=1.0, reasoning_effort="medium" if purpose == "evaluator" else None)
    return _SAMPLING.get(purpose, _SAMPLING["agent"])


def extra_body_for(model: str) -> Mapping[str, object]:
    """Return the extra request fields that the literature uses: Qwen3 answers without thinking."""
    name = model.lower()
    if "qwen3" not in name or "thinking" in name:
        return {}
    provider = provider_of(model)
    if provider == "dashscope":
        return {"enable_thinking": False}
    if provider == "openrouter":
        return {"reasoning": {"enabled": False}}
    return {"think": False} if provider in OLLAMA else {"chat_template_kwargs": {"enable_thinking": False}}


def read_extra_body(text: str) -> str:
    """Return extra request fields as canonical JSON, which is part of the run's identity.

    Raises UsageError if the text is not a JSON object, sets a field that the workbench itself sets, or contains a key.
    """
    try:
        body = parse_json(text)
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        body, canonical = None, ""
    if not isinstance(body, dict) or len(canonical) > _LONGEST_BODY:
        raise UsageError(
            f"--extra-body takes a JSON object of at most {_LONGEST_BODY:,} characters, not {one_line(text, 60)!r}."
        )
    if taken := sorted(_OWN_FIELDS & body.keys()):
        raise UsageError(f"--extra-body may not set {taken[0]!r}, which the workbench sets itself.")
    if scrub(canonical) != canonical:
        raise UsageError(
            "--extra-body contains what looks like a key, and it is stored with the results; keep keys in the environment."
        )
    return canonical


def limits_of(settings: Settings) -> CallLimits:
    return CallLimits(
        concurrency=settings.concurrency,
        timeout_s=settings.request_timeout,
        total_s=settings.request_total_time,
        tries=max(1, settings.max_tries),
        spend_usd=settings.spend_limit or None,
    )


@cache
def _cost_map() -> dict[str, dict[str, object]]:
    # Read LiteLLM's own table without importing LiteLLM, which takes seconds.
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    table = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    try:
        loaded: dict[str, dict[str, object]] = json.loads(table.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return loaded


def context_window(model: str) -> int | None:
    if is_local(model):
        return LOCAL_WINDOW
    if "qwen3-235b-a22b" in model.lower():
        return QWEN_WINDOW  # This is DocGenBench's setting, even if a provider offers more.
    table = _cost_map()
    entry = table.get(model) or table.get(model.split("/", 1)[-1]) or {}
    size = entry.get("max_input_tokens") or entry.get("max_tokens")
    return int(size) if isinstance(size, (int, float, str)) and str(size).isdigit() else None


def count_tokens(content: str | Sequence[Message]) -> int:
    """Return a conservative estimate of the number of tokens in a text or conversation.

    The estimate assumes 3.5 characters per token. This is close to code and below English prose (about 4.2), so that a
    request estimated to fit does fit. Each non-ASCII character counts as one token.
    """
    if not isinstance(content, str):
        return sum(4 + count_tokens(message.content) for message in content)
    plain = len(content.encode("ascii", "ignore"))
    return int(plain / 3.5 + (len(content) - plain)) + 1


def available_models(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the default models that are usable now, hosted ones first; other LiteLLM names also work."""
    names = [name for name in dict.fromkeys(_HOSTED.values()) if key_present(provider_of(name), environment)]
    if local_model_status().present:
        names.append("local")
    return tuple(names)


def describe_models(environment: Mapping[str, str] | None = None) -> tuple[ModelInfo, ...]:
    """Return the model lines of ``doctor``, which contain the names of keys but never their values."""
    environment = os.environ if environment is None else environment
    status = local_model_status()
    lines = [ModelInfo("local", status.present, status.detail)]
    endpoint = base_url_in(environment)
    if endpoint:
        lines.append(ModelInfo("OpenAI-compatible endpoint", True, endpoint.split("@")[-1].split("?")[0]))
    for provider, names in PROVIDER_KEYS.items():
        found = [name for name in names if environment.get(name)]
        lines.append(ModelInfo(provider, bool(found), f"{found[0]} is set" if found else f"{names[0]} is not set"))
    return tuple(lines)
