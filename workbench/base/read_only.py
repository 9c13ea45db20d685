"""Read-only mode: writing, fetching and starting runs are refused at the lowest level."""

from __future__ import annotations

import os

from workbench.base.errors import UsageError

VARIABLE = "WORKBENCH_READ_ONLY"
"""Any value except "" and 0 makes a process and its children read-only."""


class ReadOnly(UsageError):
    """The action would change something, and this workbench is read-only."""

    def __init__(self, what: str) -> None:
        super().__init__(f"This workbench is read-only, so it cannot {what}.")


def is_read_only() -> bool:
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def must_write(what: str) -> None:
    """Raise ReadOnly in read-only mode; ``what`` completes "it cannot …", for example ``start a run``."""
    if is_read_only():
        raise ReadOnly(what)
