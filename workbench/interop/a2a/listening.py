"""An A2A server on loopback, or anywhere with a token, on one port for all bindings and versions.

The server shuts down gracefully.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench import __version__
from workbench.base.errors import UsageError

TOKEN = "WORKBENCH_SERVE_TOKEN"
"""The environment variable that contains the token for ``Authorization: Bearer …`` in requests."""
_SHORTEST_TOKEN = 16
_GRACE = 10  # seconds to finish running requests when the server stops
_MOST_BODY = 2_000_000  # maximum bytes of a request; a tool result has at most 60,000 characters
_CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """The address to listen on, and the token that requests must carry ("" for none)."""

    host: str
    port: int
    token: str = ""

    @classmethod
    def at(cls, host: str, port: int) -> ListenAddress:
        """Return an address with the token from the environment.

        Raises UsageError if the address is not loopback and there is no token, or if the token is weak.
        """
        token = os.environ.get(TOKEN, "")
        if not token and not _is_loopback(host):
            raise UsageError(
                f"{host} is reachable from other machines; set a token in {TOKEN}, which every request must then carry."
            )
        if token and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
            raise UsageError(
                f"The token in {TOKEN} is too easy to guess: use at least {_SHORTEST_TOKEN} letters and digits."
            )
        return cls(host, port, token)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def bound(self) -> tuple[ListenAddress, socket.socket]:
        """Bind a socket; return the address with its actual port, and the socket. Raises UsageError on failure."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # asyncio sets TCP_NODELAY only on sockets with the protocol TCP; without it, each small answer takes 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        # This allows an immediate restart; a second server on the same port is still refused.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
            listener.listen(128)
        except OSError as error:
            listener.close()
            why = (error.strerror or str(error)).lower()
            raise UsageError(
                f"Cannot listen on {self.host}:{self.port} ({why}); choose another port with --port."
            ) from None
        return ListenAddress(self.host, listener.getsockname()[1], self.token), listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def card_for(name: str, description: str, skill: AgentSkill, url: str, *, streaming: bool) -> AgentCard:
    """Return a card with one skill, for protocols 1.0 and 0.3 over JSON-RPC and HTTP+JSON, all on one port."""
    interfaces = [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")]
    return AgentCard(
        name=name,
        description=description,
        version=__version__,
        supported_interfaces=[
            AgentInterface(url=f"{url}/", protocol_binding=binding, protocol_version=version)
            for binding, version in interfaces
        ],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill],
    )


def app_for(card: AgentCard, executor: AgentExecutor, token: str) -> ASGIApp:
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
    routes = [
        *(route for path in _CARDS for route in create_agent_card_routes(card, card_url=path)),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True, shutdown_grace_period=_GRACE - 1),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    return _Guard(Starlette(routes=routes), token)


class _Guard:
    """Rejects requests that lack the token or are too large; without a token, also requests from web pages.

    Cards are public.
    """

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner, self._token = inner, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = dict(scope["headers"])
        authorization = headers.get(b"authorization", b"")
        expected = f"Bearer {self._token}".encode()
        if self._token and scope["path"] not in _CARDS and not hmac.compare_digest(authorization, expected):
            await _refuse(send, 401, b"A token is required: Authorization: Bearer ...")
            return
        if not self._token and not _is_from_this_machine(headers):
            # A web page in a browser can also reach loopback, with its own origin or through DNS rebinding.
            await _refuse(send, 403, b"Requests of web pages are rejected; set a token to allow other clients.")
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > _MOST_BODY or b"transfer-encoding" in headers:
            await _refuse(send, 413, b"The message is too long or has no Content-Length.")
            return
        await self._inner(scope, receive, send)


def _is_from_this_machine(headers: Mapping[bytes, bytes]) -> bool:
    try:
        name = urlsplit("//" + headers.get(b"host", b"").decode("latin-1")).hostname or ""
    except ValueError:
        return False
    return b"origin" not in headers and _is_loopback(name)


async def _refuse(send: Send, status: int, words: bytes) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(words)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words})


class _Server(uvicorn.Server):  # type: ignore[misc]
    """A server that stops and returns on a signal; uvicorn's own server would raise the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully on the first SIGINT or SIGTERM, and immediately on the second."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


def listen(
    app: ASGIApp, sockets: Sequence[socket.socket], on_close: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Serve until a signal arrives; running requests get a few seconds to finish, then ``on_close`` is awaited."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        lifespan="off",
        server_header=False,
    )

    async def serve() -> None:
        try:
            await _Server(config).serve(sockets=list(sockets))
        finally:
            if on_close is not None:
                await on_close()

    asyncio.run(serve())
