"""Search over all texts of sessions: what is asked (`query`), what is searched (`entries`), and the index of it."""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={"index": ["SearchHit", "SearchIndex", "SearchResult"], "query": ["FIELDS", "Query", "parse"]},
)
