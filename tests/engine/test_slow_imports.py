"""A repository that takes long to import: its originals pass fast, and must not time out in the cold re-check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.following import ended

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
@pytest.mark.nightly
@pytest.mark.timeout(480)
def test_the_second_look_has_time_to_import(
    needs_bubblewrap: None, one_cache: None, tmp_path: Path, until: Callable[..., Any]
) -> None:
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "slow.py").write_text(SOURCE)
    (folder / "test_slow.py").write_text("from slow import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
    session = tmp_path / "slow.session"
    run = order_regeneration(session, RegenerationPlan(str(folder), evaluator="reference", sandbox="bubblewrap")).run
    launching.launch(session, run)
    ended(session, run, until)
    with SessionReader(session) as reader:
        verdicts = {row.evaluator: row for row in reader.candidates(run)}
    look = json.loads(verdicts["reference"].recheck or "{}")
    assert (verdicts["reference"].verdict, look["agrees"], look["route"]) == ("passed", True, "cold")
    assert look["seconds"] > 5
    assert verdicts["stub"].verdict == "failed"
