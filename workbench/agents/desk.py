"""The desk at which an agent works: it asks the model, uses the tools, counts the steps, and every step is recorded."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workbench.agents.protocol import (
    RESPOND,
    Action,
    Problem,
    Submission,
    parse_action,
    problem_message,
    submission_of,
    tool_message,
)
from workbench.agents.tools import Observation, use_tool
from workbench.models.types import Answer, Message, ModelError, Request, Sampling
from workbench.repository import View


class Asker(Protocol):
    """Whoever answers requests: the gateway."""

    async def complete(self, request: Request) -> Answer:
        """Return the answer; raises :class:`ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded step.

    Attributes:
        number: 1, 2, …
        kind: ``tool``, ``respond``, ``invalid``, ``plan`` or ``error``.
        action: The tool, ``respond``, or what was wrong in a few words.
        target: What it was applied to.
        answer: The model's answer, None for a step without a model.
        observation: What the tool gave, None if no tool was used.
        problem: Why the answer could not be used, or why there is none.
        seconds: From asking to having the observation.
        request: What was asked, None for a step without a model.
        at: Unix time at which the step was finished.
    """

    number: int
    kind: str
    action: str
    target: str
    answer: Answer | None
    observation: Observation | None
    problem: str | None
    seconds: float
    request: Request | None
    at: float


class StepLog(Protocol):
    """Where steps are kept; the engine writes them into the session."""

    def step(self, step: Step) -> None:
        """Keep a step; when this returns it is safe."""
        ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the agent is told of the project; nothing of the ground truth."""

    name: str
    description: str


class OutOfSteps(Exception):
    """The agent has used its last step without handing in."""


@dataclass(slots=True)
class Conversation:
    """The messages so far; the model is sent all of them each time."""

    messages: list[Message] = field(default_factory=list)

    @classmethod
    def begin(cls, system: str, user: str) -> Conversation:
        """Return a conversation with its system prompt and first message."""
        return cls([Message("system", system), Message("user", user)])

    def say(self, text: str) -> None:
        """Add a message to the agent."""
        self.messages.append(Message("user", text))

    def answered(self, text: str) -> None:
        """Add the agent's answer."""
        self.messages.append(Message("assistant", text))


@dataclass(frozen=True, slots=True)
class Turn:
    """A model's answer and what was read out of it."""

    request: Request
    answer: Answer
    outcome: Action | Problem
    began: float


class Desk:
    """What an agent works with.

    Args:
        assignment: What it is told.
        view: What it may see.
        asker: Who answers its requests.
        log: Where its steps go.
        model: The model's name.
        sample: Repeat of the trial, so that repeats are independent samples.
        scope: Identity of the trial.
        max_steps: Steps after which it must have handed in.
        read_limit: Characters of a file that a read returns at most.
        sampling: How answers are drawn; AEO-Bench uses a temperature of 0.3.
    """

    def __init__(
        self,
        assignment: Assignment,
        view: View,
        asker: Asker,
        log: StepLog,
        *,
        model: str,
        sample: int = 0,
        scope: str = "",
        max_steps: int = 15,
        read_limit: int = 60_000,
        sampling: Sampling = Sampling(temperature=0.3, max_tokens=4096),  # noqa: B008  frozen
    ) -> None:
        self.assignment = assignment
        self.view = view
        self.max_steps = max_steps
        self.listed: list[str] = []
        self.listed_folders: list[str] = []
        self.read: list[str] = []
        self.texts: dict[str, str] = {}
        self._asker = asker
        self._log = log
        self._model = model
        self._sample = sample
        self._scope = scope
        self._read_limit = read_limit
        self._sampling = sampling
        self._number = 0

    @property
    def steps_left(self) -> int:
        """Return how many steps remain."""
        return self.max_steps - self._number

    def _record(
        self,
        kind: str,
        action: str,
        target: str,
        began: float,
        *,
        turn: Turn | None = None,
        request: Request | None = None,
        observation: Observation | None = None,
        problem: str | None = None,
    ) -> None:
        self._number += 1
        self._log.step(
            Step(
                number=self._number,
                kind=kind,
                action=action,
                target=target,
                answer=turn.answer if turn else None,
                observation=observation,
                problem=problem,
                seconds=time.monotonic() - began,
                request=turn.request if turn else request,
                at=time.time(),
            )
        )

    async def ask(self, messages: Sequence[Message], grammar: str | None = None) -> Turn:
        """Send a conversation to the model and read the action out of its answer.

        Args:
            messages: The whole conversation.
            grammar: What a small model is constrained to say; other models never see it.

        Raises:
            OutOfSteps: No step is left.
            ModelError: There was no answer; the failure is recorded as the trial's last step.
        """
        if self.steps_left <= 0:
            raise OutOfSteps
        began = time.monotonic()
        request = Request(
            self._model,
            tuple(messages),
            "agent",
            self._sampling,
            sample=self._sample,
            scope=self._scope,
            grammar=grammar,
        )
        try:
            answer = await self._asker.complete(request)
        except ModelError as error:
            self._record("error", error.kind, "", began, request=request, problem=str(error))
            raise
        return Turn(request, answer, parse_action(answer.text), began)

    async def act(self, conversation: Conversation, grammar: str | None = None) -> Submission | None:
        """Do one step: ask, use the tool that was asked for, and put its result into the conversation.

        Returns:
            The submission if the agent handed in, else None.

        Raises:
            OutOfSteps: No step is left.
            ModelError: There was no answer.
        """
        turn = await self.ask(conversation.messages, grammar)
        conversation.answered(turn.answer.text)
        if isinstance(turn.outcome, Problem):
            self._record(
                "invalid", turn.outcome.short, "asked again", turn.began, turn=turn, problem=turn.outcome.sentence
            )
            conversation.say(problem_message(turn.outcome, self.steps_left))
            return None
        if turn.outcome.name == RESPOND:
            return self.hand_in(turn)
        observation = self._use(turn.outcome.name, turn.outcome.kwargs.get("path"), turn.outcome)
        self._record("tool", turn.outcome.name, observation.target, turn.began, turn=turn, observation=observation)
        conversation.say(tool_message(turn.outcome.name, observation.text, self.steps_left))
        return None

    def hand_in(self, turn: Turn) -> Submission:
        """Record the answer as the trial's submission."""
        assert isinstance(turn.outcome, Action)
        submission = submission_of(turn.outcome)
        size = len(submission.readme.encode("utf-8", "surrogatepass"))
        self._record("respond", RESPOND, f"README {size / 1000:.1f} kB", turn.began, turn=turn)
        return submission

    def note(self, kind: str, action: str, target: str, turn: Turn, problem: str | None = None) -> None:
        """Record a step of another kind, such as a plan."""
        self._record(kind, action, target, turn.began, turn=turn, problem=problem)

    def use(self, tool: str, path: str) -> Observation:
        """Use a tool without asking a model; recorded as a step.

        Raises:
            OutOfSteps: No step is left.
        """
        if self.steps_left <= 0:
            raise OutOfSteps
        began = time.monotonic()
        observation = self._use(tool, path, None)
        self._record("tool", tool, observation.target, began, observation=observation)
        return observation

    def _use(self, tool: str, path: object, action: Action | None) -> Observation:
        kwargs = action.kwargs if action is not None else {"path": path}
        observation = use_tool(self.view, tool, kwargs, self._read_limit)
        if tool == "list_directory" and not observation.failed:
            self.listed_folders.append(observation.target)
            self.listed.extend(item for item in observation.listed if item not in self.listed)
        if observation.read:
            self.read.append(observation.read)
            self.texts[observation.read] = observation.text
        return observation
