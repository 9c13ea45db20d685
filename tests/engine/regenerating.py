"""How tests start a regeneration of the tiny repository by the scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.orders import launching
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan

MODEL = "openai/scripted"


def planned(session: Path, repository: Path, **options: Any) -> str:
    """Write a run into a session and return its id; ``options`` are of the plan."""
    return order_regeneration(session, RegenerationPlan(str(repository), **{"evaluator": MODEL, **options})).run


def start(session: Path, repository: Path, **options: Any) -> str:
    """Write a run, have an engine of its own execute it, and return its id."""
    run = planned(session, repository, **options)
    launching.launch(session, run)
    return run
