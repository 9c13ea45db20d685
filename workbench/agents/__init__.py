"""The agents under test, their tools and their wire protocol.

An agent is a class with a ``name`` and ``async document(desk) -> Submission``; the :class:`Desk` asks the model, uses the
tools and records every step. To add one: write the class, add it to :data:`_CLASSES` and to
:data:`workbench.agents.names.AGENTS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.agents.names import AGENTS, AgentInfo, agent_info
from workbench.agents.protocol import Submission

if TYPE_CHECKING:
    from workbench.agents.desk import Desk

__all__ = ["AGENTS", "Agent", "AgentInfo", "Submission", "agent_info", "make_agent"]


class Agent(Protocol):
    """Whoever documents a repository."""

    name: str

    async def document(self, desk: Desk) -> Submission:
        """Return the README and metadata; raises :class:`workbench.models.types.ModelError`."""
        ...


def make_agent(name: str) -> Agent:
    """Return the agent called ``name``.

    Raises:
        UsageError: There is none.
    """
    from workbench.agents.baselines import NoExploration, SingleFile
    from workbench.agents.planner import Planner
    from workbench.agents.white import WhiteAgent

    agent_info(name)
    classes: dict[str, type[Agent]] = {
        "white": WhiteAgent,
        "planner": Planner,
        "single-file": SingleFile,
        "no-exploration": NoExploration,
    }
    return classes[name]()
