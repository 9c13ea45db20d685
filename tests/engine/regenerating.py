"""How tests start a regeneration of the tiny repository by the scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.orders import launching
from workbench.orders.plan import RegenerationPlan
from workbench.orders.regeneration_client import plan_regeneration

MODEL = "openai/scripted"


def planned(session: Path, repository: Path, **options: Any) -> str:
    """Write a run into a session and return its id; ``options`` are of the plan."""
    return plan_regeneration(session, RegenerationPlan(str(repository), **{"evaluator": MODEL, **options}))


def start(session: Path, repository: Path, **options: Any) -> str:
    """Write a run, have an engine of its own execute it, and return its id."""
    run = planned(session, repository, **options)
    launching.launch(session, run)
    return run
