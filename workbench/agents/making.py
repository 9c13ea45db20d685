"""The interface of agents, and a new one by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from workbench.agents.names import agent_info
from workbench.agents.protocol import Submission
from workbench.base.extensions import load, make

if TYPE_CHECKING:
    from workbench.agents.agent_context import AgentContext


class Agent(Protocol):
    """Documents a repository."""

    name: str

    async def document(self, context: AgentContext) -> Submission:
        """Return the README and metadata; raises :class:`workbench.models.types.ModelError`."""


def make_agent(name: str, folders: Sequence[str] = ()) -> Agent:
    """Return a new agent by name or dotted path, imported from ``folders`` first. UsageError: there is none."""
    agent = make("agent", load("agent", agent_info(name).path, Agent, folders))
    agent.name = name
    return cast(Agent, agent)
