"""Doc systems that ask no model: the original docstrings, none at all, and a documented copy of the repository."""

from __future__ import annotations

from pathlib import Path

from workbench.documenters.types import Docstring, DocumentContext
from workbench.errors import UsageError
from workbench.regeneration.grafting import Graft, collect_docstrings
from workbench.repository.functions import Function


class OriginalDocumenter:
    """The docstrings that the repository has."""

    name = "original"

    async def document(self, function: Function, source: bytes, context: DocumentContext) -> Docstring:
        """Return the function's own docstring."""
        notes = () if function.docstring is not None else ("the function has no docstring",)
        return Docstring(function.docstring, self.name, notes)


class NoDocumenter:
    """No docstrings: what the signature and the context alone are worth."""

    name = "none"

    async def document(self, function: Function, source: bytes, context: DocumentContext) -> Docstring:
        """Return no docstring."""
        return Docstring(None, self.name)


class FolderDocumenter:
    """A copy of the repository that a doc system has documented; read once per file."""

    def __init__(self, folder: Path, name: str | None = None) -> None:
        """Use the copy in ``folder``.

        Raises:
            UsageError: when there is no such folder.
        """
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder} with documented code; give the path of a documented copy.")
        self.folder = folder
        self.name = name or f"folder:{folder}"
        self._files: dict[tuple[Path, str], Graft] = {}

    async def document(self, function: Function, source: bytes, context: DocumentContext) -> Docstring:
        """Return the copy's docstring; none, with the reason, where the file was refused or the docstring is missing."""
        place = (context.root, function.path)
        if place not in self._files:
            self._files[place] = collect_docstrings(context.root, self.folder, [function.path])
        graft = self._files[place]
        if function.path in graft.refused:
            return Docstring(None, self.name, (f"refused: {graft.refused[function.path]}",))
        text = graft.docstrings.get((function.path, function.qualified_name, function.occurrence))
        return Docstring(text, self.name, () if text is not None else ("the copy has no docstring here",))
