"""What runs cost; no price is not the price 0: a model whose price nobody knows costs what its provider says later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow

_PRICED = """
SELECT EXISTS (SELECT 1 FROM trials WHERE run_id = ? AND cost_usd IS NOT NULL)
    OR EXISTS (SELECT 1 FROM candidates WHERE run_id = ? AND cost_usd IS NOT NULL)
"""


def spend_of(reader: SessionReader, run: RunRow) -> float | None:
    """Return what a run cost so far in US dollars, None where nothing in it has a price.

    Raises:
        SessionError: The file cannot be read.
    """
    if run.spend_usd or reader.query(_PRICED, (run.id, run.id))[0][0]:
        return run.spend_usd
    return None


def total_spend(reader: SessionReader, runs: Iterable[RunRow]) -> float | None:
    """Return what runs cost together in US dollars, None where nothing in any of them has a price.

    Raises:
        SessionError: The file cannot be read.
    """
    runs = list(runs)
    total = sum(run.spend_usd for run in runs)
    return total if total or any(spend_of(reader, run) is not None for run in runs) else None
