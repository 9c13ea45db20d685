"""A conversation with a remote agent over A2A, and a model client that uses it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from a2a.client.transports.base import ClientTransport
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
)
from a2a.utils.constants import PROTOCOL_VERSION_1_0, VERSION_HEADER

from workbench.agents.names import address_of
from workbench.base.text import one_line
from workbench.interop.a2a.card import Interface, PeerCard, fetch_card
from workbench.interop.a2a.replies import Reply, ReplyCollector
from workbench.interop.a2a.wire import (
    Limit,
    NoAgent,
    ProtocolViolation,
    client_for,
    headers_by_origin,
    problem_of,
    values_of,
)
from workbench.models.secrets import hide, scrub
from workbench.models.types import Answer, Attempt, CallLog, CallRecord, ModelError, ModelTimeout, Request, Usage

_ACCEPTED = ("text/plain", "application/json")
_GRACE = 1.0  # seconds to keep a stream open after the answer
_POLL = (0.1, 1.0)  # seconds between polls of a task: shortest, longest


@dataclass(frozen=True, slots=True)
class PeerLimits:
    """Limits on one message: seconds until the answer is complete (180 in AEO-Bench), and its size in bytes."""

    seconds: float = 180.0
    bytes: int = 20_000_000


DEFAULT_LIMITS = PeerLimits()


class Peer:
    """A conversation with an agent that keeps its state; ``headers`` are credentials by origin."""

    def __init__(
        self, address: str, limits: PeerLimits = DEFAULT_LIMITS, headers: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        self.address = address
        self.headers = headers_by_origin() if headers is None else headers
        self._limits = limits
        self._limit = Limit(limits.bytes)
        self._client: httpx.AsyncClient | None = None
        self._transport: ClientTransport | None = None
        self._card: PeerCard | None = None
        # Servers may replace our context id in their first answer; a later change means that the conversation was lost.
        self._context = str(uuid4())
        self._settled = False
        self._task = ""
        self._artifacts: set[str] = set()
        self._abandoned_task = ""

    @property
    def label(self) -> str:
        return f"The agent at {self.address}"

    async def connect(self) -> PeerCard:
        """Fetch the card once and connect. Raises ModelError if there is no usable agent."""
        if self._card is None:
            self._card = await fetch_card(self.address, self.headers)
            self._client = client_for(self._limit, self.headers)
            self._transport = _transport(self._client, self._card.interface)
        return self._card

    async def ask(self, text: str) -> Reply:
        """Return the answer to a message. Raises ModelError, after which the conversation is over.

        Exceeded limits and protocol violations are errors of this kind.
        """
        card = await self.connect()
        self._limit.renew()
        collected = ReplyCollector(self.label, self._artifacts, self._task)
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._exchange(self._request(text, card), collected, streaming=card.streaming)
        except asyncio.CancelledError:
            self._abandoned_task = collected.task if collected.is_pending else ""
            raise
        except TimeoutError:
            self._abandoned_task = collected.task if collected.is_pending else ""
            raise ModelTimeout(
                f"{self.label} did not answer within {self._limits.seconds:g} s (request_timeout)."
            ) from None
        except Exception as error:
            raise problem_of(error, self.address, self._limit.last) from error
        reply = collected.reply()
        self._settle(reply)
        return reply

    async def aclose(self) -> None:
        """Close the connection, and try to cancel an abandoned task."""
        if self._client is None:
            return
        if self._abandoned_task and self._transport is not None:
            self._limit.renew()
            # Ignore errors: this is a best-effort attempt, and the result does not depend on it.
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_GRACE):
                    await self._transport.cancel_task(CancelTaskRequest(id=self._abandoned_task))
        await self._client.aclose()

    def _request(self, text: str, card: PeerCard) -> SendMessageRequest:
        return SendMessageRequest(
            tenant=card.interface.tenant,
            message=Message(
                message_id=str(uuid4()),
                role=Role.ROLE_USER,
                parts=[Part(text=text)],
                context_id=self._context,
                task_id=self._task,
            ),
            configuration=SendMessageConfiguration(accepted_output_modes=_ACCEPTED),
        )

    async def _exchange(self, request: SendMessageRequest, collected: ReplyCollector, *, streaming: bool) -> None:
        assert self._transport is not None
        if streaming:
            async with aclosing(_closing(self._transport.send_message_streaming(request))) as events:
                async for event in _until_answered(events, collected):
                    collected.add(event)
        else:
            response = await self._transport.send_message(request)
            if response.HasField("message"):
                collected.add(StreamResponse(message=response.message))
            elif response.HasField("task"):
                collected.add(StreamResponse(task=response.task))
        pause, longest = _POLL
        while collected.is_pending:
            await asyncio.sleep(pause)
            pause = min(longest, pause * 2)
            tenant = request.tenant
            collected.add_task(await self._transport.get_task(GetTaskRequest(tenant=tenant, id=collected.task)))

    def _settle(self, reply: Reply) -> None:
        if reply.context and reply.context != self._context and self._settled:
            raise ProtocolViolation(f"{self.label} changed its context id, so it has lost the conversation.")
        self._context = reply.context or self._context
        self._settled = True
        self._task = reply.task
        if not reply.task:
            self._artifacts.clear()


async def _closing(events: AsyncIterator[StreamResponse]) -> AsyncGenerator[StreamResponse, None]:
    try:
        async for event in events:
            yield event
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _until_answered(
    events: AsyncGenerator[StreamResponse, None], collected: ReplyCollector
) -> AsyncGenerator[StreamResponse, None]:
    """Yield events until the stream ends or, to detect a second answer, until shortly after the first."""
    while True:
        grace = _GRACE if collected.is_answered else None
        try:
            async with asyncio.timeout(grace):
                event = await anext(events)
        except StopAsyncIteration:
            return
        except TimeoutError:
            if grace is None:
                raise
            return
        yield event


def _transport(client: httpx.AsyncClient, interface: Interface) -> ClientTransport:
    # Import only the required transport, because the older version's types are thousands of lines long.
    card = AgentCard()
    if interface.is_older and interface.binding == "JSONRPC":
        from a2a.compat.v0_3.jsonrpc_transport import CompatJsonRpcTransport

        return CompatJsonRpcTransport(client, card, interface.url, is_shared_httpx=True)
    if interface.is_older:
        from a2a.compat.v0_3.rest_transport import CompatRestTransport

        return CompatRestTransport(client, card, interface.url, is_shared_httpx=True)
    client.headers.setdefault(VERSION_HEADER, PROTOCOL_VERSION_1_0)
    if interface.binding == "JSONRPC":
        from a2a.client.transports.jsonrpc import JsonRpcTransport

        return JsonRpcTransport(client, card, interface.url, is_shared_httpx=True)
    from a2a.client.transports.rest import RestTransport

    return RestTransport(client, card, interface.url, is_shared_httpx=True)


# -- as a model client

_MOST = 1_000_000_000  # maximum tokens; a larger number is not a plausible count


class PeerClient:
    """Sends one trial's requests to a remote agent.

    Answers are never recalled from the log, because the agent would not receive those messages.
    """

    def __init__(self, agent: str, log: CallLog, limits: PeerLimits = DEFAULT_LIMITS) -> None:
        self._peer = Peer(address_of(agent), limits)
        self._secrets = values_of(self._peer.headers)
        self._log = log
        self._counts: Counter[tuple[str, int]] = Counter()

    async def complete(self, request: Request) -> Answer:
        """Return the agent's answer to the last message of the request. Raises ModelError."""
        key = (request.digest, request.sample)
        nth = self._counts[key]
        self._counts[key] += 1
        at, began = time.time(), time.monotonic()
        try:
            answer = await self._answer(request, began)
        except ModelError as raised:
            error = type(raised)(scrub(str(raised), self._secrets), permanent=raised.permanent)
            tried = Attempt(at, time.monotonic() - began, str(error))
            self._log.record(CallRecord(request, nth, None, error, (tried,), at))
            raise error from None
        self._log.record(CallRecord(request, nth, answer, None, (Attempt(at, answer.latency_s),), at))
        return answer

    async def aclose(self) -> None:
        await self._peer.aclose()

    async def _answer(self, request: Request, began: float) -> Answer:
        card = await self._peer.connect()
        if card.model != request.model:
            raise NoAgent(
                f"{self._peer.label} has changed: its card is {card.summary()} ({card.model}), "
                f"not {request.model}. Start a new run for it."
            )
        reply = await self._peer.ask(request.messages[-1].content)
        reported = reply.metadata.get("workbench")
        reported = reported if isinstance(reported, dict) else {}
        return Answer(
            text=hide(reply.text, self._secrets),
            model=one_line(hide(str(reported.get("model") or card.model), self._secrets), 200),
            usage=Usage(_count(reported.get("prompt_tokens")), _count(reported.get("completion_tokens"))),
            cost_usd=_dollars(reported.get("cost_usd")),
            latency_s=time.monotonic() - began,
            finish_reason="stop",
        )


def _count(value: Any) -> int:
    """Return a token count, or 0 if it is missing or invalid; A2A's JSON represents it as a float."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and 0 <= value <= _MOST else 0


def _dollars(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1_000_000 else None
