"""One gateway to every model: hosted (by LiteLLM, imported on the first live call), embedded, or replayed."""

import lazy_loader

# Nothing is imported here. A package that imports its own modules can deadlock with a thread importing one of them.
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
