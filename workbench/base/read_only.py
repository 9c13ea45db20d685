"""Read-only mode: writing, fetching and starting are refused at the lowest level."""

from __future__ import annotations

import os

from workbench.base.errors import UsageError

VARIABLE = "WORKBENCH_READ_ONLY"
"""Set to anything but "" or 0, it holds for a process and everything that this starts."""


class ReadOnly(UsageError):
    """The action would change something, and this workbench is read-only."""

    def __init__(self, what: str) -> None:
        super().__init__(f"This workbench is read-only, so it cannot {what}.")


def is_read_only() -> bool:
    """Return whether this process may only look."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def must_write(what: str) -> None:
    """Say that something is about to be changed.

    Args:
        what: What is about to be done, as it follows "it cannot": ``start a run``.

    Raises:
        ReadOnly: This process may only look.
    """
    if is_read_only():
        raise ReadOnly(what)
