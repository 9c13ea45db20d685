"""``serve-agent``: a local agent as an A2A server, with one conversation per context."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import AgentSkill, Message, Part, Role, Task, TaskState, TaskStatus
from starlette.types import ASGIApp

from workbench.agents import Submission, agent_info, make_agent
from workbench.agents.agent_context import AgentContext, AgentStep, Assignment, Conversation, Turn
from workbench.agents.names import is_remote
from workbench.agents.protocol import CLOSE, CUT, OPEN, OWN_CLOSINGS, RESPOND, Observation, normal
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.settings import Settings
from workbench.base.text import one_line
from workbench.engine.records import SessionReplay, recorded_model
from workbench.interop.a2a.listening import ListenAddress, app_for, card_for
from workbench.models import CallLimits, Gateway
from workbench.models.reasoning import split_reasoning
from workbench.models.types import Answer, CallRecord, ModelClient, Request
from workbench.plans.plan import DocumentPlan
from workbench.repository import View

_NAMED = re.compile(r"^[\s>*#-]*(?:project|repository)(?:[ _-]name)?[*\s]*:[*\s]*(\S.*)$", re.I | re.M)
_DESCRIBED = re.compile(r"^[\s>*#-]*(?:project[ _-])?description[*\s]*:[*\s]*(\S.*)$", re.I | re.M)
_RESULT = re.compile(r"\A\s*Tool call result for '[^'\n]*':\n", re.I)
_CLOSING = re.compile(
    rf"\n\n(?:{re.escape(CUT)}[^\n]*|{re.escape(OWN_CLOSINGS.go_on)}|{re.escape(OWN_CLOSINGS.hand_in)})\Z"
)
_LONGEST_DESCRIPTION = 2_000
_NOTHING = "The steps are used up without a submission."


class _AwaitingResult(BaseException):
    """The agent is waiting for a tool result from the client. It is not an Exception, so that no agent catches it."""


class _NoLog:
    """Discards steps and answers, which the client records itself."""

    def step(self, step: AgentStep) -> None: ...

    def recall(self, request: Request, nth: int) -> Answer | None: ...

    def record(self, call: CallRecord) -> None: ...


class _NoView(View):
    """An empty view, because the repository is on the client's side."""

    def __init__(self) -> None:
        super().__init__(Path(os.devnull))


def assignment_in(message: str) -> Assignment:
    """Parse a first message; without the usual fields, the entire message is the description."""
    name, described = _NAMED.search(message), _DESCRIBED.search(message)
    return Assignment(
        one_line(name[1], 120) if name else "the project",
        described[1].strip() if described else message.strip()[:_LONGEST_DESCRIPTION],
    )


def result_in(message: str) -> str:
    """Return the tool result in a message, without the first and last lines that AEO-Bench adds."""
    return _CLOSING.sub("", _RESULT.sub("", message, count=1))


def observation_of(tool: str, kwargs: Mapping[str, object], text: str) -> Observation:
    """Return the result of a client's tool, with the paths that the tool listed or read."""
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
class ServedAnswer:
    """The agent's next message and its model's usage; ``cost_usd`` is None if the price is unknown."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None


@dataclass(slots=True)
class ServedConversation:
    """A conversation of one agent with one client; ``recorded`` is the recorded model of a replay, or ""."""

    agent: str
    model: str
    client: ModelClient
    scope: str
    max_steps: int = 15
    answer_tokens: int = 4096
    recorded: str = ""
    _assignment: Assignment | None = None
    _results: list[str] = field(default_factory=list)
    _answers: dict[tuple[str, int], Answer] = field(default_factory=dict)
    _ended: bool = False
    _gave_up: str = ""

    async def reply(self, message: str) -> ServedAnswer:
        """Return the agent's answer to a message.

        If an error such as ModelError occurs, the message is removed again.
        """
        if self._gave_up and not _NAMED.search(message):
            return ServedAnswer(self._gave_up)
        if self._assignment is None or self._ended:
            # A message after a submission starts a new task in the same context.
            self._assignment, self._results, self._ended, self._gave_up = assignment_in(message), [], False, ""
            self._answers.clear()
        else:
            self._results.append(result_in(message))
        paid: list[Answer] = []
        context = _ServedContext(self, self._assignment, list(self._results), paid)
        try:
            submission = await make_agent(self.agent).document(context)
            self._ended = True
            # The client has the answer, so the server keeps messages only as long as the agent needs them.
            self._results.clear()
            self._answers.clear()
            submitted = {"readme": submission.readme, "metadata": submission.metadata}
            self._gave_up = "" if submission.parsed else submission.readme or _NOTHING
            text = self._gave_up or context.message or _call(RESPOND, submitted)
        except _AwaitingResult:
            text = context.message
        except BaseException:
            if self._results:
                self._results.pop()
            else:
                self._assignment = None
            raise
        costs = [one.cost_usd for one in paid]
        return ServedAnswer(
            text,
            paid[-1].model if paid else "",
            sum(one.usage.prompt_tokens for one in paid),
            sum(one.usage.completion_tokens for one in paid),
            None if not costs or None in costs else sum(cost or 0.0 for cost in costs),
        )


def _call(name: str, kwargs: Mapping[str, object]) -> str:
    return f"{OPEN}{json.dumps({'name': name, 'kwargs': kwargs}, ensure_ascii=False)}{CLOSE}"


class _ServedContext(AgentContext):
    """Replays the conversation: tools return the client's results, and the first call without a result ends the run."""

    def __init__(self, of: ServedConversation, assignment: Assignment, results: list[str], paid: list[Answer]) -> None:
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
        self.message = ""
        self._of, self._results, self._paid = of, results, paid
        self._turns: Counter[str] = Counter()

    async def complete(self, request: Request) -> Answer:
        """Return the model's earlier answer in this conversation, or call the model."""
        key = (request.digest, self._turns[request.digest])
        self._turns[request.digest] += 1
        known = self._of._answers.get(key)
        if known is None:
            known = self._of._answers[key] = await self._of.client.complete(request)
            self._paid.append(known)
        return known

    def take(self, conversation: Conversation, turn: Turn, *, run_tools: bool = True) -> None:
        """Store the model's own text, which the client receives."""
        self.message = split_reasoning(turn.answer.text).answer
        super().take(conversation, turn, run_tools=run_tools)
        self.message = ""

    def submit(self, turn: Turn) -> Submission:
        self.message = split_reasoning(turn.answer.text).answer
        return super().submit(turn)

    def _observe(self, tool: str, kwargs: Mapping[str, object]) -> Observation:
        if not self._results:
            self.message = self.message or _call(tool, kwargs)
            raise _AwaitingResult
        return observation_of(tool, kwargs, self._results.pop(0))


SKILL = AgentSkill(
    id="generate_documentation",
    name="Generate documentation",
    description="Explores a repository with list_directory and read_file, which the client runs, and submits a README with metadata.",
    tags=["documentation", "readme", "aeo-bench"],
    examples=["Document this project.\n\nProject: word_counter\nDescription: A command line tool."],
)
_MOST_CONVERSATIONS = 200  # The least recently used conversation is dropped.


def gateway_for(plan: DocumentPlan, settings: Settings) -> Gateway:
    """Return the gateway of a served agent, which does not write to disk."""
    limits = CallLimits(
        concurrency=settings.concurrency,
        timeout_s=settings.request_timeout,
        total_s=settings.request_total_time,
        tries=settings.max_tries,
        spend_usd=plan.spend_limit or None,
    )
    return Gateway(
        _NoLog(),
        limits,
        replay=lambda name: SessionReplay(Path(name)),
        base_url=settings.base_url,
        local_model_path=settings.local_model_path,
    )


def check_servable(agent: str) -> None:
    """Raise UsageError for an agent that is unknown or that reads the repository without using its tools."""
    info = agent_info(agent)
    if is_remote(agent):
        raise UsageError(f"{info.name} is already served; use its address directly.")
    if info.name == "single-file":
        raise UsageError("The agent single-file chooses its file without a tool, so it cannot be served; use white.")


@dataclass(slots=True)
class _OpenConversation:
    conversation: ServedConversation
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ServedAgent(AgentExecutor):  # type: ignore[misc]
    """Answers up to ``concurrency`` messages at a time; ``new`` creates the conversation for a context id."""

    def __init__(self, new: Callable[[str], ServedConversation], concurrency: int) -> None:
        self._new = new
        self._slots = asyncio.Semaphore(concurrency)
        self._open: OrderedDict[str, _OpenConversation] = OrderedDict()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer one message, or report a failed task and its reason."""
        key = context.context_id or str(uuid4())
        opened = self._open.setdefault(key, _OpenConversation(self._new(key)))
        self._open.move_to_end(key)
        while len(self._open) > _MOST_CONVERSATIONS:
            self._open.popitem(last=False)
        try:
            async with opened.lock, self._slots:
                answer = await opened.conversation.reply(context.get_user_input())
        except WorkbenchError as error:
            print(one_line(f"No answer: {error}", 500), file=sys.stderr, flush=True)
            words = _without_path(str(error), opened.conversation.model)
            status = TaskStatus(state=TaskState.TASK_STATE_FAILED, message=_message(ServedAnswer(words), key))
            task = str(context.task_id or uuid4())
            await event_queue.enqueue_event(Task(id=task, context_id=key, status=status))
            return
        await event_queue.enqueue_event(_message(answer, key))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do nothing, because abandoned answers are discarded anyway."""


def _without_path(sentence: str, model: str) -> str:
    """Remove the path of a replayed session, which clients need not know."""
    path = model.removeprefix("replay:")
    return sentence.replace(path, "of the replay") if path != model else sentence


def _message(answer: ServedAnswer, context: str) -> Message:
    message = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, context_id=context, parts=[Part(text=answer.text)])
    if answer.model:
        usage: dict[str, object] = {
            "model": answer.model,
            "prompt_tokens": answer.prompt_tokens,
            "completion_tokens": answer.completion_tokens,
        }
        usage |= {"cost_usd": answer.cost_usd} if answer.cost_usd is not None else {}
        message.metadata.update({"workbench": usage})
    return message


def agent_app(plan: DocumentPlan, address: ListenAddress, client: ModelClient, concurrency: int) -> ASGIApp:
    first = ServedConversation(
        plan.agent,
        plan.model,
        client,
        "",
        max_steps=plan.max_steps,
        answer_tokens=plan.answer_tokens or 4096,
        recorded=recorded_model(plan.model),
    )
    name = "aeo_white_agent" if plan.agent == "white" else f"workbench_{plan.agent}"
    description = f"The documentation agent {plan.agent} of the Workbench; model: {plan.model.partition(':')[0]}."
    card = card_for(name, description, SKILL, address.url, streaming=True)
    return app_for(card, ServedAgent(lambda key: replace(first, scope=key), concurrency), address.token)
