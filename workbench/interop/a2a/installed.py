"""Whether the extra ``a2a`` is installed; nothing of it is imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from workbench.base.errors import WorkbenchError

NEEDED = ("a2a", "starlette", "sse_starlette", "uvicorn")


def is_installed() -> bool:
    return not problem()


def problem() -> str:
    """Return what lacks, "" if nothing."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        return f"{', '.join(missing)} not installed"
    version = importlib.metadata.version("a2a-sdk")
    return "" if int(version.partition(".")[0] or 0) >= 1 else f"a2a-sdk {version} is too old, 1.0 is needed"


def check_installed() -> None:
    if lacks := problem():
        raise WorkbenchError(f"A2A needs the extra a2a ({lacks}): pip install 'docs-workbench[a2a]'.")
