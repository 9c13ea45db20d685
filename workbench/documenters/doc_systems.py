"""Create a doc system by name, and insert its docstrings into a file."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import failure, load, make, plugin_named
from workbench.base.files import expanded
from workbench.documenters.fixed import CopiedDocs, NoDocs, OriginalDocs
from workbench.documenters.llm import LlmDocs
from workbench.documenters.program_cache import DOCSTRINGS_FILE, WorkFolder
from workbench.documenters.types import (
    DOCSTRINGS_ONLY,
    KIND,
    SCOPES,
    DocsName,
    Docstring,
    DocSystem,
    DocumentationFailed,
    DocumentationProgress,
    parse_docs,
)
from workbench.models.types import ModelClient, ModelError
from workbench.repository.functions import DefinitionKey, DefinitionKind, Function, find_definitions, functions_by_name
from workbench.repository.splicing import SpliceError, document, without_other_texts

if TYPE_CHECKING:
    from workbench.models.types import Sampling
    from workbench.repository import Snapshot


@dataclass(frozen=True, slots=True)
class DocumentedFile:
    """A file that contains a doc system's docstrings and no others."""

    source: bytes
    functions: Mapping[tuple[str, int], Function]
    scope: str = SCOPES[0]
    failed: Mapping[DefinitionKey, str] = field(default_factory=dict)  # definition without a docstring → reason

    def function(self, qualified_name: str, occurrence: int) -> Function:
        why = self.failed.get(DefinitionKey("function", qualified_name, occurrence))
        if why is not None:
            raise DocumentationFailed(why)
        return self.functions[qualified_name, occurrence]


def as_documented(source: bytes, path: str, scope: str = SCOPES[0]) -> DocumentedFile:
    return DocumentedFile(source, functions_by_name(source, path), scope)


async def docstring_of(system: DocSystem, path: str, key: DefinitionKey) -> Docstring:
    """Return a system's docstring of a definition; classes and modules have one only if the system documents them."""
    if key.kind == "function":
        return await system.docstring(path, key.qualified_name, key.occurrence)
    other = getattr(system, "other_docstring", None)
    if other is None:
        return Docstring(None, (f"{system.name} documents functions only",))
    found: Docstring = await other(path, key.kind, key.qualified_name, key.occurrence)
    return found


async def document_file(
    system: DocSystem, path: str, source: bytes, room: asyncio.Semaphore, before: bytes = b"", scope: str = SCOPES[0]
) -> DocumentedFile:
    """Return a file in which every definition has the system's docstring, or none.

    Raises:
        ModelError: A model did not answer, so every prompt of this file would be different. A definition that does not
            fit the model's window gets no docstring instead.
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
    # Wait for all answers, so that no paid answer is lost when another request fails.
    answers = await asyncio.gather(*(one(key) for key in keys), return_exceptions=True)
    for each in answers:
        if isinstance(each, BaseException):
            raise each
    texts = {key: each.text for key, each in zip(keys, answers, strict=True) if isinstance(each, Docstring)}
    try:
        documented = await asyncio.to_thread(document, source, path, texts.__getitem__)
    except SpliceError as error:
        raise DocumentationFailed(str(error)) from error
    return replace(as_documented(documented, path, scope), failed=failed)


def make_doc_system(
    docs: str | DocsName,
    *,
    model_client: ModelClient | None = None,
    sampling: Sampling | None = None,
    folders: Sequence[str] = (),
    program_seconds: float = 0.0,
    confined: bool = True,
    sampled_as: str = "",
) -> DocSystem:
    """Return the doc system with a name (see :func:`workbench.documenters.types.parse_docs`).

    A dotted path is imported from ``folders`` first. ``sampling`` applies to ``llm:``; ``program_seconds`` (0 for the
    default) and ``confined`` apply to programs; ``sampled_as`` is the recorded model of a replay. Raises UsageError if
    there is no such doc system, folder or class, or if it needs a model and ``model_client`` is None.
    """
    docs = parse_docs(docs) if isinstance(docs, str) else docs
    system: DocSystem
    match docs.kind:
        case "original":
            return OriginalDocs()
        case "none":
            return NoDocs()
        case "folder":
            return CopiedDocs(docs.text, folder=expanded(docs.rest))
        case "source":
            return CopiedDocs(docs.text, source=docs.rest)
        case "llm":
            system = LlmDocs(docs.rest, model_client, sampling, sampled_as=sampled_as)
        case "extension":
            loaded = load(KIND, docs.rest, DocSystem, folders)
            system = GuardedDocSystem(cast(DocSystem, make(KIND, loaded, {"model_client": model_client})))
        case _:
            system = program_of(docs).named(docs, model_client, program_seconds, confined, sampled_as)
    if system.needs_model and model_client is None:
        raise UsageError(
            f"The doc system {docs.text} needs a model, which only a run provides: "
            f"workbench regenerate SOURCE --docs {docs.text}."
        )
    return system


def program_of(docs: DocsName) -> Any:
    """Return the class of a doc system that runs an external program; its ``adapter`` resolves names."""
    plugin = plugin_named(KIND, docs.kind)
    if plugin is None:
        raise UsageError(f"{docs.text} is not a program that documents repositories.")
    return load(KIND, plugin.path, DocSystem).cls


def docstrings_file(docs: DocsName, snapshot: Snapshot) -> Path:
    """Return the path of the file for the docstrings that a program writes for a repository; it may not exist yet."""
    adapter = program_of(docs).adapter(docs.rest, docs.version)
    return WorkFolder(snapshot, adapter.name, adapter.basis).folder / DOCSTRINGS_FILE


class GuardedDocSystem:
    """Wraps a plug-in's doc system, and turns its exceptions into messages that name the plug-in."""

    def __init__(self, system: DocSystem) -> None:
        self.name = system.name
        self.needs_model = bool(system.needs_model)
        self._system = system

    @property
    def summary(self) -> str:
        return str(getattr(self._system, "summary", ""))

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        try:
            await self._system.prepare(snapshot, report)
        except WorkbenchError:
            raise
        except Exception as error:
            raise DocumentationFailed(failure(KIND, self.name, error)) from error

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        return await self._checked(self._system.docstring(path, qualified_name, occurrence))

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        return await self._checked(docstring_of(self._system, path, DefinitionKey(kind, qualified_name, occurrence)))

    async def _checked(self, asked: Awaitable[object]) -> Docstring:
        try:
            found = await asked
        except WorkbenchError:
            raise
        except Exception as error:
            raise DocumentationFailed(failure(KIND, self.name, error)) from error
        if not isinstance(found, Docstring) or not isinstance(found.text, str | None):
            raise DocumentationFailed(
                f"The doc system {self.name} failed: it returned {type(found).__name__}, not a Docstring."
            )
        return found
