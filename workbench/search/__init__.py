"""Full-text search in sessions: the query language (`query`), the searchable texts (`entries`), and their index (`index`)."""

import lazy_loader

# Nothing is imported eagerly: a package that imports its own modules can deadlock with a thread that imports one of
# them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={"index": ["SearchHit", "SearchIndex", "SearchResult"], "query": ["FIELDS", "Query", "parse"]},
)
