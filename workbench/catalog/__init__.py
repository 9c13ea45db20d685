"""The catalog: test cases, where their repositories come from, and the ground truth that agents never see.

It also has the 28 repositories of the paper's Table 2 (`repositories`, `published`, `records`), which resolve as sources.
`load_cases` lists the bundled cases and the user's own, `case_from_source` makes one of any repository, `add_case`
writes one down; `snapshot_of` fetches its files and `view_of` is the part of them that an agent gets.
"""

from __future__ import annotations

from workbench.catalog.adding import add_case, case_from_source
from workbench.catalog.cases import Facts, TestCase
from workbench.catalog.listing import find_case, load_cases
from workbench.catalog.opening import snapshot_of, view_of
from workbench.catalog.problems import BadCase, CaseExists, UnknownCase
from workbench.catalog.reading import read_case
from workbench.catalog.resolving import resolve_case

__all__ = [
    "BadCase",
    "CaseExists",
    "Facts",
    "TestCase",
    "UnknownCase",
    "add_case",
    "case_from_source",
    "find_case",
    "load_cases",
    "read_case",
    "resolve_case",
    "snapshot_of",
    "view_of",
]
