"""An agent of other people in the place of a model: each request goes to it as one message, and its call is recorded."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from workbench.a2a.credentials import values_of
from workbench.a2a.peer import DEFAULT_LIMITS, Peer, PeerLimits
from workbench.a2a.problems import NoAgent
from workbench.agents.remote_names import address_of
from workbench.models.secrets import hide, scrub
from workbench.models.types import Answer, Attempt, CallLog, CallRecord, ModelError, Request, Usage
from workbench.text import one_line

_MOST = 1_000_000_000  # tokens; whoever reports more has not counted


class PeerAsker:
    """Answers the requests of one trial by one conversation; nothing is recalled from the log, as the agent would not know of it."""

    def __init__(self, agent: str, log: CallLog, limits: PeerLimits = DEFAULT_LIMITS) -> None:
        self._peer = Peer(address_of(agent), limits)
        self._secrets = values_of(self._peer.headers)
        self._log = log
        self._counts: Counter[tuple[str, int]] = Counter()

    async def complete(self, request: Request) -> Answer:
        """Return the agent's answer to the last message of the request; raises ModelError where there is none."""
        turn = (request.digest, request.sample)
        nth = self._counts[turn]
        self._counts[turn] += 1
        at, began = time.time(), time.monotonic()
        try:
            answer = await self._answer(request, began)
        except ModelError as raised:
            error = type(raised)(scrub(str(raised), self._secrets), lasting=raised.lasting)
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
                f"{self._peer.who} is not the one that was asked for: its card says {card.words()}, which is {card.model} "
                f"and not {request.model}. Run it anew, as trials of their own."
            )
        reply = await self._peer.ask(request.messages[-1].content)
        told = reply.metadata.get("workbench")
        told = told if isinstance(told, dict) else {}
        return Answer(
            text=hide(reply.text, self._secrets),
            model=one_line(hide(str(told.get("model") or card.model), self._secrets), 200),
            usage=Usage(_count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))),
            cost_usd=_dollars(told.get("cost_usd")),
            latency_s=time.monotonic() - began,
            finish_reason="stop",
        )


def _count(value: Any) -> int:
    """Return a number of tokens as JSON of A2A has it (every number is a float); 0 where none is told."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and 0 <= value <= _MOST else 0


def _dollars(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1_000_000 else None
