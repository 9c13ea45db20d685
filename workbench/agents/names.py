"""The available agents, without importing any of them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from workbench.agents.remote_names import address_of, canonical, is_remote
from workbench.base.errors import UsageError
from workbench.base.extensions import is_dotted
from workbench.base.plugins import names, path_of


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """An agent's name in sessions and on the command line, its description, and where its class is."""

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
        "workbench.agents.fixed_walk:FixedWalk",
    ),
    AgentInfo(
        "single-file", "Single file", "baseline: reads one file, then writes", "workbench.agents.baselines:SingleFile"
    ),
    AgentInfo(
        "no-exploration",
        "No exploration",
        "baseline: writes from the project's name alone",
        "workbench.agents.baselines:NoExploration",
    ),
)


ALIASES = {"planner": "planner-2"}
"""What a person may call an agent -> its name; in older sessions ``planner`` is the fixed walk."""
_FORMER = {"planner": "planner-1"}


def current_name(name: str) -> str:
    """Return the present name of an agent, of a plug-in its dotted path."""
    if is_remote(name):
        return canonical(name)
    if name in ALIASES or is_dotted(name) or any(info.name == name for info in AGENTS):
        return ALIASES.get(name, name)
    return path_of("agent", name) or name


def agent_info(name: str) -> AgentInfo:
    """Return what is known of an agent, of one from outside only its path or address. Raises UsageError."""
    # A recorded name stays what it was: a trial is resumed, forked and run again by the agent that began it.
    name = _FORMER.get(name, name)
    if is_remote(name):
        about = f"the agent at {address_of(name)}, over A2A; the tools stay ours"
        return AgentInfo(name, "Remote agent", about, "workbench.agents.remote:RemoteAgent")
    for info in AGENTS:
        if info.name == name:
            return info
    if is_dotted(name):
        return AgentInfo(name, name.rpartition(":")[2], "an agent of another package", name)
    if path := path_of("agent", name):
        return AgentInfo(path, name, "an agent of an installed package", path)
    known = [*(info.name for info in AGENTS), *names("agent")]
    near = difflib.get_close_matches(name, known, 1)
    hint = (
        f"Did you mean {near[0]!r}?" if near else f"Known agents: {', '.join(known)}, a2a:URL or package.module:Class."
    )
    raise UsageError(f"There is no agent {name!r}. {hint}")
