"""Tests of compared groups: over all that were compared at once, Holm's adjustment among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.regenerated import RUN, Recorder

from workbench.comparison.groups import compare_groups, groups_of
from workbench.session import SessionReader


def test_each_difference_is_tested_and_all_are_adjusted_together(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "three.session")
    recorder.run()
    for place in range(8):
        task = recorder.task(f"f{place}", place)
        recorder.cells(task, "✗✗✗")
        recorder.cells(task, "✓✓✓", evaluator="openai/b")
        recorder.cells(task, "✗✗" if place else "✓✓", evaluator="openai/c")
    recorder.close()
    with SessionReader(recorder.path) as reader:
        one, *others = sorted(groups_of(reader, RUN), key=lambda side: side.group.evaluator != "openai/gpt-5-mini")
        found = compare_groups([(one, other) for other in others])
        first, second = (one.to_json()["pass_at_k"] for one in found)
    assert (first["1"]["p"], first["1"]["p_holm"]) == (pytest.approx(2 / 256), pytest.approx(3 * 2 / 256))
    assert "over 8 tasks" in first["1"]["test"]
    # Three tests: pass@1 twice and pass@3 once, for c has two samples only.
    assert (second["3"]["p"], second["3"]["test"]) == (None, "no test: there is no pair")
    assert second["1"]["p"] == 1.0
    assert "by Holm over 3 tests" in first["1"]["test"]
