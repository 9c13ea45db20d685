"""What a resume has left to do in a run that no engine executes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

import regenerated

from workbench.session import SessionReader
from workbench.session.pending_work import unfinished


@pytest.mark.parametrize(("cells", "expected"), [("✓✗", []), ("✓↯", [regenerated.RUN])])
def test_a_candidate_that_failed_by_our_own_error_is_tested_again(tmp_path, cells, expected):
    recorder = regenerated.Recorder(tmp_path / "demo.session")
    recorder.run(samples=2)
    recorder.cells(recorder.task("total", 0), cells)
    recorder.close()
    with SessionReader(recorder.path) as reader:
        assert [run.id for run in unfinished(reader)] == expected
