"""A remote agent over A2A: its server answers, and our tools read for it."""

from __future__ import annotations

from workbench.agents.agent_context import AgentContext, Conversation, OutOfSteps
from workbench.agents.protocol import PEER_CLOSINGS, Submission, first_message
from workbench.models.types import Message


class RemoteAgent:
    """Sends the task, runs the tools that the agent calls, and sends it their results, until it submits."""

    name = "a2a"

    async def document(self, context: AgentContext) -> Submission:
        """Return the submission; an empty, unparsed one if the agent never submitted."""
        # It has a system prompt of its own: AEO-Bench sends none.
        first = first_message(context.assignment.name, context.assignment.description)
        conversation = Conversation([Message("user", first)], PEER_CLOSINGS)
        try:
            while True:
                submission = await context.act(conversation)
                if submission is not None:
                    return submission
        except OutOfSteps:
            return Submission()
