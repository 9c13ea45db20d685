"""The base class of orders. Cheap to import."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from workbench.base.errors import UsageError
from workbench.orders import launching, running
from workbench.orders.plan_checks import check_place
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.identity import run_id
from workbench.session.rows import TrialRow
from workbench.session.session_names import working_copy

if TYPE_CHECKING:
    from workbench.orders.estimate import WorkEstimate
    from workbench.orders.measured import MeasuredRates


@dataclass(eq=False)
class WorkOrder:
    """Work to be done, which is resolved, estimated, checked, submitted to a session, executed, resumed or cancelled.

    Orders are cheap to create and to estimate; nothing is written before :meth:`submit`. ``session`` need not exist
    yet. An example session is replaced by a copy when the order is submitted.
    """

    session: Path
    remarks: list[str] = field(default_factory=list, init=False)  # Messages for the user
    runs: list[str] = field(default_factory=list, init=False)  # Set by `write`
    # The engine of the last run, set by `launch`
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def what(self) -> str:
        """A summary of the order, such as ``3 cases × 2 repeats × white``."""
        raise NotImplementedError

    def resolve(self) -> None:
        """Fill in this machine's defaults. Raises WorkbenchError if the order is invalid."""

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        """Estimate the work that the session still lacks. Raises WorkbenchError if the order is invalid."""
        raise NotImplementedError

    def check(self) -> None:
        """Check this machine. Raises WorkbenchError if it cannot execute the order."""

    def write(self) -> None:
        """Write the order to the session, completely or not at all. Raises WorkbenchError."""
        raise NotImplementedError

    def submit(self) -> Self:
        with working_copy(self.session) as self.session:
            self.check()
            self.write()
        return self

    def launch(self, *, queue: bool = False, warm: launching.WarmEngine | None = None) -> None:
        """Start engines, which outlive the caller; with ``queue`` they wait for the other runs of the session."""
        for run in self.runs:
            if queue:
                launching.enqueue(self.session, run)
            self.process = launching.launch(self.session, run, warm)

    def begin(self, *, queue: bool = False, warm: launching.WarmEngine | None = None) -> Self:
        self.submit()
        self.launch(queue=queue, warm=warm)
        return self

    def cancel(self) -> None:
        for run in self.runs:
            running.cancel(self.session, run)

    def resume(self, warm: launching.WarmEngine | None = None) -> None:
        for run in self.runs:
            running.resume(self.session, run, warm)


@contextmanager
def new_run(session: Path) -> Iterator[tuple[SessionWriter, str]]:
    """Open a transaction for a new run that an engine is about to execute; yield the writer and the id of the run."""
    check_place(session)
    key = run_id()
    engine_starts.announce(key)
    with SessionWriter(session) as writer, writer.transaction():
        yield writer, key


def resolve_trial(session: Path, reader: SessionReader, trial: str) -> TrialRow:
    """Return the trial with this id or unique id prefix. Raises UsageError if no trial or several match."""
    matches = [row for row in reader.trials() if row.id.startswith(trial)]
    exact = [row for row in matches if row.id == trial]
    if len(exact or matches) != 1:
        what = "no trial" if not matches else f"{len(matches)} trials that begin with"
        raise UsageError(f"{session.name} has {what} {trial!r}; `workbench show {session}` lists them.")
    return (exact or matches)[0]


def select_trials(
    session: Path,
    rows: Sequence[TrialRow],
    items: Sequence[str],
    usable: Callable[[TrialRow], bool],
    why_not: Callable[[TrialRow], str],
) -> list[TrialRow]:
    """Return the usable trials among ``items``, or among all trials if there are no items.

    ``why_not`` completes the sentence "Trial X …". Raises UsageError if no trial is usable.
    """
    found: dict[str, TrialRow] = {}
    for item in items:
        mine = [row for row in rows if item in (row.id, row.case_id, row.case_name)]
        mine = mine or [row for row in rows if row.id.startswith(item)]
        if not mine:
            raise UsageError(f"{session.name} has no trial {item!r}; `workbench show {session}` lists them.")
        if not any(map(usable, mine)):
            raise UsageError(f"Trial {item} {why_not(mine[0])}.")
        found |= {row.id: row for row in mine if usable(row)}
    if not items:
        found = {row.id: row for row in rows if usable(row)}
    if not found:
        raise UsageError(f"{session.name} has no trial with a submission, so there is nothing to score or check.")
    return list(found.values())
