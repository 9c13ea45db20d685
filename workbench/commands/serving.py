"""Servers: ``serve``, ``serve-agent``, ``serve-assessor`` and ``cluster``.

They provide the app in a browser, an agent and an assessor over A2A, and a Dask cluster.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import socket
import sys
from urllib.parse import quote, urlsplit

from workbench.agents.names import current_name
from workbench.base.errors import UsageError
from workbench.base.settings import load
from workbench.base.text import plural
from workbench.commands.arguments import Argument, Command, plan_arguments, shared, whole
from workbench.commands.output import print_json, say, tell
from workbench.interop.a2a.agent import check_installed
from workbench.orders.run import resolved, resolved_judge
from workbench.plans.plan import DocumentPlan
from workbench.session.session_names import resolve_session

TOKEN_VARIABLE = "WORKBENCH_SERVE_TOKEN"
_SHORTEST = 16  # minimum length of a token chosen by the user

# -- the app in a browser

_SERVE: dict[str, Argument] = {
    "[session]": "a session file or name (default: the one changed last)",
    "--host HOST": f"address to listen on (default: 127.0.0.1); the URL then needs a token, ${TOKEN_VARIABLE} or a new one",
    "--port PORT": ("port (default: 8000); 0 picks a free one", whole(0, 65535), 8000),
    **shared("--read-only"),
    "--connections N": ("maximum number of browsers, each with its own app (default: 8)", whole(1, 1000), 8),
    "--origin URL…": "another origin under which a proxy serves it",
    "--json": "print one JSON line when ready",
}


def serve_app(arguments: argparse.Namespace) -> int:
    origins = tuple(_origin(text) for text in arguments.origin)
    token = os.environ.pop(TOKEN_VARIABLE, "")  # the apps must not inherit it
    if token and len(token) < _SHORTEST:
        raise UsageError(f"${TOKEN_VARIABLE} has {len(token)} characters; use {_SHORTEST} or more, or unset it.")
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
            say("Anyone with this URL can use the workbench; without TLS it is sent unencrypted (docs/guides/web.md).")
        say("Press ctrl+c to stop.", flush=True)

    server = WorkbenchServer(app, AccessGuard(token, origins), arguments.connections)
    asyncio.run(serve(server, host, arguments.port, ready))
    return 0


def _address(host: str, port: int, token: str) -> str:
    # If the server listens on every address, use the machine's name.
    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def _origin(text: str) -> str:
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.netloc and parts.path in ("", "/"):
            return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        pass
    raise UsageError(f"--origin takes scheme and host, such as https://docs.example.org, not {text[:60]!r}.")


# -- agents and assessments over A2A


def _place(port: int) -> dict[str, Argument]:
    host = "address to listen on (default: 127.0.0.1); any other needs the token in WORKBENCH_SERVE_TOKEN"
    return {
        "--port N": (f"port (default: {port}); 0 picks a free one", whole(0, 65_535), port),
        "--host HOST": (host, str, "127.0.0.1"),
    }


_SERVE_AGENT: dict[str, Argument] = {
    "[agent]": ("white (default), planner, no-exploration, or package.module:Class", str, "white"),
    **plan_arguments(DocumentPlan, "model"),
    **_place(9002),
    "--at-once N": ("concurrent messages (default: 4)", whole(1, 1000), 4),
    **plan_arguments(DocumentPlan, "spend_limit"),
}


def serve_agent(arguments: argparse.Namespace) -> int:
    check_installed()
    from workbench.interop.a2a.listening import ListenAddress, listen
    from workbench.interop.a2a.served_agent import agent_app, check_servable, gateway_for

    known, agent = load(), current_name(arguments.agent)
    check_servable(agent)
    how = {"agent": agent, "model": arguments.model, "spend_limit": arguments.spend_limit}
    plan = resolved(DocumentPlan((), judge="offline", max_steps=known.max_steps, **how))
    place, found = ListenAddress.at(arguments.host, arguments.port).bound()
    gateway = gateway_for(plan, known)
    tell(f"{agent} with {plan.model} is at {place.url}; as an agent it is a2a:{place.url}. Press ctrl+c to stop.")
    listen(agent_app(plan, place, gateway, arguments.at_once), [found], gateway.aclose)
    tell("Stopped.")
    return 0


_SERVE_ASSESSOR: dict[str, Argument] = {
    "--judge JUDGE": "offline, a model, or package.module:Class",
    **_place(9001),
    "--at-once N": ("concurrent assessments (default: 1); further ones wait", whole(1, 100), 1),
}


def serve_assessor(arguments: argparse.Namespace) -> int:
    check_installed()
    from workbench.interop.a2a.assessor import assessor_app
    from workbench.interop.a2a.listening import ListenAddress, listen

    judge = resolved_judge(arguments.judge)
    place, found = ListenAddress.at(arguments.host, arguments.port).bound()
    tell(f"The assessor with the judge {judge} is at {place.url}. Press ctrl+c to stop; active runs continue.")
    listen(assessor_app(judge, place, arguments.at_once), [found])
    tell("Stopped.")
    return 0


# -- a cluster on this machine

_CLUSTER: dict[str, Argument] = {
    "--workers N": ("worker processes (default: one per core)", whole(1, 1000)),
    "--threads N": ("concurrent candidates per worker (default: 1)", whole(1, 1000), 1),
    "--host HOST": ("address to listen on (default: 127.0.0.1, this machine only)", str, "127.0.0.1"),
    "--port PORT": ("port of the scheduler (default: 8786); 0 picks a free one", whole(0, 65535), 8786),
    "--json": "print one JSON line when ready",
}


def cluster(arguments: argparse.Namespace) -> int:
    from workbench.cluster import check_host, is_loopback, serve

    workers = arguments.workers or len(os.sched_getaffinity(0))
    check_host(arguments.host)
    if not is_loopback(arguments.host):
        tell(
            f"workbench: anyone who can reach {arguments.host} can run programs on this machine through the scheduler; "
            "for TLS see docs/guides/cluster.md."
        )

    def ready(engine: str, pids: list[int]) -> None:
        if arguments.json:
            print_json({"engine": engine, "workers": pids})
            return
        say(f"A cluster of {plural(len(pids), 'worker')} is ready at {engine}")
        say(f"To use it: workbench regenerate SOURCE --engine {engine}")
        say("Press ctrl+c to stop.", flush=True)

    where = {"host": arguments.host, "port": arguments.port}
    asyncio.run(serve(workers=workers, threads=arguments.threads, **where, ready=ready))
    return 0


COMMANDS: dict[str, Command] = {
    "serve": (_SERVE, serve_app),
    "serve-agent": (_SERVE_AGENT, serve_agent),
    "serve-assessor": (_SERVE_ASSESSOR, serve_assessor),
    "cluster": (_CLUSTER, cluster),
}
