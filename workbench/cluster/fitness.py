"""Which workers of a cluster may give verdicts: those with our Python and our Workbench, and not known to fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The distribution's name, as ``importlib.metadata`` knows it on the workers.
DISTRIBUTION = "docs-workbench"

#: Other versions of these may still work: Dask itself only warns.
_SPOKEN = ("dask", "distributed")


def problem(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return why a worker may not be used, "" if it may.

    Args:
        theirs: What ``distributed.versions.get_versions`` says of the worker.
        ours: What it says of this process.
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
    """Return other versions of Dask as words ("distributed 2025.1.0, here 2026.8.0"), "" if there are none."""
    there, here = theirs["packages"], ours["packages"]
    found = [
        f"{name} {there.get(name)}, here {here.get(name)}" for name in _SPOKEN if there.get(name) != here.get(name)
    ]
    return "; ".join(found)


def _minor(python: str) -> str:
    return ".".join(python.split(".")[:2])
