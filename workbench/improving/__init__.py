"""Docstrings that carry their function: which ones do not, what a writer is told, and what a new one must hold before it counts.

Nothing here asks a model or runs a test: :mod:`workbench.engine.improvement` does, and asks this package in between.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "answers": ["read_docstring"],
        "attempts": ["Attempt", "Refusal", "Refused"],
        "changes": ["Change", "Checkout", "checkout_of", "commit_message", "patch_of"],
        "failing": ["FailingBody", "failing_bodies"],
        "gain": ["Gain", "Share", "share_of"],
        "gates": ["check_docstring"],
        "kinds": ["Kind", "kind_of"],
        "standing": ["Standing", "standings"],
        "writer_prompt": ["writer_prompt"],
    },
)
