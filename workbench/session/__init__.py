"""The session file: one SQLite database that holds all that a run did, and the only truth that the app shows.

Others use :class:`SessionReader` to look, :class:`SessionWriter` to record, :func:`create` to begin, and the rows of
:mod:`workbench.session.rows`. Importing this room costs little: the app does it before its first paint.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "file": [
            "SUFFIX",
            "SessionCorrupt",
            "SessionError",
            "SessionFull",
            "SessionLocked",
            "SessionMissing",
            "SessionOfOtherVersion",
            "create",
            "ensure",
        ],
        "reader": ["SessionReader", "read_blob"],
        "writer": ["SessionWriter"],
    },
)
