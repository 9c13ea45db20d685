"""HTTP communication with remote agents: credentials by origin, size limits, and readable errors."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache
from urllib.parse import urlsplit

import httpx

from workbench.base.errors import UsageError
from workbench.base.json_answers import objects_in
from workbench.base.text import one_line
from workbench.models.types import MalformedAnswer, ModelError, ModelRefused, ModelUnavailable

VARIABLE = "WORKBENCH_A2A_HEADERS"
"""The value is JSON: ``{"https://agents.example.org": {"Authorization": "Bearer …"}}``."""
_SHAPE = f'{VARIABLE} must be JSON such as {{"https://agents.example.org": {{"Authorization": "Bearer …"}}}}'
_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or _PORTS.get(parts.scheme, 0)}".lower()


def headers_by_origin(environment: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
    """Return the headers to send by origin. Raises UsageError, without quoting the variable, if it is malformed."""
    text = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
        found = {origin_of(url): dict(headers) for url, headers in value.items() if urlsplit(url).hostname}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{_SHAPE}.") from None
    texts = [part for headers in found.values() for pair in headers.items() for part in pair]
    if len(found) != len(value) or not all(
        isinstance(one, str) and one.isprintable() and one.isascii() for one in texts
    ):
        raise UsageError(f"{_SHAPE}.")
    return found


def values_of(headers: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return the secrets in headers, which are never recorded: whole values, and tokens after ``Bearer``."""
    values = {value for each in headers.values() for value in each.values()}
    return values | {value.partition(" ")[2] for value in values if " " in value}


# -- the client


class TooLarge(httpx.TransportError):
    """A response exceeds the size limit."""


_REDIRECTS = (301, 302, 307, 308)
_MOST_REDIRECTS = 3
_KEPT_BYTES = 64_000


class Limit:
    """The number of bytes that a server may still send for a message; ``last`` is the end of the last response."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.last = b""
        self._left = most

    def renew(self) -> None:
        self._left = self.most

    def take(self, chunk: bytes) -> None:
        self.last = (self.last + chunk)[-_KEPT_BYTES:]
        self._left -= len(chunk)
        if self._left < 0:
            raise TooLarge(f"more than {self.most:,} bytes")


class _Counted(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, limit: Limit) -> None:
        self._stream, self._limit = stream, limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._limit.take(chunk)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Guarded(httpx.AsyncBaseTransport):
    def __init__(self, limit: Limit, headers: Mapping[str, Mapping[str, str]]) -> None:
        self._inner: dict[str, httpx.AsyncHTTPTransport] = {}
        self._limit, self._headers = limit, headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._send(request)
        for _ in range(_MOST_REDIRECTS):
            place = request.url.join(response.headers.get("location", ""))
            # Servers redirect to add or remove a slash. Following a redirect to another origin would send it the
            # message.
            if response.status_code not in _REDIRECTS or origin_of(str(place)) != origin_of(str(request.url)):
                break
            await response.aclose()
            request = httpx.Request(
                request.method, place, headers=request.headers, stream=request.stream, extensions=request.extensions
            )
            response = await self._send(request)
        return response

    async def _send(self, request: httpx.Request) -> httpx.Response:
        self._limit.last = b""
        for name, value in self._headers.get(origin_of(str(request.url)), {}).items():
            request.headers[name] = value
        # Request no compression, because the limit would count compressed bytes.
        request.headers["Accept-Encoding"] = "identity"
        scheme = request.url.scheme
        if scheme not in self._inner:
            # Loading the CA certificates takes 60 ms, so they are loaded only for HTTPS.
            verify = _certificates() if scheme == "https" else False
            self._inner[scheme] = httpx.AsyncHTTPTransport(verify=verify, limits=httpx.Limits(max_connections=8))
        response = await self._inner[scheme].handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise TooLarge("a compressed response, although none was requested")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(response.stream, self._limit),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        for each in self._inner.values():
            await each.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def client_for(limit: Limit, headers: Mapping[str, Mapping[str, str]]) -> httpx.AsyncClient:
    """Return a client that has no timeout and ignores the environment."""
    return httpx.AsyncClient(transport=_Guarded(limit, headers), timeout=None, follow_redirects=False, trust_env=False)


# -- errors

_WORDS = 240  # maximum characters to quote from a remote message
_WORD_KEYS = ("message", "detail", "error", "msg", "title", "reason")


class NoAgent(ModelUnavailable):
    """There is no agent at the address: no server, no card, or another agent's card."""


class ProtocolViolation(MalformedAnswer):
    """The agent's answer violates the protocol: a second answer, a different context, or no end."""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def problem_of(error: BaseException, url: str, last: bytes = b"") -> ModelError:
    """Translate an exception of the client; ``last`` is the end of the last response from the agent at ``url``."""
    who = f"The agent at {url}"
    found = list(_chain(error))
    for one in found:
        if isinstance(one, ModelError):
            return one
        if isinstance(one, TooLarge):
            return ProtocolViolation(f"{who} sent {one}, so the connection was closed.")
        if isinstance(one, ssl.SSLError):
            why = one_line(getattr(one, "verify_message", "") or one.reason or str(one), _WORDS)
            return NoAgent(f"{who} cannot be trusted: its certificate is invalid ({why}).")
    for one in found:
        if isinstance(one, httpx.HTTPStatusError):
            return _status(one.response, who, last)
        if isinstance(one, httpx.ConnectError):
            return NoAgent(f"{who} cannot be reached ({_os_message(found)}); start it, or correct the address.")
        if isinstance(one, httpx.TransportError):
            return ModelUnavailable(f"{who} closed the connection before it answered ({_message_of(one)}).")
    for answered in objects_in(last.decode("utf-8", "replace")):
        # The client's own exceptions omit the error code or the message.
        if (failed := answered.value.get("error")) and answered.value.get("result") is None:
            code = f" {one_line(str(failed['code']), 40)}" if isinstance(failed, dict) and "code" in failed else ""
            return ModelUnavailable(f"{who} answered with the error{code}: {_message_in(failed) or 'no message'}.")
    return ProtocolViolation(f"{who} sent something that is not an A2A answer: {_message_of(found[0])}.")


def _status(response: httpx.Response, who: str, last: bytes) -> ModelError:
    status = response.status_code
    if 300 <= status < 400:
        to = one_line(response.headers.get("location", "nowhere"), 120)
        return NoAgent(f"{who} redirects to {to}, which is not followed; use that address if it is the agent's.")
    text = last.decode("utf-8", "replace").strip()
    objects = objects_in(text)
    # An HTML page cannot be quoted in one line, so omit it.
    words = _message_in(objects[0].value) if objects else "" if text.startswith("<") else one_line(text, _WORDS)
    why = f": {words.rstrip('. ')}" if words else ""
    if status in (401, 403):
        return ModelRefused(f"{who} requires credentials (HTTP {status}); set them in WORKBENCH_A2A_HEADERS.")
    if status >= 500:
        return ModelUnavailable(f"{who} failed (HTTP {status}){why}.")
    return ModelRefused(f"{who} refused the message (HTTP {status}){why}.")


def _message_in(value: object) -> str:
    """Return the message of a JSON error from any of the usual fields, or "" if there is none."""
    if isinstance(value, str):
        return one_line(value, _WORDS).rstrip(". ")
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message_in, value[:3])))
    if isinstance(value, dict):
        message = next(filter(None, (_message_in(value.get(key)) for key in _WORD_KEYS)), "")
        more = _message_in(value.get("data"))
        return f"{message} ({more})" if message and more else message or more
    return ""


def _os_message(found: list[BaseException]) -> str:
    # asyncio's message lists every address that it tried; strerror is shorter.
    for one in found:
        if isinstance(one, OSError) and one.errno is not None:
            return (os.strerror(one.errno) if one.errno > 0 else one_line(str(one.strerror), 80)).lower()
    return _message_of(found[-1])


def _message_of(error: BaseException) -> str:
    return one_line(str(error), _WORDS).rstrip(". ") or type(error).__name__
