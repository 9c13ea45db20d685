"""A local OpenAI-compatible endpoint in front of the gateway, for programs that call a model themselves.

Every request is recorded, counted, priced, limited and replayable like the workbench's own. The run's model answers,
regardless of the model name in the request. The endpoint serves ``POST …/chat/completions`` (below any path, with or
without streaming) and ``GET …/models``, with the fields of OpenAI's API reference.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from workbench.base.text import one_line
from workbench.models.types import Answer, Message, ModelClient, ModelError, Request, Sampling

_MOST_BODY = 32 * 2**20  # maximum bytes of a request
_CLOSING_SECONDS = 0.1
_MOST_SAMPLES = 16
#: HTTP status by error kind. The gateway has already retried, so each response has ``x-should-retry: false``.
_STATUS = {"budget": 402, "key": 401, "context": 400, "refused": 400, "not_recorded": 404, "rate_limited": 429,
           "timeout": 504, "malformed": 502, "unavailable": 503, "crashed": 503}  # fmt: skip
_ENDING = frozenset({"budget"})  # every later request will fail, too


@dataclass(slots=True)
class EndpointUsage:
    """Usage of an endpoint so far; unknown prices count as 0 dollars."""

    requests: int = 0
    answered: int = 0
    recorded: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class ChatEndpoint:
    """Answers chat completions with ``model`` through the gateway, or refuses every request if ``model`` is "".

    Requests already recorded for the work item ``scope`` are answered from the recording. ``most_tokens`` limits the
    length of an answer; ``key`` is a random bearer token. ``ended`` is set once no further request can be answered
    (spend limit, wrong key or name, an unwritable session), and ``failure`` is the error responsible.
    """

    def __init__(
        self, gateway: ModelClient | None, model: str, *, purpose: str, scope: str, most_tokens: int | None = None
    ) -> None:
        self._gateway = gateway
        self._model = model
        self._purpose = purpose
        self._scope = scope
        self._most_tokens = most_tokens
        self._answering: set[asyncio.Task[tuple[int, dict[str, Any], bool]]] = set()
        self.key = f"workbench-{secrets.token_urlsafe(24)}"
        self.usage = EndpointUsage()
        self.errors: list[str] = []
        self.ended = asyncio.Event()
        self.failure: Exception | None = None

    @asynccontextmanager
    async def on_socket(self, path: Path) -> AsyncIterator[None]:
        async with self._served() as runner:
            await web.UnixSite(runner, path, backlog=256).start()
            yield

    @asynccontextmanager
    async def on_loopback(self) -> AsyncIterator[int]:
        async with self._served() as runner:
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=256).start()
            yield runner.addresses[0][1]

    @asynccontextmanager
    async def _served(self) -> AsyncIterator[web.AppRunner]:
        server = web.Application(client_max_size=_MOST_BODY)
        server.router.add_route("*", "/{path:.*}", self._exchange)
        runner = web.AppRunner(server, access_log=None, shutdown_timeout=_CLOSING_SECONDS)
        await runner.setup()
        try:
            yield runner
        finally:
            for task in self._answering:
                task.cancel()
            await asyncio.gather(*self._answering, return_exceptions=True)
            await runner.cleanup()

    async def _exchange(self, request: web.Request) -> web.StreamResponse:
        path = request.path.rstrip("/")
        key = request.headers.get("Authorization", "").encode(errors="replace")
        if not hmac.compare_digest(key, f"Bearer {self.key}".encode()):
            return _reply(*_failure(401, "The key does not belong to this run."))
        if request.method == "GET" and path.endswith("/models"):
            entry = {"id": self._model or "none", "object": "model", "created": 0, "owned_by": "workbench"}
            return _reply(200, {"object": "list", "data": [entry]})
        if request.method != "POST" or not path.endswith("/chat/completions"):
            return _reply(*_failure(404, "Only chat completions are supported."))
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return _reply(*_failure(413, "The request body is too large."))
        self.usage.requests += 1
        # If the program gives up, the call continues: it is billed anyway, and the next attempt will find the answer.
        task = asyncio.create_task(self._answer(body))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        status, answer, streamed = await asyncio.shield(task)
        return _stream(answer) if streamed else _reply(status, answer)

    async def _answer(self, body: bytes) -> tuple[int, dict[str, Any], bool]:
        try:
            payload = json.loads(body)
            requests = read_requests(payload, model=self._model, purpose=self._purpose, scope=self._scope)
            requests = [self._limited(request) for request in requests]
        except (ValueError, RecursionError) as error:
            self.errors.append(one_line(str(error), 240))
            return (*_failure(400, f"The request is invalid: {one_line(str(error), 240)}."), False)
        if self._gateway is None or not self._model:
            self.errors.append("it called a model, but none was configured for it")
            return (*_failure(404, "No model is configured for this program.", "model_not_found"), False)
        answers = []
        try:
            for request in requests:
                answers.append(await self._gateway.complete(request))
                self._count(answers[-1])
        except ModelError as error:
            self._count(error)
            self.errors.append(str(error))
            if error.permanent or error.kind in _ENDING:
                self.failure = self.failure or error
                self.ended.set()
            code = "context_length_exceeded" if error.kind == "context" else error.kind
            return (*_failure(_STATUS.get(error.kind, 500), str(error), code), False)
        except Exception as error:
            # The model is not to blame (for example, the session is unwritable). The caller waiting for the program
            # raises the error.
            self.failure = self.failure or error
            self.ended.set()
            return (*_failure(500, "The workbench failed.", "workbench"), False)
        return 200, _completion(answers), bool(payload.get("stream"))

    def _limited(self, request: Request) -> Request:
        most, requested = self._most_tokens, request.sampling.max_tokens
        if most is None or (requested is not None and requested <= most):
            return request
        return replace(request, sampling=replace(request.sampling, max_tokens=most))

    def _count(self, outcome: Answer | ModelError) -> None:
        usage = self.usage
        if isinstance(outcome, Answer):
            usage.answered += 1
            usage.recorded += outcome.source == "recorded"
        if outcome.usage is not None:
            usage.prompt_tokens += outcome.usage.prompt_tokens
            usage.completion_tokens += outcome.usage.completion_tokens
        usage.cost_usd += outcome.cost_usd or 0.0


def read_requests(payload: object, *, model: str, purpose: str, scope: str) -> list[Request]:
    """Parse the body of a chat completion into one request per sample. Raises ValueError for unsupported content."""
    if not isinstance(payload, dict) or not isinstance(payload.get("messages"), list) or not payload["messages"]:
        raise ValueError("it has no messages")
    if payload.get("tools") or payload.get("functions"):
        raise ValueError("tools are not supported")
    count = payload.get("n") or 1
    if not isinstance(count, int) or not 1 <= count <= _MOST_SAMPLES:
        raise ValueError(f"n is not a number from 1 to {_MOST_SAMPLES}")
    messages = tuple(_message(each) for each in payload["messages"])
    response_format, schema = payload.get("response_format"), None
    shape: dict[str, Any] = response_format if isinstance(response_format, dict) else {}
    if shape.get("type") == "json_schema" and isinstance(shape.get("json_schema"), dict):
        schema = shape["json_schema"].get("schema")
    elif shape.get("type") == "json_object":
        schema = {"type": "object"}
    if schema is not None and not isinstance(schema, dict):
        raise ValueError("its schema is not an object")
    sampling = _sampling(payload)
    return [Request(model, messages, purpose, sampling, sample, scope, schema) for sample in range(count)]


def _message(value: object) -> Message:
    if not isinstance(value, dict):
        raise ValueError("a message is not an object")
    role, content = value.get("role"), value.get("content")
    role = "system" if role == "developer" else role
    if role not in ("system", "user", "assistant"):
        raise ValueError(f"there is no role {one_line(str(role), 40)!r}")
    if isinstance(content, list):
        if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
            raise ValueError("a message has parts that are not text")
        content = "".join(part["text"] for part in content)
    if content is not None and not isinstance(content, str):
        raise ValueError("a message's content is not text")
    return Message(role, content or "")


def _sampling(payload: Mapping[str, Any]) -> Sampling:
    def number(name: str, kinds: tuple[type, ...]) -> Any:
        value = payload.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise ValueError(f"{name} is not a number")
        return value

    stop = payload.get("stop")
    stop = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(stop, list) or not all(isinstance(each, str) for each in stop):
        raise ValueError("stop is not a list of texts")
    effort = payload.get("reasoning_effort")
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
    completion = sum(answer.usage.completion_tokens for answer in answers)
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
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    }


def _failure(status: int, sentence: str, code: str = "invalid_request") -> tuple[int, dict[str, Any]]:
    return status, {"error": {"message": sentence, "type": "workbench", "param": None, "code": code}}


def _reply(status: int, body: Mapping[str, Any]) -> web.Response:
    headers = {} if status == 200 else {"x-should-retry": "false"}
    return web.json_response(body, status=status, headers=headers)


def _stream(whole: Mapping[str, Any]) -> web.Response:
    """Stream a completion as three events: the text, the finish reason and the usage."""
    frame = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events: list[dict[str, Any]] = []
    for choice in whole["choices"]:
        place = {"index": choice["index"], "logprobs": None}
        events.append(frame | {"choices": [{**place, "delta": choice["message"], "finish_reason": None}]})
        events.append(frame | {"choices": [{**place, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    events.append(frame | {"choices": [], "usage": whole["usage"]})
    lines = [*map(json.dumps, events), "[DONE]"]
    return web.Response(text="".join(f"data: {line}\n\n" for line in lines), content_type="text/event-stream")
