"""An agent of somebody else, written with a2a-sdk 1.x: knows nothing of the Workbench. One port for each form; prints them."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from uuid import uuid4

import uvicorn
from a2a.helpers import new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette

sys.path.insert(0, str(Path(__file__).parent))
from script import Script, call_in


class Peer(AgentExecutor):
    def __init__(self, script: Script, kind: str) -> None:
        self.script, self.kind = script, kind

    async def execute(self, context, event_queue) -> None:
        text = self.script.next(context.context_id)
        if self.kind in ("message", "data"):
            parts = (
                [new_data_part(call_in(text))] if self.kind == "data" and "<json>" in text else [new_text_part(text)]
            )
            message = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, context_id=context.context_id, parts=parts)
            await event_queue.enqueue_event(message)
            return
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=status))
        await updater.start_work(updater.new_agent_message([new_text_part("thinking…")]))
        if self.kind == "waiting" and "respond" not in text:
            await updater.requires_input(updater.new_agent_message([new_text_part(text)]))
            return
        half = len(text) // 2
        await updater.add_artifact([new_text_part(text[:half])], artifact_id="a", append=False)
        await updater.add_artifact([new_text_part(text[half:])], artifact_id="a", append=True, last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue) -> None:
        raise NotImplementedError


def server(file: str, kind: str, binding: str, streaming: str) -> tuple[int, uvicorn.Server, socket.socket]:
    # As TCP, so that asyncio sends small answers at once, as it does on a port that uvicorn opens itself.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.bind(("127.0.0.1", 0))
    found.listen()  # before the port is told: whoever comes at once waits instead of being refused
    url = f"http://127.0.0.1:{found.getsockname()[1]}"
    card = AgentCard(
        name="somebody's agent",
        description="Written with a2a-sdk 1.x.",
        version="7.1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=streaming == "streaming"),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="document", name="Document", description="Writes READMEs.", tags=["docs"])],
    )
    handler = DefaultRequestHandler(
        agent_executor=Peer(Script(file), kind), task_store=InMemoryTaskStore(), agent_card=card
    )
    ways = create_jsonrpc_routes(handler, "/") if binding == "JSONRPC" else create_rest_routes(handler)
    app = Starlette(routes=[*create_agent_card_routes(card), *ways])
    made = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    return found.getsockname()[1], made, found


async def main(file: str, *forms: str) -> None:
    servers = [server(file, *form.split(",")) for form in forms]
    print(*(port for port, _, _ in servers), flush=True)
    await asyncio.gather(*(made.serve(sockets=[found]) for _, made, found in servers))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
