"""Importers of other packages: found by name or dotted path, asked file by file, and what they give is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import UsageError, WorkbenchError
from workbench.extensions import ExtensionProblem, failure, is_dotted, load, make
from workbench.interchange.checking import unsound_place, unsound_sample
from workbench.interchange.problems import ForeignProblem
from workbench.interchange.reading import Read
from workbench.interchange.samples import ForeignCandidate, ForeignTask
from workbench.interchange.trajectory import Trajectory, to_json
from workbench.plugins import names, path_of
from workbench.session.importer import Importer

KIND = "importer"


def importer_named(text: str) -> Importer:
    """Return the importer of a name or dotted path, after it was tried in a process of its own, which it may end.

    Raises:
        UsageError: There is none, or it lacks something; the sentence says what.
    """
    from workbench.engine.extension_check import import_folders

    path = text if is_dotted(text) else path_of(KIND, text)
    if not path:
        known = "".join(f"{name}, " for name in names(KIND))
        raise UsageError(
            f"There is no importer {text!r}; choose {known}package.module:Class, or leave --format out: "
            "our own formats are known by what is in a file."
        )
    import_folders([(KIND, path)])
    found: Importer = make(KIND, load(KIND, path, Importer))
    endings = found.endings
    if not isinstance(endings, tuple) or not endings or not all(isinstance(one, str) and one for one in endings):
        raise ExtensionProblem(f'The importer {path} has no tuple of endings: endings = (".log",).')
    return found


def read_with(importer: Importer, path: Path) -> Iterator[Read]:
    """Return what an importer finds in a file, each item or what is wrong with it; after an exception nothing more.

    Raises:
        ForeignProblem: It failed at the file as a whole.
    """
    found = _asked(importer, path)
    number = 0
    for item in found:
        number += 1
        if problem := problem_of(item):
            yield Read(
                importer.name,
                None,
                f"was read by {importer.name} into what does not fit: {problem}",
                f"item {number:,}",
            )
        else:
            assert isinstance(item, Trajectory | ForeignTask | ForeignCandidate)
            yield Read(importer.name, item, place=f"item {number:,}")
    if not number:
        raise ForeignProblem(f"has nothing that {importer.name} reads")


def _asked(importer: Importer, path: Path) -> Iterator[object]:
    try:
        yield from importer.read(path)
    except WorkbenchError as problem:
        raise ForeignProblem(f"was not read to its end: {problem}") from None
    except (Exception, SystemExit) as error:
        raise ForeignProblem(f"was not read to its end: {failure(KIND, importer.name, error)}") from error


def problem_of(item: object) -> str:
    """Return what is wrong with a value that an importer gave, "" for nothing."""
    if isinstance(item, Trajectory):
        if place := unsound_place(item):
            return f"{place} has a value of another kind than a Trajectory has there"
        try:
            json.dumps(to_json(item))
        except (TypeError, ValueError, RecursionError) as error:
            return f"its extra is no JSON ({error})"
        return ""
    if isinstance(item, ForeignTask | ForeignCandidate):
        return unsound_sample(item)
    return f"{type(item).__name__} is no Trajectory, ForeignTask or ForeignCandidate"
