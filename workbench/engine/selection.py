"""Select the tasks of an ask by id, prefix of an id, name or glob. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from workbench.engine.plan import Ask
from workbench.session.task_names import matches, picked, readable_id, row_id

__all__ = ["chosen", "matches", "readable_id", "row_id"]

Item = TypeVar("Item")


def chosen(ask: Ask, items: Sequence[tuple[str, str, Item]]) -> list[Item]:
    """Return the items that an ask selects from ``(readable id, hashed id, item)``, keeping the order."""
    return picked(ask.tasks, ask.limit, items)
