"""Files and functions of the repository that is documented, read when they are needed and kept."""

from __future__ import annotations

from pathlib import Path

from workbench.documenters.types import DocumentationFailed
from workbench.repository.definitions import Definition, DefinitionKey, find_definitions
from workbench.repository.functions import Function, find_functions


class Sources:
    """The functions below a folder, by path, qualified name and occurrence."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, tuple[bytes, dict[tuple[str, int], Function]]] = {}
        self._definitions: dict[str, dict[DefinitionKey, Definition]] = {}

    def function(self, path: str, qualified_name: str, occurrence: int) -> tuple[Function, bytes]:
        """Return a function and the file that holds it.

        Raises:
            DocumentationFailed: There is no such function.
        """
        if path not in self._files:
            source = (self.root / path).read_bytes()
            functions = {(each.qualified_name, each.occurrence): each for each in find_functions(source, path)}
            self._files[path] = source, functions
        source, functions = self._files[path]
        function = functions.get((qualified_name, occurrence))
        if function is None:
            raise DocumentationFailed(f"{path} has no function {qualified_name} (occurrence {occurrence}).")
        return function, source

    def definition(self, path: str, key: DefinitionKey) -> tuple[Definition, bytes]:
        """Return a module, class or function and the file that holds it.

        Raises:
            DocumentationFailed: There is no such definition.
        """
        source = self._files[path][0] if path in self._files else (self.root / path).read_bytes()
        if path not in self._definitions:
            self._definitions[path] = {each.key: each for each in find_definitions(source, path)}
        definition = self._definitions[path].get(key)
        if definition is None:
            raise DocumentationFailed(f"{path} has no {key.kind} {key.text}.")
        return definition, source
