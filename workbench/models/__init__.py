"""One gateway to every model: hosted through LiteLLM (imported on the first live call), embedded, or replayed."""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "defaults": [
            "available_models",
            "context_window",
            "count_tokens",
            "default_model",
            "describe_models",
            "limits_of",
            "sampling_for",
        ],
        "gateway": ["Gateway"],
        "types": [
            "Answer",
            "Attempt",
            "CallLog",
            "CallRecord",
            "ContextOverflow",
            "CallLimits",
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
            "model_error",
        ],
    },
)
