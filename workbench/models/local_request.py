"""One request to the embedded model over loopback, without LiteLLM: its import takes seconds, this takes none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any


class APIConnectionError(Exception):
    """The connection broke before the answer was complete; named like the error of OpenAI's client."""


async def ask(
    messages: Sequence[Mapping[str, str]], base_url: str, key: str, settings: Mapping[str, Any], timeout_s: float
) -> Any:
    """Send a conversation once and return the chat completion with its fields as attributes, as LiteLLM gives it.

    ``base_url`` ends with ``/v1``; ``settings`` are optional fields, of which ``extra_body`` is merged into the
    request; ``timeout_s`` limits the whole exchange.

    Raises:
        TimeoutError: It took longer.
        APIConnectionError: The connection broke.
        httpx.HTTPStatusError: The model refused the request; the message holds its words.
        ValueError: The answer is not JSON.
    """
    import httpx

    plain = {name: value for name, value in settings.items() if name != "extra_body"}
    body = {"model": "local", "messages": list(messages), **plain, **settings.get("extra_body", {})}
    try:
        # Loopback: no proxy of the environment and no certificate is asked for.
        async with asyncio.timeout(timeout_s), httpx.AsyncClient(trust_env=False, verify=False, timeout=None) as client:
            answer = await client.post(
                f"{base_url}/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"}
            )
    except httpx.TransportError as broken:
        raise APIConnectionError(f"connection error: {broken}") from broken
    if answer.status_code >= 400:
        raise httpx.HTTPStatusError(_words(answer.text), request=answer.request, response=answer)
    return json.loads(answer.text, object_hook=lambda fields: SimpleNamespace(**fields))


def _words(text: str) -> str:
    try:
        said = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return text
    return str(said)
