"""The one question that is asked where nothing isolates, with what there is instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.toolkit.ask import Confirm

if TYPE_CHECKING:
    from workbench.sandbox import NoIsolation


def plain_process(error: NoIsolation) -> Confirm:
    """Return the question; yes means the sandbox ``process``."""
    promises = "\n".join(f"· {line}" for line in error.promises)
    return Confirm(
        "No sandbox isolates here",
        "Run the code that a model writes in a plain process instead? `workbench doctor` says why no sandbox can be used. "
        f"A plain process guarantees on this machine:\n{promises}",
        "Run",
    )
