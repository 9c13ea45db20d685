"""What the header says of the open session: counted in a thread, told in one sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Counts over the runs of a session; ``states`` counts runs by the state that a person should see."""

    path: Path
    trials: int
    trials_done: int
    trials_failed: int
    tasks: int
    candidates: int
    candidates_done: int
    spend_usd: float
    models: tuple[str, ...]
    states: tuple[tuple[str, int], ...]
    running: tuple[str, ...]

    def count(self, state: str) -> int:
        """Return how many runs are in a state."""
        return dict(self.states).get(state, 0)

    @property
    def state(self) -> str:
        """The one state that matters most: running, queued, interrupted, failed, cancelled, done or empty."""
        for state in ("running", "queued", "interrupted", "failed", "cancelled", "done"):
            if self.count(state):
                return state
        return "empty"

    def sentence(self) -> str:
        """Return model, spend, and whether something runs."""
        model = self.models[-1] if self.models else ""
        if len(self.models) > 1:
            model += f" +{len(self.models) - 1}"
        if self.state == "running":
            left = f"▸ {self.trials_done} of {self.trials} trials"
            if self.candidates:
                left = f"▸ {self.candidates_done} of {self.candidates} samples"
        elif self.state == "queued":
            left = "· waiting for the engine"
        elif self.state == "interrupted":
            left = "‖ interrupted: u resumes"
        elif self.state == "empty":
            left = "nothing run yet"
        else:
            left = f"{self.trials} trials" if self.trials != 1 else "1 trial"
            left = f"{left}, nothing running"
        return " · ".join(part for part in (model, f"${self.spend_usd:.3f}", left) if part)


def gather(reader: SessionReader) -> SessionFacts:
    """Return the facts of a session; some queries over small tables.

    Raises:
        SessionError: The file cannot be read.
    """
    runs = reader.runs()
    states = {run.id: reader.run_state(run) for run in runs}
    trials = Counter(dict(reader.query("SELECT state, count(*) FROM trials GROUP BY state")))
    candidates = Counter(dict(reader.query("SELECT state, count(*) FROM candidates GROUP BY state")))
    models = [row[0] for row in reader.query("SELECT model FROM trials GROUP BY model ORDER BY max(rowid)")]
    models += [row[0] for row in reader.query("SELECT DISTINCT evaluator FROM candidates WHERE control = 0")]
    return SessionFacts(
        reader.path,
        sum(trials.values()),
        trials["done"] + trials["failed"] + trials["cancelled"],
        trials["failed"],
        int(reader.query("SELECT count(*) FROM tasks")[0][0]),
        sum(candidates.values()),
        candidates["done"] + candidates["cancelled"],
        sum(run.spend_usd for run in runs),
        tuple(dict.fromkeys(models)),
        tuple(Counter(states.values()).items()),
        tuple(run for run, state in states.items() if state in {"running", "queued"}),
    )
