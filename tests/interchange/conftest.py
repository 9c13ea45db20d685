"""Files of other programs, and sessions into which they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from workbench.interop.formats.importing import Tally, import_files
from workbench.orders.import_files import ImportOrder
from workbench.plans.plan import ImportPlan

MADE = Path(__file__).parent / "made"


@pytest.fixture
def made() -> Path:
    return MADE


def ordered(session: Path, files: Iterable[Path], **arguments: Any) -> str:
    """Return the run of an ordered import, of which nothing is read yet."""
    return ImportOrder(session, ImportPlan(tuple(map(str, files)), **arguments)).submit().runs[0]


@pytest.fixture
def into(tmp_path: Path) -> Callable[..., tuple[Path, Tally]]:
    """Read files into a session of that name, a new one unless it is there."""

    def read(*files: Path, name: str = "session", **arguments: Any) -> tuple[Path, Tally]:
        session = tmp_path / f"{name}.session"
        return session, import_files(session, ordered(session, files, **arguments))

    return read


@pytest.fixture
def inspect_api() -> Any:
    """Inspect's own reader of logs."""
    return pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed: the extra inspect")
