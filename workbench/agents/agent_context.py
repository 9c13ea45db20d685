"""The agent's context (model calls, tools, recorded steps) and the inherited steps of a fork."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from workbench.agents.protocol import (
    DOCUMENTING,
    OWN_CLOSINGS,
    RESPOND,
    Action,
    Closings,
    Observation,
    Submission,
    UnusableAnswer,
    edited,
    parse_action,
    problem_message,
    submission_of,
    tool_message,
    use_tool,
)
from workbench.base.errors import WorkbenchError
from workbench.models.types import Answer, Message, ModelClient, ModelError, Request, Sampling
from workbench.repository import View

INHERITED = "inherited"
"""Value of ``Answer.source`` for an answer that a fork reuses from its parent trial at no cost."""


class ForkDiverged(WorkbenchError):
    """The agent sent a request that differs from its parent's within the inherited steps."""


@dataclass(frozen=True, slots=True)
class InheritedAnswer:
    """A recorded answer: its call, the digest of its request, and its text."""

    call: int
    digest: str
    answer: Answer


@dataclass(slots=True)
class Inherited:
    """The inherited steps of a fork. Answers are looked up by request digest, so any agent can be forked."""

    parent: str  # trial ID of the parent
    step: int  # the last inherited step; later steps call the model
    answers: tuple[InheritedAnswer, ...]  # answers up to that step, in order, with the edit applied
    observations: Mapping[int, str] = field(default_factory=dict)  # edited observations by step number
    edited: str = ""  # the edited part of the last inherited step: ``message``, ``observation`` or ""
    edited_call: int | None = None  # number of the call with the replaced answer
    on_reuse: Callable[[int], None] = lambda call: None  # called with the call number of each reused answer
    _unused: dict[str, list[InheritedAnswer]] = field(default_factory=dict)
    _applied: bool = False
    _diverged: bool = False

    def __post_init__(self) -> None:
        for one in self.answers:
            self._unused.setdefault(one.digest, []).append(one)

    def answer(self, request: Request) -> Answer:
        """Return the parent's answer to this request.

        Raises:
            ForkDiverged: No unused answer to the request is recorded.
        """
        waiting = self._unused.get(request.digest)
        if not waiting or self._diverged:
            raise self._diverge("the agent sends a request that is not in the recording")
        found = waiting.pop(0)
        self._applied = self._applied or found.call == self.edited_call
        self.on_reuse(found.call)
        return replace(found.answer, source=INHERITED)

    def observation(self, number: int, text: str) -> str:
        """Return the observation of a step: either ``text`` or its edited replacement."""
        if number not in self.observations:
            return text
        self._applied = self._applied or number == self.step
        return self.observations[number]

    def check(self, number: int) -> None:
        """Check that the last inherited step, which is about to be recorded, includes its edit.

        Raises:
            ForkDiverged: The edit is missing.
        """
        if number == self.step and self.edited and not self._applied:
            raise self._diverge(f"the agent did not repeat step {number}")

    def check_reached(self, steps: int) -> None:
        """Check that the agent reached the last inherited step.

        Raises:
            ForkDiverged: The agent ended before that step.
        """
        if steps < self.step:
            raise self._diverge(f"the agent ended after {steps} of the {self.step} inherited steps")

    def _diverge(self, why: str) -> ForkDiverged:
        self._diverged = True
        return ForkDiverged(
            f"The fork does not start, because the recorded steps of trial {self.parent} cannot be repeated: {why}. "
            "The agent, its prompts or the repository have changed since."
        )


DEFAULT_ANSWER_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One recorded step."""

    number: int  # from 1
    kind: str  # ``tool``, ``respond``, ``invalid``, ``plan`` or ``error``
    action: str  # the tool, ``respond``, or a short description of the problem
    target: str  # the object of the action, such as a path
    answer: Answer | None  # None for a step without a model call
    observation: Observation | None  # the tool's result
    problem: str | None  # why the answer was unusable or missing
    seconds: float  # time from the request to the observation
    request: Request | None
    at: float  # Unix time at the end of the step


class StepLog(Protocol):
    """Stores steps; the engine's implementation writes them to the session."""

    def step(self, step: AgentStep) -> None:
        """Store a step durably before returning."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The project's name and description as the agent receives them; they reveal nothing about the ground truth."""

    name: str
    description: str


class OutOfSteps(Exception):
    """The agent used its last step without submitting."""


@dataclass(slots=True)
class Conversation:
    """The message history sent with every request and the closing sentences of tool messages."""

    messages: list[Message] = field(default_factory=list)
    closings: Closings = OWN_CLOSINGS

    @classmethod
    def begin(cls, system: str, user: str) -> Conversation:
        return cls([Message("system", system), Message("user", user)])

    def add_user(self, text: str) -> None:
        self.messages.append(Message("user", text))

    def add_assistant(self, text: str) -> None:
        self.messages.append(Message("assistant", text))


@dataclass(frozen=True, slots=True)
class Turn:
    """A model's answer and the action parsed from it."""

    request: Request
    answer: Answer
    outcome: Action | UnusableAnswer
    began: float


class AgentSteps:
    """Sends the requests of an agent and records its steps.

    ``scope`` is the work item, and ``sample`` its number among independent ones. ``max_steps`` includes the submission.
    """

    form = DOCUMENTING

    def __init__(
        self,
        model_client: ModelClient,
        log: StepLog,
        *,
        model: str,
        sampling: Sampling,
        sample: int = 0,
        scope: str = "",
        max_steps: int = 15,
        inherited: Inherited | None = None,
    ) -> None:
        self.max_steps = max_steps
        self._model_client = model_client
        self._log = log
        self._model = model
        self._sample = sample
        self._scope = scope
        self._sampling = sampling
        self._number = 0
        self._inherited = inherited

    @property
    def steps_taken(self) -> int:
        return self._number

    @property
    def steps_left(self) -> int:
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
        if self._inherited is not None:
            self._inherited.check(self._number + 1)
        self._number += 1
        self._log.step(
            AgentStep(
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
        """Send the conversation to the model and parse the action in its answer; only the embedded model uses ``grammar``.

        Raises:
            OutOfSteps: No step is left.
            ModelError: The model failed, which is recorded as the trial's last step.
            ForkDiverged: The request differs from the parent's within the inherited steps.
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
        inherited = self._inherited
        try:
            if inherited is not None and self._number < inherited.step:
                answer = inherited.answer(request)
            else:
                answer = await self._model_client.complete(request)
        except ModelError as error:
            self._record("error", error.kind, "", began, request=request, problem=str(error))
            raise
        return Turn(request, answer, parse_action(answer.text, self.form), began)


class AgentContext(AgentSteps):
    """The interface between a documentation agent and the engine.

    ``recorded`` is the recorded model if ``model`` is a replay. ``read_limit`` is the maximum number of characters that
    one tool call returns. ``sampling`` defaults to AEO-Bench's temperature and ``answer_tokens``.
    """

    def __init__(
        self,
        assignment: Assignment,
        view: View,
        model_client: ModelClient,
        log: StepLog,
        *,
        model: str,
        recorded: str = "",
        sample: int = 0,
        scope: str = "",
        max_steps: int = 15,
        read_limit: int = 60_000,
        answer_tokens: int = DEFAULT_ANSWER_TOKENS,
        inherited: Inherited | None = None,
        sampling: Sampling | None = None,
    ) -> None:
        usual = Sampling(temperature=0.3, max_tokens=answer_tokens)
        super().__init__(
            model_client,
            log,
            model=model,
            sampling=usual if sampling is None else sampling,
            sample=sample,
            scope=scope,
            max_steps=max_steps,
            inherited=inherited,
        )
        self.assignment = assignment
        self.view = view
        self.listed: list[str] = []
        self.listed_folders: list[str] = []
        self.read: list[str] = []
        self.texts: dict[str, str] = {}
        self._answering = recorded or model
        self._read_limit = read_limit

    async def act(self, conversation: Conversation, grammar: str | None = None) -> Submission | None:
        """Run one step, and return the submission if the agent submits. Raises the same errors as :meth:`ask`."""
        turn = await self.ask(conversation.messages, grammar)
        if isinstance(turn.outcome, Action) and turn.outcome.name == RESPOND:
            conversation.add_assistant(turn.answer.text)
            return self.submit(turn)
        self.take(conversation, turn)
        return None

    def take(self, conversation: Conversation, turn: Turn, *, run_tools: bool = True) -> None:
        """Run the tool that an answer calls and add the result; without ``run_tools``, a call is an invalid step."""
        conversation.add_assistant(turn.answer.text)
        if isinstance(turn.outcome, Action) and not run_tools:
            turn = replace(turn, outcome=UnusableAnswer("no respond", "It is time to submit with respond."))
        if isinstance(turn.outcome, UnusableAnswer):
            problem = turn.outcome
            if turn.answer.finish_reason == "length" and self._sampling.max_tokens:
                cut = f"It was cut at {self._sampling.max_tokens:,} tokens, the setting answer_tokens."
                problem = replace(problem, sentence=f"{problem.sentence} {cut}")
            self._record("invalid", problem.short, "asked again", turn.began, turn=turn, problem=problem.sentence)
            conversation.add_user(problem_message(problem, self.steps_left))
            return
        observation = self._use(turn.outcome.name, turn.outcome.kwargs.get("path"), turn.outcome)
        self._record("tool", turn.outcome.name, observation.target, turn.began, turn=turn, observation=observation)
        message = tool_message(turn.outcome.name, observation.text, self.steps_left, conversation.closings)
        conversation.add_user(message)

    def submit(self, turn: Turn) -> Submission:
        assert isinstance(turn.outcome, Action)
        submission = submission_of(turn.outcome)
        size = len(submission.readme.encode("utf-8", "surrogatepass"))
        self._record("respond", RESPOND, f"README {size / 1000:.1f} kB", turn.began, turn=turn)
        return submission

    def hand_in(self, submission: Submission, what: str) -> Submission:
        """Record a submission that the agent composed without the model; ``what`` describes it."""
        self._record("respond", RESPOND, what, time.monotonic())
        return submission

    @property
    def is_constrained(self) -> bool:
        """Whether answers follow a grammar, as the embedded model's answers do, live or recorded."""
        return self._answering.startswith("local")

    def note(self, kind: str, action: str, target: str, turn: Turn, problem: str | None = None) -> None:
        """Record a step of any other kind, such as a plan."""
        self._record(kind, action, target, turn.began, turn=turn, problem=problem)

    def use(self, tool: str, path: str) -> Observation:
        """Run a tool without a model call and record it as a step.

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
        observation = self._observe(tool, action.kwargs if action is not None else {"path": path})
        if self._inherited is not None:
            observation = edited(observation, self._inherited.observation(self._number + 1, observation.text))
        if tool == "list_directory" and not observation.failed:
            self.listed_folders.append(observation.target)
            self.listed.extend(item for item in observation.listed if item not in self.listed)
        if observation.read:
            self.read.append(observation.read)
            self.texts[observation.read] = observation.text
        return observation

    def _observe(self, tool: str, kwargs: Mapping[str, object]) -> Observation:
        return use_tool(self.view, tool, kwargs, self._read_limit)
