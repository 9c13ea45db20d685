"""Ours for others, over A2A: an agent that anybody's benchmark can ask, and an assessor that scores anybody's agents.

Both listen on loopback only, unless a token is given that every request must carry. They need the extra ``a2a``.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "assessor": ["assessor_app"],
        "listening": ["Place", "listen"],
        "white": ["agent_app"],
    },
)
