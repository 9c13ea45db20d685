"""Sessions that the tests of reports read."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples.sessions import document_session, regeneration_session


@pytest.fixture
def documented(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    path = tmp_path / "demo.session"
    return path, document_session(path)


@pytest.fixture
def regenerated(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    path = tmp_path / "regen.session"
    return path, regeneration_session(path)
