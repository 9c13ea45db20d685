"""Doc systems: what writes the docstrings that the evaluators then regenerate code from.

A :class:`DocSystem` documents a repository once (``prepare(snapshot, report)``) and then gives docstrings by path,
qualified name and occurrence. ``parse_docs`` reads a name, ``make_doc_system`` gives the system that it means; one of
another package is named by its dotted path (docs/extending/doc-system.md).
"""

from __future__ import annotations

from workbench.documenters.llm import DOCUMENTER_PROMPT_VERSION, LlmDocs, extract_docstring
from workbench.documenters.making import make_doc_system
from workbench.documenters.names import DocsName, parse_docs
from workbench.documenters.types import Asker, Docstring, DocSystem, DocumentationFailed, Progress

__all__ = [
    "DOCUMENTER_PROMPT_VERSION",
    "Asker",
    "DocSystem",
    "DocsName",
    "Docstring",
    "DocumentationFailed",
    "LlmDocs",
    "Progress",
    "extract_docstring",
    "make_doc_system",
    "parse_docs",
]
