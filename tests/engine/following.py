"""The state of a run, the error that ended it, and waiting for its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.orders import launching
from workbench.session import SessionReader


def state(session: Path, run: str) -> str:
    """Return the state of a run as it is shown."""
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return reader.run_state(row)


def error(session: Path, run: str) -> str:
    """Return the error of a run, or the last line of its engine's log if none could be recorded."""
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return row.error or launching.last_words(run)


def ended(session: Path, run: str, until: Callable[..., object]) -> str:
    """Wait for the end of a run and return its state."""
    return str(until(lambda: (s := state(session, run)) not in {"queued", "running"} and s, 110, "the run's end"))
