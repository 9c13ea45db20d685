"""What a person means by a case on the command line: an id, or any repository."""

from __future__ import annotations

from pathlib import Path

from workbench.catalog.adding import case_from_source
from workbench.catalog.cases import TestCase
from workbench.catalog.listing import find_case
from workbench.catalog.problems import UnknownCase


def resolve_case(text: str) -> TestCase:
    """Return the test case with the id ``text``, or one made of the source that ``text`` names.

    Raises:
        UnknownCase: It is no id and does not look like a folder, URL or NAME==VERSION; near ids are named.
        WorkbenchError: The source is not valid.
    """
    try:
        return find_case(text)
    except UnknownCase:
        looks_like_source = "==" in text or "://" in text or "/" in text or text.startswith(".") or Path(text).is_dir()
        if not looks_like_source:
            raise
    return case_from_source(text)
