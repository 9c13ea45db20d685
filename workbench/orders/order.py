"""What every kind of order has in common. Cheap to import."""

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
    from workbench.orders.estimate import Estimate
    from workbench.orders.measured import Measured


@dataclass(eq=False)
class WorkOrder:
    """What a person asks for: resolved and checked, estimated, submitted into a session, executed, resumed or cancelled.

    It is cheap to make and to estimate any number of times; it writes nothing before :meth:`begin`. ``session`` is where it goes, which
    may not be there yet; of an example that is a copy, from :meth:`begin` on.
    """

    session: Path
    remarks: list[str] = field(default_factory=list, init=False)  # What a person should know of it
    runs: list[str] = field(default_factory=list, init=False)  # Once it was submitted, the runs that have its work
    # Once it was launched, the engine of the last of its runs
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def what(self) -> str:
        """What it multiplies to, such as ``3 cases × 2 repeats × white``."""
        raise NotImplementedError

    def resolve(self) -> None:
        """Write out the defaults of this machine that an estimate rests on. Raises WorkbenchError: it cannot be carried out."""

    def estimate(self, measured: Measured) -> Estimate:
        """Return what it will take, without what the session has already. Raises WorkbenchError: it cannot be carried out."""
        raise NotImplementedError

    def check(self) -> None:
        """Look at this machine. Raises WorkbenchError: nothing here can carry it out."""

    def write(self) -> None:
        """Write it into the session. Raises WorkbenchError, and nothing is written then."""
        raise NotImplementedError

    def submit(self) -> Self:
        with working_copy(self.session) as self.session:
            self.check()
            self.write()
        return self

    def launch(self, *, queue: bool = False, warm: launching.WarmEngine | None = None) -> None:
        """Hand its runs to engines, in a queue behind those of the session; they go on when the caller exits."""
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
    """Give a writer and the id of a run for which an engine is about to be started; all that is written is one transaction."""
    check_place(session)
    key = run_id()
    engine_starts.announce(key)
    with SessionWriter(session) as writer, writer.transaction():
        yield writer, key


def the_trial(session: Path, reader: SessionReader, trial: str) -> TrialRow:
    """Return the trial with this identity, or the only one that begins so. Raises UsageError: there is none, or several."""
    matches = [row for row in reader.trials() if row.id.startswith(trial)]
    exact = [row for row in matches if row.id == trial]
    if len(exact or matches) != 1:
        what = "no trial" if not matches else f"{len(matches)} trials that begin with"
        raise UsageError(f"{session.name} has {what} {trial!r}; `workbench show {session}` lists them.")
    return (exact or matches)[0]


def trials_meant(
    session: Path,
    rows: Sequence[TrialRow],
    items: Sequence[str],
    usable: Callable[[TrialRow], bool],
    why_not: Callable[[TrialRow], str],
) -> list[TrialRow]:
    """Return the usable trials among those named, or all; ``why_not`` goes on after "Trial X". Raises UsageError: there is none."""
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
        raise UsageError(
            f"{session.name} has no trial that handed something in, so there is nothing to score or check."
        )
    return list(found.values())
