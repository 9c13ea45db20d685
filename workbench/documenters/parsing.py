"""From the text of ``--docs`` to a documenter."""

from __future__ import annotations

from pathlib import Path

from workbench.documenters.fixed import FolderDocumenter, NoDocumenter, OriginalDocumenter
from workbench.documenters.llm import LlmDocumenter
from workbench.documenters.types import Asker, Documenter
from workbench.errors import UsageError
from workbench.models.types import Sampling


def parse_documenter(text: str, *, asker: Asker | None = None, sampling: Sampling | None = None) -> Documenter:
    """Return the documenter that ``text`` names.

    Args:
        text: ``original``, ``none``, ``llm:MODEL``, ``folder:PATH``, or ``source:SOURCE`` (a git URL with revision,
            an archive, ``NAME==VERSION``: fetched as a snapshot).
        asker: Who asks models; only ``llm:`` needs it.
        sampling: How the model of ``llm:`` draws; its default is temperature 0.3.

    Raises:
        UsageError: when the text names no documenter, or its folder does not exist.
        WorkbenchError: when the source of ``source:`` cannot be fetched.
    """
    kind, _, rest = text.strip().partition(":")
    if text.strip() == "original":
        return OriginalDocumenter()
    if text.strip() == "none":
        return NoDocumenter()
    if kind == "llm" and rest:
        if asker is None:
            raise UsageError(f"The documenter {text} needs a model, and no model can be asked here.")
        return LlmDocumenter(rest, asker, sampling)
    if kind == "folder" and rest:
        return FolderDocumenter(Path(rest).expanduser(), text.strip())
    if kind == "source" and rest:
        from workbench.repository import fetch

        return FolderDocumenter(fetch(rest).root, text.strip())
    raise UsageError(
        f"There is no doc system {text!r}; choose original, none, llm:MODEL, folder:PATH or source:SOURCE."
    )
