"""Map LiteLLM's exceptions to this package's errors, and decide whether and when to retry."""

from __future__ import annotations

import email.utils
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.base.text import one_line
from workbench.models.defaults import OLLAMA, OLLAMA_ADDRESS, provider_of
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

_CONTEXT = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|prompt is too long|input is too long", re.I
)
_FILTER = re.compile(r"content[ _-]?(?:filter|policy|management)|safety|responsible ai", re.I)
_QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance", re.I)
_RATE = re.compile(r"rate[ _-]?limit|too many requests", re.I)
_PREFIX = re.compile(r"^(?:litellm\.)?(?:Timeout|Timeout Error|\w{0,60}(?:Error|Exception)\w{0,60})(?:: | - )")
_TRACEBACK = "Traceback (most recent call last)"
_ERROR_CHARACTERS = 4000  # maximum characters of an error to examine, because a proxy's error page may have millions
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_UNKNOWN_SETTING = re.compile(
    r"unsupported|n[o']t support|unrecognized|unknown|unexpected|not permitted|extra inputs", re.I
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt."""

    error: ModelError  # error to raise if this was the last attempt
    retry: bool  # whether the same request may succeed later
    wait_s: float | None = None  # waiting time that the provider requested
    unsupported: str | None = None  # setting that the provider rejected
    dropped: bool = False  # whether the connection broke (the embedded model may have crashed)


#: Prefixes of error types, as spelled by Anthropic and OpenAI, with their HTTP status.
_STATUS_OF_KIND = {
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "notfound": 404,
    "invalidrequest": 400,
    "badrequest": 400,
}


class FailedAnswer(Exception):
    """An error (an object as in OpenAI's API, or text) in a response with status 200."""

    def __init__(self, error: object) -> None:
        fields = error if isinstance(error, Mapping) else {"message": error}
        words = (
            fields.get("message")
            or fields.get("status_msg")
            or fields.get("type")
            or fields.get("code")
            or "it gave no reason"
        )
        super().__init__(str(words))
        self.code = str(fields.get("code") or fields.get("type") or "")
        self.kind = re.sub(r"[^a-z]", "", str(fields.get("type") or self.code).lower())
        numbers = [int(one) for one in map(str, map(fields.get, ("code", "status", "status_code"))) if one.isdecimal()]
        self.status_code = next((number for number in numbers if 400 <= number < 600), None) or self._implied_status()

    def _implied_status(self) -> int | None:
        text = f"{self} {self.code}"
        if _RATE.search(text) or _QUOTA.search(text):
            return 429
        if _CONTEXT.search(text) or _FILTER.search(self.code):
            return 400
        return next((status for kind, status in _STATUS_OF_KIND.items() if self.kind.startswith(kind)), None)


def classify(
    raised: BaseException, model: str, timeout_s: float, keys: Iterable[str] = (), sent: Iterable[str] = ()
) -> Failure:
    """Classify the exception of an attempt; ``keys`` are masked in the message, ``sent`` are the optional settings."""
    message = provider_message(raised, keys)
    status = _status(raised)
    code = str(getattr(raised, "code", None) or "")

    def final(kind: type[ModelError], sentence: str, *, permanent: bool = False) -> Failure:
        return Failure(kind(sentence, permanent=permanent), retry=False)

    def passing(kind: type[ModelError], sentence: str) -> Failure:
        return Failure(kind(sentence), retry=True, wait_s=requested_wait(_headers(raised)))

    if isinstance(raised, TimeoutError):
        words = (
            f"{model} did not answer within the {timeout_s:g} s of request_timeout; raise it or choose a faster model."
        )
        return Failure(ModelTimeout(words), retry=True)
    if status in (408, 504) or _is_type(raised, "Timeout", "APITimeoutError"):
        words = f"The server of {model} timed out (status {status or 408}): {message}. Try again later."
        return passing(ModelTimeout, words)
    if _is_type(raised, "ContextWindowExceededError") or (status in (400, 413) and _CONTEXT.search(message + code)):
        return final(ContextOverflow, f"The conversation exceeds the context window of {model}: {message}.")
    if _is_type(raised, "ContentPolicyViolationError") or (status == 400 and _FILTER.search(message + " " + code)):
        return final(ModelRefused, f"The content filter of {model} refused the request: {message}.")
    if status == 402 or (status == 429 and _QUOTA.search(f"{message} {code}")):
        words = f"The quota for {model} is used up: {message}. Top it up or choose another model."
        return final(ModelRefused, words, permanent=True)
    if status == 429 or _is_type(raised, "RateLimitError"):
        return passing(RateLimited, f"{model} limits the rate of requests: {message}. Lower concurrency or wait.")
    if status == 401 or _is_type(raised, "AuthenticationError"):
        words = f"{model} does not accept the key: {message}. Correct the key, or use the model `local`."
        return final(MissingKey, words, permanent=True)
    if status == 403 or _is_type(raised, "PermissionDeniedError"):
        return final(ModelRefused, f"The key may not use {model}: {message}.", permanent=True)
    if status == 404 or _is_type(raised, "NotFoundError"):
        return final(ModelRefused, f"There is no model {model} at this provider: {message}.", permanent=True)
    bad = _is_type(raised, "BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError")
    if bad or status in (400, 422):
        if "LLM Provider NOT provided" in str(raised):
            words = (
                f"There is no provider for the model {model!r}; write it as PROVIDER/NAME, for example openai/gpt-4o."
            )
            return final(ModelRefused, words, permanent=True)
        rejected = next((name for name in sent if name in message and _UNKNOWN_SETTING.search(message)), None)
        return Failure(ModelRefused(f"{model} refused the request: {message}."), retry=False, unsupported=rejected)
    found = None
    if status is None:
        found = _connection_failure(raised, model) or _malformed_failure(raised, model, message)
        status = _status(raised, mapped=True)
    if found is not None:
        return found
    if status is None or status >= 500:
        return passing(ModelUnavailable, f"{model} failed: {message}. Try again later.")
    return final(ModelRefused, f"{model} refused the request (status {status}): {message}.")


def _connection_failure(raised: BaseException, model: str) -> Failure | None:
    """Classify a connection failure by its cause, because LiteLLM raises the same error for all of them."""
    names = {kind.__name__ for link in _chain(raised) for kind in type(link).__mro__}
    if "TooManyRedirects" in names:
        sentence = f"The server of {model} redirects endlessly; check the base URL."
        return Failure(ModelUnavailable(sentence, permanent=True), retry=False)
    if "DecodingError" in names:
        sentence = f"{model} sent an answer that cannot be decompressed as its headers declare; try again later."
        return Failure(MalformedAnswer(sentence), retry=True)
    if names & {"BadStatusLine", "BadHttpMessage", "HttpProcessingError", "RemoteProtocolError"} and not (
        names & {"ReadError", "ServerDisconnectedError", "ClientPayloadError"}
    ):
        sentence = f"The server of {model} does not speak HTTP properly; check the base URL."
        return Failure(ModelUnavailable(sentence), retry=True, dropped=True)
    if names & {"ConnectError", "ClientConnectorError", "ConnectionRefusedError", "gaierror"}:
        advice = "nothing answers at its address; check the network and the base URL"
        if provider_of(model) in OLLAMA:
            address = scrub(os.environ.get("OLLAMA_API_BASE") or OLLAMA_ADDRESS)
            advice = f"no Ollama answers at {address}; start it with `ollama serve`, or set OLLAMA_API_BASE"
        sentence = f"{model} cannot be reached: {advice}."
        return Failure(ModelUnavailable(sentence, permanent=True), retry=True, dropped=True)
    if "APIConnectionError" in names or "connection error" in str(raised)[:_ERROR_CHARACTERS].lower():
        sentence = f"{model} dropped the connection before its answer was complete; try again later."
        return Failure(ModelUnavailable(sentence), retry=True, dropped=True)
    return None


def _malformed_failure(raised: BaseException, model: str, message: str) -> Failure | None:
    for link in _chain(raised):
        if _is_type(link, "ValidationError") and callable(getattr(link, "errors", None)):
            first = link.errors()[0]  # type: ignore[attr-defined]
            place = ".".join(str(part) for part in first.get("loc", ()))
            message = f"{place}: {first.get('msg', '')}"
            break
        if isinstance(link, UnicodeEncodeError):
            error = ModelRefused(f"The request to {model} contains text that cannot be encoded: {link}.")
            return Failure(error, retry=False)
        if isinstance(link, RecursionError):
            message = "its JSON is nested too deeply"
            break
        if isinstance(link, ValueError):
            message = one_line(str(link).partition("; use sys.")[0], 160).rstrip(". ")
            break
    else:
        words = str(raised)[:_ERROR_CHARACTERS]
        received = re.search(
            r"Empty or invalid response from LLM endpoint\. Received: (.*?)(?:\. Check the reverse|$)", words, re.S
        )
        if received:
            message = f"it sent {one_line(received.group(1), 120)}"
        elif "Invalid response object" in words:
            message = "a part of it is missing or has the wrong type"
        elif "provider returned 'choices'" in words:
            message = "it has no list of choices"
        else:
            return None
    return Failure(MalformedAnswer(f"{model} sent something that is not a chat completion: {message}."), retry=True)


def _status(raised: BaseException, *, mapped: bool = False) -> int | None:
    """Return the server's HTTP status or, if ``mapped``, possibly a status that LiteLLM assigned."""
    for link in _chain(raised):
        sent = getattr(getattr(link, "response", None), "status_code", None)
        if _is_type(link, "HTTPStatusError") and isinstance(sent, int):
            return sent
    # Without an HTTP response, LiteLLM itself may have assigned a status of 500 or more.
    found = getattr(raised, "status_code", None)
    return int(found) if isinstance(found, int) and (mapped or found < 500) else None


def provider_message(raised: BaseException, keys: Iterable[str] = ()) -> str:
    """Return the provider's error message as one short line, without LiteLLM's prefixes, tracebacks or keys."""
    message = scrub(str(raised)[:_ERROR_CHARACTERS], keys)
    while (shorter := _PREFIX.sub("", message, count=1)) != message:
        message = shorter
    before, traced, after = message.partition(_TRACEBACK)
    if traced:
        # The last line of a traceback names the exception; the other lines only help the server's developers.
        message = before.strip(" :-") or (after.strip().splitlines() or [""])[-1]
    return one_line(message, 240).rstrip(". ") or type(raised).__name__


def requested_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the waiting time in seconds that a provider requests through its headers.

    ``Retry-After`` (seconds or a date) follows RFC 9110, section 10.2.3, and takes precedence over the
    ``x-ratelimit-reset…`` headers. These are durations such as ``6m0s`` or ``20ms`` (OpenAI), dates (Anthropic),
    seconds or Unix times. The longest time wins among resets with a remaining allowance of 0, or among all if there are
    none.
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
        return max(0.0, number - now) if number > 1e9 else number  # Unix time in seconds
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


def _is_type(raised: BaseException, *names: str) -> bool:
    # Compare by name, so that this module does not need to import litellm or openai.
    return any(kind.__name__ in names for kind in type(raised).__mro__)


def _chain(raised: BaseException | None) -> Iterator[BaseException]:
    visited: set[int] = set()
    while raised is not None and id(raised) not in visited:
        visited.add(id(raised))
        yield raised
        raised = raised.__cause__ or raised.__context__
