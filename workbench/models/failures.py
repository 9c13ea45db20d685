"""Turns what LiteLLM raises into the errors of this room, and says whether and when to try again."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.models.secrets import scrub
from workbench.models.types import (
    ContextOverflow,
    MalformedAnswer,
    MissingKey,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
)
from workbench.text import one_line

_CONTEXT = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|prompt is too long|input is too long", re.I
)
_FILTER = re.compile(r"content[ _-]?(?:filter|policy|management)|safety|responsible ai", re.I)
_QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance", re.I)
_PREFIX = re.compile(r"^(?:litellm\.)?\w*(?:Error|Exception)\w*(?:: | - )")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_UNKNOWN_SETTING = re.compile(
    r"unsupported|n[o']t support|unrecognized|unknown|unexpected|not permitted|extra inputs", re.I
)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed try: the error to raise if it was the last, and whether another one may help.

    Attributes:
        error: What to raise.
        retry: Whether the same request may succeed later.
        wait_s: Seconds that the provider asked for, ``None`` if it did not.
        unsupported: Name of the request's setting that the provider does not take.
        dropped: Whether the connection broke (the embedded model may have crashed).
    """

    error: ModelError
    retry: bool
    wait_s: float | None = None
    unsupported: str | None = None
    dropped: bool = False


def classify(
    raised: BaseException, model: str, timeout_s: float, keys: Iterable[str] = (), sent: Iterable[str] = ()
) -> Failure:
    """Return what ``raised`` means.

    Args:
        raised: The exception of one try.
        model: Name as the user gave it.
        timeout_s: The limit of one try, for the sentence.
        keys: Further values that must not be shown.
        sent: Names of the optional settings that the request carried.
    """
    said = provider_words(raised, keys)
    status = getattr(raised, "status_code", None)
    code = str(getattr(raised, "code", None) or "")
    if isinstance(raised, TimeoutError) or _named(raised, "Timeout", "APITimeoutError"):
        return Failure(
            ModelTimeout(
                f"{model} did not answer within {timeout_s:g} s; raise request_timeout or choose a faster model."
            ),
            retry=True,
        )
    if _named(raised, "ContextWindowExceededError") or (status in (400, 413) and _CONTEXT.search(said + code)):
        return Failure(
            ContextOverflow(f"The conversation is longer than the window of {model}: {said}."),
            retry=False,
        )
    if _named(raised, "ContentPolicyViolationError") or (status == 400 and _FILTER.search(said + " " + code)):
        return Failure(ModelRefused(f"The content filter of {model} refused the request: {said}."), retry=False)
    if status == 429 or _named(raised, "RateLimitError"):
        if _QUOTA.search(f"{said} {code}"):
            return Failure(
                ModelRefused(f"The quota for {model} is used up: {said}. Top it up or choose another model."),
                retry=False,
            )
        return Failure(
            RateLimited(f"{model} limits the rate of requests: {said}. Lower concurrency or wait."),
            retry=True,
            wait_s=asked_wait(_headers(raised)),
        )
    if status == 401 or _named(raised, "AuthenticationError"):
        return Failure(
            MissingKey(f"{model} does not accept the key: {said}. Correct the key, or use the model `local`."),
            retry=False,
        )
    if (
        status == 403
        or _named(raised, "PermissionDeniedError")
        or re.search(r"Error code: 403", str(raised.__context__))
    ):
        return Failure(ModelRefused(f"The key may not use {model}: {said}."), retry=False)
    if status == 404 or _named(raised, "NotFoundError"):
        return Failure(ModelRefused(f"There is no model {model} at this provider: {said}."), retry=False)
    if _named(raised, "BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError") or status in (400, 422):
        if "LLM Provider NOT provided" in str(raised):
            return Failure(
                ModelRefused(
                    f"No provider is known for the model {model!r}; write it as PROVIDER/NAME, for example openai/gpt-4o."
                ),
                retry=False,
            )
        blamed = next((name for name in sent if name in said and _UNKNOWN_SETTING.search(said)), None)
        return Failure(ModelRefused(f"{model} refused the request: {said}."), retry=False, unsupported=blamed)
    if any(isinstance(link, ValueError) for link in _chain(raised)) or "provider returned 'choices'" in str(raised):
        return Failure(
            MalformedAnswer(f"{model} answered with something that is not a chat completion: {said}."), retry=True
        )
    if status is None or int(status) >= 500:
        dropped = "connection error" in said.lower() or _named(raised, "APIConnectionError")
        sentence = (
            f"{model} cannot be reached or dropped the connection; check the network and the base URL."
            if dropped
            else f"{model} failed: {said}. Try again later."
        )
        return Failure(ModelUnavailable(sentence), retry=True, wait_s=asked_wait(_headers(raised)), dropped=dropped)
    return Failure(ModelRefused(f"{model} refused the request (status {status}): {said}."), retry=False)


def provider_words(raised: BaseException, keys: Iterable[str] = ()) -> str:
    """Return the provider's own words in one short line, without LiteLLM's prefixes and without any key."""
    said = str(raised)
    while (shorter := _PREFIX.sub("", said, count=1)) != said:
        said = shorter
    return one_line(scrub(said, keys), 240).rstrip(". ") or type(raised).__name__


def asked_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that a provider asks to wait: ``Retry-After`` (seconds or date), else ``x-ratelimit-reset…``.

    RFC 9110 section 10.2.3 for the first; the second as OpenAI (``6m0s``, ``20ms``), Anthropic (a date) and others
    (seconds, or a Unix time) send it. Of several resets the one whose allowance is used up counts, else the longest.
    """
    now = time.time() if now is None else now
    lower = {name.lower(): value for name, value in headers.items()}
    milliseconds = lower.get("retry-after-ms", "")
    if re.fullmatch(r"\d+(\.\d+)?", milliseconds):
        return float(milliseconds) / 1000
    if "retry-after" in lower:
        wait = _seconds(lower["retry-after"], now)
        if wait is not None:
            return wait
    resets = {name: _seconds(value, now) for name, value in lower.items() if "ratelimit" in name and "reset" in name}
    used_up = [
        wait
        for name, wait in resets.items()
        if wait is not None and lower.get(name.replace("reset", "remaining")) == "0"
    ]
    known = used_up or [wait for wait in resets.values() if wait is not None]
    return max(known) if known else None


def _seconds(value: str, now: float) -> float | None:
    value = value.strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        number = float(value)
        return max(0.0, number - now) if number > 1e9 else number  # a Unix time
    if re.fullmatch(rf"(?:{_DURATION.pattern})+", value):
        return sum(float(amount) * _UNITS[unit] for amount, unit in _DURATION.findall(value))
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (TypeError, ValueError):
        pass
    try:
        from datetime import datetime

        return max(0.0, datetime.fromisoformat(value).timestamp() - now)
    except ValueError:
        return None


def _headers(raised: BaseException) -> Mapping[str, str]:
    found = getattr(raised, "litellm_response_headers", None)
    if not found:
        found = getattr(getattr(raised, "response", None), "headers", None)
    return {str(name): str(value) for name, value in dict(found or {}).items()}


def _named(raised: BaseException, *names: str) -> bool:
    # By name, so that this module needs neither litellm nor openai to be imported.
    return any(kind.__name__ in names for kind in type(raised).__mro__)


def _chain(raised: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while raised is not None and id(raised) not in seen:
        seen.add(id(raised))
        yield raised
        raised = raised.__cause__ or raised.__context__
