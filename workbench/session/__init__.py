"""The session file: one SQLite database that records everything a run did.

Cheap to import, for the app's first paint.
"""

import lazy_loader

# Nothing is imported here, because a package that imports its own modules can deadlock with a thread that imports one
# of them directly.
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
