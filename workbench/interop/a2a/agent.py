"""A remote agent over A2A: its server answers, and the workbench runs its tool calls.

This module imports no HTTP client. Cards are fetched in a subprocess, which keeps the imports out of the app.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from typing import TYPE_CHECKING

from workbench.agents.agent_context import AgentContext, Conversation, OutOfSteps
from workbench.agents.names import address_of
from workbench.agents.protocol import PEER_CLOSINGS, Submission, first_message
from workbench.base.errors import WorkbenchError
from workbench.base.reasons import last_words
from workbench.models.types import CallLog, Message

if TYPE_CHECKING:
    from workbench.interop.a2a.peer import PeerClient

_NEEDED = ("a2a", "starlette", "sse_starlette", "uvicorn")
_CARD_TIMEOUT = 60.0  # seconds for the subprocess; the server may use a third of them


class RemoteAgent:
    """Sends the task and the results of the agent's tool calls until the agent submits."""

    name = "a2a"

    async def document(self, context: AgentContext) -> Submission:
        """Return the submission, or an empty, unparsed one if the agent never submitted."""
        # The remote agent has its own system prompt; AEO-Bench does not send one.
        first = first_message(context.assignment.name, context.assignment.description)
        conversation = Conversation([Message("user", first)], PEER_CLOSINGS)
        try:
            while True:
                submission = await context.act(conversation)
                if submission is not None:
                    return submission
        except OutOfSteps:
            return Submission()

    def model_client(self, log: CallLog, seconds: float) -> PeerClient:
        """Return the client that sends messages to the agent, each limited to ``seconds``."""
        from workbench.interop.a2a.peer import PeerClient, PeerLimits

        check_installed()
        return PeerClient(self.name, log, PeerLimits(seconds))

    def card(self) -> tuple[str, str]:
        """Fetch the card; return the model name for the agent's trials, and a one-line summary.

        Raises WorkbenchError if the extra is not installed or there is no agent at the address.
        """
        check_installed()
        address = address_of(self.name)
        command = [sys.executable, "-m", "workbench.interop.a2a.agent", address]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=_CARD_TIMEOUT, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise WorkbenchError(f"The agent at {address} did not send its card within {_CARD_TIMEOUT:g} s.") from None
        try:
            answer = json.loads(done.stdout.decode().splitlines()[-1])
            problem, model, summary = (str(answer[name]) for name in ("problem", "model", "summary"))
        except (ValueError, IndexError, KeyError, TypeError):
            output = last_words(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
            raise WorkbenchError(f"The card of the agent at {address} could not be read ({output}).") from None
        if problem:
            raise WorkbenchError(problem)
        return model, summary


def missing_packages() -> str:
    """Return the missing packages of the extra ``a2a`` ("" if none), without importing it."""
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        return f"{', '.join(missing)} not installed"
    version = importlib.metadata.version("a2a-sdk")
    return "" if int(version.partition(".")[0] or 0) >= 1 else f"a2a-sdk {version} is too old, 1.0 is needed"


def check_installed() -> None:
    if missing := missing_packages():
        raise WorkbenchError(f"A2A needs the extra a2a ({missing}): pip install 'docs-workbench[a2a]'.")


def main(address: str) -> int:
    from workbench.interop.a2a.card import fetch_card

    answer = {"problem": "", "model": "", "summary": ""}
    try:
        card = asyncio.run(fetch_card(address))
        answer |= {"model": card.model, "summary": card.summary()}
    except WorkbenchError as error:
        answer["problem"] = str(error)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
