"""One gateway to every model: hosted models through LiteLLM, the embedded local model, and replay of recorded answers.

``Gateway.complete(Request) -> Answer`` is the whole interface; every call goes through a ``CallLog``. Importing this
package is cheap: LiteLLM is loaded by the first live call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.models.defaults import (
    available_models,
    context_window,
    count_tokens,
    default_model,
    describe_models,
    limits_of,
    sampling_for,
)
from workbench.models.types import (
    Answer,
    Attempt,
    CallLog,
    CallRecord,
    ContextOverflow,
    Limits,
    LocalModelCrashed,
    MalformedAnswer,
    Message,
    MissingKey,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    NotRecorded,
    RateLimited,
    ReplaySource,
    Request,
    Sampling,
    SpendLimit,
    Usage,
    model_error,
)

if TYPE_CHECKING:
    from workbench.models.gateway import Gateway

__all__ = [
    "Answer",
    "Attempt",
    "CallLog",
    "CallRecord",
    "ContextOverflow",
    "Gateway",
    "Limits",
    "LocalModelCrashed",
    "MalformedAnswer",
    "Message",
    "MissingKey",
    "ModelError",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "NotRecorded",
    "RateLimited",
    "ReplaySource",
    "Request",
    "Sampling",
    "SpendLimit",
    "Usage",
    "available_models",
    "context_window",
    "count_tokens",
    "default_model",
    "describe_models",
    "limits_of",
    "model_error",
    "sampling_for",
]


def __getattr__(name: str) -> Any:
    """Import the gateway on first use."""
    if name == "Gateway":
        from workbench.models.gateway import Gateway

        return Gateway
    raise AttributeError(name)
