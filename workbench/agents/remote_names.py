"""The names of remote agents (A2A), and of the models of their trials. Cheap to import."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from workbench.base.errors import UsageError
from workbench.base.text import one_line

PREFIX = "a2a:"
"""What the name of such an agent begins with; the address of its server follows."""
PEER_MODEL = "a2a/"
"""What the model of a trial begins with whose answers such an agent gives: ``a2a/NAME@VERSION#DIGEST`` of its card."""
_LONGEST = 500


def is_remote(agent: str) -> bool:
    return agent.startswith(PREFIX)


def is_peer(model: str) -> bool:
    """Return whether ``model`` stands for the agent itself: no other model is asked."""
    return model.startswith(PEER_MODEL)


def address_of(agent: str) -> str:
    """Return a remote agent's address. UsageError: it is no server's, or holds what must not be recorded."""
    url = agent.removeprefix(PREFIX)
    shown = one_line(url, 80)
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or not url.isprintable() or " " in url or len(url) > _LONGEST:
        raise UsageError(f"{shown!r} is no address of an agent; write it as a2a:http://HOST:PORT.")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            f"The address of the agent at {parts.hostname} holds a password, a query or a fragment, which would be recorded; "
            "give credentials in WORKBENCH_A2A_HEADERS."
        )
    return url


def canonical(agent: str) -> str:
    """Return a remote agent's canonical name: lower-case host, no slash or card path; invalid ones unchanged."""
    try:
        parts = urlsplit(address_of(agent))
    except UsageError:
        return agent
    url = parts._replace(netloc=parts.netloc.lower()).geturl()
    return PREFIX + re.sub(r"/\.well-known/agent(?:-card)?\.json\Z", "", url).rstrip("/")
