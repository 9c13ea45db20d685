"""The agents, looked up by name, address or dotted path without importing them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import urlsplit

from workbench.base.errors import UsageError
from workbench.base.extensions import is_dotted, load, make, names, path_of, plugin_named
from workbench.base.text import one_line

if TYPE_CHECKING:
    from workbench.agents.agent_context import AgentContext
    from workbench.agents.protocol import Submission


class Agent(Protocol):
    """Documents a repository."""

    name: str

    async def document(self, context: AgentContext) -> Submission:
        """Return the README and metadata.

        Raises:
            workbench.models.types.ModelError: The model failed.
        """


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """An agent's name in sessions and on the command line, its description, and the dotted path of its class."""

    name: str
    title: str
    description: str
    path: str


AGENTS: tuple[AgentInfo, ...] = (
    AgentInfo(
        "white",
        "White agent",
        "explores with two tools, at most 15 steps, then writes (AEO-Bench's protocol)",
        "workbench.agents.white:WhiteAgent",
    ),
    AgentInfo(
        "planner-2",
        "Planner",
        "walks all folders, then reads, then writes to a fixed structure; each step is the model's (AEO-Bench's planner)",
        "workbench.agents.planner:Planner",
    ),
    AgentInfo(
        "planner-1",
        "Fixed walk",
        "lists six folders at most, lets the model name five files, reads them, then writes",
        "workbench.agents.planner:FixedWalk",
    ),
    AgentInfo(
        "single-file", "Single file", "baseline: reads one file, then writes", "workbench.agents.white:SingleFile"
    ),
    AgentInfo(
        "no-exploration",
        "No exploration",
        "baseline: writes from the project's name alone",
        "workbench.agents.white:NoExploration",
    ),
)


ALIASES = {"planner": "planner-2"}
"""Accepted alternative names; in older sessions, ``planner`` is the fixed walk."""
_FORMER = {"planner": "planner-1"}


def current_name(name: str) -> str:
    """Return the canonical name of an agent, which is the dotted path for a plug-in."""
    if is_remote(name):
        return canonical(name)
    if name in ALIASES or is_dotted(name) or any(info.name == name for info in AGENTS):
        return ALIASES.get(name, name)
    return path_of("agent", name) or name


def agent_info(name: str) -> AgentInfo:
    """Return an agent by name, path or address.

    Raises:
        UsageError: The agent is unknown.
    """
    # Recorded names keep their meaning, so a trial is resumed, forked and rerun with the agent that started it.
    name = _FORMER.get(name, name)
    if is_remote(name):
        about = f"the agent at {address_of(name)}, over A2A, with the workbench's tools"
        plugin = plugin_named("agent", PREFIX.rstrip(":"))
        return AgentInfo(name, "Remote agent", about, plugin.path if plugin else "")
    for info in AGENTS:
        if info.name == name:
            return info
    if is_dotted(name):
        return AgentInfo(name, name.rpartition(":")[2], "an agent from another package", name)
    if path := path_of("agent", name):
        return AgentInfo(path, name, "an agent from an installed package", path)
    known = [*(info.name for info in AGENTS), *names("agent")]
    near = difflib.get_close_matches(name, known, 1)
    hint = (
        f"Did you mean {near[0]!r}?" if near else f"Known agents: {', '.join(known)}, a2a:URL or package.module:Class."
    )
    raise UsageError(f"There is no agent {name!r}. {hint}")


def make_agent(name: str, folders: Sequence[str] = ()) -> Agent:
    """Create an agent by name or dotted path; ``folders`` are put first on the import path.

    Raises:
        UsageError: The agent cannot be created.
    """
    agent = make("agent", load("agent", agent_info(name).path, Agent, folders))
    agent.name = name
    return cast(Agent, agent)


# -- remote agents (A2A), and the models of their trials

PREFIX = "a2a:"
"""Prefix of a remote agent's name, followed by the address of its server."""
PEER_MODEL = "a2a/"
"""Prefix of the model name in a remote agent's trials: ``a2a/NAME@VERSION#DIGEST``, taken from its card."""
_LONGEST = 500


def is_remote(agent: str) -> bool:
    return agent.startswith(PREFIX)


def is_peer(model: str) -> bool:
    """Return whether ``model`` names a remote agent, which uses its own model."""
    return model.startswith(PEER_MODEL)


def address_of(agent: str) -> str:
    """Return a remote agent's address.

    Raises:
        UsageError: It is not the address of a server, or it contains credentials.
    """
    url = agent.removeprefix(PREFIX)
    shown = one_line(url, 80)
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or not url.isprintable() or " " in url or len(url) > _LONGEST:
        raise UsageError(f"{shown!r} is not the address of an agent; write it as a2a:http://HOST:PORT.")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            f"The address of the agent at {parts.hostname} contains a password, a query or a fragment, which would be recorded; "
            "set credentials in WORKBENCH_A2A_HEADERS."
        )
    return url


def canonical(agent: str) -> str:
    """Return a remote agent's canonical name (lower-case host, no slash or card path), or an invalid name unchanged."""
    try:
        parts = urlsplit(address_of(agent))
    except UsageError:
        return agent
    url = parts._replace(netloc=parts.netloc.lower()).geturl()
    return PREFIX + re.sub(r"/\.well-known/agent(?:-card)?\.json\Z", "", url).rstrip("/")
