"""The differences between programs that document repositories: how they start, where they leave their docstrings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.documenters.types import Docstring
from workbench.regeneration.grafting import collect_docstrings
from workbench.repository.functions import DefinitionKey

#: Name of the copy in its area.
COPY = "repository"

Texts = Mapping[tuple[str, DefinitionKey], str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program works, as it sees it."""

    folder: str  # the copy to document; a git repository with one commit
    beside: str  # holds the copy; it may leave other files here
    base_url: str  # ``http://127.0.0.1:PORT``; chat completions are answered below any path
    model: str
    key: str
    area: Path  # ``beside`` on this machine, for files that it needs beforehand


@dataclass(frozen=True, slots=True)
class Start:
    """How a program is started."""

    command: Sequence[str]
    python: Path  # an interpreter that it sees
    variables: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[Path] = ()  # visible read-only, at the same path
    scratch: Sequence[Path] = ()  # existing folders below those in which it may write; discarded afterwards


@dataclass(frozen=True, slots=True)
class Written:
    """The docstrings by path and definition, including old ones that are still there."""

    texts: Texts
    refused: Mapping[str, str] = field(default_factory=dict)
    edited: Texts = field(default_factory=dict)  # why one is not used although the rest of its file is

    def docstring(self, path: str, key: DefinitionKey, otherwise: str) -> Docstring:
        """Return the docstring of a definition, else none with the reason, by default ``otherwise``."""
        if path in self.refused:
            return Docstring(None, (f"refused: {self.refused[path]}",))
        if (path, key) in self.edited:
            return Docstring(None, (f"refused: {self.edited[path, key]}",))
        text = self.texts.get((path, key))
        return Docstring(text, () if text is not None else (otherwise,))


class Adapter(Protocol):
    """One program.

    Attributes:
        name: As in identities: program, version, model and whatever else changes its output.
        title: For sentences, ``RepoAgent 0.2.0``.
        model: The model that answers its requests; "" if it asks none.
        basis: What else its docstrings rest on, such as the digest of a script; a change makes it document anew.
    """

    name: str
    title: str
    model: str
    basis: str

    def start(self, place: Place) -> Start: ...

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> Written:
        """Return its docstrings for the Python files ``paths`` of the folder ``pristine``.

        ``area`` holds the documented copy ``COPY`` and whatever the program left beside it. DocumentationFailed:
        nothing is readable.
        """


def read_edited(pristine: Path, copy: Path, paths: Iterable[str]) -> Written:
    graft = collect_docstrings(pristine, copy, paths)
    return Written(graft.definitions, graft.refused, graft.edited)


def seen_of(python: Path) -> tuple[Path, ...]:
    """Return the folders outside ``/usr`` that an interpreter needs to run: its environment, and what that rests on."""
    environment, real = python.parent.parent, python.resolve().parent.parent
    folders = [environment] if (environment / "pyvenv.cfg").is_file() else []
    if python == Path(sys.executable):
        real = Path(sys.base_prefix).resolve()
    return tuple(each for each in (*folders, real) if not each.is_relative_to("/usr"))
