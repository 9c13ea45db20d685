"""An agent of somebody else, written with a2a-sdk 0.3: knows nothing of the Workbench. One port for each form; prints them."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, DataPart, Message, Part, Role, TextPart
from a2a.utils import new_task

sys.path.insert(0, str(Path(__file__).parent))
from uuid import uuid4

from script import Script, call_in


def text_part(text: str) -> Part:
    return Part(root=TextPart(text=text))


class Peer(AgentExecutor):
    def __init__(self, script: Script, kind: str) -> None:
        self.script, self.kind = script, kind

    async def execute(self, context, event_queue) -> None:
        text = self.script.next(context.context_id)
        if self.kind in ("message", "data"):
            data = self.kind == "data" and "<json>" in text
            part = Part(root=DataPart(data=call_in(text))) if data else text_part(text)
            message = Message(message_id=str(uuid4()), role=Role.agent, context_id=context.context_id, parts=[part])
            await event_queue.enqueue_event(message)
            return
        task = context.current_task
        if task is None:
            task = new_task(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work(updater.new_agent_message([text_part("thinking…")]))
        if self.kind == "waiting" and "respond" not in text:
            await updater.requires_input(updater.new_agent_message([text_part(text)]), final=True)
            return
        await updater.add_artifact([text_part(text)], name="answer")
        await updater.complete()

    async def cancel(self, context, event_queue) -> None:
        raise NotImplementedError


def server(file: str, kind: str, binding: str, streaming: str) -> tuple[int, uvicorn.Server, socket.socket]:
    # As TCP, so that asyncio sends small answers at once, as it does on a port that uvicorn opens itself.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.bind(("127.0.0.1", 0))
    found.listen()  # before the port is told: whoever comes at once waits instead of being refused
    card = AgentCard(
        name="somebody's older agent",
        description="Written with a2a-sdk 0.3.",
        version="3.0",
        url=f"http://127.0.0.1:{found.getsockname()[1]}",
        preferred_transport=binding,
        capabilities=AgentCapabilities(streaming=streaming == "streaming"),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="document", name="Document", description="Writes READMEs.", tags=["docs"])],
    )
    handler = DefaultRequestHandler(agent_executor=Peer(Script(file), kind), task_store=InMemoryTaskStore())
    kind_of_app = A2AStarletteApplication if binding == "JSONRPC" else A2ARESTFastAPIApplication
    app = kind_of_app(agent_card=card, http_handler=handler).build()
    made = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    return found.getsockname()[1], made, found


async def main(file: str, *forms: str) -> None:
    servers = [server(file, *form.split(",")) for form in forms]
    print(*(port for port, _, _ in servers), flush=True)
    await asyncio.gather(*(made.serve(sockets=[found]) for _, made, found in servers))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
