"""Doc systems that use no model: the original docstrings, no docstrings, and a documented copy of the repository."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.documenters.program_cache import WrittenDocs, read_edited
from workbench.documenters.types import Docstring, DocumentationFailed, DocumentationProgress
from workbench.repository import Snapshot
from workbench.repository.functions import (
    Definition,
    DefinitionKey,
    DefinitionKind,
    Function,
    find_definitions,
    functions_by_name,
)


class RepositorySources:
    """The functions below a folder by path, qualified name and occurrence. Raises DocumentationFailed if not found."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, tuple[bytes, dict[tuple[str, int], Function]]] = {}
        self._definitions: dict[str, dict[DefinitionKey, Definition]] = {}

    def function(self, path: str, qualified_name: str, occurrence: int) -> tuple[Function, bytes]:
        if path not in self._files:
            source = (self.root / path).read_bytes()
            self._files[path] = source, functions_by_name(source, path)
        source, functions = self._files[path]
        function = functions.get((qualified_name, occurrence))
        if function is None:
            raise DocumentationFailed(f"{path} has no function {qualified_name} (occurrence {occurrence}).")
        return function, source

    def definition(self, path: str, key: DefinitionKey) -> tuple[Definition, bytes]:
        source = self._files[path][0] if path in self._files else (self.root / path).read_bytes()
        if path not in self._definitions:
            self._definitions[path] = {each.key: each for each in find_definitions(source, path)}
        definition = self._definitions[path].get(key)
        if definition is None:
            raise DocumentationFailed(f"{path} has no {key.kind} {key.text}.")
        return definition, source


class OriginalDocs:
    """The docstrings already in the repository."""

    name = "original"
    needs_model = False

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        self._sources = RepositorySources(snapshot.root)

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        function, _ = self._sources.function(path, qualified_name, occurrence)
        return Docstring(
            function.docstring, () if function.docstring is not None else ("the function has no docstring",)
        )

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        definition, _ = self._sources.definition(path, DefinitionKey(kind, qualified_name, occurrence))
        return Docstring(definition.docstring)


class NoDocs:
    """No docstrings, to measure the value of the signature and context alone."""

    name = "none"
    needs_model = False

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None: ...

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        return Docstring(None)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        return Docstring(None)


class CopiedDocs:
    """A copy of the repository documented by a doc system; each file is compared with the pristine one only once."""

    needs_model = False

    def __init__(self, name: str, folder: Path | None = None, source: str = "") -> None:
        """Use the copy in ``folder``, or the copy at ``source``, which ``prepare`` fetches."""
        if folder is not None and not folder.is_dir():
            raise UsageError(f"There is no folder {folder} with documented code; give the path of a documented copy.")
        self.name = name
        self._folder = folder
        self._source = source
        self._files: dict[str, WrittenDocs] = {}

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        self._root = snapshot.root
        if self._folder is None:
            from workbench.repository import fetch

            report(DocumentationProgress(note=f"fetching {self._source}"))
            self._folder = (await asyncio.to_thread(fetch, self._source)).root

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        """Return the copy's docstring, or none with the reason if the file was rejected or the docstring is missing."""
        return await self.other_docstring(path, "function", qualified_name, occurrence)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        assert self._folder is not None
        if path not in self._files:
            self._files[path] = read_edited(self._root, self._folder, [path])
        key = DefinitionKey(kind, qualified_name, occurrence)
        return self._files[path].docstring(path, key, "the copy has no docstring here")
