"""A run as a test sees it from outside: its state, what it says of its end, and waiting for that end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.orders import launching
from workbench.session import SessionReader


def state(session: Path, run: str) -> str:
    """Return the state of a run as a person should see it."""
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return reader.run_state(row)


def error(session: Path, run: str) -> str:
    """Return what a run says of its end: its own words, or the engine's last ones where nothing could be written."""
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return row.error or launching.last_words(run)


def ended(session: Path, run: str, until: Callable[..., object]) -> str:
    """Wait for the end of a run and return its state."""
    return str(until(lambda: (s := state(session, run)) not in {"queued", "running"} and s, 110, "the run's end"))
