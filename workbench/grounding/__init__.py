"""Where the claims of a README come from, and how much of its repository an agent looked at.

:func:`claims_of` finds what a README names; :func:`ground` links each of it to the steps that showed it, else to the
repository, else to nothing; :func:`explore` says what was read, listed and never seen. :func:`read_trial` does all of it for
a trial of a session. Nothing here knows of a screen.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "claims": ["claims_of"],
        "exploration": ["Exploration", "explore"],
        "items": ["Claim", "Grounding", "Item", "Place", "RepositoryFile", "Shown"],
        "linking": ["ground"],
        "reading": ["Why", "read_trial"],
    },
)
