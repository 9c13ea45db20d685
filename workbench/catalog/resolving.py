"""What a person means by a case on the command line: an id, a repository of the catalogue, or any other repository."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.catalog.adding import case_from_source
from workbench.catalog.cases import TestCase
from workbench.catalog.listing import find_case, near_cases
from workbench.catalog.problems import UnknownCase
from workbench.text import one_line

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")


def resolve_case(text: str) -> TestCase:
    """Return the test case with the id ``text``, or one made of the repository or source that ``text`` names.

    A test case comes first, then a folder that is there, then the catalogue (``owner/name`` or ``name``), then sources.

    Raises:
        UnknownCase: It is no id and does not look like a folder, URL or NAME==VERSION; near ids are named.
        WorkbenchError: The source is not valid.
    """
    try:
        return find_case(text)
    except UnknownCase as unknown:
        if not _NAME.fullmatch(text) or Path(text).exists():
            looks_like_source = any(part in text for part in ("==", "://", "/")) or text.startswith(".")
            if not looks_like_source and not Path(text).is_dir():
                raise
        elif (found := _of_the_catalogue(text, unknown)) is not None:
            return found
    return case_from_source(text)


def _of_the_catalogue(text: str, unknown: UnknownCase) -> TestCase | None:
    """Return the catalogue's repository of that name; without one, None where ``text`` may still be a source.

    Raises:
        UnknownCase: There is none; near names are told.
    """
    # Imported here: a run on a case needs none of the 28 files.
    from workbench.catalog.repositories import find_repository, near_repositories

    try:
        return find_repository(text).case()
    except UnknownCase:
        near = [*near_cases(text), *near_repositories(text)][:4]
    if near and "cannot be used" not in str(unknown):
        raise UnknownCase(
            f"There is no test case and no repository of the catalogue called '{one_line(text, 60)}'; "
            f"did you mean {' or '.join(near)}?"
        ) from None
    if "/" not in text:
        raise unknown
    return None
