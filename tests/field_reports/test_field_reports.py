"""Inputs that other people's programs, models and users produced, tried from outside through the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NAMES = sorted(found.parent.name for found in HERE.glob("*/check.py"))


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", NAMES)
def test_what_was_reported_is_right(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "WB": str(Path(sys.executable).with_name("workbench")), "TMPDIR": str(tmp_path)}
    tried = subprocess.run(
        [sys.executable, HERE / name / "check.py"], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert tried.returncode == 0, f"{tried.stdout}\n{tried.stderr[-2000:]}"
