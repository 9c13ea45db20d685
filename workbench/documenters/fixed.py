"""Doc systems that ask no model: the original docstrings, none at all, and a documented copy of the repository."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from workbench.documenters.sources import Sources
from workbench.documenters.types import Docstring, Progress
from workbench.errors import UsageError
from workbench.regeneration.grafting import Graft, collect_docstrings
from workbench.repository import Snapshot
from workbench.repository.definitions import DefinitionKey, DefinitionKind


class OriginalDocs:
    """The docstrings that the repository has."""

    name = "original"
    needs_model = False

    async def prepare(self, snapshot: Snapshot, report: Callable[[Progress], None]) -> None:
        """Take note of where the files are."""
        self._sources = Sources(snapshot.root)

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        """Return the function's own docstring."""
        function, _ = self._sources.function(path, qualified_name, occurrence)
        return Docstring(
            function.docstring, () if function.docstring is not None else ("the function has no docstring",)
        )

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        """Return the class's or module's own docstring."""
        definition, _ = self._sources.definition(path, DefinitionKey(kind, qualified_name, occurrence))
        return Docstring(definition.docstring)


class NoDocs:
    """No docstrings: what the signature and the context alone are worth."""

    name = "none"
    needs_model = False

    async def prepare(self, snapshot: Snapshot, report: Callable[[Progress], None]) -> None:
        """Do nothing."""

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        return Docstring(None)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        return Docstring(None)


class CopiedDocs:
    """A copy of the repository that a doc system has documented; each file is compared with the pristine one once."""

    needs_model = False

    def __init__(self, name: str, folder: Path | None = None, source: str = "") -> None:
        """Use the copy in ``folder``, or the one that ``source`` names, which ``prepare`` fetches.

        Raises:
            UsageError: There is no such folder.
        """
        if folder is not None and not folder.is_dir():
            raise UsageError(f"There is no folder {folder} with documented code; give the path of a documented copy.")
        self.name = name
        self._folder = folder
        self._source = source
        self._files: dict[str, Graft] = {}

    async def prepare(self, snapshot: Snapshot, report: Callable[[Progress], None]) -> None:
        """Fetch the copy, unless it is a folder.

        Raises:
            WorkbenchError: It cannot be fetched.
        """
        self._root = snapshot.root
        if self._folder is None:
            from workbench.repository import fetch

            report(Progress(note=f"fetching {self._source}"))
            self._folder = (await asyncio.to_thread(fetch, self._source)).root

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        """Return the copy's docstring; none, with the reason, where the file was refused or the docstring is missing."""
        return await self.other_docstring(path, "function", qualified_name, occurrence)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        """Return the copy's docstring of a class or module, as :meth:`docstring` does."""
        assert self._folder is not None
        if path not in self._files:
            self._files[path] = collect_docstrings(self._root, self._folder, [path])
        graft = self._files[path]
        if path in graft.refused:
            return Docstring(None, (f"refused: {graft.refused[path]}",))
        key = (path, DefinitionKey(kind, qualified_name, occurrence))
        if key in graft.edited:
            return Docstring(None, (f"refused: {graft.edited[key]}",))
        text = graft.definitions.get(key)
        return Docstring(text, () if text is not None else ("the copy has no docstring here",))
