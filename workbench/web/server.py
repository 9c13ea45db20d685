"""The web server: textual-serve's page, protocol and downloads, with access control and a limit on browsers.

Any page in a browser can send requests to a server on loopback. Two checks block other pages: the ``Origin`` of a
WebSocket must be the server itself (RFC 6455, 10.2), and without a token the ``Host`` must be a name of this machine,
so that a domain that an attacker points to 127.0.0.1 (DNS rebinding) is rejected.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import re
import secrets
import signal
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.app_service import AppService
from textual_serve.server import Server

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.reasons import last_words
from workbench.base.text import one_line

_PAGE = Path(__file__).with_name("page")
_LARGEST_MESSAGE = 1 << 20  # in bytes; pasted text arrives as a single message


HEADERS = {
    # The page contacts no other host, no other page may frame it, and no referrer leaks the token.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Server": "workbench",
}
WRONG_TOKEN = "The token in this address is wrong: use the address that `workbench serve` printed."

WRONG_ORIGIN = "Only the server's own page may request this."


@dataclass(frozen=True, slots=True)
class AccessGuard:
    """Requires a token and an origin of this server or its proxy.

    The token is stored in a cookie; it is "" if none is required, which is allowed only on loopback.
    """

    token: str
    origins: tuple[str, ...] = ()
    cookie: str = field(default_factory=lambda: f"workbench-{secrets.token_hex(4)}")

    def problem(self, request: web.Request) -> str:
        """Return why a request is rejected, or "" if it is allowed."""
        if self.token:
            tokens = (request.query.get("token", ""), request.cookies.get(self.cookie, ""))
            # Compare in constant time to prevent timing attacks.
            if not any(secrets.compare_digest(one.encode(), self.token.encode()) for one in tokens):
                return WRONG_TOKEN
        elif not self._is_own_host(request.host):
            return "This server only answers to localhost or 127.0.0.1."
        origin = request.headers.get("Origin", "")
        wants_socket = request.headers.get("Upgrade", "").lower() == "websocket"
        if (origin or wants_socket) and not self._own_origin(origin, request.host):
            return WRONG_ORIGIN
        return ""

    def _is_own_host(self, host: str) -> bool:
        if host in {urlsplit(origin).netloc for origin in self.origins}:
            return True
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name == "localhost" or ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def _own_origin(self, origin: str, host: str) -> bool:
        return origin in (*self.origins, f"http://{host}", f"https://{host}")


def guarded(door: AccessGuard) -> Middleware:

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if problem := door.problem(request):
            return web.Response(status=403, text=f"{problem}\n", headers=HEADERS)
        return await handler(request)

    return check


# -- one app process per browser, ended when the browser disconnects

DRIVER = "workbench.web.browser_driver:BrowserDriver"
_PRELUDE = b"__GANGLION__\n"  # written by textual.drivers.web_driver before anything else
SMALLEST, LARGEST = (20, 8), (500, 200)
"""Range of terminal sizes (columns, rows) that a browser may request; limited because the app lays out every cell."""
PATIENCE = 5.0
"""Time in seconds that an app has to exit after a request to quit."""


def bounded(width: object, height: object) -> tuple[int, int]:
    """Clamp a terminal size to the limits; an invalid width becomes 80 and an invalid height 24."""
    found = []
    for value, usual, least, most in zip((width, height), (80, 24), SMALLEST, LARGEST, strict=True):
        try:
            number = int(str(value))
        except ValueError:
            number = usual
        found.append(min(most, max(least, number)))
    return found[0], found[1]


class AppProcess(AppService):
    """Runs ``workbench open`` for one browser, without a shell."""

    def __init__(self, arguments: Sequence[str], **others: Any) -> None:
        super().__init__("workbench", **others)
        self._arguments = list(arguments)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        # Unlike the server's terminal, browsers support all characters and colours.
        browser = {"TEXTUAL_DRIVER": DRIVER, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
        environment = self._build_environment(width, height) | browser
        # Start a new process session: ctrl+c in the terminal must reach only the server, which then stops the apps.
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
        )
        self._stdin = process.stdin
        return process

    async def set_terminal_size(self, width: object, height: object) -> None:
        await super().set_terminal_size(*bounded(width, height))

    async def run(self) -> None:
        """Forward the app's output and downloads until it exits; if it fails, show the reason in the browser."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        errors = asyncio.create_task(_last_of(process.stderr))
        try:
            ready = False
            with contextlib.suppress(ValueError):  # the line is too long
                ready = await process.stdout.readline() == _PRELUDE
            while ready:
                kind, size = await process.stdout.readexactly(1), await process.stdout.readexactly(4)
                await self._forward(kind, await process.stdout.readexactly(int.from_bytes(size, "big")))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                if not ready:
                    process.kill()
            why = last_words((await errors).decode("utf-8", "replace"))
            if why and (not ready or await process.wait()):
                # one_line() removes control sequences.
                await self._say(f"The app ended: {why}")
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.remote_close()

    async def _forward(self, kind: bytes, payload: bytes) -> None:
        if kind == b"D":
            await self.on_data(payload)
        elif kind == b"M":
            await self.on_meta(payload)
        elif kind == b"P":
            await self.on_packed(payload)

    async def _say(self, sentence: str) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            await self.remote_write_bytes(b"\x1b[?1049l\x1b[2J\x1b[H" + one_line(sentence, 400).encode())

    async def stop(self) -> None:
        process, task, self._task = self._process, self._task, None
        if process is None or task is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        await self.send_meta({"type": "quit"})
        try:
            async with asyncio.timeout(PATIENCE):
                # Meanwhile the task keeps reading the app's output; otherwise the app would block.
                await task
                await process.wait()
        except TimeoutError:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            self.stdin.close()
            await process.wait()


async def _last_of(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while read := await stream.read(4096):
        kept = (kept + read)[-8192:]
    return kept


class WorkbenchServer(Server):
    """Starts an app for each browser, up to a maximum number of browsers."""

    def __init__(self, arguments: Sequence[str], door: AccessGuard, most: int) -> None:
        super().__init__("workbench", title="Workbench")
        self._arguments = arguments
        self._door = door
        self._most = most
        self._browsers: set[web.WebSocketResponse] = set()

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[guarded(self._door)])
        app.add_routes(
            [
                web.get("/", self.handle_index),
                web.get("/ws", self.handle_websocket),
                web.get("/download/{key}", self.handle_download),
                web.static("/page", _PAGE),
                web.static("/static", self.statics_path),
            ]
        )
        app.on_response_prepare.append(_harden)
        app.on_shutdown.append(self.on_shutdown)
        return app

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        if self._is_full:
            return web.Response(status=503, text=f"{self._full}\n")
        response = web.FileResponse(_PAGE / "index.html")
        if self._door.token:
            secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
            response.set_cookie(self._door.cookie, self._door.token, httponly=True, samesite="Strict", secure=secure)
        return response

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        if self._is_full:
            raise web.HTTPServiceUnavailable(text=f"{self._full}\n")
        browser = web.WebSocketResponse(heartbeat=15, max_msg_size=_LARGEST_MESSAGE)
        self._browsers.add(browser)
        app = AppProcess(
            self._arguments,
            write_bytes=browser.send_bytes,
            write_str=browser.send_str,
            close=browser.close,
            download_manager=self.download_manager,
        )
        try:
            await browser.prepare(request)
            await app.start(*bounded(request.query.get("width"), request.query.get("height")))
            # An invalid message closes the connection.
            with contextlib.suppress(ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError):
                await self._process_messages(browser, app)
        except web.HTTPBadRequest:  # not a WebSocket handshake
            raise web.HTTPForbidden(text=f"{WRONG_ORIGIN}\n") from None
        except OSError as error:
            await browser.close(code=1011, message=f"The app cannot be started: {error.strerror}."[:120].encode())
        finally:
            self._browsers.discard(browser)
            await app.stop()
            if browser.prepared:
                await browser.close()
        return browser

    async def handle_download(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        try:
            known = await self.download_manager.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound(text="There is no such download; each is available only once.\n") from None
        response = web.StreamResponse()
        # Force a download: if a report were opened inline, its scripts would run with this page's origin.
        response.headers["Content-Type"] = known.mime_type or "application/octet-stream"
        response.headers["Content-Disposition"] = _attachment(known.file_name)
        await response.prepare(request)
        async for chunk in self.download_manager.download(key):
            await response.write(chunk)
        await response.write_eof()
        return response

    async def on_shutdown(self, app: web.Application) -> None:
        await asyncio.gather(*(browser.close(code=1001) for browser in list(self._browsers)), return_exceptions=True)

    @property
    def _is_full(self) -> bool:
        return len(self._browsers) >= self._most

    @property
    def _full(self) -> str:
        return f"{self._most} browsers are connected, the maximum (--connections); close one and reload."


def _attachment(name: str) -> str:
    """Return the header value that makes a browser save a file under any name (RFC 6266, 4.3)."""
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


async def _harden(request: web.Request, response: web.StreamResponse) -> None:
    if not isinstance(response, web.WebSocketResponse):
        response.headers.update(HEADERS)


async def serve(server: WorkbenchServer, host: str, port: int, ready: Callable[[int], Any]) -> None:
    """Serve until a signal arrives; ``ready`` is called with the port once browsers can connect.

    Raises UsageError if the port or host cannot be used.
    """
    runner = web.AppRunner(await server._make_app(), access_log=None, handle_signals=False, shutdown_timeout=10.0)
    await runner.setup()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise _refusal(host, port, error) from None
        ready(int(runner.addresses[0][1]))
        await ended.wait()
    finally:
        await runner.cleanup()


def _refusal(host: str, port: int, error: OSError) -> WorkbenchError:
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"Port {port} of {host} is in use, perhaps by another `workbench serve`; choose one with --port."
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return UsageError(
            f"Port {port} of {host} is not permitted: ports below 1024 need root; choose one with --port."
        )
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"{host[:60]!r} is not a name or address of this machine; --host takes one, such as 0.0.0.0.")
    return WorkbenchError(f"{host} port {port} cannot be served: {error.strerror or error}.")
