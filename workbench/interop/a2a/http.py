"""The HTTP client that agents are asked with: no redirect to elsewhere, no more bytes than allowed, credentials where they belong."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from functools import cache

import httpx

from workbench.interop.a2a.credentials import origin_of


class TooLarge(httpx.TransportError):
    """A server sent more than allowed."""


_REDIRECTS = (301, 302, 307, 308)
_MOST_REDIRECTS = 3
_KEPT_BYTES = 64_000


class Limit:
    """How many bytes a server may still send; renewed for each message. ``last`` is the end of what the last response had."""

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
            # Servers add or take a slash that way. Whatever leads elsewhere would take the message along.
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
        # Packed bytes would be counted before they are unpacked.
        request.headers["Accept-Encoding"] = "identity"
        scheme = request.url.scheme
        if scheme not in self._inner:
            # Reading the certificates of the authorities takes 60 ms, which nobody without encryption should wait for.
            verify = _certificates() if scheme == "https" else False
            self._inner[scheme] = httpx.AsyncHTTPTransport(verify=verify, limits=httpx.Limits(max_connections=8))
        response = await self._inner[scheme].handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise TooLarge("packed bytes, although none were asked for")
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
    """Return a client without a time limit of its own that takes nothing from the environment."""
    return httpx.AsyncClient(transport=_Guarded(limit, headers), timeout=None, follow_redirects=False, trust_env=False)
