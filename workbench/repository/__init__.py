"""Repositories: from a source (a folder, a git URL, a pinned release) to an immutable copy of its files.

Git, archives and the network are imported only when a source needs them.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "tree": ["FileEntry"],
        "fetching": ["cached", "fetch", "forget"],
        "sources": [
            "BadSource",
            "ChecksumMismatch",
            "FetchError",
            "Source",
            "SourceUnavailable",
            "UnsafeArchive",
            "parse_source",
        ],
        "store": ["Snapshot"],
        "view": [
            "DEFAULT_HIDDEN",
            "FileText",
            "NoSuchPath",
            "NotAFolder",
            "NotAFile",
            "NotVisible",
            "OutsideRepository",
            "NotText",
            "View",
            "ViewError",
            "read_text",
        ],
    },
)
