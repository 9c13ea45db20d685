"""One conversation of a served agent: the agent of this machine as it is, with the tools of whoever asks.

For each message the agent runs from its first step, with the answers and tool results that there are already, until it calls
a tool whose result nobody has sent yet. So a conversation is plain data, and any agent that uses only its context can be served.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.agents import Submission, make_agent
from workbench.agents.agent_context import AgentContext, Assignment, Step, Turn
from workbench.agents.agent_context import Conversation as Messages
from workbench.agents.protocol import CLOSE, CUT, OPEN, OWN_CLOSINGS, RESPOND
from workbench.agents.tools import Observation, normal
from workbench.models.reasoning import split_reasoning
from workbench.models.types import Answer, Asker, Request
from workbench.repository import View
from workbench.text import one_line

_NAMED = re.compile(r"^[\s>*#-]*(?:project|repository)(?:[ _-]name)?[*\s]*:[*\s]*(\S.*)$", re.I | re.M)
_DESCRIBED = re.compile(r"^[\s>*#-]*(?:project[ _-])?description[*\s]*:[*\s]*(\S.*)$", re.I | re.M)
_RESULT = re.compile(r"\A\s*Tool call result for '[^'\n]*':\n", re.I)
_CLOSING = re.compile(
    rf"\n\n(?:{re.escape(CUT)}[^\n]*|{re.escape(OWN_CLOSINGS.go_on)}|{re.escape(OWN_CLOSINGS.hand_in)})\Z"
)
_LONGEST_DESCRIPTION = 2_000
_NOTHING = "The steps are used up, and there is nothing to hand in."


class _Waiting(BaseException):
    """The agent has called a tool, and waits for what it gives; no ``except Exception`` of an agent may catch it."""


class _NoLog:
    def step(self, step: Step) -> None:
        """Keep nothing: whoever asks records the steps."""


class _NoView(View):
    """The part of a repository that an agent may see: nothing, as the repository is with whoever asks."""

    def __init__(self) -> None:
        super().__init__(Path(os.devnull))


def assignment_in(message: str) -> Assignment:
    """Return the project that a first message is about; of one without names, the message is the description."""
    name, described = _NAMED.search(message), _DESCRIBED.search(message)
    return Assignment(
        one_line(name[1], 120) if name else "the project",
        described[1].strip() if described else message.strip()[:_LONGEST_DESCRIPTION],
    )


def result_in(message: str) -> str:
    """Return a tool's result as it is in a message: without the line before it and the invitation after it."""
    return _CLOSING.sub("", _RESULT.sub("", message, count=1))


def observation_of(tool: str, kwargs: Mapping[str, object], text: str) -> Observation:
    """Return what a tool of somebody else gave, with the paths that it lists or reads."""
    path = kwargs.get("path", "." if tool == "list_directory" else "")
    target = normal(path) if isinstance(path, str) and path.strip() else ""
    if text.startswith("Error:") or tool not in ("list_directory", "read_file"):
        return Observation(text, target or tool)
    if tool == "read_file":
        return Observation(text, target, read=target, size=len(text.encode("utf-8", "surrogatepass")))
    try:
        names, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        names = [line.strip(" -*") for line in text.splitlines()]
    base = "" if target == "." else f"{target}/"
    listed = (
        tuple(base + name for name in names if isinstance(name, str) and name and not name.startswith("… "))
        if isinstance(names, list)
        else ()
    )
    return Observation(text, target, listed=listed)


@dataclass(frozen=True, slots=True)
class Said:
    """What the agent says next, and what its model took for it; ``cost_usd`` is None where no price is known."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None


@dataclass(slots=True)
class Conversation:
    """A conversation of one agent with one client.

    Attributes:
        agent: Name of an agent, see :data:`workbench.agents.AGENTS`, or a dotted path.
        model: The model that it asks.
        recorded: The model whose answers these are where ``model`` is a replay, "" where it is none.
        asker: The gateway.
        scope: Id of the conversation.
        max_steps: Steps after which the agent hands in.
        answer_tokens: Tokens that an answer of the model may have.
    """

    agent: str
    model: str
    asker: Asker
    scope: str
    max_steps: int = 15
    answer_tokens: int = 4096
    recorded: str = ""
    _assignment: Assignment | None = None
    _results: list[str] = field(default_factory=list)
    _answers: dict[tuple[str, int], Answer] = field(default_factory=dict)
    _ended: bool = False
    _gave_up: str = ""

    async def hear(self, message: str) -> Said:
        """Take a message and return what the agent says to it.

        Raises:
            ModelError: Its model gave no answer; the message is as if it had not come.
            UsageError: The agent cannot be made.
        """
        if self._gave_up and not _NAMED.search(message):
            return Said(self._gave_up)
        if self._assignment is None or self._ended:
            # After a submission another message is another task in the same context.
            self._assignment, self._results, self._ended, self._gave_up = assignment_in(message), [], False, ""
            self._answers.clear()
        else:
            self._results.append(result_in(message))
        paid: list[Answer] = []
        context = _Served(self, self._assignment, list(self._results), paid)
        try:
            submission = await make_agent(self.agent).document(context)
            self._ended = True
            # What was said is with whoever asked; a server keeps it no longer than the agent needs it.
            self._results.clear()
            self._answers.clear()
            handed_in = {"readme": submission.readme, "metadata": submission.metadata}
            self._gave_up = "" if submission.parsed else submission.readme or _NOTHING
            text = self._gave_up or context.said or _call(RESPOND, handed_in)
        except _Waiting:
            text = context.said
        except BaseException:
            if self._results:
                self._results.pop()
            else:
                self._assignment = None
            raise
        costs = [one.cost_usd for one in paid]
        return Said(
            text,
            paid[-1].model if paid else "",
            sum(one.usage.prompt_tokens for one in paid),
            sum(one.usage.completion_tokens for one in paid),
            None if not costs or None in costs else sum(cost or 0.0 for cost in costs),
        )


def _call(name: str, kwargs: Mapping[str, object]) -> str:
    return f"{OPEN}{json.dumps({'name': name, 'kwargs': kwargs}, ensure_ascii=False)}{CLOSE}"


class _Served(AgentContext):
    """The context of a served agent: tools give what the client sent, and the first call without a result ends the run."""

    def __init__(self, of: Conversation, assignment: Assignment, results: list[str], paid: list[Answer]) -> None:
        super().__init__(
            assignment,
            _NoView(),
            self,
            _NoLog(),
            model=of.model,
            recorded=of.recorded,
            sample=1,
            scope=of.scope,
            max_steps=of.max_steps,
            answer_tokens=of.answer_tokens,
        )
        self.said = ""
        self._of, self._results, self._paid = of, results, paid
        self._turns: Counter[str] = Counter()

    async def complete(self, request: Request) -> Answer:
        """Return what the model said to this before in the conversation, else ask it."""
        turn = (request.digest, self._turns[request.digest])
        self._turns[request.digest] += 1
        known = self._of._answers.get(turn)
        if known is None:
            known = self._of._answers[turn] = await self._of.asker.complete(request)
            self._paid.append(known)
        return known

    def take(self, conversation: Messages, turn: Turn, *, run_tools: bool = True) -> None:
        """Note the model's own words, which are what the client gets, and go on."""
        self.said = split_reasoning(turn.answer.text).answer
        super().take(conversation, turn, run_tools=run_tools)
        self.said = ""

    def submit(self, turn: Turn) -> Submission:
        """Note the model's own words and submit."""
        self.said = split_reasoning(turn.answer.text).answer
        return super().submit(turn)

    def _observe(self, tool: str, kwargs: Mapping[str, object]) -> Observation:
        if not self._results:
            self.said = self.said or _call(tool, kwargs)
            raise _Waiting
        return observation_of(tool, kwargs, self._results.pop(0))
