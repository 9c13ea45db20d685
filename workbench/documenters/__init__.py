"""Doc systems write the docstrings from which evaluators regenerate code.

A :class:`DocSystem` documents a repository once (``prepare``) and then returns docstrings by path, qualified name and
occurrence. A doc system from another package is named by its dotted path (docs/extending/doc-system.md).
"""

import lazy_loader

# Nothing is imported here. A package that imports its own modules can deadlock with a thread importing one of them.
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
