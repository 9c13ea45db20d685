"""The gateway to all models: recorded answers, limits, retries and the call log."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from workbench.models import provider
from workbench.models.defaults import base_url_in, is_local, provider_of
from workbench.models.failures import Failure, classify
from workbench.models.local_process import SLOTS, Endpoint, LocalModel
from workbench.models.secrets import hide, scrub, secrets_in_url
from workbench.models.types import (
    Answer,
    Attempt,
    CallLimits,
    CallLog,
    CallRecord,
    LocalModelCrashed,
    MalformedAnswer,
    Message,
    ModelError,
    ModelRefused,
    ModelTimeout,
    NotRecorded,
    ReplaySource,
    Request,
    Sampling,
    SpendLimit,
    Usage,
)


class ProviderLimit:
    """Limits concurrent requests to one provider; a rate limit hit by any request pauses all of them."""

    def __init__(self, width: int) -> None:
        self._slots = asyncio.Semaphore(max(1, width))
        self._open_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        async with self._slots:
            while (left := self._open_at - time.monotonic()) > 0:  # noqa: ASYNC110 - a pause may be prolonged meanwhile
                # Random delays prevent waiting requests from resuming in the same millisecond.
                await asyncio.sleep(left + random.uniform(0, min(0.25, left / 4)))
            yield

    def pause(self, seconds: float) -> None:
        self._open_at = max(self._open_at, time.monotonic() + seconds)


class Budget:
    """Admits a call only if spending plus the estimates of running calls stays below the limit.

    A call's price is known only afterwards, so its estimate is reserved until then. Calls that do not fit wait for
    others to finish, and are refused only once the limit itself is reached.
    """

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        self.limit = limit
        self.spent = spent
        self._reserved = 0.0
        self._changed = asyncio.Condition()

    async def reserve(self, estimate: float) -> None:
        """Reserve ``estimate`` US dollars, waiting until they are available. Raises SpendLimit at the limit."""
        if self.limit is None:
            return
        async with self._changed:
            while True:
                if self.spent >= self.limit:
                    raise SpendLimit(
                        f"The spend limit of ${self.limit:.2f} is reached (${self.spent:.2f} spent); "
                        "raise spend_limit and resume the session."
                    )
                if self._reserved == 0.0 or self.spent + self._reserved + estimate <= self.limit:
                    self._reserved += estimate
                    return
                await self._changed.wait()

    async def settle(self, estimate: float, cost: float | None) -> None:
        """Replace a reserved estimate with the call's cost in US dollars (None means unknown and counts as 0)."""
        self.spent += cost or 0.0
        if self.limit is None:
            return
        async with self._changed:
            self._reserved = max(0.0, self._reserved - estimate)
            if self._reserved < 1e-12:
                self._reserved = 0.0
            self._changed.notify_all()


PURPOSES = frozenset({"agent", "judge"})
_SLOT = 0
Messages = tuple[Message, ...]


def earlier_prompts(messages: Messages) -> tuple[Messages, ...]:
    """Return the earlier prompts of a conversation, oldest first: the messages before each assistant message."""
    return tuple(messages[:place] for place, message in enumerate(messages) if message.role == "assistant" and place)


class ReproducibleConversation:
    """Sends requests so that the embedded model answers equal requests equally.

    The last bits of llama.cpp's results depend on how its cache was filled. Generated tokens are evaluated one by one,
    the same tokens in a prompt are evaluated in a batch, and requests in other slots move cache cells. A sampled README
    would therefore differ after a resume. To prevent this, only one conversation runs at a time, always in the same
    slot. Each earlier prompt of the conversation is evaluated on top of the previous one, without generated tokens. In
    an uninterrupted conversation, this costs one re-evaluated token. The caller must ensure that no other request runs
    concurrently.
    """

    def __init__(self) -> None:
        self._cached: tuple[str, tuple[Messages, ...]] | None = None

    async def ask(
        self, request: Request, target: provider.Target, settings: Mapping[str, Any], timeout_s: float
    ) -> Any:
        """Bring the cache into the state that the request requires, then send the request."""
        earlier = earlier_prompts(request.messages)
        # The cache's state is unknown while a request is running, and after a request failed or was cancelled.
        cached, self._cached = self._cached, None
        async with asyncio.timeout(timeout_s):
            if earlier and cached == (target.key, earlier):
                await self._evaluate(earlier[-1], request, target, timeout_s, fresh=False)
            else:
                for number, prompt in enumerate(earlier):
                    await self._evaluate(prompt, request, target, timeout_s, fresh=number == 0)
                    await self._evaluate(prompt, request, target, timeout_s, fresh=False)
            response = await provider.ask(request, target, _in_slot(settings, fresh=not earlier), timeout_s)
        self._cached = (target.key, (*earlier, request.messages))
        return response

    async def _evaluate(
        self, prompt: Messages, request: Request, target: provider.Target, timeout_s: float, *, fresh: bool
    ) -> None:
        """Evaluate a prompt without generating an answer; a cached prompt costs one token."""
        reading = dataclasses.replace(request, messages=prompt, sampling=Sampling(), grammar=None, json_schema=None)
        await provider.ask(reading, target, _in_slot({"max_tokens": 1, "temperature": 0.0}, fresh=fresh), timeout_s)


def _in_slot(settings: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
    return {**settings, "extra_body": {**settings.get("extra_body", {}), "cache_prompt": not fresh, "id_slot": _SLOT}}


_REPLAY = "replay:"
NO_KEY = "not-needed"
# A prompt that crashed the embedded model would do so again; one restart shows whether the crash was a coincidence.
_CRASHES_PER_CALL = 2
_MALFORMED_TRIES = 3


class Gateway:
    """The entry point to every model for one run; ``log`` supplies answers that are already recorded.

    ``replay`` opens the recorded answers of a ``replay:`` session. ``base_url`` is the endpoint for ``openai/…``
    models, or "" for the one in the environment. ``local_model_path`` is the GGUF file for ``local``, or "" for the
    packaged one. ``spent_usd`` is the amount spent before this process started.
    """

    def __init__(
        self,
        log: CallLog,
        limits: CallLimits | None = None,
        replay: Callable[[str], ReplaySource] | None = None,
        *,
        base_url: str = "",
        local_model_path: str = "",
        spent_usd: float = 0.0,
    ) -> None:
        self._log = log
        self._limits = limits or CallLimits()
        self._open_replay = replay
        self._base_url = base_url
        self._local = LocalModel(local_model_path)
        self._budget = Budget(self._limits.spend_usd, spent_usd)
        self._provider_limits: dict[str, ProviderLimit] = {}
        self._replays: dict[str, ReplaySource] = {}
        self._counts: Counter[tuple[str, str, str, int]] = Counter()
        self._checked: set[str] = set()
        self._refused_settings: dict[str, set[str]] = {}
        self._keys: set[str] = set()
        self._conversations = ReproducibleConversation()

    @property
    def spent_usd(self) -> float:
        """The run's spending so far in US dollars; calls with an unknown price count as 0."""
        return self._budget.spent

    @property
    def local_model(self) -> LocalModel:
        return self._local

    async def complete(self, request: Request) -> Answer:
        """Return the recorded, replayed or live answer. Every attempt is logged. Raises ModelError."""
        digest = request.digest
        key = (request.scope, request.model, digest, request.sample)
        nth = self._counts[key]
        self._counts[key] += 1
        known = self._log.recall(request, nth)
        if known is not None:
            return dataclasses.replace(known, source="recorded")
        attempts: list[Attempt] = []
        started_at = time.time()
        try:
            if request.model.startswith(_REPLAY):
                answer = self._replayed(request, digest, nth)
            else:
                answer = await self._live(request, nth, attempts)
        except ModelError as raised:
            error = self._record_failure(request, nth, raised, attempts, started_at)
            raise error from None
        except asyncio.CancelledError:
            # The call did not complete, so a repeated request keeps its number.
            if self._counts[key] == nth + 1:
                self._counts[key] = nth
            raise
        answer = self._answer_without_keys(answer)
        self._log.record(CallRecord(request, nth, answer, None, self._tries_without_keys(attempts), started_at))
        return answer

    def _record_failure(
        self, request: Request, nth: int, raised: ModelError, attempts: list[Attempt], started_at: float
    ) -> ModelError:
        error = self._error_without_keys(raised)
        self._log.record(CallRecord(request, nth, None, error, self._tries_without_keys(attempts), started_at))
        return error

    # -- masking: a provider may echo the key that it received

    def _answer_without_keys(self, answer: Answer) -> Answer:
        return dataclasses.replace(
            answer,
            text=hide(answer.text, self._keys),
            model=hide(answer.model, self._keys),
            finish_reason=hide(answer.finish_reason, self._keys),
            reasoning=None if answer.reasoning is None else hide(answer.reasoning, self._keys),
        )

    def _error_without_keys(self, error: ModelError) -> ModelError:
        clean = type(error)(scrub(str(error), self._keys), permanent=error.permanent)
        clean.usage, clean.cost_usd = error.usage, error.cost_usd
        return clean

    def _tries_without_keys(self, attempts: list[Attempt]) -> tuple[Attempt, ...]:
        return tuple(
            dataclasses.replace(one, error=scrub(one.error, self._keys)) if one.error else one for one in attempts
        )

    async def warm_up(self, model: str) -> None:
        """Load LiteLLM or the embedded model before the first call."""
        await self._ready(model)

    def forget(self, scope: str) -> None:
        """Reset the request counts of the work item ``scope``, which is starting again."""
        for key in [key for key in self._counts if key[0] == scope]:
            del self._counts[key]

    async def aclose(self) -> None:
        await self._local.aclose()

    def _replayed(self, request: Request, digest: str, nth: int) -> Answer:
        name = request.model.removeprefix(_REPLAY)
        if name not in self._replays:
            if self._open_replay is None:
                raise NotRecorded(f"Replay is not available here, so {request.model} has no answers.")
            self._replays[name] = self._open_replay(name)
        found = self._replays[name].find(digest, request.sample, nth)
        if found is None:
            raise NotRecorded(
                f"The session {name} has no answer to this request; it was recorded with different prompts, files or "
                "settings."
            )
        return dataclasses.replace(found, source="replay")

    def _provider_limit(self, request: Request) -> ProviderLimit:
        provider = provider_of(request.model)
        name = "local, exclusive" if self._is_exclusive(request) else provider
        if name not in self._provider_limits:
            width = SLOTS if provider == "local" else self._limits.concurrency
            width = self._limits.concurrency_of.get(provider, width)
            self._provider_limits[name] = ProviderLimit(1 if self._is_exclusive(request) else width)
        return self._provider_limits[name]

    @staticmethod
    def _is_exclusive(request: Request) -> bool:
        return is_local(request.model) and request.purpose in PURPOSES

    async def _live(self, request: Request, nth: int, attempts: list[Attempt]) -> Answer:
        provider_limit = self._provider_limit(request)
        ask = self._conversations.ask if self._is_exclusive(request) else provider.ask
        deadline: float | None = None
        crashes = 0
        while True:
            async with provider_limit.slot():
                deadline = time.monotonic() + self._limits.total_s if deadline is None else deadline
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._out_of_time(request, attempts)
                endpoint = await self._ready(request.model)
                target = self._target(request, endpoint)
                self._keys |= {target.key, *secrets_in_url(target.base_url)} - {"", NO_KEY}
                settings, dropped = provider.settings_of(request, target)
                for name in self._refused_settings.get(request.model, ()):
                    if settings.pop(name, None) is not None:
                        dropped += ("json_schema" if name == "response_format" else name,)
                estimate = provider.estimate_usd(request, target) if self._limits.spend_usd is not None else 0.0
                await self._budget.reserve(estimate)
                # The embedded model always makes progress, even on a busy machine, so a timeout would only waste its
                # work.
                timeout = left if target.local else min(self._limits.timeout_s, left)
                began_unix, began = time.time(), time.monotonic()
                usage: Usage | None = None
                cost: float | None = None
                try:
                    response = await ask(request, target, settings, timeout)
                    seconds = time.monotonic() - began
                    usage, cost = provider.usage_of(response), provider.price(response, target)
                    answer = provider.read(response, request, target, dropped, seconds)
                    attempts.append(Attempt(began_unix, seconds))
                    return dataclasses.replace(answer, attempts=len(attempts))
                except ModelError as error:
                    # The embedded model would repeat its answer, because its seed is derived from the request.
                    failure = Failure(error, retry=isinstance(error, MalformedAnswer) and not target.local)
                except Exception as raised:
                    if isinstance(raised, TimeoutError) and timeout >= left:
                        raise self._out_of_time(request, attempts) from None
                    failure = classify(raised, request.model, timeout, (target.key,), settings)
                finally:
                    await self._budget.settle(estimate, cost)
                # Unusable answers are billed, too.
                failure.error.usage, failure.error.cost_usd = usage, cost
                seconds = time.monotonic() - began
                if endpoint is not None and failure.dropped:
                    words = await self._local.crashed(endpoint.generation)
                    if words is not None:
                        crashes += 1
                        failure = Failure(
                            LocalModelCrashed(f"The embedded model crashed while it answered ({words})."),
                            retry=crashes < _CRASHES_PER_CALL,
                            wait_s=0.0,
                        )
            if failure.unsupported and not self._remember_refusal(request.model, failure.unsupported):
                attempts.append(Attempt(began_unix, seconds, f"{failure.error} Sent again without it."))
                continue
            wait = self._wait(failure, len(attempts) + 1)
            max_tries = self._limits.tries
            if isinstance(failure.error, MalformedAnswer):
                max_tries = min(max_tries, _MALFORMED_TRIES)  # Waiting does not help, unlike with a busy provider.
            given_up = wait is None or len(attempts) + 1 >= max_tries or time.monotonic() + wait >= deadline
            attempts.append(Attempt(began_unix, seconds, str(failure.error), 0.0 if wait is None or given_up else wait))
            if wait is None or given_up:
                raise failure.error
            if failure.error.usage is not None:
                # Record it before waiting, so that cancelling the run does not lose a billed attempt.
                self._record_failure(request, nth, failure.error, attempts[-1:], began_unix)
            if failure.wait_s:
                provider_limit.pause(wait)
            await asyncio.sleep(wait)

    async def _ready(self, model: str) -> Endpoint | None:
        """Load LiteLLM or start the embedded model; return the latter's endpoint, or None for other models."""
        if is_local(model):
            return await self._local.endpoint()
        await provider.ready()
        return None

    def _remember_refusal(self, model: str, setting: str) -> bool:
        """Remember that ``model`` rejects ``setting``; return True if this was known, so omitting it did not help."""
        known = self._refused_settings.setdefault(model, set())
        if setting in known:
            return True
        known.add(setting)
        return False

    def _wait(self, failure: Failure, tried: int) -> float | None:
        if not failure.retry:
            return None
        if failure.wait_s is not None:
            return failure.wait_s if failure.wait_s <= self._limits.longest_wait_s else None
        # Random delays in the upper half of the interval spread out retries without ever waiting 0 s.
        ceiling = min(self._limits.longest_wait_s, self._limits.backoff_s * 2 ** (tried - 1))
        return float(ceiling * random.uniform(0.5, 1.0))

    def _out_of_time(self, request: Request, attempts: list[Attempt]) -> ModelTimeout:
        failed = [one.error for one in attempts if one.error]
        before = f" The last failure: {failed[-1]}" if failed else ""
        return ModelTimeout(
            f"{request.model} did not answer within the {self._limits.total_s:g} s of request_total_time, including "
            f"retries and waits; raise it or choose a faster model.{before}"
        )

    def _target(self, request: Request, endpoint: Endpoint | None) -> provider.Target:
        if endpoint is not None:
            return provider.Target("openai/local", endpoint.base_url, endpoint.key, local=True)
        base_url = self._base_url or base_url_in()
        if provider_of(request.model) == "openai" and base_url:
            # A self-hosted server rarely needs a key, but the client requires one.
            model = f"openai/{request.model.removeprefix('openai/')}"
            return provider.Target(model, base_url, os.environ.get("OPENAI_API_KEY") or NO_KEY)
        if not request.model.strip():
            raise ModelRefused("No model is set; choose one with --model, for example local.")
        if request.model not in self._checked:
            provider.check_key(request.model)
            self._checked.add(request.model)
        return provider.Target(request.model)
