"""A server that misbehaves: it sends whatever bytes a test wants, as a card and as answers to messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from workbench.models.types import ModelError

Send = Callable[[bytes], Any]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def card(url: str, *, streaming: bool = False, **more: Any) -> dict[str, Any]:
    """Return a card that is in order."""
    way = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return {
        "name": "rogue",
        "version": "1",
        "description": "",
        "supportedInterfaces": [way],
        "capabilities": {"streaming": streaming},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
        **more,
    }


def message(text: str, context: str = "c") -> dict[str, Any]:
    return {"message": {"messageId": "m", "contextId": context, "role": "ROLE_AGENT", "parts": [{"text": text}]}}


def task(state: str, text: str = "", context: str = "c", key: str = "t") -> dict[str, Any]:
    status: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
    if text:
        status["message"] = message(text, context)["message"]
    return {"task": {"id": key, "contextId": context, "status": status}}


class Rogue:
    """``async with serving(answer) as rogue``; ``answer(rogue, request, send)`` gets the decoded body and writes bytes."""

    def __init__(self) -> None:
        self.url = ""
        self.card: Callable[[], bytes] = lambda: json_page(card(self.url))
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []


def json_page(value: object) -> bytes:
    return HEAD + json.dumps(value).encode()


def result(request: dict[str, Any], value: object) -> bytes:
    return json_page({"jsonrpc": "2.0", "id": request["id"], "result": value})


def event(request: dict[str, Any], value: object) -> bytes:
    return b"data: " + json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": value}).encode() + b"\n\n"


@asynccontextmanager
async def serving(answer: Callable[..., Any], *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Rogue]:
    rogue, clients = Rogue(), set()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        clients.add(asyncio.current_task())

        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            rogue.headers.append(headers)
            if head[0].startswith("GET"):
                await send(rogue.card())
            else:
                rogue.asked.append(json.loads(body))
                await answer(rogue, rogue.asked[-1], send)
        writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0, ssl=tls)
    rogue.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield rogue
    finally:
        server.close()
        for one in clients:
            one.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


async def nothing(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    """Answer no message: none is expected."""
    raise AssertionError("no message is expected")


def said(error: pytest.ExceptionInfo[ModelError]) -> str:
    """Return an error's one clear sentence."""
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith((".", "?"))
    assert len(text) < 500
    return text
