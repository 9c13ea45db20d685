"""The gateway: recall, replay, limits, retries and the log around one question to a model."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import time
from collections import Counter
from collections.abc import Callable

from workbench.models import provider
from workbench.models.budget import Budget
from workbench.models.defaults import base_url_in, is_local, provider_of
from workbench.models.failures import Failure, classify
from workbench.models.lane import Lane
from workbench.models.local_process import SLOTS, Endpoint, LocalModel
from workbench.models.types import (
    Answer,
    Attempt,
    CallLog,
    CallRecord,
    Limits,
    LocalModelCrashed,
    MalformedAnswer,
    ModelError,
    ModelRefused,
    ModelTimeout,
    NotRecorded,
    ReplaySource,
    Request,
)

_REPLAY = "replay:"
# A prompt that kills the embedded model would kill it again; one restart tells bad luck from bad input.
_CRASHES_PER_CALL = 2
_MALFORMED_TRIES = 3


class Gateway:
    """One way to every model, for one run.

    Args:
        log: Where calls are kept, and where answers that the session has already come from.
        limits: What the run may take.
        replay: Opens the recorded answers of the session named after ``replay:``.
        base_url: OpenAI-compatible endpoint for ``openai/…`` models; the environment's if empty.
        local_model_path: Another GGUF for ``local``.
        spent_usd: What the run has spent before this process started.
    """

    def __init__(
        self,
        log: CallLog,
        limits: Limits | None = None,
        replay: Callable[[str], ReplaySource] | None = None,
        *,
        base_url: str = "",
        local_model_path: str = "",
        spent_usd: float = 0.0,
    ) -> None:
        self._log = log
        self._limits = limits or Limits()
        self._open_replay = replay
        self._base_url = base_url
        self._local = LocalModel(local_model_path)
        self._budget = Budget(self._limits.spend_usd, spent_usd)
        self._lanes: dict[str, Lane] = {}
        self._replays: dict[str, ReplaySource] = {}
        self._counts: Counter[tuple[str, str, str, int]] = Counter()
        self._checked: set[str] = set()
        self._refused_settings: dict[str, set[str]] = {}

    @property
    def spent_usd(self) -> float:
        """Return what the run has spent so far, as far as prices are known."""
        return self._budget.spent

    @property
    def local_model(self) -> LocalModel:
        """Return the embedded model's process, running or not."""
        return self._local

    async def complete(self, request: Request) -> Answer:
        """Return the model's answer: from this session, from a replayed one, or live.

        Raises:
            ModelError: There is none; the call with all its tries is in the log.
        """
        digest = request.digest
        turn = (request.scope, request.model, digest, request.sample)
        nth = self._counts[turn]
        self._counts[turn] += 1
        known = self._log.recall(request, nth)
        if known is not None:
            return dataclasses.replace(known, source="recorded")
        attempts: list[Attempt] = []
        started_at = time.time()
        try:
            if request.model.startswith(_REPLAY):
                answer = self._replayed(request, digest, nth)
            else:
                answer = await self._live(request, attempts)
        except ModelError as error:
            self._log.record(CallRecord(request, nth, None, error, tuple(attempts), started_at))
            raise
        except asyncio.CancelledError:
            # Nothing came of it: asked again, it is the same question.
            if self._counts[turn] == nth + 1:
                self._counts[turn] = nth
            raise
        self._log.record(CallRecord(request, nth, answer, None, tuple(attempts), started_at))
        return answer

    async def warm_up(self, model: str) -> None:
        """Load LiteLLM, and the embedded model if ``model`` is that one, before the first call needs them.

        Raises:
            ModelError: The embedded model cannot run.
        """
        await asyncio.gather(provider.ready(), self._endpoint(model))

    def forget(self, scope: str) -> None:
        """Count the requests of ``scope`` from zero again, because its work item starts anew."""
        for turn in [turn for turn in self._counts if turn[0] == scope]:
            del self._counts[turn]

    async def aclose(self) -> None:
        """End the embedded model."""
        await self._local.aclose()

    def _replayed(self, request: Request, digest: str, nth: int) -> Answer:
        name = request.model.removeprefix(_REPLAY)
        if name not in self._replays:
            if self._open_replay is None:
                raise NotRecorded(f"Nothing can be replayed here, so {request.model} has no answers.")
            self._replays[name] = self._open_replay(name)
        found = self._replays[name].find(digest, request.sample, nth)
        if found is None:
            raise NotRecorded(
                f"The session {name} holds no answer to this request; it was made with other prompts, files or settings."
            )
        return dataclasses.replace(found, source="replay")

    def _lane(self, model: str) -> Lane:
        provider = provider_of(model)
        if provider not in self._lanes:
            width = SLOTS if provider == "local" else self._limits.concurrency
            self._lanes[provider] = Lane(self._limits.concurrency_of.get(provider, width))
        return self._lanes[provider]

    async def _live(self, request: Request, attempts: list[Attempt]) -> Answer:

        lane = self._lane(request.model)
        deadline: float | None = None
        crashes = 0
        while True:
            async with lane.turn():
                deadline = time.monotonic() + self._limits.total_s if deadline is None else deadline
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._out_of_time(request)
                _, endpoint = await asyncio.gather(provider.ready(), self._endpoint(request.model))
                target = self._target(request, endpoint)
                settings, dropped = provider.settings_of(request, target)
                for name in self._refused_settings.get(request.model, ()):
                    if settings.pop(name, None) is not None:
                        dropped += ("json_schema" if name == "response_format" else name,)
                estimate = provider.estimate_usd(request, target) if self._limits.spend_usd is not None else 0.0
                await self._budget.set_aside(estimate)
                # The embedded model always makes progress, only slowly on a busy machine: to cut it short wastes all.
                timeout = left if target.local else min(self._limits.timeout_s, left)
                began_unix, began = time.time(), time.monotonic()
                cost: float | None = None
                try:
                    response = await provider.ask(request, target, settings, timeout)
                    seconds = time.monotonic() - began
                    cost = provider.price(response, target)  # an empty answer costs as well
                    answer = provider.read(response, request, target, dropped, seconds)
                    attempts.append(Attempt(began_unix, seconds))
                    return dataclasses.replace(answer, attempts=len(attempts))
                except ModelError as error:
                    # The embedded model would say the same again: its seed comes from the request.
                    failure = Failure(error, retry=isinstance(error, MalformedAnswer) and not target.local)
                except Exception as raised:
                    failure = classify(raised, request.model, timeout, (target.key,), settings)
                finally:
                    await self._budget.settle(estimate, cost)
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
            if failure.unsupported and not self._learn(request.model, failure.unsupported):
                attempts.append(Attempt(began_unix, seconds, f"{failure.error} Sent again without it."))
                continue
            wait = self._wait(failure, len(attempts) + 1)
            most = self._limits.tries
            if isinstance(failure.error, MalformedAnswer):
                most = min(most, _MALFORMED_TRIES)  # unlike a busy provider, time does not mend this
            given_up = wait is None or len(attempts) + 1 >= most or time.monotonic() + wait >= deadline
            attempts.append(Attempt(began_unix, seconds, str(failure.error), 0.0 if wait is None or given_up else wait))
            if wait is None or given_up:
                raise failure.error
            if failure.wait_s:
                lane.pause(wait)
            await asyncio.sleep(wait)

    async def _endpoint(self, model: str) -> Endpoint | None:
        return await self._local.endpoint() if is_local(model) else None

    def _learn(self, model: str, setting: str) -> bool:
        """Remember that ``model`` refuses ``setting``; return whether that was known (so that it did not help)."""
        known = self._refused_settings.setdefault(model, set())
        if setting in known:
            return True
        known.add(setting)
        return False

    def _wait(self, failure: Failure, tried: int) -> float | None:
        """Return the seconds before the next try, ``None`` if there is to be none."""
        if not failure.retry:
            return None
        if failure.wait_s is not None:
            return failure.wait_s if failure.wait_s <= self._limits.longest_wait_s else None
        # Full jitter over the upper half: enough to spread, never nothing.
        ceiling = min(self._limits.longest_wait_s, self._limits.backoff_s * 2 ** (tried - 1))
        return float(ceiling * random.uniform(0.5, 1.0))

    def _out_of_time(self, request: Request) -> ModelTimeout:
        return ModelTimeout(f"{request.model} gave no answer within {self._limits.total_s:g} s, all tries together.")

    def _target(self, request: Request, endpoint: Endpoint | None) -> provider.Target:

        if endpoint is not None:
            return provider.Target("openai/local", endpoint.base_url, endpoint.key, local=True)
        base_url = self._base_url or base_url_in()
        if provider_of(request.model) == "openai" and base_url:
            # Servers of one's own mostly want no key, but the client insists on one.
            return provider.Target(_openai(request.model), base_url, os.environ.get("OPENAI_API_KEY") or "not-needed")
        if not request.model.strip():
            raise ModelRefused("No model is named; choose one with --model, for example local.")
        if request.model not in self._checked:
            provider.check_key(request.model)
            self._checked.add(request.model)
        return provider.Target(request.model)


def _openai(model: str) -> str:
    return model if model.startswith("openai/") else f"openai/{model}"
