"""The figures of the fault suite are printed at the end of a run, from all of xdist's workers together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

COUNTING = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_kills(fault_counts, number):
    fault_counts["kills"] += 500
    fault_counts["copies"] += number
    assert number != 3
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_counts_of_all_tests_are_told(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "test_it.py").write_text(COUNTING)
    command = [sys.executable, "-m", "pytest", "-p", "fault_counts", "-p", "no:cacheprovider", *workers, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert "Faults: 6 copies, 2,000 kills." in done.stdout.splitlines(), done.stdout
    assert "1 failed, 3 passed" in done.stdout
