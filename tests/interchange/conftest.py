"""Files of other programs, and sessions into which they are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.interop.formats.importing import Options, Tally, import_files
from workbench.session import create

PLAIN = Options()
MADE = Path(__file__).parent / "made"


@pytest.fixture
def made() -> Path:
    return MADE


@pytest.fixture
def into(tmp_path: Path) -> Callable[..., tuple[Path, Tally]]:
    """Read files into a session of that name, a new one unless it is there."""

    def read(*files: Path, name: str = "session", options: Options = PLAIN) -> tuple[Path, Tally]:
        session = tmp_path / f"{name}.session"
        if not session.exists():
            create(session)
        return session, import_files(session, list(files), options)

    return read


@pytest.fixture
def inspect_api() -> Any:
    """Inspect's own reader of logs."""
    return pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed: the extra inspect")
