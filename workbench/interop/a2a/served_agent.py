"""``serve-agent``: an agent of this machine as an A2A server, one conversation per context."""

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
from workbench.agents.agent_context import AgentContext, Assignment, Conversation, Step, Turn
from workbench.agents.names import is_remote
from workbench.agents.protocol import CLOSE, CUT, OPEN, OWN_CLOSINGS, RESPOND, Observation, normal
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.settings import Settings
from workbench.base.text import one_line
from workbench.engine.records import SessionReplay, recorded_model
from workbench.interop.a2a.listening import ListenAddress, app_for, card_for
from workbench.models import CallLimits, Gateway
from workbench.models.reasoning import split_reasoning
from workbench.models.types import Answer, Asker, CallRecord, Request
from workbench.plans.plan import DocumentPlan
from workbench.repository import View

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
    """Whoever asks records the steps and the answers."""

    def step(self, step: Step) -> None: ...

    def recall(self, request: Request, nth: int) -> Answer | None: ...

    def record(self, call: CallRecord) -> None: ...


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
class ServedConversation:
    """A conversation of one agent with one client; ``recorded`` is the model whose answers are replayed, "" where none are."""

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
        """Return what the agent says to a message; where it raises, by a ModelError of its model, the message is as if it had not come."""
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

    def take(self, conversation: Conversation, turn: Turn, *, run_tools: bool = True) -> None:
        """Note the model's own words, which are what the client gets, and go on."""
        self.said = split_reasoning(turn.answer.text).answer
        super().take(conversation, turn, run_tools=run_tools)
        self.said = ""

    def submit(self, turn: Turn) -> Submission:
        self.said = split_reasoning(turn.answer.text).answer
        return super().submit(turn)

    def _observe(self, tool: str, kwargs: Mapping[str, object]) -> Observation:
        if not self._results:
            self.said = self.said or _call(tool, kwargs)
            raise _Waiting
        return observation_of(tool, kwargs, self._results.pop(0))


SKILL = AgentSkill(
    id="generate_documentation",
    name="Generate documentation",
    description="Explores a repository with list_directory and read_file, which the client runs, and hands in a README with metadata.",
    tags=["documentation", "readme", "aeo-bench"],
    examples=["Document this project.\n\nProject: word_counter\nDescription: A command line tool."],
)
_MOST_CONVERSATIONS = 200  # kept at once; the one that was quiet longest is forgotten


def gateway_for(plan: DocumentPlan, settings: Settings) -> Gateway:
    """Return the gateway that a served agent asks; nothing of it is written to disk."""
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
    """Raise UsageError for an agent that is not there, or that looks into the repository without its tools."""
    info = agent_info(agent)
    if is_remote(agent):
        raise UsageError(f"{info.name} is served already; name its address where it is asked.")
    if info.name == "single-file":
        raise UsageError("The agent single-file chooses its file without a tool, so it cannot be served; white can.")


@dataclass(slots=True)
class _Kept:
    conversation: ServedConversation
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class ServedAgent(AgentExecutor):  # type: ignore[misc]
    """Answers messages, ``at_once`` at the same time, by conversations with an agent of this machine that ``new`` makes by their ids."""

    def __init__(self, new: Callable[[str], ServedConversation], at_once: int) -> None:
        self._new = new
        self._places = asyncio.Semaphore(at_once)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer one message with one message, or with a failed task that says why there is none."""
        key = context.context_id or str(uuid4())
        kept = self._kept.setdefault(key, _Kept(self._new(key)))
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_CONVERSATIONS:
            self._kept.popitem(last=False)
        try:
            async with kept.turn, self._places:
                said = await kept.conversation.hear(context.get_user_input())
        except WorkbenchError as error:
            print(one_line(f"No answer: {error}", 500), file=sys.stderr, flush=True)
            words = _without_place(str(error), kept.conversation.model)
            status = TaskStatus(state=TaskState.TASK_STATE_FAILED, message=_message(Said(words), key))
            task = str(context.task_id or uuid4())
            await event_queue.enqueue_event(Task(id=task, context_id=key, status=status))
            return
        await event_queue.enqueue_event(_message(said, key))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing to do: an answer that is not waited for any more is thrown away."""


def _without_place(sentence: str, model: str) -> str:
    """Return a sentence without the path of a recording, which is nobody else's business."""
    path = model.removeprefix("replay:")
    return sentence.replace(path, "that is replayed") if path != model else sentence


def _message(said: Said, context: str) -> Message:
    message = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, context_id=context, parts=[Part(text=said.text)])
    if said.model:
        told: dict[str, object] = {
            "model": said.model,
            "prompt_tokens": said.prompt_tokens,
            "completion_tokens": said.completion_tokens,
        }
        told |= {"cost_usd": said.cost_usd} if said.cost_usd is not None else {}
        message.metadata.update({"workbench": told})
    return message


def agent_app(plan: DocumentPlan, place: ListenAddress, asker: Asker, at_once: int) -> ASGIApp:
    first = ServedConversation(
        plan.agent,
        plan.model,
        asker,
        "",
        max_steps=plan.max_steps,
        answer_tokens=plan.answer_tokens or 4096,
        recorded=recorded_model(plan.model),
    )
    name = "aeo_white_agent" if plan.agent == "white" else f"workbench_{plan.agent}"
    description = f"The documentation agent {plan.agent} of the Workbench, asking {plan.model.partition(':')[0]}."
    card = card_for(name, description, SKILL, place.url, streaming=True)
    return app_for(card, ServedAgent(lambda key: replace(first, scope=key), at_once), place.token)
