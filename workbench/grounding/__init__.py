"""Trace the claims of a README to trajectory steps or repository files, and measure how much an agent has seen."""

import lazy_loader

# Nothing is imported eagerly: a package that imports its own modules can deadlock with a thread that imports one of
# them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "claims": ["claims_of"],
        "exploration": ["Exploration", "explore"],
        "items": ["Grounding", "Item", "RepositoryFile", "Shown"],
        "linking": ["ground"],
        "reading": ["Why", "read_trial"],
    },
)
