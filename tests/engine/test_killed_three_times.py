"""Killed three times and resumed, a run ends with the verdicts of an unbroken one; the large one is a benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import killing
from engine.tiny_repository import BAD, GOOD, make_repository

pytestmark = [
    pytest.mark.fresh_engines,
    pytest.mark.sandbox,
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.timeout(600),
]

CANDIDATES = 400


def test_killed_three_times(
    needs_bubblewrap: None,
    home: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    repository = make_repository(tmp_path / "small-sums")
    file = tmp_path / "answers.jsonl"
    bodies = [(f"sums.py::{name}", body) for known in (GOOD, BAD) for name, body in known.items()]
    assert killing.write_samples(file, bodies, CANDIDATES) == CANDIDATES
    whole, parts = tmp_path / "unbroken.session", tmp_path / "broken.session"
    orders = [(str(repository), file)]
    killing.plan(whole, orders)
    killing.run_unbroken(whole)
    wanted = killing.verdicts(whole)
    assert killing.states(whole) == {"done"}
    assert len(wanted) == CANDIDATES + 6  # with the controls
    assert {"passed", "failed"} <= {verdict for verdict, _ in wanted.values()}
    killing.plan(parts, orders)
    broken = killing.run_broken(parts, len(wanted), 3, seed=1)
    assert killing.states(parts) == {"done"}
    assert broken.engines == [1, 1, 1]
    assert broken.at == sorted(set(broken.at))
    assert 0 < broken.at[0] < broken.at[-1] < len(wanted)
    assert broken.changed == []
    assert killing.disagreements(wanted, killing.verdicts(parts)) == []


def test_a_disagreement_would_be_found() -> None:
    one: killing.Verdicts = {("a", "samples", 0): ("passed", ()), ("a", "samples", 1): ("failed", (("t", "failed"),))}
    other = {**one, ("a", "samples", 1): ("failed", (("t", "error"),))}
    assert [found[0] for found in killing.disagreements(one, other)] == [("a", "samples", 1)]
    assert killing.disagreements(one, dict(list(one.items())[:1]))
