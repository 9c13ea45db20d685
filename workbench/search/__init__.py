"""Search over everything that sessions hold: what is asked (`query`), what is searched (`entries`), and the index of it."""

from workbench.search.index import Found, Hit, SearchIndex
from workbench.search.query import FIELDS, Query, parse

__all__ = ["FIELDS", "Found", "Hit", "Query", "SearchIndex", "parse"]
