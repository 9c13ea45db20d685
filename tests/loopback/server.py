"""An OpenAI-compatible server on loopback that misbehaves on demand.

It runs in a thread of its own (``LoopbackServer``) or as a process (``python tests/loopback/server.py`` prints
its port), answers by a function of the request, keeps every request, and plays scripted faults first.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Body = dict[str, object]


@dataclass(frozen=True)
class Reply:
    """The response to one request.

    ``text`` is the assistant's answer; ``raw`` replaces the body, ``whole`` the status line and headers as well; ``drop``
    closes the connection after that many bytes of the response (0 resets it before the first); ``wait`` delays the
    response, ``drip`` each of its bytes, in seconds; ``close`` closes the connection after it.
    """

    text: str | None = "Hello."
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    whole: bytes | None = None
    drop: int | None = None
    wait: float = 0.0
    drip: float = 0.0
    close: bool = False
    finish_reason: str = "stop"
    extra: Mapping[str, object] = field(default_factory=dict)  # goes into the message
    usage: Mapping[str, object] | None = None


def rate_limited(**headers: str) -> Reply:
    return failure(429, "Rate limit reached for requests", "rate_limit_exceeded", headers)


def failure(status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None) -> Reply:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    named = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
    return Reply(status=status, headers=named, raw=json.dumps(body).encode())


CONTEXT = failure(
    400,
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    "context_length_exceeded",
)
FILTERED = failure(
    400, "The response was filtered due to the prompt triggering our content management policy.", "content_filter"
)
GARBAGE = Reply(raw=b"\x00\xff<html>not json at all")
BROKEN_JSON = Reply(raw=b'{"id": "x", "choices": [{"mess')
WRONG_SHAPE = Reply(raw=b'{"surprise": [1, 2, 3]}')
NO_CHOICES = Reply(raw=b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}')
EMPTY = Reply(text="")
DROPPED = Reply(drop=0)
DROPPED_MIDWAY = Reply(drop=150)


@dataclass(frozen=True)
class Seen:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    body: Body


class Script:
    """Replies of a model: those in ``script`` first, then by ``answer``; ``seen`` has the requests, ``peak`` the most at once."""

    def __init__(self, answer: Callable[[Body], str | Reply] = lambda body: "Hello.") -> None:
        self.answer = answer
        self.script: deque[Reply] = deque()
        self.seen: list[Seen] = []
        self.under_way = 0
        self.peak = 0

    def reply(self, body: Body) -> Reply:
        if self.script:
            return self.script.popleft()
        answer = self.answer(body)
        return answer if isinstance(answer, Reply) else Reply(text=answer)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Count a request while it is answered."""
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        try:
            yield
        finally:
            self.under_way -= 1


class LoopbackServer(Script):
    """``with LoopbackServer() as server: … server.base_url``."""

    def __init__(self, answer: Callable[[Body], str | Reply] = lambda body: "Hello.", port: int = 0) -> None:
        super().__init__(answer)
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loopback-model", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._clients: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._client(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) if ": " in line else (line, "") for line in head[1:] if line)
                original = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
                sent = await reader.readexactly(int(headers.get("content-length", "0")))
                body: Body = json.loads(sent) if sent else {}
                self.seen.append(Seen(head[0].split(" ")[1], original, body))
                with self.busy():
                    open_still = await self._send(body, writer)
                if not open_still:
                    break
        writer.close()

    async def _send(self, body: Body, writer: asyncio.StreamWriter) -> bool:
        reply = self.reply(body)
        if reply.wait:
            await asyncio.sleep(reply.wait)
        if reply.drop == 0:
            writer.transport.abort()
            return False
        payload = reply.raw if reply.raw is not None else completion(body, reply)
        headers = {"content-type": "application/json", "content-length": str(len(payload)), **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items() if value)]
        whole = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + payload
        if reply.whole is not None:
            whole = reply.whole
        if reply.drop is not None:
            writer.write(whole[: reply.drop])
            await writer.drain()
            return False
        if reply.drip:
            for place in range(len(whole)):
                writer.write(whole[place : place + 1])
                await writer.drain()
                await asyncio.sleep(reply.drip)
        else:
            writer.write(whole)
            await writer.drain()
        return not reply.close


def completion(body: Body, reply: Reply) -> bytes:
    messages = body.get("messages")
    asked = sum(len(str(message)) for message in messages) // 4 if isinstance(messages, list) else 0
    written = len(reply.text or "") // 4 + 1
    usage = reply.usage or {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}
    answer = {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "loopback"),
        "choices": [
            {
                "index": 0,
                "finish_reason": reply.finish_reason,
                "message": {"role": "assistant", "content": reply.text, **reply.extra},
            }
        ],
        "usage": usage,
    }
    return json.dumps(answer).encode()


def main() -> None:
    import argparse
    import sys

    parser = argparse.ArgumentParser()
    parser.add_argument("--wait", type=float, default=0.0)
    options = parser.parse_args()
    with LoopbackServer(lambda body: Reply(text="Hello.", wait=options.wait)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
