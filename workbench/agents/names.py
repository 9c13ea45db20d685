"""The agents that one can choose, without importing any of them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from workbench.errors import UsageError
from workbench.extensions import is_dotted


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """An agent's name in sessions and on the command line, what a person should know of it, and where its class is."""

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
        "planner",
        "Planner",
        "walks every folder, plans what to read, reads it, then writes",
        "workbench.agents.planner:Planner",
    ),
    AgentInfo(
        "single-file",
        "Single file",
        "baseline: reads one file, then writes",
        "workbench.agents.baselines:SingleFile",
    ),
    AgentInfo(
        "no-exploration",
        "No exploration",
        "baseline: writes from the project's name alone",
        "workbench.agents.baselines:NoExploration",
    ),
)


def agent_info(name: str) -> AgentInfo:
    """Return what is known of an agent; one from outside is known by its dotted path only.

    Raises:
        UsageError: There is no such agent; the sentence names the known ones.
    """
    for info in AGENTS:
        if info.name == name:
            return info
    if is_dotted(name):
        return AgentInfo(name, name.rpartition(":")[2], "an agent of another package", name)
    known = [info.name for info in AGENTS]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known agents: {', '.join(known)}, or package.module:Class."
    raise UsageError(f"There is no agent {name!r}. {hint}")
