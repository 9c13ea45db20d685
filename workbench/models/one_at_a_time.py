"""Make the embedded model reproducible for agents: equal requests get equal answers, whatever was asked before.

The last bits of what llama.cpp computes depend on how its cache was filled: generated tokens are evaluated one by one,
the same tokens in a prompt all at once, and requests in other slots move cache cells. A sampled README would then
differ after a resume. So only one conversation runs at a time, always in the same slot, and each earlier question of
the conversation is evaluated on top of the previous one, without generated tokens. In an unbroken conversation this
costs one re-evaluated token.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

from workbench.models import provider
from workbench.models.types import Message, Request, Sampling

PURPOSES = frozenset({"agent", "judge"})
_SLOT = 0
Conversation = tuple[Message, ...]


def earlier_questions(messages: Conversation) -> tuple[Conversation, ...]:
    """Return the earlier requests of a conversation, oldest first: the messages before each answer of the assistant."""
    return tuple(messages[:place] for place, message in enumerate(messages) if message.role == "assistant" and place)


class OneAtATime:
    """Sends requests of one conversation at a time; the caller makes sure that no other request runs meanwhile."""

    def __init__(self) -> None:
        self._held: tuple[str, tuple[Conversation, ...]] | None = None

    async def ask(
        self, request: Request, target: provider.Target, settings: Mapping[str, Any], timeout_s: float
    ) -> Any:
        """Bring the cache into the state that the request requires, send it, and return LiteLLM's response."""
        earlier = earlier_questions(request.messages)
        # The cache's state is unknown while a request runs, and after one that failed or was cancelled.
        held, self._held = self._held, None
        async with asyncio.timeout(timeout_s):
            if earlier and held == (target.key, earlier):
                await self._read(earlier[-1], request, target, timeout_s, fresh=False)
            else:
                for number, question in enumerate(earlier):
                    await self._read(question, request, target, timeout_s, fresh=number == 0)
                    await self._read(question, request, target, timeout_s, fresh=False)
            response = await provider.ask(request, target, _in_slot(settings, fresh=not earlier), timeout_s)
        self._held = (target.key, (*earlier, request.messages))
        return response

    async def _read(
        self, question: Conversation, request: Request, target: provider.Target, timeout_s: float, *, fresh: bool
    ) -> None:
        """Let the model evaluate a question only; one that it has just evaluated costs one token."""
        reading = dataclasses.replace(request, messages=question, sampling=Sampling(), grammar=None, json_schema=None)
        await provider.ask(reading, target, _in_slot({"max_tokens": 1, "temperature": 0.0}, fresh=fresh), timeout_s)


def _in_slot(settings: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
    return {**settings, "extra_body": {**settings.get("extra_body", {}), "cache_prompt": not fresh, "id_slot": _SLOT}}
