"""A benchmark of somebody else, written with a2a-sdk 0.3: sends each line of standard input, prints answers as JSON lines."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory, create_text_message_object
from a2a.types import TransportProtocol


def text_of(parts) -> str:
    return "\n".join(getattr(part.root, "text", "") or json.dumps(getattr(part.root, "data", "")) for part in parts)


async def main(url: str, binding: str, streaming: str) -> None:
    async with httpx.AsyncClient(timeout=60) as web:
        card = await A2ACardResolver(web, url).get_agent_card()
        config = ClientConfig(
            httpx_client=web,
            streaming=streaming == "streaming",
            supported_transports=[TransportProtocol(binding)],
            use_client_preference=True,
        )
        client = ClientFactory(config).create(card)
        context = None
        for line in sys.stdin:
            message = create_text_message_object(content=json.loads(line))
            message.context_id = context
            said, state = [], ""
            async for event in client.send_message(message):
                if isinstance(event, tuple):
                    task, _ = event
                    context, state = task.context_id, task.status.state.value
                    said = [text_of(task.status.message.parts)] if task.status.message else said
                    for artifact in task.artifacts or ():
                        said.append(text_of(artifact.parts))
                else:
                    context, said = event.context_id, [text_of(event.parts)]
            print(json.dumps({"name": card.name, "said": said, "state": state}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
