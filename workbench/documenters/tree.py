"""A whole file documented by a doc system: what stands in prompts when its scope is the repository.

In the doc-to-code paper a doc system documents the repository, and a prompt is the beginning of a file of that repository:
the docstrings of the other functions, of classes and of the module are the system's as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from workbench.documenters.names import DOCSTRINGS_ONLY, SCOPES
from workbench.documenters.types import Docstring, DocSystem, DocumentationFailed
from workbench.models.types import ModelError
from workbench.repository.definitions import DefinitionKey, find_definitions
from workbench.repository.documenting import document, without_other_texts
from workbench.repository.functions import Function, find_functions
from workbench.repository.splicing import SpliceError


@dataclass(frozen=True, slots=True)
class DocumentedFile:
    """A file as a doc system documents it.

    Attributes:
        source: The file with the system's docstrings and no others.
        failed: What has no docstring because the system failed there, and why.
    """

    source: bytes
    functions: Mapping[tuple[str, int], Function]
    scope: str = SCOPES[0]
    failed: Mapping[DefinitionKey, str] = field(default_factory=dict)

    def function(self, qualified_name: str, occurrence: int) -> Function:
        """Return one of its functions."""
        why = self.failed.get(DefinitionKey("function", qualified_name, occurrence))
        if why is not None:
            raise DocumentationFailed(why)
        return self.functions[qualified_name, occurrence]


def as_documented(source: bytes, path: str, scope: str = SCOPES[0]) -> DocumentedFile:
    functions = {(one.qualified_name, one.occurrence): one for one in find_functions(source, path)}
    return DocumentedFile(source, functions, scope)


async def docstring_of(system: DocSystem, path: str, key: DefinitionKey) -> Docstring:
    """Return what a system says about a definition; of classes and modules only where it documents these."""
    if key.kind == "function":
        return await system.docstring(path, key.qualified_name, key.occurrence)
    other = getattr(system, "other_docstring", None)
    if other is None:
        return Docstring(None, (f"{system.name} documents functions only",))
    found: Docstring = await other(path, key.kind, key.qualified_name, key.occurrence)
    return found


async def document_file(
    system: DocSystem,
    path: str,
    source: bytes,
    room: asyncio.Semaphore,
    before: bytes = b"",
    scope: str = SCOPES[0],
) -> DocumentedFile:
    """Return a file in which everything has the docstring that a system gives, or none.

    Raises:
        ModelError: A model gave no answer: every prompt of this file would be another one. Where a definition does not fit
            the model's window, it has none.
        DocumentationFailed: A docstring cannot be written into the file.
    """
    failed: dict[DefinitionKey, str] = {}
    if scope == DOCSTRINGS_ONLY:
        source = await asyncio.to_thread(without_other_texts, source, path)
    known = {one.key: one.docstring for one in find_definitions(before, path) if one.docstring is not None and before}

    async def one(key: DefinitionKey) -> Docstring:
        if key in known:
            return Docstring(known[key])
        async with room:
            try:
                return await docstring_of(system, path, key)
            except ModelError as error:
                if error.kind == "context":
                    return Docstring(None, (str(error),))
                raise
            except DocumentationFailed as error:
                failed[key] = str(error)
                return Docstring(None, (str(error),))

    keys = [definition.key for definition in find_definitions(source, path)]
    # Every answer is waited for, so that none that was paid is lost when one fails.
    said = await asyncio.gather(*(one(key) for key in keys), return_exceptions=True)
    for each in said:
        if isinstance(each, BaseException):
            raise each
    texts = {key: each.text for key, each in zip(keys, said, strict=True) if isinstance(each, Docstring)}
    try:
        documented = await asyncio.to_thread(document, source, path, texts.__getitem__)
    except SpliceError as error:
        raise DocumentationFailed(str(error)) from error
    return replace(as_documented(documented, path, scope), failed=failed)
