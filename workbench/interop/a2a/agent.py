"""An agent of other people over A2A: its server answers, and our tools read for it.

Nothing of HTTP is imported here: the app, which asks for a card, has it read in a process of its own.
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
    from workbench.interop.a2a.peer import PeerAsker

_NEEDED = ("a2a", "starlette", "sse_starlette", "uvicorn")
_PATIENCE = 60.0  # seconds, of which the server has a third


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

    def asker(self, log: CallLog, seconds: float) -> PeerAsker:
        """Return what answers the agent's requests: the agent itself, within so many seconds a message."""
        from workbench.interop.a2a.peer import PeerAsker, PeerLimits

        check_installed()
        return PeerAsker(self.name, log, PeerLimits(seconds))

    def card(self) -> tuple[str, str]:
        """Return what stands for the agent as the model of its trials, and a line about it, from its card.

        WorkbenchError: the extra is missing, or no agent is there.
        """
        check_installed()
        address = address_of(self.name)
        command = [sys.executable, "-m", "workbench.interop.a2a.agent", address]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise WorkbenchError(f"The agent at {address} did not send its card within {_PATIENCE:g} s.") from None
        try:
            answer = json.loads(done.stdout.decode().splitlines()[-1])
            problem, model, words = (str(answer[name]) for name in ("problem", "model", "words"))
        except (ValueError, IndexError, KeyError, TypeError):
            said = last_words(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
            raise WorkbenchError(f"The card of the agent at {address} could not be read ({said}).") from None
        if problem:
            raise WorkbenchError(problem)
        return model, words


def lacking() -> str:
    """Return what lacks of the extra ``a2a``, "" if nothing; nothing of it is imported."""
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        return f"{', '.join(missing)} not installed"
    version = importlib.metadata.version("a2a-sdk")
    return "" if int(version.partition(".")[0] or 0) >= 1 else f"a2a-sdk {version} is too old, 1.0 is needed"


def check_installed() -> None:
    if lacks := lacking():
        raise WorkbenchError(f"A2A needs the extra a2a ({lacks}): pip install 'docs-workbench[a2a]'.")


def main(address: str) -> int:
    from workbench.interop.a2a.card import fetch_card

    answer = {"problem": "", "model": "", "words": ""}
    try:
        card = asyncio.run(fetch_card(address))
        answer |= {"model": card.model, "words": card.words()}
    except WorkbenchError as error:
        answer["problem"] = str(error)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
