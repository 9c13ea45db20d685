"""What goes into a model call and what comes out: plain values without any library behind them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from workbench.errors import WorkbenchError


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model draws its answer; ``None`` leaves the provider's own default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return only what was chosen, so that a new field never changes the digest of an old request."""
        chosen: dict[str, object] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "max_tokens": self.max_tokens,
            "stop": list(self.stop) or None,
            "seed": self.seed,
            "reasoning_effort": self.reasoning_effort,
        }
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
        model: Any LiteLLM name, ``local`` (the embedded model) or ``replay:SESSION``.
        messages: The conversation so far.
        purpose: ``agent``, ``judge``, ``documenter`` or ``evaluator``.
        sampling: How to draw the answer.
        sample: Index of the independent sample of the same question.
        scope: Identity of the work item that asks (trial or candidate).
        json_schema: Shape that the answer must have, where the model supports it.
        grammar: GBNF for the embedded model; wins over ``json_schema`` there and is ignored elsewhere.
    """

    model: str
    messages: tuple[Message, ...]
    purpose: str
    sampling: Sampling = Sampling()
    sample: int = 0
    scope: str = ""
    json_schema: Mapping[str, object] | None = None
    grammar: str | None = None

    @property
    def digest(self) -> str:
        """Return the SHA-256 of what is asked: not of who asks, which model, or which sample."""
        asked = {
            "messages": [[message.role, message.content] for message in self.messages],
            "sampling": self.sampling.to_json(),
            "json_schema": self.json_schema,
            "grammar": self.grammar,
        }
        canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``cached_tokens`` are those prompt tokens that the provider had already."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said.

    Attributes:
        text: The answer; never empty.
        model: The model's name as the provider states it.
        usage: Tokens as the provider counted them.
        cost_usd: Price, 0.0 for the embedded model, ``None`` where the price is not known.
        latency_s: Seconds of the successful attempt.
        finish_reason: ``stop``, ``length`` and so on, as LiteLLM names them.
        attempts: How many tries it took.
        source: ``live``, ``recorded`` (this session had it already) or ``replay``.
        reasoning: The model's reasoning text, where it gives one.
        dropped: Settings of the request that this model does not take and that were therefore left out.
    """

    text: str
    model: str
    usage: Usage
    cost_usd: float | None
    latency_s: float
    finish_reason: str
    attempts: int = 1
    source: str = "live"
    reasoning: str | None = None
    dropped: tuple[str, ...] = ()


class ModelError(WorkbenchError):
    """A model call that gave no answer; ``kind`` is stable and goes into the session."""

    kind = "model"


class ModelTimeout(ModelError):
    """No answer within the time limit."""

    kind = "timeout"


class ModelRefused(ModelError):
    """The provider will not answer this request, however often it is sent."""

    kind = "refused"


class ModelUnavailable(ModelError):
    """The provider cannot be reached or fails."""

    kind = "unavailable"


class RateLimited(ModelError):
    """The provider asks to wait longer than the limits allow."""

    kind = "rate_limited"


class SpendLimit(ModelError):
    """The run has spent what it may."""

    kind = "budget"


class MalformedAnswer(ModelError):
    """The answer was empty or not what the protocol promises."""

    kind = "malformed"


class MissingKey(ModelError):
    """The provider's key is not in the environment."""

    kind = "key"


class EmptyAnswer(MalformedAnswer):
    """The model answered, and said nothing."""


class NotRecorded(ModelError):
    """The replayed session holds no answer to this request."""

    kind = "not_recorded"


class ContextOverflow(ModelError):
    """The messages are longer than the model's window."""

    kind = "context"


class LocalModelCrashed(ModelError):
    """The embedded model's process ended by itself."""

    kind = "crashed"


_KINDS: dict[str, type[ModelError]] = {
    kind.kind: kind
    for kind in (
        ModelTimeout,
        ModelRefused,
        ModelUnavailable,
        RateLimited,
        SpendLimit,
        MalformedAnswer,
        MissingKey,
        NotRecorded,
        ContextOverflow,
        LocalModelCrashed,
    )
}


def model_error(kind: str, sentence: str) -> ModelError:
    """Return the error of ``kind``, as read back from a session; an unknown kind gives a plain ``ModelError``."""
    return _KINDS.get(kind, ModelError)(sentence)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call: when it began, how long it took, why it failed, how long the gateway then waited."""

    started_at_unix: float
    seconds: float
    error: str | None = None
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished call with all its tries; either ``answer`` or ``error`` is set."""

    request: Request
    nth: int
    answer: Answer | None
    error: ModelError | None
    attempts: tuple[Attempt, ...]
    started_at: float


class CallLog(Protocol):
    """Where calls are kept; the engine writes them to the session file."""

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return the answer that this session has already for this scope, or ``None`` to ask the model."""
        ...

    def record(self, call: CallRecord) -> None:
        """Keep a finished call; after this returns, the answer may be shown."""
        ...


class ReplaySource(Protocol):
    """Recorded answers of another session."""

    def find(self, digest: str, sample: int, nth: int) -> Answer | None:
        """Return the recorded answer, or ``None`` if that session has none."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take from its models.

    Attributes:
        concurrency: Requests under way at once, per provider.
        concurrency_of: Exceptions by provider (``openai``, ``local`` …).
        timeout_s: Seconds for one try.
        total_s: Seconds for a call with all its tries and waits.
        tries: Most tries of one call.
        backoff_s: First wait; it doubles each time, with jitter.
        longest_wait_s: Longest single wait that is accepted, also when the provider asks for more.
        spend_usd: Most that the run may cost, ``None`` for no limit; calls of unknown price do not count.
    """

    concurrency: int = 16
    concurrency_of: Mapping[str, int] = field(default_factory=dict)
    timeout_s: float = 180.0
    total_s: float = 900.0
    tries: int = 6
    backoff_s: float = 1.0
    longest_wait_s: float = 120.0
    spend_usd: float | None = None
