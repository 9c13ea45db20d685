"""Doc systems: they write the docstrings that the evaluators then regenerate code from.

A :class:`DocSystem` documents a repository once (``prepare``) and then gives docstrings by path, qualified name and
occurrence; one of another package is named by its dotted path (docs/extending/doc-system.md).
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "llm": ["LlmDocs"],
        "doc_systems": ["DocumentedFile", "as_documented", "document_file", "make_doc_system"],
        "types": [
            "SCOPES",
            "parse_docs",
            "parse_scope",
            "DocSystem",
            "Docstring",
            "DocumentationFailed",
            "DocumentationProgress",
        ],
    },
)
