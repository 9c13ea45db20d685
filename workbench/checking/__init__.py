"""Whether a documentation holds: its blocks are run in a sandbox, its claims looked up in the repository.

:func:`check` does it for pages of a folder and returns :class:`Checked`; :func:`fixed` writes the nearest true name where only one
can be meant. Nothing here knows of a model or a screen, and only
:mod:`.stored` of a session.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "claims": ["fixed"],
        "pages": ["check"],
        "verdicts": ["BlockResult", "Checked", "ClaimResult", "Truth", "Verdict"],
    },
)
