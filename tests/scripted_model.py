"""A model that a function answers, in the place where LiteLLM would be called: no import of it, no server, no socket.

Requests arrive as an OpenAI-compatible server would get them, and answers go the way of a real one from there on. What
LiteLLM makes of a response, and of a connection that breaks, needs a ``LoopbackServer``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from loopback.server import Body, Reply, Script, Seen, completion

from workbench.models import provider

#: US dollars per token asked and answered.
PRICES = {"gpt-4o": (2.5e-6, 1e-5), "gpt-4o-mini": (1.5e-7, 6e-7)}


class ProviderError(Exception):
    """What a provider says with another status than 200."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError):
            error = {"message": body.decode(errors="replace")}
        super().__init__(error["message"])
        self.status_code, self.code, self.litellm_response_headers = status, error.get("code"), headers


class APIConnectionError(Exception):
    """The connection broke; known by its name."""


class ScriptedModel(Script):
    """Stands in for the module ``litellm``: set ``answer``, fill ``script``, look at ``seen``."""

    base_url = "http://127.0.0.1:1/v1"
    model_cost = {
        name: {"input_cost_per_token": asked, "output_cost_per_token": answered, "litellm_provider": "openai"}
        for name, (asked, answered) in PRICES.items()
    }

    def __init__(self, answer: Callable[[Body], str | Reply] = lambda body: "Hello.") -> None:
        super().__init__(answer)
        # One at a time, as by a server; in a thread, since a test may hold an answer back.
        self._thread = ThreadPoolExecutor(1, "scripted-model")
        self.utils = SimpleNamespace(get_optional_params=lambda **parameters: parameters)

    def get_llm_provider(self, model: str) -> tuple[str, str, None, None]:
        name, _, bare = model.rpartition("/")
        return bare, name or "openai", None, None

    def supports_response_schema(self, model: str, custom_llm_provider: str) -> bool:
        return True

    def validate_environment(self, model: str) -> dict[str, object]:
        return {"keys_in_environment": True, "missing_keys": []}

    async def acompletion(
        self, *, model: str, messages: list[dict[str, str]], timeout: float, max_retries: int, **settings: Any
    ) -> Any:
        """Answer as ``litellm.acompletion`` does."""
        key = settings.pop("api_key", "")
        settings.pop("api_base", None)
        own = settings.pop("extra_body", {})
        body: Body = {"model": model.removeprefix("openai/"), "messages": messages, **settings, **own}
        self.seen.append(Seen("/v1/chat/completions", {"Authorization": f"Bearer {key}"}, body))
        with self.busy():
            reply = await asyncio.get_running_loop().run_in_executor(self._thread, self.reply, body)
            await asyncio.sleep(reply.wait)
        if reply.drop is not None:
            raise APIConnectionError("Connection error.")
        sent = completion(body, reply) if reply.raw is None else reply.raw
        if reply.status != 200:
            raise ProviderError(reply.status, sent, reply.headers)
        text = json.dumps(provider.conformed(json.loads(sent)))
        response = json.loads(text, object_hook=lambda values: SimpleNamespace(**values))
        prices = PRICES.get(str(body["model"]), (0.0, 0.0))
        tokens = (response.usage.prompt_tokens, response.usage.completion_tokens)
        response._hidden_params = {"response_cost": sum(map(float.__mul__, prices, map(float, tokens)))}
        return response
