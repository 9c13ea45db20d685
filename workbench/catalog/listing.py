"""The list of test cases: the bundled ones and the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench import paths
from workbench.catalog.cases import TestCase
from workbench.catalog.problems import BadCase, UnknownCase
from workbench.catalog.reading import CASE_FILE, read_case
from workbench.errors import WorkbenchError
from workbench.text import one_line


def load_cases() -> tuple[tuple[TestCase, ...], tuple[str, ...]]:
    """Return all test cases, bundled ones first, sorted by folder, and one sentence for each invalid case.

    A case of the user's own with the id of a bundled one is reported, not loaded, because ids are unique.
    """
    cases: dict[str, TestCase] = {}
    problems: list[str] = []
    for place in (paths.bundled("test_cases"), paths.own_cases_dir()):
        for folder in _case_folders(place, problems):
            try:
                case = read_case(folder)
                if case.id in cases:
                    raise BadCase(f"{folder / CASE_FILE}: the id '{case.id}' is taken by {cases[case.id].folder}.")
                cases[case.id] = case
            except WorkbenchError as error:
                problems.append(str(error))
    return tuple(cases.values()), tuple(problems)


def find_case(case_id: str) -> TestCase:
    """Return the case with this id.

    Raises:
        UnknownCase: There is none; the message suggests similar ids, or says why the case could not be read.
    """
    cases, problems = load_cases()
    for case in cases:
        if case.id == case_id:
            return case
    shown = one_line(case_id, 60)
    for problem in problems:
        if case_id and f"/{case_id}/" in problem:
            raise UnknownCase(f"The test case '{shown}' cannot be used: {problem}")
    similar = similar_cases(case_id, cases)
    if similar:
        hint = f"did you mean {' or '.join(similar)}?"
    elif cases:
        hint = f"known are {', '.join(case.id for case in cases)}."
    else:
        hint = "there are no test cases at all."
    raise UnknownCase(f"There is no test case '{shown}'; {hint}")


def similar_cases(case_id: str, cases: Sequence[TestCase] = ()) -> list[str]:
    """Return the ids similar to ``case_id`` among ``cases``, by default among all cases."""
    import difflib

    ids = [case.id for case in cases or load_cases()[0]]
    similar = difflib.get_close_matches(case_id.lower(), ids, n=3, cutoff=0.5)
    return similar + [other for other in ids if case_id and case_id.lower() in other and other not in similar][:3]


def _case_folders(place: Path, problems: list[str]) -> list[Path]:
    if not place.is_dir():
        return []
    try:
        return sorted(entry for entry in place.iterdir() if (entry / CASE_FILE).exists())
    except OSError as error:
        problems.append(f"The folder {place} cannot be read: {(error.strerror or str(error)).lower()}.")
        return []
