"""The names of attributes that a project's own files use, for judging bodies of any of them.

A body that takes an object of another module of its project uses attributes that its own file may never name. Functions
of such a
file that run a text, and names that lead to frames or modules, are not included.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workbench.sandbox.plain_context import read_context

#: Reading the names of a megabyte of Python takes about a second and is done once for a tree.
LARGEST = 2_000_000
_LEFT_OUT = frozenset({"tests", "test", "testing", "docs", "examples", "build", "dist"})


@dataclass(frozen=True, slots=True)
class ProjectNames:
    """Attributes that some file names, those that some file sets or defines, and those with one underscore."""

    attributes: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()


@lru_cache(maxsize=8)
def project_names(root: Path) -> ProjectNames:
    """Return the names in the Python files of a pristine tree, without tests and files beyond `LARGEST` bytes."""
    attributes: set[str] = set()
    stored: set[str] = set()
    private: set[str] = set()
    gadgets: set[str] = set()
    left = LARGEST
    for path in _sources(root):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if len(content) > left:
            continue
        left -= len(content)
        context = read_context(content)
        if context is not None:
            attributes |= context.attributes
            stored |= context.stored
            private |= {name for name in context.private if not name.startswith("__")}
            gadgets |= context.gadgets
    return ProjectNames(frozenset(attributes - gadgets), frozenset(stored - gadgets), frozenset(private - gadgets))


def _sources(root: Path) -> Iterator[Path]:
    """Yield the files by name, so that the same tree gives the same names."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(one for one in folders if one not in _LEFT_OUT and not one.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith(("test_", "conftest", "setup")):
                yield Path(folder, name)
