"""The stages of a regeneration run as the live view shows them: written at once when they turn, at times in between."""

from __future__ import annotations

import time
from typing import Protocol

from workbench.session import SessionWriter

#: Names and order of the stages.
STAGES = ("fetch", "environment", "suite", "trace", "filter", "documentation", "controls", "candidates", "rechecks")

_EVERY_SECONDS = 0.2


class Teller(Protocol):
    """Whoever is told how far a stage is."""

    def tell(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Take note; ``state`` is ``running``, ``done`` or ``failed``; what is None or empty stays as it was."""
        ...


class StageBook:
    """Stages in the ``stages`` table of a session.

    Args:
        writer: The session.
        run: Id of the run.
    """

    def __init__(self, writer: SessionWriter, run: str) -> None:
        self._writer = writer
        self._run = run
        self._known: dict[str, dict[str, object]] = {}
        self._written: dict[str, float] = {}
        with writer.transaction():
            for position, name in enumerate(STAGES):
                self._known[name] = {"state": "waiting", "done": 0, "total": None, "note": None}
                row = {"run_id": run, "name": name, "position": position, "at": time.time(), **self._known[name]}
                writer.insert("stages", row, conflict="REPLACE")

    def tell(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """See :class:`Teller`."""
        now = time.monotonic()
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
        """Mark the stages under way as failed, because the run ends."""
        for name, known in self._known.items():
            if known["state"] == "running":
                self.tell(name, "failed")
