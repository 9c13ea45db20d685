"""Order READMEs of recorded trials to be checked. Cheap to import."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.checking.verdicts import RULES
from workbench.orders.estimate import Estimate, estimate_alike
from workbench.orders.measured import Measured
from workbench.orders.order import WorkOrder, new_run, trials_meant
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader
from workbench.session.pending_work import is_check
from workbench.session.rows import CheckRow

Key = tuple[str, int, float, int]
"""What a check is one of: trial, whether blocks are run, seconds for a step, version of the rules."""
STEP_SECONDS = 10.0


@dataclass(eq=False)
class CheckOrder(WorkOrder):
    """Check the READMEs of trials ``items`` (by id, its beginning, or their case; none for all); ``block`` is the one to run once more.

    Without ``execute`` nothing is run and names are looked up; what was checked so is not checked again unless ``anew``.
    """

    items: Sequence[str] = ()
    execute: bool = True
    seconds: float = STEP_SECONDS
    block: int = -1
    anew: bool = False
    # Once it was submitted, the trials that were meant; no run where all are or were checked so
    meant: tuple[str, ...] = field(default=(), init=False)

    @property
    def what(self) -> str:
        return f"READMEs checked {'in a sandbox' if self.execute else 'without running them'}"

    def _due(self, reader: SessionReader) -> list[Key]:
        trials = trials_meant(
            self.session, reader.trials(), self.items, lambda row: row.readme_blob is not None,
            lambda row: "handed in no README that could be checked",
        )  # fmt: skip
        self.meant = tuple(trial.id for trial in trials)
        known = {key_of(row): row for row in reader.checks()}
        keys = [(trial, int(self.execute), float(self.seconds), RULES) for trial in self.meant]
        return [key for key in keys if _is_due(reader, known.get(key), self.anew or self.block >= 0)]

    def check(self) -> None:
        """Raise NoIsolation where blocks cannot be run on this machine."""
        if self.execute:
            from workbench.checking.environment import require_isolation

            require_isolation()

    def estimate(self, measured: Measured) -> Estimate:
        with SessionReader(self.session) as reader:
            due = len(self._due(reader))
        return estimate_alike(due, "README", measured.checks[self.execute], "check")

    def write(self) -> None:
        with SessionReader(self.session) as reader:
            waits = self._due(reader)
            emptied = _left_without_work(reader, waits)
        if not waits:
            return
        plan = DocumentPlan(
            cases=(),
            agent="",
            rubrics=(),
            trials=tuple(key[0] for key in waits),
            check="run" if self.execute else "claims",
            check_only=True,
            check_seconds=float(self.seconds),
            check_again=self.block,
        )
        with new_run(self.session) as (writer, run):
            writer.add_run(run, "document", plan.to_json())
            for key in waits:
                writer.put_check(key, run, self.block if self.block >= 0 else None)
            for former in emptied:
                writer.set_run(
                    former, state="done", finished_at=time.time(), note=f"what it lacked was begun again by {run}"
                )
        self.runs = [run]


def key_of(row: CheckRow) -> Key:
    return row.trial_id, row.executed, row.step_seconds, row.rules


def _is_due(reader: SessionReader, known: CheckRow | None, anew: bool) -> bool:
    if known is not None and known.state in ("queued", "running") and reader.holder(known.run_id) is not None:
        return False
    return anew or known is None or known.state != "done"


def _left_without_work(reader: SessionReader, taken: Sequence[Key]) -> list[str]:
    rows = [row for row in reader.checks() if row.state not in ("done", "failed")]
    former = {row.run_id for row in rows if key_of(row) in taken}
    keep = {row.run_id for row in rows if key_of(row) not in taken}
    runs = [run for run in map(reader.run, sorted(former - keep)) if run is not None]
    return [run.id for run in runs if is_check(run) and reader.run_state(run) == "interrupted"]
