"""What tells one program that documents repositories from another: how it is started, and where it leaves its docstrings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.documenters.types import Docstring
from workbench.regeneration.grafting import collect_docstrings
from workbench.repository.definitions import DefinitionKey

#: Name of the copy in its area.
COPY = "repository"

Texts = Mapping[tuple[str, DefinitionKey], str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program works, as it sees it.

    Attributes:
        folder: Absolute path of the copy to document; a git repository with one commit.
        beside: Absolute path of the folder that holds the copy, in which it may leave other files.
        base_url: The endpoint without a path, ``http://127.0.0.1:PORT``; chat completions are answered below any path.
        area: The folder ``beside`` on this machine, for files that the program needs beforehand.
    """

    folder: str
    beside: str
    base_url: str
    model: str
    key: str
    area: Path


@dataclass(frozen=True, slots=True)
class Start:
    """How a program is started.

    Attributes:
        python: An interpreter that it sees.
        mounts: Files and folders that it sees read-only, at the same path.
        scratch: Existing folders below those in which it may write; what it leaves there is gone afterwards.
    """

    command: Sequence[str]
    python: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[Path] = ()
    scratch: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What a program has written: docstrings by path and definition, those that the repository had before where they still stand there.

    ``edited`` is why one is not used although the rest of its file is.
    """

    texts: Texts
    refused: Mapping[str, str] = field(default_factory=dict)
    edited: Texts = field(default_factory=dict)

    def docstring(self, path: str, key: DefinitionKey, otherwise: str) -> Docstring:
        """Return the docstring of a definition, else none with the reason, which is ``otherwise`` where none is known."""
        if path in self.refused:
            return Docstring(None, (f"refused: {self.refused[path]}",))
        if (path, key) in self.edited:
            return Docstring(None, (f"refused: {self.edited[path, key]}",))
        text = self.texts.get((path, key))
        return Docstring(text, () if text is not None else (otherwise,))


class Adapter(Protocol):
    """One program.

    Attributes:
        name: As it stands in identities: program, version, model and whatever else changes what it writes.
        title: For sentences, ``RepoAgent 0.2.0``.
        model: The model that answers its requests; "" where it asks none.
        basis: What else its docstrings rest on, such as the digest of a script; a change makes it document anew.
    """

    name: str
    title: str
    model: str
    basis: str

    def start(self, place: Place) -> Start:
        """Return how to start it in ``place``."""

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> Written:
        """Return what it has written about the Python files ``paths`` of the folder ``pristine``.

        ``area`` held the copy, which is ``COPY`` in it, and whatever the program left beside it.

        Raises:
            DocumentationFailed: It left nothing that can be read.
        """


def read_edited(pristine: Path, copy: Path, paths: Iterable[str]) -> Written:
    graft = collect_docstrings(pristine, copy, paths)
    return Written(graft.definitions, graft.refused, graft.edited)


def seen_of(python: Path) -> tuple[Path, ...]:
    """Return the folders outside ``/usr`` that must be seen for an interpreter to run: its environment, and what that rests on."""
    environment, real = python.parent.parent, python.resolve().parent.parent
    folders = [environment] if (environment / "pyvenv.cfg").is_file() else []
    if python == Path(sys.executable):
        real = Path(sys.base_prefix).resolve()
    return tuple(each for each in (*folders, real) if not each.is_relative_to("/usr"))
