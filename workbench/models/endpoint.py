"""An OpenAI-compatible endpoint on this machine in front of the gateway, for programs that ask a model by themselves.

Each request is recorded, counted, priced, limited and replayable like one of our own, and goes to the run's model
whatever name the program asks for. It serves ``POST …/chat/completions`` (with any path before it, whole or as a
stream) and ``GET …/models``; fields as in OpenAI's API reference, chat completions.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.models.types import Answer, Asker, Message, ModelError, Request, Sampling
from workbench.text import one_line

_MOST_HEAD, _MOST_BODY = 64 * 2**10, 32 * 2**20  # bytes
_MOST_SAMPLES = 16
#: Status by kind of failure. The gateway has tried again already, so that ``x-should-retry: false`` goes with each.
_STATUS = {"budget": 402, "key": 401, "context": 400, "refused": 400, "not_recorded": 404, "rate_limited": 429,
           "timeout": 504, "malformed": 502, "unavailable": 503, "crashed": 503}  # fmt: skip
_WORDS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 404: "Not Found",
          413: "Content Too Large", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
          503: "Service Unavailable", 504: "Gateway Timeout"}  # fmt: skip
_ENDING = frozenset({"budget"})  # no later request can be answered either


@dataclass(slots=True)
class Counted:
    """What was asked over an endpoint so far; unknown prices count as 0 dollars."""

    requests: int = 0
    answered: int = 0
    recorded: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class ChatEndpoint:
    """Answers chat completions through the gateway.

    Args:
        gateway: Who answers.
        model: The model that is asked, whatever the program names; "" to refuse every request.
        purpose: The purpose that requests are recorded with.
        scope: Identity of the work item: a request that it already has an answer to is not asked again.
        most_tokens: Limit of an answer, whatever the program allows; None to leave it to the program.

    Attributes:
        key: The bearer key that a request must carry; made anew for each endpoint.
        counted: Requests, tokens and dollars.
        errors: The sentences of requests that failed, in order.
        ended: Set once no further request can be answered (spend limit, wrong key or name, an unwritable session).
        why: The error that ended it.
    """

    def __init__(
        self, gateway: Asker | None, model: str, *, purpose: str, scope: str, most_tokens: int | None = None
    ) -> None:
        self._gateway = gateway
        self._model = model
        self._purpose = purpose
        self._scope = scope
        self._most_tokens = most_tokens
        self._clients: set[asyncio.Task[None]] = set()
        self.key = f"workbench-{secrets.token_urlsafe(24)}"
        self.counted = Counted()
        self.errors: list[str] = []
        self.ended = asyncio.Event()
        self.why: Exception | None = None

    @asynccontextmanager
    async def on_socket(self, path: Path) -> AsyncIterator[None]:
        server = await asyncio.start_unix_server(self._accept, path, limit=_MOST_HEAD, backlog=256)
        async with self._listening(server):
            yield

    @asynccontextmanager
    async def on_loopback(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_MOST_HEAD, backlog=256)
        async with self._listening(server):
            yield server.sockets[0].getsockname()[1]

    @asynccontextmanager
    async def _listening(self, server: asyncio.Server) -> AsyncIterator[None]:
        try:
            yield
        finally:
            server.close()
            for client in self._clients:
                client.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.get_running_loop().create_task(self._client(reader, writer))
        self._clients.add(client)
        client.add_done_callback(self._clients.discard)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return await _send(writer, *_failure(400, "The request's head is too long."), keep=False)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, _, target = first.partition(" ")
        path = target.partition(" ")[0].partition("?")[0].rstrip("/")
        body = await _body(reader, writer, headers)
        if body is None:
            return await _send(writer, *_failure(413, "The request's body is too long or has no length."), keep=False)
        keep = headers.get("connection", "").lower() != "close"
        if not hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {self.key}".encode()):
            return await _send(writer, *_failure(401, "The key is not this run's."), keep=keep)
        if method == "GET" and path.endswith("/models"):
            entry = {"id": self._model or "none", "object": "model", "created": 0, "owned_by": "workbench"}
            return await _send(writer, 200, {"object": "list", "data": [entry]}, keep=keep)
        if method != "POST" or not path.endswith("/chat/completions"):
            return await _send(writer, *_failure(404, "Only chat completions are answered here."), keep=keep)
        self.counted.requests += 1
        status, answer, streamed = await self._answer(body)
        if streamed:
            return await _stream(writer, answer)
        return await _send(writer, status, answer, keep=keep)

    async def _answer(self, body: bytes) -> tuple[int, dict[str, Any], bool]:
        try:
            asked = json.loads(body)
            requests = read_requests(asked, model=self._model, purpose=self._purpose, scope=self._scope)
            requests = [self._limited(request) for request in requests]
        except (ValueError, RecursionError) as error:
            self.errors.append(one_line(str(error), 240))
            return (*_failure(400, f"The request is not understood: {one_line(str(error), 240)}."), False)
        if self._gateway is None or not self._model:
            self.errors.append("it asked a model, and none was named for it")
            return (*_failure(404, "No model was named for this program.", "model_not_found"), False)
        answers = []
        try:
            for request in requests:
                answers.append(await self._gateway.complete(request))
                self._count(answers[-1])
        except ModelError as error:
            self._count(error)
            self.errors.append(str(error))
            if error.lasting or error.kind in _ENDING:
                self.why = self.why or error
                self.ended.set()
            code = "context_length_exceeded" if error.kind == "context" else error.kind
            return (*_failure(_STATUS.get(error.kind, 500), str(error), code), False)
        except Exception as error:
            # Not the model's fault (a session that cannot be written): whoever waits for the program raises it.
            self.why = self.why or error
            self.ended.set()
            return (*_failure(500, "The workbench failed.", "workbench"), False)
        return 200, _completion(answers), bool(asked.get("stream"))

    def _limited(self, request: Request) -> Request:
        most, asked = self._most_tokens, request.sampling.max_tokens
        if most is None or (asked is not None and asked <= most):
            return request
        return replace(request, sampling=replace(request.sampling, max_tokens=most))

    def _count(self, given: Answer | ModelError) -> None:
        counted = self.counted
        if isinstance(given, Answer):
            counted.answered += 1
            counted.recorded += given.source == "recorded"
        if given.usage is not None:
            counted.prompt_tokens += given.usage.prompt_tokens
            counted.completion_tokens += given.usage.completion_tokens
        counted.cost_usd += given.cost_usd or 0.0


def read_requests(asked: object, *, model: str, purpose: str, scope: str) -> list[Request]:
    """Return a request for each sample of a chat completion's body. ValueError: it has images, tools, or is none."""
    if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list) or not asked["messages"]:
        raise ValueError("it has no messages")
    if asked.get("tools") or asked.get("functions"):
        raise ValueError("tools are not passed on")
    count = asked.get("n") or 1
    if not isinstance(count, int) or not 1 <= count <= _MOST_SAMPLES:
        raise ValueError(f"n is not a number from 1 to {_MOST_SAMPLES}")
    messages = tuple(_message(each) for each in asked["messages"])
    given, schema = asked.get("response_format"), None
    shape: dict[str, Any] = given if isinstance(given, dict) else {}
    if shape.get("type") == "json_schema" and isinstance(shape.get("json_schema"), dict):
        schema = shape["json_schema"].get("schema")
    elif shape.get("type") == "json_object":
        schema = {"type": "object"}
    if schema is not None and not isinstance(schema, dict):
        raise ValueError("its schema is no object")
    sampling = _sampling(asked)
    return [Request(model, messages, purpose, sampling, sample, scope, schema) for sample in range(count)]


def _message(given: object) -> Message:
    if not isinstance(given, dict):
        raise ValueError("a message is no object")
    role, content = given.get("role"), given.get("content")
    role = "system" if role == "developer" else role
    if role not in ("system", "user", "assistant"):
        raise ValueError(f"there is no role {one_line(str(role), 40)!r}")
    if isinstance(content, list):
        if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
            raise ValueError("a message holds something else than text")
        content = "".join(part["text"] for part in content)
    if content is not None and not isinstance(content, str):
        raise ValueError("a message's content is no text")
    return Message(role, content or "")


def _sampling(asked: Mapping[str, Any]) -> Sampling:
    def number(name: str, kinds: tuple[type, ...]) -> Any:
        value = asked.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise ValueError(f"{name} is no number")
        return value

    stop = asked.get("stop")
    stop = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(stop, list) or not all(isinstance(each, str) for each in stop):
        raise ValueError("stop is no list of texts")
    effort = asked.get("reasoning_effort")
    limit = number("max_completion_tokens", (int,))
    return Sampling(
        temperature=number("temperature", (int, float)),
        top_p=number("top_p", (int, float)),
        top_k=number("top_k", (int,)),
        max_tokens=limit if limit is not None else number("max_tokens", (int,)),
        stop=tuple(stop),
        seed=number("seed", (int,)),
        reasoning_effort=effort if isinstance(effort, str) else None,
    )


def _completion(answers: list[Answer]) -> dict[str, Any]:
    prompt = answers[0].usage.prompt_tokens
    said = sum(answer.usage.completion_tokens for answer in answers)
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": answer.text},
            "finish_reason": answer.finish_reason,
            "logprobs": None,
        }
        for index, answer in enumerate(answers)
    ]
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answers[0].model,
        "choices": choices,
        "usage": {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said},
    }


def _failure(status: int, sentence: str, code: str = "invalid_request") -> tuple[int, dict[str, Any]]:
    return status, {"error": {"message": sentence, "type": "workbench", "param": None, "code": code}}


async def _body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: Mapping[str, str]) -> bytes | None:
    """Return a request's body, None if it is longer than allowed or of unknown length."""
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _chunks(reader)
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length) > _MOST_BODY:
        return None
    return await reader.readexactly(int(length))


async def _chunks(reader: asyncio.StreamReader) -> bytes | None:
    body = bytearray()
    while True:
        try:
            size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
        except (ValueError, asyncio.LimitOverrunError):
            return None
        if size < 0 or len(body) + size > _MOST_BODY:
            return None
        body += (await reader.readexactly(size + 2))[:-2]
        if not size:
            return bytes(body)


async def _send(writer: asyncio.StreamWriter, status: int, body: Mapping[str, Any], *, keep: bool) -> bool:
    data = json.dumps(body, ensure_ascii=True).encode()
    head = f"HTTP/1.1 {status} {_WORDS[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    head += "" if status == 200 else "x-should-retry: false\r\n"
    writer.write(f"{head}Connection: {'keep-alive' if keep else 'close'}\r\n\r\n".encode("ascii") + data)
    await writer.drain()
    return keep


async def _stream(writer: asyncio.StreamWriter, whole: Mapping[str, Any]) -> bool:
    """Send a completion as a stream of events: one with the text, one with the reason for its end, then the usage."""
    frame = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events: list[dict[str, Any]] = []
    for choice in whole["choices"]:
        place = {"index": choice["index"], "logprobs": None}
        events.append(frame | {"choices": [{**place, "delta": choice["message"], "finish_reason": None}]})
        events.append(frame | {"choices": [{**place, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    events.append(frame | {"choices": [], "usage": whole["usage"]})
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    for event in events:
        writer.write(b"data: " + json.dumps(event, ensure_ascii=True).encode() + b"\n\n")
    writer.write(b"data: [DONE]\n\n")
    await writer.drain()
    return False
