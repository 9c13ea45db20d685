"""The catalog: test cases, where their repositories come from, and the ground truth that agents never see.

It also has the 28 repositories of the paper's Table 2 (`repositories`, `published`, `records`), which can be used as cases.
`load_cases` lists the bundled cases and the user's own, `case_from_source` makes a case from any repository, `add_case`
writes one to disk, `snapshot_of` fetches its files, and `view_of` returns the part of them that an agent may see.
"""

from __future__ import annotations

from workbench.catalog.adding import add_case, case_from_source, require_there
from workbench.catalog.cases import Facts, TestCase
from workbench.catalog.listing import find_case, load_cases
from workbench.catalog.opening import content_of, current_snapshot, kept_snapshot, snapshot_of, view_of
from workbench.catalog.problems import BadCase, CaseExists, UnknownCase
from workbench.catalog.reading import read_case
from workbench.catalog.resolving import check_python, check_there, resolve_case

__all__ = [
    "BadCase",
    "CaseExists",
    "Facts",
    "TestCase",
    "UnknownCase",
    "add_case",
    "case_from_source",
    "check_python",
    "check_there",
    "content_of",
    "current_snapshot",
    "find_case",
    "kept_snapshot",
    "load_cases",
    "read_case",
    "require_there",
    "resolve_case",
    "snapshot_of",
    "view_of",
]
