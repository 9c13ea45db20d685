"""The catalog: test cases, their repositories, and the ground truth that agents never see.

It also contains the 28 repositories of the paper's Table 2 (`repositories`), which can be used as cases.
"""

import lazy_loader

# Nothing is imported eagerly: a package that imports its own modules can deadlock with a thread that imports one of
# them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "case_files": ["BadCase", "CaseExists", "Facts", "TestCase", "UnknownCase", "read_case"],
        "case_sources": [
            "add_case",
            "case_from_source",
            "check_python",
            "check_there",
            "content_of",
            "current_snapshot",
            "find_case",
            "kept_snapshot",
            "load_cases",
            "require_there",
            "resolve_case",
            "snapshot_of",
            "view_of",
        ],
    },
)
