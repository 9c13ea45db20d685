"""A repository that takes long to import: its originals pass fast, and must not time out in the cold re-check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.orders import launching
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader

# Longer than the five seconds that a function with fast tests gets.
SOURCE = '''import time

time.sleep(6)


def double(number):
    """Return twice the number."""
    return 2 * number
'''


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.slow
@pytest.mark.timeout(480)
def test_the_second_look_has_time_to_import(
    needs_bubblewrap: None,
    home: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    until: Callable[..., Any],
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "slow.py").write_text(SOURCE)
    (folder / "test_slow.py").write_text("from slow import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
    session = tmp_path / "slow.session"
    run = order_regeneration(session, RegenerationPlan(str(folder), evaluator="reference", sandbox="bubblewrap")).run
    launching.launch(session, run)

    def ended() -> bool:
        with SessionReader(session) as reader:
            row = reader.run(run)
            return row is not None and reader.run_state(row) not in ("queued", "running")

    until(ended, 450, "the run's end")
    with SessionReader(session) as reader:
        verdicts = {row.evaluator: row for row in reader.candidates(run)}
    look = json.loads(verdicts["reference"].recheck or "{}")
    assert (verdicts["reference"].verdict, look["agrees"], look["route"]) == ("passed", True, "cold")
    assert look["seconds"] > 5
    assert verdicts["stub"].verdict == "failed"
