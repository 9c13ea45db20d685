from workbench.search.index import SearchHit as SearchHit
from workbench.search.index import SearchIndex as SearchIndex
from workbench.search.index import SearchResult as SearchResult
from workbench.search.query import FIELDS as FIELDS
from workbench.search.query import Query as Query
from workbench.search.query import parse as parse
