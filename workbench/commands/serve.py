"""``workbench serve``: the app in a browser."""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import socket
import sys
from urllib.parse import quote, urlsplit

from workbench.base.errors import UsageError
from workbench.commands.arguments import Argument, shared, whole
from workbench.commands.output import print_json, say
from workbench.orders.session_names import resolve_session

TOKEN_VARIABLE = "WORKBENCH_SERVE_TOKEN"
_SHORTEST = 16  # characters of a token that somebody chose


ARGUMENTS: dict[str, Argument] = {
    "[session]": "a session file, or the name of one (the one changed last)",
    "--host HOST": f"address to listen on (127.0.0.1); with it the address needs a token: ${TOKEN_VARIABLE}, or a new one",
    "--port PORT": ("port (8000); 0 takes a free one", whole(0, 65535), 8000),
    **shared("--read-only"),
    "--connections N": ("browsers at once, each with an app (8)", whole(1, 1000), 8),
    "--origin URL…": "another origin under which a proxy shows it",
    "--json": "print one JSON line when it is ready",
}


def run(arguments: argparse.Namespace) -> int:
    origins = tuple(_origin(text) for text in arguments.origin)
    token = os.environ.pop(TOKEN_VARIABLE, "")  # apps have no use for it
    if token and len(token) < _SHORTEST:
        raise UsageError(f"${TOKEN_VARIABLE} has {len(token)} characters; take {_SHORTEST} or more, or leave it out.")
    if arguments.host:
        token = token or secrets.token_urlsafe(24)
    host = arguments.host or "127.0.0.1"
    app = [sys.executable, "-m", "workbench", "open"]
    if arguments.read_only:
        app.append("--read-only")
    if arguments.session:
        app.append(str(resolve_session(arguments.session).resolve()))
    try:
        from workbench.web.server import AccessGuard, WorkbenchServer, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("textual_serve", "aiohttp", "aiohttp_jinja2", "jinja2"):
            raise
        raise UsageError(
            "The app in a browser needs the package textual-serve: pip install 'docs-workbench[web]'."
        ) from None

    def ready(port: int) -> None:
        address = _address(host, port, token)
        if arguments.json:
            print_json({"address": address})
            return
        say(f"The workbench is at {address}")
        if token:
            say(
                "Whoever has this address has the workbench; without TLS it can be read on the way (docs/guides/web.md)."
            )
        say("Ctrl-C ends it.", flush=True)

    server = WorkbenchServer(app, AccessGuard(token, origins), arguments.connections)
    asyncio.run(serve(server, host, arguments.port, ready))
    return 0


def _address(host: str, port: int, token: str) -> str:
    # Where it listens on every address, the machine's name leads to it.
    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def _origin(text: str) -> str:
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.netloc and parts.path in ("", "/"):
            return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        pass
    raise UsageError(
        f"--origin takes what stands before the path of an address, such as https://docs.example.org, not {text[:60]!r}."
    )
