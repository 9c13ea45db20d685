"""Check which workers of a cluster may be used: those with the same versions of Python and the Workbench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The distribution's name, as ``importlib.metadata`` knows it on the workers.
DISTRIBUTION = "docs-workbench"

#: Packages whose versions may differ: Dask itself only warns about them.
_MAY_DIFFER = ("dask", "distributed")


def problem(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return why a worker may not be used, "" if it may.

    Args:
        theirs: The result of ``distributed.versions.get_versions`` on the worker.
        ours: The result in this process.
    """
    there, here = theirs["packages"], ours["packages"]
    if _minor(there["python"]) != _minor(here["python"]):
        return f"it has Python {_minor(there['python'])} where {_minor(here['python'])} is needed, as here"
    wanted, found = here.get(DISTRIBUTION), there.get(DISTRIBUTION)
    if wanted and found is None:
        return f"it has no Workbench; install it there: pip install '{DISTRIBUTION}[cluster]=={wanted}'"
    if wanted and found != wanted:
        return f"it has Workbench {found} where {wanted} is needed, as here"
    return ""


def differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Describe differences in Dask's versions ("distributed 2025.1.0, here 2026.8.0"); "" if there are none."""
    there, here = theirs["packages"], ours["packages"]
    found = [
        f"{name} {there.get(name)}, here {here.get(name)}" for name in _MAY_DIFFER if there.get(name) != here.get(name)
    ]
    return "; ".join(found)


def _minor(python: str) -> str:
    return ".".join(python.split(".")[:2])
