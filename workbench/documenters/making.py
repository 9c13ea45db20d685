"""From a name to the doc system that it means."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, cast

from workbench.documenters.fixed import CopiedDocs, NoDocs, OriginalDocs
from workbench.documenters.llm import LlmDocs
from workbench.documenters.names import DocsName, parse_docs
from workbench.documenters.tree import docstring_of
from workbench.documenters.types import Asker, Docstring, DocSystem, DocumentationFailed, Progress
from workbench.errors import UsageError, WorkbenchError
from workbench.extensions import failure, load, make
from workbench.files import expanded
from workbench.repository.definitions import DefinitionKey, DefinitionKind

if TYPE_CHECKING:
    from workbench.models.types import Sampling
    from workbench.repository import Snapshot


def make_doc_system(
    docs: str | DocsName,
    *,
    asker: Asker | None = None,
    sampling: Sampling | None = None,
    folders: Sequence[str] = (),
    program_seconds: float = 0.0,
    confined: bool = True,
    sampled_as: str = "",
) -> DocSystem:
    """Return the doc system that a name means (see :func:`workbench.documenters.names.parse_docs`).

    Args:
        docs: The name.
        asker: Who asks models; only a system that needs one must have it.
        sampling: How the model of ``llm:`` draws; its default is temperature 0.3.
        folders: Folders from which a dotted path is imported first.
        program_seconds: How long a program of other people may take; 0 for its own default.
        confined: Whether such a program runs in a sandbox; its user must have asked for it to be without.
        sampled_as: The recorded model, where its answers are replayed: they are found by what was asked of it.

    Raises:
        UsageError: It names none, its folder or class does not exist, or it needs a model where none can be asked.
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
            system = LlmDocs(docs.rest, asker, sampling, sampled_as=sampled_as)
        case "repoagent" | "osa" | "command":
            from workbench.documenters.programs import doc_program

            system = doc_program(docs, asker, seconds=program_seconds, confined=confined, sampled_as=sampled_as)
        case "extension":
            loaded = load("doc system", docs.rest, DocSystem, folders)
            system = Checked(cast(DocSystem, make("doc system", loaded, {"asker": asker})))
    if system.needs_model and asker is None:
        raise UsageError(
            f"The doc system {docs.text} asks a model, which only a run does: "
            f"workbench regenerate SOURCE --docs {docs.text}."
        )
    return system


class Checked:
    """A doc system from outside; what goes wrong in it becomes a sentence that names it."""

    def __init__(self, system: DocSystem) -> None:
        self.name = system.name
        self.needs_model = bool(system.needs_model)
        self._system = system

    @property
    def summary(self) -> str:
        return str(getattr(self._system, "summary", ""))

    async def prepare(self, snapshot: Snapshot, report: Callable[[Progress], None]) -> None:
        try:
            await self._system.prepare(snapshot, report)
        except WorkbenchError:
            raise
        except Exception as error:
            raise DocumentationFailed(failure("doc system", self.name, error)) from error

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
            raise DocumentationFailed(failure("doc system", self.name, error)) from error
        if not isinstance(found, Docstring) or not isinstance(found.text, str | None):
            raise DocumentationFailed(
                f"The doc system {self.name} failed: it gave {type(found).__name__}, not a Docstring."
            )
        return found
