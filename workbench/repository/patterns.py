"""Gitignore-like patterns for paths that are hidden from agents.

A pattern without an inner slash matches a name at any depth; one with an inner slash is anchored at the root; a trailing
slash restricts it to folders; ``**`` spans folders; a leading ``!`` re-includes what an earlier pattern hid (but nothing
inside a hidden folder). Matching ignores case: on some file systems ``readme.MD`` opens ``README.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

DEFAULT_HIDDEN: tuple[str, ...] = (
    "README*",
    "!README*.py",  # a program about READMEs is code
    "CHANGELOG*",
    "!CHANGELOG*.py",
    "docs/",
    "doc/",
    "documentation/",
    # Package metadata repeats the README as its description.
    "PKG-INFO",
    "*.egg-info/",
    "*.dist-info/",
    ".*",
    "ground_truth/",
    "ground_truth",
)


class Hidden:
    """A compiled list of patterns; the last one that matches a path decides."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [rule for pattern in patterns if (rule := _compile(pattern)) is not None]
        self._names: dict[tuple[str, bool], bool] = {}
        self._anchored = any(anchored for _, _, _, anchored in self._rules)

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether this path itself is hidden, ignoring the folders above it.

        Args:
            path: POSIX path relative to the root, without a leading ``./``.
            is_folder: Whether patterns for folders apply.
        """
        name = path.rpartition("/")[2]
        # Most patterns depend on the name only, and names such as __init__.py repeat thousands of times.
        if self._anchored:
            return self._decide(path, name, is_folder)
        known = self._names.get((name, is_folder))
        if known is None:
            known = self._names[name, is_folder] = self._decide(path, name, is_folder)
        return known

    def covers(self, path: str, *, is_folder: bool) -> bool:
        parts = path.split("/")
        above = any(self.matches("/".join(parts[:depth]), is_folder=True) for depth in range(1, len(parts)))
        return above or self.matches(path, is_folder=is_folder)

    def _decide(self, path: str, name: str, is_folder: bool) -> bool:
        path, name = path.casefold(), name.casefold()
        for expression, hides, folders_only, anchored in reversed(self._rules):
            if (is_folder or not folders_only) and expression.fullmatch(path if anchored else name):
                return hides
        return False


def _compile(pattern: str) -> tuple[re.Pattern[str], bool, bool, bool] | None:
    hides = not pattern.startswith("!")
    body = pattern.removeprefix("!").strip()
    folders_only = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    body = body.removeprefix("/").casefold()
    if not body:
        return None
    parts: list[str] = []
    position = 0
    while position < len(body):
        if body.startswith("**/", position):
            parts.append("(?:.*/)?")
            position += 3
        elif body.startswith("**", position):
            parts.append(".*")
            position += 2
        elif body[position] == "*":
            parts.append("[^/]*")
            position += 1
        elif body[position] == "?":
            parts.append("[^/]")
            position += 1
        else:
            parts.append(re.escape(body[position]))
            position += 1
    return re.compile("".join(parts), re.DOTALL), hides, folders_only, anchored
