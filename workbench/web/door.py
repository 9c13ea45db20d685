"""Who may come in: the token of the address, the origin of the page, the name by which the server was asked for.

A server on loopback is reached by every page that a browser shows. Two checks keep these out: the ``Origin`` of a
WebSocket must be the server itself (RFC 6455, 10.2), and where no token is asked for the ``Host`` must be a name of this
machine, so that a name which an attacker lets point to 127.0.0.1 (DNS rebinding) leads nowhere.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

HEADERS = {
    # The page is ours alone: no other host is asked for anything, no other page may frame it, no address leaks its token.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Server": "workbench",
}
NOT_YOU = "This address lacks the right token: use the one that `workbench serve` printed."

NOT_THE_PAGE = "Only the server's own page may ask for this."


@dataclass(frozen=True, slots=True)
class Door:
    """What a request must have.

    Attributes:
        token: The token that the address must hold, "" where loopback needs none.
        origins: Other origins (``https://name:port``) under which a proxy shows the server.
        cookie: Name under which a browser keeps the token for what the page asks for by itself.
    """

    token: str
    origins: tuple[str, ...] = ()
    cookie: str = field(default_factory=lambda: f"workbench-{secrets.token_hex(4)}")

    def problem(self, request: web.Request) -> str:
        """Return the sentence for a request that must not be answered, "" for one that may."""
        if self.token:
            given = (request.query.get("token", ""), request.cookies.get(self.cookie, ""))
            # In constant time: nothing tells how much of a wrong token was right.
            if not any(secrets.compare_digest(one.encode(), self.token.encode()) for one in given):
                return NOT_YOU
        elif not self._asked_by_own_name(request.host):
            return "This server is reached as localhost or 127.0.0.1 only."
        origin = request.headers.get("Origin", "")
        wants_socket = request.headers.get("Upgrade", "").lower() == "websocket"
        if (origin or wants_socket) and not self._own_origin(origin, request.host):
            return NOT_THE_PAGE
        return ""

    def _asked_by_own_name(self, host: str) -> bool:
        if host in {urlsplit(origin).netloc for origin in self.origins}:
            return True
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name == "localhost" or ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def _own_origin(self, origin: str, host: str) -> bool:
        return origin in (*self.origins, f"http://{host}", f"https://{host}")


def guarded(door: Door) -> Middleware:
    """Return the middleware that lets nothing through but what the door lets in, static files included."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if problem := door.problem(request):
            return web.Response(status=403, text=f"{problem}\n", headers=HEADERS)
        return await handler(request)

    return check
