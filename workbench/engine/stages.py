"""The stages of a regeneration run for the live view.

State changes are written at once, progress at intervals.
"""

from __future__ import annotations

import time
from typing import Protocol

from workbench.session import SessionWriter

#: The names of the stages, in order.
STAGES = ("fetch", "environment", "suite", "trace", "filter", "documentation", "controls", "candidates", "rechecks")

_EVERY_SECONDS = 0.2


class StageProgress(Protocol):
    """Receives the progress of stages."""

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Update a stage (``running``, ``done`` or ``failed``); None and "" leave a value unchanged."""
        ...


class StageTable:
    """The stages in the ``stages`` table of a session."""

    def __init__(self, writer: SessionWriter, run: str) -> None:
        self._writer = writer
        self._run = run
        self._known: dict[str, dict[str, object]] = {}
        self._written: dict[str, float] = {}
        self._ended: dict[str, str] = {}
        with writer.transaction() as connection:
            # The counts of an earlier execution stay until this execution reaches the stage, because it may end before.
            earlier = {
                name: {"state": state, "done": done, "total": total, "note": note, "at": at}
                for name, state, done, total, note, at in connection.execute(
                    "SELECT name, state, done, total, note, at FROM stages WHERE run_id = ?", (run,)
                )
            }
            for position, name in enumerate(STAGES):
                fresh: dict[str, object] = {"state": "waiting", "done": 0, "total": None, "note": None}
                before = earlier.get(name, {**fresh, "at": time.time()})
                self._known[name] = fresh
                if before["state"] in ("done", "failed"):
                    self._ended[name] = before["state"]
                row = {"run_id": run, "name": name, "position": position, **before, "state": "waiting"}
                writer.insert("stages", row, conflict="REPLACE")

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        now = time.monotonic()
        self._ended.pop(name, None)
        known = self._known[name]
        turned = known["state"] != state
        known["state"] = state
        known |= {} if done is None else {"done": done}
        known |= {} if total is None else {"total": total}
        known |= {"note": note} if note else {}
        if turned or now - self._written.get(name, 0.0) >= _EVERY_SECONDS:
            self._written[name] = now
            self._writer.update("stages", {"run_id": self._run, "name": name}, {**known, "at": time.time()})

    def failed(self) -> None:
        """Mark active stages as failed because the run has ended; stages not reached keep their earlier state."""
        for name, known in self._known.items():
            if known["state"] == "running":
                self.update(name, "failed")
        for name, state in self._ended.items():
            self._writer.update("stages", {"run_id": self._run, "name": name}, {"state": state})
