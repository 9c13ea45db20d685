"""Requests, answers, errors and limits of model calls, as plain values without third-party types."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Protocol

from workbench.base.errors import WorkbenchError


@dataclass(frozen=True, slots=True)
class Message:
    """A chat message; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; None selects the provider's default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, object] | None = None  # fields supported by only some providers

    def to_json(self) -> dict[str, object]:
        """Return only the parameters that are set, so that a new field never changes the digest of an old request."""
        chosen = {**asdict(self), "stop": list(self.stop)}
        return {name: value for name, value in chosen.items() if value not in (None, [], {})}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model."""

    model: str  # LiteLLM's name of the model, ``local`` or ``replay:SESSION``
    messages: tuple[Message, ...]
    purpose: str  # ``agent``, ``judge``, ``documenter``, ``evaluator`` or ``metric``
    sampling: Sampling = Sampling()
    sample: int = 0  # index of the sample, for independent samples of the same request
    scope: str = ""  # identity of the work item (trial or candidate)
    json_schema: Mapping[str, object] | None = None  # schema of the answer, if the model supports schemas
    grammar: str | None = None  # GBNF, for the embedded model only; overrides ``json_schema``

    @property
    def digest(self) -> str:
        """The SHA-256 of the request's content, which excludes model, purpose, sample and scope."""
        content = {
            "messages": [[message.role, message.content] for message in self.messages],
            "sampling": self.sampling.to_json(),
            "json_schema": self.json_schema,
            "grammar": self.grammar,
        }
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one call; ``cached_tokens`` are prompt tokens served from the provider's cache."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer."""

    text: str  # never an empty string
    model: str  # the provider's name for the model
    usage: Usage  # counts reported by the provider
    cost_usd: float | None  # 0.0 for the embedded model; None if unknown
    latency_s: float  # duration of the successful attempt
    finish_reason: str  # LiteLLM's finish reason: ``stop``, ``length`` …
    attempts: int = 1
    source: str = "live"  # ``live``, ``recorded`` (in this session) or ``replay``
    reasoning: str | None = None
    dropped: tuple[str, ...] = ()  # settings that the model does not support
    shaped: bool = False  # whether the request's grammar was enforced


class ModelError(WorkbenchError):
    """A model call failed; ``kind`` is a stable name stored in the session.

    If ``permanent`` is True, every request fails until the user fixes the cause (a wrong name, key or address).
    ``usage`` and ``cost_usd`` belong to an unusable response that was billed.
    """

    kind = "model"
    usage: Usage | None = None
    cost_usd: float | None = None

    def __init__(self, sentence: str, *, permanent: bool = False) -> None:
        super().__init__(sentence)
        self.permanent = permanent


class ModelTimeout(ModelError):
    """No answer arrived within the time limit."""

    kind = "timeout"


class ModelRefused(ModelError):
    """The provider refused the request, so a retry cannot help."""

    kind = "refused"


class ModelUnavailable(ModelError):
    """The provider is unreachable or reports an internal error."""

    kind = "unavailable"


class RateLimited(ModelError):
    """The provider's rate limit lasted beyond the run's time limits."""

    kind = "rate_limited"


class SpendLimit(ModelError):
    """The run has reached its spend limit."""

    kind = "budget"


class MalformedAnswer(ModelError):
    """The answer is empty or not a valid chat completion."""

    kind = "malformed"


class MissingKey(ModelError):
    """The provider's key is missing or rejected."""

    kind = "key"


class EmptyAnswer(MalformedAnswer):
    """The model's answer has no text."""


class NotRecorded(ModelError):
    """The replayed session contains no answer to this request."""

    kind = "not_recorded"


class ContextOverflow(ModelError):
    """The conversation exceeds the model's context window."""

    kind = "context"


class LocalModelCrashed(ModelError):
    """The embedded model's process exited unexpectedly."""

    kind = "crashed"


def model_error(kind: str, sentence: str) -> ModelError:
    """Return the error for a ``kind`` stored in a session; an unknown kind becomes a plain ``ModelError``."""
    kinds = {one.kind: one for one in ModelError.__subclasses__()}
    return kinds.get(kind, ModelError)(sentence)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a call; ``waited_s`` is the pause in seconds before the next attempt."""

    started_at_unix: float
    seconds: float
    error: str | None = None
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished call (``answer`` or ``error``) with all its attempts, or a billed attempt that was retried."""

    request: Request
    nth: int
    answer: Answer | None
    error: ModelError | None
    attempts: tuple[Attempt, ...]
    started_at: float

    @property
    def usage(self) -> Usage | None:
        return self.answer.usage if self.answer else self.error.usage if self.error else None

    @property
    def cost_usd(self) -> float | None:
        return self.answer.cost_usd if self.answer else self.error.cost_usd if self.error else None


class ModelClient(Protocol):
    """Answers requests; implemented by the gateway, a remote agent or a test double."""

    async def complete(self, request: Request) -> Answer: ...


class CallLog(Protocol):
    """Stores calls; the engine's implementation writes them to the session file."""

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return the recorded answer to this request, or None if the model must be called."""

    def record(self, call: CallRecord) -> None:
        """Store a finished call durably; its answer may be used once this method returns."""


class MemoryCallLog:
    """A log in memory, for work without a session."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> Answer | None:
        return None

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)


class ReplaySource(Protocol):
    """The recorded answers of another session."""

    def find(self, digest: str, sample: int, nth: int) -> Answer | None: ...


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits on the model calls of a run."""

    concurrency: int = 16  # concurrent requests per provider
    concurrency_of: Mapping[str, int] = field(default_factory=dict)  # exceptions by provider (``openai``, ``local`` …)
    timeout_s: float = 180.0  # seconds for one attempt
    total_s: float = 900.0  # seconds for a call, including all attempts and waits
    tries: int = 6  # attempts per call
    backoff_s: float = 1.0  # seconds before the first retry, doubling each time, with random variation
    longest_wait_s: float = 120.0  # the call fails if a provider requests a longer wait in seconds
    spend_usd: float | None = None  # US dollars for the run; calls with an unknown price do not count
