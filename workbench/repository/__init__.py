"""Turn a repository's source (a folder, a git URL, a pinned release) into an immutable copy of its files.

Modules for git, archives and the network are imported only when a source needs them.
"""

import lazy_loader

# Nothing is imported here. A package that imports its own modules can deadlock with a thread importing one of them.
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
