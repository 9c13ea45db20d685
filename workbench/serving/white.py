"""``serve-agent``: an agent of this machine as an A2A server, one conversation per context."""

from __future__ import annotations

import asyncio
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import AgentSkill, Message, Part, Role, Task, TaskState, TaskStatus
from starlette.types import ASGIApp

from workbench.agents import agent_info
from workbench.agents.remote_names import is_remote
from workbench.engine.plan import DocumentPlan
from workbench.engine.records import SessionReplay
from workbench.engine.replayed_agents import recorded_model
from workbench.errors import UsageError, WorkbenchError
from workbench.models import Gateway, Limits
from workbench.models.types import Answer, Asker, CallRecord, Request
from workbench.serving.conversation import Conversation, Said
from workbench.serving.listening import Place, app_for, card_for
from workbench.settings import Settings
from workbench.text import one_line

SKILL = AgentSkill(
    id="generate_documentation",
    name="Generate documentation",
    description="Explores a repository with list_directory and read_file, which the client runs, and hands in a README with metadata.",
    tags=["documentation", "readme", "aeo-bench"],
    examples=["Document this project.\n\nProject: word_counter\nDescription: A command line tool."],
)
_MOST_CONVERSATIONS = 200  # kept at once; the one that was quiet longest is forgotten


class _NoLog:
    def recall(self, request: Request, nth: int) -> Answer | None:
        """Nothing is recorded, so nothing is recalled."""
        return None

    def record(self, call: CallRecord) -> None:
        """Whoever asks records the answers."""


def gateway_for(plan: DocumentPlan, settings: Settings) -> Gateway:
    """Return the gateway that a served agent asks; nothing of it is written to disk."""
    limits = Limits(
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
    """Refuse an agent that cannot be served.

    Raises:
        UsageError: There is none of this name, or it looks into the repository without its tools.
    """
    info = agent_info(agent)
    if is_remote(agent):
        raise UsageError(f"{info.name} is served already; name its address where it is asked.")
    if info.name == "single-file":
        raise UsageError("The agent single-file chooses its file without a tool, so it cannot be served; white can.")


@dataclass(slots=True)
class _Kept:
    conversation: Conversation
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class ServedAgent(AgentExecutor):  # type: ignore[misc]
    """Answers messages by an agent of this machine.

    Args:
        new: Makes the conversation with a given id.
        at_once: Messages that are worked on at the same time; others wait.
    """

    def __init__(self, new: Callable[[str], Conversation], at_once: int) -> None:
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


def agent_app(plan: DocumentPlan, place: Place, asker: Asker, at_once: int) -> ASGIApp:
    """Return the web application of a served agent.

    Args:
        plan: Agent, model and limits, with this machine's defaults filled in.
        place: Where it will listen.
        asker: The gateway to its model.
        at_once: Messages worked on at the same time.
    """
    first = Conversation(
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
