"""Check the READMEs of recorded trials. Cheap to import."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.checking.verdicts import RULES
from workbench.orders.estimate import WorkEstimate, estimate_alike
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder, new_run, select_trials
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader
from workbench.session.pending_work import is_check
from workbench.session.rows import CheckRow

Key = tuple[str, int, float, int]
"""The key of a check: trial, whether blocks are run, seconds per step, and version of the rules."""
STEP_SECONDS = 10.0


@dataclass(eq=False)
class CheckOrder(WorkOrder):
    """Check the READMEs of the trials in ``items`` (id, prefix of an id, or case; empty selects all).

    ``block`` reruns a single block. Without ``execute``, only names are looked up. A README that was already checked
    with the same settings is skipped unless ``anew`` is set.
    """

    items: Sequence[str] = ()
    execute: bool = True
    seconds: float = STEP_SECONDS
    block: int = -1
    anew: bool = False
    # The selected trials, set by `write`. No run is created if all of them are already checked
    selected: tuple[str, ...] = field(default=(), init=False)

    @property
    def what(self) -> str:
        return f"READMEs checked {'in a sandbox' if self.execute else 'without running them'}"

    def _due(self, reader: SessionReader) -> list[Key]:
        trials = select_trials(
            self.session, reader.trials(), self.items, lambda row: row.readme_blob is not None,
            lambda row: "submitted no README that could be checked",
        )  # fmt: skip
        self.selected = tuple(trial.id for trial in trials)
        known = {key_of(row): row for row in reader.checks()}
        keys = [(trial, int(self.execute), float(self.seconds), RULES) for trial in self.selected]
        return [key for key in keys if _is_due(reader, known.get(key), self.anew or self.block >= 0)]

    def check(self) -> None:
        """Raise NoIsolation if this machine cannot run blocks in isolation."""
        if self.execute:
            from workbench.checking.environment import require_isolation

            require_isolation()

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        with SessionReader(self.session) as reader:
            due = len(self._due(reader))
        return estimate_alike(due, "README", measured.checks[self.execute], "check")

    def write(self) -> None:
        with SessionReader(self.session) as reader:
            due = self._due(reader)
            without_work = _left_without_work(reader, due)
        if not due:
            return
        plan = DocumentPlan(
            cases=(),
            agent="",
            rubrics=(),
            trials=tuple(key[0] for key in due),
            check="run" if self.execute else "claims",
            check_only=True,
            check_seconds=float(self.seconds),
            check_again=self.block,
        )
        with new_run(self.session) as (writer, run):
            writer.add_run(run, "document", plan.to_json())
            for key in due:
                writer.put_check(key, run, self.block if self.block >= 0 else None)
            for former in without_work:
                writer.set_run(
                    former, state="done", finished_at=time.time(), note=f"its missing checks were restarted in {run}"
                )
        self.runs = [run]


def key_of(row: CheckRow) -> Key:
    return row.trial_id, row.executed, row.step_seconds, row.rules


def _is_due(reader: SessionReader, known: CheckRow | None, anew: bool) -> bool:
    if known is not None and known.state in ("queued", "running") and reader.holder(known.run_id) is not None:
        return False
    return anew or known is None or known.state != "done"


def _left_without_work(reader: SessionReader, due: Sequence[Key]) -> list[str]:
    rows = [row for row in reader.checks() if row.state not in ("done", "failed")]
    former = {row.run_id for row in rows if key_of(row) in due}
    keep = {row.run_id for row in rows if key_of(row) not in due}
    runs = [run for run in map(reader.run, sorted(former - keep)) if run is not None]
    return [run.id for run in runs if is_check(run) and reader.run_state(run) == "interrupted"]
