"""Resolve a case named on the command line: an id, a repository of the catalogue, or any other source."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.catalog.adding import case_from_source, require_there
from workbench.catalog.cases import TestCase
from workbench.catalog.languages import has_python
from workbench.catalog.listing import find_case, similar_cases
from workbench.catalog.problems import UnknownCase
from workbench.repository import BadSource, parse_source
from workbench.text import one_line

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")


def resolve_case(text: str) -> TestCase:
    """Return the test case with the id ``text``, or one made from the repository or source that ``text`` names.

    Test cases are tried first, then existing folders, then the catalogue (``owner/name`` or ``name``), then sources.

    Raises:
        UnknownCase: It is not an id and does not look like a source; the message suggests similar ids.
        WorkbenchError: The source is not valid.
    """
    if text.startswith("/") and Path(text).exists():
        return case_from_source(text)  # no id has a slash: the list of cases need not be read for it
    try:
        return find_case(text)
    except UnknownCase as unknown:
        if not _NAME.fullmatch(text) or Path(text).exists():
            looks_like_source = any(part in text for part in ("==", "://", "::", "/")) or text.startswith(".")
            if not looks_like_source and not Path(text).exists():
                raise
        elif (found := _of_the_catalogue(text, unknown)) is not None:
            return found
    return case_from_source(text)


def check_there(case: TestCase) -> None:
    """Refuse a case whose local folder or archive does not exist; remote sources are not checked.

    Raises:
        BadSource: It does not exist.
    """
    if case.source and not case.alternatives:
        require_there(parse_source(case.source))


def check_python(case: TestCase) -> None:
    """Refuse a case that is not there, or a folder without a Python file: only Python functions can be written again.

    Raises:
        BadSource: It is not there, empty, or without Python.
    """
    check_there(case)
    source = parse_source(case.source) if case.source else None
    folder = Path(source.location) if source is not None and source.kind == "folder" else None
    if folder is not None and not has_python(folder):
        raise BadSource(
            f"The folder {one_line(str(folder), 200)} holds no Python file, and tasks are Python functions."
        )


def _of_the_catalogue(text: str, unknown: UnknownCase) -> TestCase | None:
    """Return the catalogue's repository named ``text``, or None if ``text`` may still be a source.

    Raises:
        UnknownCase: There is none; the message suggests similar names.
    """
    # Imported here because a run of a test case needs none of the 28 files.
    from workbench.catalog.repositories import find_repository, similar_repositories

    try:
        return find_repository(text).case()
    except UnknownCase:
        similar = [*similar_cases(text), *similar_repositories(text)][:4]
    if similar and "cannot be used" not in str(unknown):
        raise UnknownCase(
            f"There is no test case and no repository of the catalogue called '{one_line(text, 60)}'; "
            f"did you mean {' or '.join(similar)}?"
        ) from None
    if "/" not in text:
        raise unknown
    return None
