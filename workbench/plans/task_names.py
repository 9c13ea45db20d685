"""Names of tasks, and how ids, prefixes, names and globs select tasks. Cheap to import."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import TypeVar

from workbench.session.rows import TaskRow

Item = TypeVar("Item")
_SHORTEST = 4  # minimum length of a prefix of a hashed id


def readable_id(path: str, qualified_name: str, occurrence: int) -> str:
    """Return ``path::qualified_name``, followed by ``#n`` from the second definition on."""
    return f"{path}::{qualified_name}" + (f"#{occurrence}" if occurrence > 1 else "")


def row_id(row: TaskRow) -> str:
    return readable_id(row.path, row.qualified_name, row.occurrence)


def matches(pattern: str, readable: str, hashed: str) -> bool:
    """Return whether ``pattern`` matches a task: an id or its prefix, a glob, a file, or the function's name."""
    name = readable.partition("::")[2]
    if pattern in (readable, hashed, name, name.rpartition(".")[2], readable.partition("::")[0]):
        return True
    if len(pattern) >= _SHORTEST and hashed.startswith(pattern):
        return True
    return readable.startswith(pattern) or fnmatch.fnmatchcase(readable, pattern) or fnmatch.fnmatchcase(name, pattern)


def picked(patterns: Sequence[str], limit: int, items: Sequence[tuple[str, str, Item]]) -> list[Item]:
    """Return the matching items of ``(readable id, hashed id, item)``, in order.

    Without patterns, all items match; a ``limit`` of 0 means no limit. An exact match of an id takes precedence over
    ids that only start with the pattern.
    """
    exact = {wanted for wanted in patterns if any(wanted in (readable, hashed) for readable, hashed, _ in items)}
    found = [
        item
        for readable, hashed, item in items
        if not patterns
        or any(
            wanted in (readable, hashed) if wanted in exact else matches(wanted, readable, hashed)
            for wanted in patterns
        )
    ]
    return found[:limit] if limit else found
