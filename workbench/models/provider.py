"""The only module that uses LiteLLM: it imports LiteLLM quietly, sends a request and reads the answer."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import math
import os
import re
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.base.text import one_line
from workbench.models import local_process
from workbench.models.defaults import OLLAMA, PROVIDER_KEYS, count_tokens, provider_of
from workbench.models.failures import FailedAnswer
from workbench.models.local_files import LOCAL_NAME
from workbench.models.types import Answer, EmptyAnswer, MalformedAnswer, MissingKey, ModelRefused, Request, Usage

_litellm: Any = None
_loading = threading.Lock()
# Assumed length of an answer in tokens if there is a spend limit but no token limit.
_TYPICAL_ANSWER_TOKENS = 1500
# No call uses a billion tokens; if a provider reports more, or a negative number, the count is invalid.
_MOST_TOKENS = 1_000_000_000
_COUNTS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_OTHER_COUNTS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
#: Providers for which LiteLLM passes unknown body fields unchanged; it has special rules for all others.
_BY_FIELD = frozenset({"openai", "azure", *PROVIDER_KEYS}) - {"anthropic", "gemini", "cohere"}
_THOUGHT = re.compile(r"think|thought|reason", re.I)
#: Finish reasons of responses that the server did not complete.
_FAILED = re.compile(r"(?:^|_)error$|^(?:fail|abort|cancel|interrupt|time_?out)", re.I)
#: Error codes that indicate success.
_WELL = frozenset({"", "0", "200", "ok", "success"})
#: Native finish reasons of answers withheld by a filter.
_WITHHELD = re.compile(r"safety|recitation|prohibited|block|filter|refus|sensitive|guardrail", re.I)
_NAME = 200  # maximum characters of a model's name or a finish reason
_ERROR_PAGE = 20_000  # maximum bytes of an error's body, because LiteLLM's regular expressions take 9 s per MB


@dataclass(frozen=True, slots=True)
class Target:
    """The destination of a request: LiteLLM's model name, and the endpoint unless it is the provider's default."""

    model: str
    base_url: str = ""
    key: str = ""
    local: bool = False


def _keep_loopback_direct() -> None:
    for name in ("NO_PROXY", "no_proxy"):
        known = [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
        wanted = [host for host in ("127.0.0.1", "localhost", "::1") if host not in known]
        if wanted and "*" not in known:
            os.environ[name] = ",".join([*known, *wanted])


def load() -> Any:
    """Import ``litellm`` once, configured not to print, log, phone home or retry."""
    global _litellm
    if _litellm is not None:
        return _litellm
    with _loading:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # Otherwise, the import waits for the network.
        os.environ.setdefault("LITELLM_LOG", "CRITICAL")
        _keep_loopback_direct()
        # The import creates thousands of classes and no garbage. Without gc.disable(), it takes a seventh longer;
        # without
        # gc.freeze(), the process spends a second of CPU time at exit.
        collecting = gc.isenabled()
        gc.disable()
        try:
            import litellm

            gc.freeze()
        finally:
            if collecting:
                gc.enable()

        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = False  # This module decides and records which settings are dropped.
        litellm.num_retries = 0
        litellm.turn_off_message_logging = True
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "aiohttp"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        # pydantic prints warnings about unusual answers, including their content, to standard error.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic(\.|$)")
        _cut_error_pages()
        _conform_answers()
        _litellm = litellm
    return _litellm


def _cut_error_pages() -> None:
    """Truncate error pages, because a page of several megabytes would block the engine for minutes."""
    from openai import AsyncOpenAI

    original = getattr(AsyncOpenAI, "_make_status_error_from_response", None)
    if original is None:
        return

    def truncated(self: Any, response: Any) -> Any:
        with contextlib.suppress(Exception):  # A body cannot be truncated before it has been read.
            if len(response.content) > _ERROR_PAGE:
                response._content = response.content[:_ERROR_PAGE]
                response.__dict__.pop("_text", None)
        return original(self, response)

    AsyncOpenAI._make_status_error_from_response = truncated  # type: ignore[method-assign]


def _conform_answers() -> None:
    """Make LiteLLM accept answers that it would otherwise reject, so that their billed tokens are counted."""
    from litellm.llms.azure import azure
    from litellm.llms.openai import openai
    from litellm.llms.openai.chat import gpt_transformation

    convert = openai.convert_to_model_response_object

    def converted(response_object: Any = None, *rest: Any, **named: Any) -> Any:
        body = conformed(response_object) if isinstance(response_object, dict) else response_object
        return convert(body, *rest, **named)

    for module in (azure, openai, gpt_transformation):
        module.convert_to_model_response_object = converted


def conformed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Normalise a chat completion so that each choice has text and an error is part of the first choice."""
    found = body.get("choices")
    choices = [one for each in found if (one := _conformed_choice(each))] if isinstance(found, list) else []
    error = _error_in(body, alone=not choices)
    if error:
        choices = [{**(choices[0] if choices else {"message": {"role": "assistant"}}), "error": error}]
    usage = body.get("usage")
    counts = {}
    if isinstance(usage, dict):
        theirs = {name: usage.get(name) or usage.get(other) for name, other in _OTHER_COUNTS.items() if other in usage}
        counts = {name: _whole(value) for name, value in (usage | theirs).items() if name in _COUNTS}
    return {
        **body,
        "error": None,
        "choices": choices,
        "usage": {**usage, **counts} if isinstance(usage, dict) else None,
    }


def _error_in(body: Mapping[str, Any], *, alone: bool) -> Any:
    """Return the error in a body, or None. A body without choices (``alone``) may have it in other fields, too."""
    error = body.get("error")
    if not error and alone:
        # FastAPI, Cloudflare and MiniMax use these fields; vLLM's body is the error itself.
        error = next((body[key] for key in ("detail", "errors", "base_resp") if body.get(key)), None) or (
            body if isinstance(body.get("message"), str) else None
        )
    if isinstance(error, list):
        error = next(iter(error), None)
    if isinstance(error, Mapping):
        # Some gateways add an empty error, or one with a success code, to every answer.
        well = not alone and str(error.get("code") or error.get("status") or "").lower() in _WELL and "code" in error
        return error if any(error.values()) and not well else None
    return error


def _conformed_choice(choice: Any) -> dict[str, Any] | None:
    original = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(original, dict) and not (isinstance(choice, dict) and _has_failed(choice)):
        return None
    message = {**(original if isinstance(original, dict) else {}), "role": "assistant"}
    if isinstance(content := message.get("content"), list | dict):
        parts = _parts(content)
        message["content"] = parts.pop("text")
        message |= {name: text for name, text in parts.items() if not message.get(name)}
    for name in ("reasoning", "reasoning_content"):
        if isinstance(message.get(name), list | dict):
            message[name] = "".join(_parts(message[name]).values())
    return {**choice, "message": message}


def _has_failed(choice: Mapping[str, Any]) -> bool:
    return bool(choice.get("error") or _FAILED.search(str(choice.get("finish_reason"))))


def _parts(content: Any) -> dict[str, str]:
    found = {"text": ""}
    for part in content if isinstance(content, list) else [content]:
        values = part if isinstance(part, dict) else {"text": part}
        kind = str(values.get("type") or "")
        name = "refusal" if kind == "refusal" else "reasoning_content" if _THOUGHT.search(kind) else "text"
        inner = next((values[key] for key in (kind, "text", "thinking", "reasoning", "content", "value", "summary")
                      if values.get(key)), "")  # fmt: skip
        text = (
            inner
            if isinstance(inner, str)
            else "".join(_parts(inner).values())
            if isinstance(inner, list | dict)
            else ""
        )
        found[name] = found.get(name, "") + text
    return found


def _whole(value: Any) -> int:
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return 0


async def ready() -> None:
    """Load LiteLLM in a thread, because the import takes seconds."""
    if _litellm is None:
        await asyncio.to_thread(load)


def check_key(model: str) -> None:
    """Raise MissingKey, which names the variable, if the provider's key is not in the environment."""
    if provider_of(model) in OLLAMA:
        return  # No key is needed. LiteLLM's own check would demand an address too, although it knows the default one.
    found = load().validate_environment(model)
    missing = [str(name) for name in found.get("missing_keys", ())]
    if missing and not found.get("keys_in_environment"):
        raise MissingKey(
            f"{model} needs a key: set {' and '.join(missing)}, or use the model `local`, which needs none."
        )


def settings_of(request: Request, target: Target) -> tuple[dict[str, Any], tuple[str, ...]]:
    sampling = request.sampling
    wanted: dict[str, Any] = {
        name: value for name, value in sampling.to_json().items() if name not in ("top_k", "extra_body")
    }
    if request.json_schema is not None and not (target.local and request.grammar):
        schema = {"name": "answer", "schema": dict(request.json_schema)}
        wanted["response_format"] = {"type": "json_schema", "json_schema": schema}
    own = dict(sampling.extra_body or {})
    named = not (target.local or target.base_url) and provider_of(target.model) not in _BY_FIELD
    extra: dict[str, Any] = {} if named else own
    dropped: list[str] = []
    if target.local:
        wanted.pop("reasoning_effort", None)
        if sampling.reasoning_effort is not None:
            dropped.append("reasoning_effort")
        wanted["seed"] = seed_of(request)
        extra["cache_prompt"] = True
        if request.grammar:
            extra["grammar"] = request.grammar
        if request.purpose == "agent":
            # A model this small repeats whole sentences, which DRY sampling prevents. It is not used for code.
            extra |= {"dry_multiplier": 0.8, "dry_allowed_length": 6}
    else:
        for name in list(wanted):
            if not _takes(target.model, bool(target.base_url), name, _test_value(wanted[name])):
                del wanted[name]
                dropped.append("json_schema" if name == "response_format" else name)
    if sampling.top_k is not None:
        if target.local or target.base_url:
            extra["top_k"] = sampling.top_k
        elif provider_of(target.model) in ("openai", "azure"):
            dropped.append("top_k")
        else:
            wanted["top_k"] = sampling.top_k
    if named:
        wanted = {**own, **wanted}
    if extra:
        wanted["extra_body"] = extra
    return wanted, tuple(dropped)


def seed_of(request: Request) -> int:
    """Return the configured seed plus the sample index, or one derived from the request, so that samples differ."""
    if request.sampling.seed is not None:
        return (request.sampling.seed + request.sample) % 2**31
    return (int(request.digest[:8], 16) + 7919 * request.sample) % 2**31


def _test_value(value: Any) -> Any:
    # Support for a parameter depends on its value only if this is a number or string ("temperature must be 1").
    return value if isinstance(value, (int, float, str)) else None


@lru_cache(maxsize=512)
def _takes(model: str, own_endpoint: bool, name: str, value: Any) -> bool:
    litellm = load()
    try:
        bare, provider, _, _ = litellm.get_llm_provider(model)
        if name == "response_format":
            # Always try a user's own endpoint: most support schemas, and the gateway remembers a rejection.
            return own_endpoint or bool(litellm.supports_response_schema(bare, provider))
        tried = {"stop": ["x"]}.get(name, value)
        found = litellm.utils.get_optional_params(
            model=bare, custom_llm_provider=provider, drop_params=True, **{name: tried}
        )
    except Exception:
        return True  # The model is unknown to LiteLLM, so send the setting and let the provider decide.
    for always in ("extra_body", "stream"):
        found.pop(always, None)
    return any(bool(item) or item == 0 for item in found.values() if item is not None)


def estimate_usd(request: Request, target: Target) -> float:
    """Return the estimated cost of a request in US dollars for the spend limit, or 0.0 if the price is unknown."""
    if target.local:
        return 0.0
    table = load().model_cost
    entry = table.get(target.model) or table.get(target.model.split("/", 1)[-1]) or {}
    answer = request.sampling.max_tokens or _TYPICAL_ANSWER_TOKENS
    prompt = count_tokens(request.messages)
    return float(
        prompt * (entry.get("input_cost_per_token") or 0.0) + answer * (entry.get("output_cost_per_token") or 0.0)
    )


async def ask(request: Request, target: Target, settings: Mapping[str, Any], timeout_s: float) -> Any:
    """Send the request once; return LiteLLM's response, or the embedded model's with the same attributes."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    if target.local:
        return await local_process.ask(messages, target.base_url, target.key, settings, timeout_s)
    endpoint: dict[str, Any] = {}
    if target.base_url:
        endpoint["api_base"] = target.base_url
    if target.key:
        endpoint["api_key"] = target.key
    async with asyncio.timeout(timeout_s):
        return await load().acompletion(
            model=target.model,
            messages=messages,
            # The limit above is the effective one, because it also covers responses that arrive very slowly.
            timeout=timeout_s + 5.0,
            max_retries=0,
            **endpoint,
            **settings,
        )


def read(response: Any, request: Request, target: Target, dropped: tuple[str, ...], seconds: float) -> Answer:
    """Read the answer in LiteLLM's response.

    Raises:
        EmptyAnswer: The response has no text.
        FailedAnswer: The response is an error.
        MalformedAnswer: The response has no choices.
        ModelRefused: The model or a content filter refused.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise MalformedAnswer(f"{request.model} sent an answer without choices.")
    message = choices[0].message
    finish = one_line(str(choices[0].finish_reason or "stop"), _NAME)
    text = message.content
    fields, around = (getattr(one, "provider_specific_fields", None) or {} for one in (message, choices[0]))
    native = str(around.get("native_finish_reason") or finish)
    if (error := around.get("error") or fields.get("error")) or _FAILED.search(native):
        raise FailedAnswer(error or f"its answer ended with the finish reason {one_line(native, _NAME)!r}")
    if not isinstance(text, str) or not text.strip():
        refusal = getattr(message, "refusal", None) or fields.get("refusal")
        if finish == "content_filter" or refusal or _WITHHELD.search(native):
            words = one_line(str(refusal or "its content filter withheld the answer"), 240).rstrip(". ")
            raise ModelRefused(f"{request.model} refused to answer: {words}.")
        why = " (reasoning used up the token limit)" if finish == "length" else ""
        raise EmptyAnswer(f"{request.model} sent an empty answer{why}.")
    return Answer(
        text=text,
        model=LOCAL_NAME if target.local else one_line(str(getattr(response, "model", None) or target.model), _NAME),
        usage=usage_of(response),
        cost_usd=price(response, target),
        latency_s=seconds,
        finish_reason=finish,
        reasoning=getattr(message, "reasoning_content", None),
        dropped=dropped,
        shaped=target.local and request.grammar is not None,
    )


def usage_of(response: Any) -> Usage:
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        _count(getattr(usage, "prompt_tokens", 0)),
        _count(getattr(usage, "completion_tokens", 0)),
        _count(getattr(details, "cached_tokens", 0)),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0


def price(response: Any, target: Target) -> float | None:
    if target.local:
        return 0.0
    usage = getattr(response, "usage", None)
    for name in ("prompt_tokens", "completion_tokens"):
        counted = getattr(usage, name, 0) or 0
        if counted != _count(counted):
            return None  # The cost would be based on an implausible token count.
    table = _litellm.model_cost
    if not (target.model in table or target.model.split("/", 1)[-1] in table):
        return None
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return float(cost) if cost is not None and math.isfinite(cost) and cost >= 0 else None
