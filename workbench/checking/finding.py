"""Which pages of a repository are its documentation."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from workbench.checking.environment import tree_files
from workbench.checking.other_times import is_page_for_readers

_PAGES = (".md", ".markdown", ".rst")
_DOCS = {"docs", "doc", "documentation"}


def find_pages(root: Path) -> tuple[str, ...]:
    """Return the README and the pages in the folders of docs, relative to ``root``; the README comes first.

    A README in reStructuredText is among them where there is none in Markdown.
    """
    paths = [path.relative_to(root).as_posix() for path in tree_files(root) if path.suffix.lower() in _PAGES]
    readmes = sorted(path for path in paths if "/" not in path and path.lower().startswith("readme"))
    markdown = [path for path in readmes if not path.lower().endswith(".rst")]
    docs = [
        path
        for path in sorted(paths)
        if PurePosixPath(path).parts[0].lower() in _DOCS
        and not path.lower().endswith(".rst")
        and is_page_for_readers(path)
    ]
    return (*(markdown or readmes), *docs)
