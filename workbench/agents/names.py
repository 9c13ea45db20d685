"""The agents that one can choose, without importing any of them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from workbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """An agent's name in sessions and on the command line, with what a person should know of it."""

    name: str
    title: str
    description: str


AGENTS: tuple[AgentInfo, ...] = (
    AgentInfo("white", "White agent", "explores with two tools, at most 15 steps, then writes (AEO-Bench's protocol)"),
    AgentInfo("planner", "Planner", "walks every folder, plans what to read, reads it, then writes"),
    AgentInfo("single-file", "Single file", "baseline: reads one file, then writes"),
    AgentInfo("no-exploration", "No exploration", "baseline: writes from the project's name alone"),
)


def agent_info(name: str) -> AgentInfo:
    """Return what is known of an agent.

    Raises:
        UsageError: There is no such agent; the sentence names the known ones.
    """
    for info in AGENTS:
        if info.name == name:
            return info
    known = [info.name for info in AGENTS]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known agents: {', '.join(known)}."
    raise UsageError(f"There is no agent {name!r}. {hint}")
