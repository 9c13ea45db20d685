"""Doc systems: what writes the docstrings that the evaluators then regenerate code from.

``parse_documenter`` reads ``original``, ``none``, ``llm:MODEL`` or ``folder:PATH``; every documenter answers the same
question, ``document(function, source, context)``, with a ``Docstring``.
"""

from __future__ import annotations

from workbench.documenters.fixed import FolderDocumenter, NoDocumenter, OriginalDocumenter
from workbench.documenters.llm import DOCUMENTER_PROMPT_VERSION, LlmDocumenter, extract_docstring
from workbench.documenters.parsing import parse_documenter
from workbench.documenters.types import Asker, Docstring, DocumentContext, Documenter

__all__ = [
    "DOCUMENTER_PROMPT_VERSION",
    "Asker",
    "Docstring",
    "DocumentContext",
    "Documenter",
    "FolderDocumenter",
    "LlmDocumenter",
    "NoDocumenter",
    "OriginalDocumenter",
    "extract_docstring",
    "parse_documenter",
]
