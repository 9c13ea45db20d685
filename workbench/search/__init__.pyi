from workbench.search.index import Found as Found
from workbench.search.index import Hit as Hit
from workbench.search.index import SearchIndex as SearchIndex
from workbench.search.query import FIELDS as FIELDS
from workbench.search.query import Query as Query
from workbench.search.query import parse as parse
