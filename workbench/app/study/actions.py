"""The actions of the Study mode, and navigation to the trials, tasks and pairs behind a cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.location import Anchor, Location, MarkedItem, MarkedPair, ResultList
from workbench.app.study.detail import FILE, NEW
from workbench.app.toolkit.workers import LatestWorker
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line, plural
from workbench.results.samples import samples_of
from workbench.session.groups import Group
from workbench.studies.cell_work import TaskTally, TrialTally
from workbench.studies.declaration import AGENTS, PAPER

if TYPE_CHECKING:
    from workbench.app.study.screen import StudyScreen
    from workbench.session.reader import SessionReader
    from workbench.studies.cell_work import CellWork
    from workbench.studies.cells import StudyCell
    from workbench.studies.comparing import ColumnComparison, ItemPair
    from workbench.studies.outcome import StudyOutcome

_ROWS = ("csv", "parquet")
"""Export formats for cells and items, which the published tables do not have."""


class StudyActions:
    """Forwards user requests to engines, processes and other modes."""

    def __init__(self, screen: StudyScreen) -> None:
        self._host = screen.workbench
        self._jobs = LatestWorker(screen, "study-orders", every=True)
        self._reports = LatestWorker(screen, "study-report", every=True)
        self._pairing = LatestWorker(screen, "pair")

    def resume(self, session: Path, study: str) -> None:
        """Run the missing parts of a study; an example session is copied first."""
        host = self._host

        def work() -> tuple[Path, int]:
            from workbench.app import runs

            return runs.resume_study(session, study)

        def done(resumed: tuple[Path, int]) -> None:
            own, incomplete = resumed
            if not incomplete:
                host.notify("Nothing to resume right now.", title=study)
                return
            host.notify(f"Resuming {plural(incomplete, 'incomplete run')}.", title=study)
            if own != host.session_path:
                host.go_to(Location(own, "study", study))

        self._jobs.ask(work, done)

    def cancel(self, session: Path, outcome: StudyOutcome) -> None:
        """Cancel the active runs and with them the study; finished results are kept."""
        for run in active_runs(outcome):
            self._host.cancel_session(session, run)

    async def start(self, template: str) -> None:
        """Start a study from a template; call from a worker."""
        from workbench.app.toolkit.form import AskText

        if template == PAPER:
            await self.ask_for_report(None, PAPER)
        elif template == FILE:
            note = "The dialog starts with the study in the file."
            question = AskText("Study from a file", note, placeholder="study.toml", paths=True)
            if answer := await self._host.push_screen_wait(question):
                await self._host.ask_for_study(like=answer)
        else:
            await self._host.ask_for_study(like="" if template == NEW else template)

    async def ask_for_report(self, session: Path | None, study: str) -> None:
        """Ask for a file and write the report on a study to it; without a session, report on the published tables.

        Call from a worker.
        """
        from workbench.app.toolkit.export_dialog import ReportDialog, deliver_file, destination, suggested_path
        from workbench.pages import STUDY_FORMATS

        host, published = self._host, study == PAPER and session is None
        formats = {name: what for name, what in STUDY_FORMATS.items() if not (published and name in _ROWS)}
        safe = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in study)
        suggested = suggested_path(host, f"study-{safe}.html")
        title = f"Report on the study {study}"
        wanted = await host.push_screen_wait(ReportDialog(title, suggested, formats, None, on_disk=not host.in_browser))
        if wanted is None:
            return

        def work() -> Path:
            from workbench.pages.writing import write_study_in_subprocess

            out = destination(host, wanted[0])
            write_study_in_subprocess(session, study, wanted[1], out)
            return out

        host.notify(f"Writing the report on {study}…", timeout=2)
        self._reports.ask(work, lambda out: deliver_file(host, out, "report"))

    # -- navigation to trials, tasks and pairs

    def go_to(self, study: str, cell: StudyCell, items: Sequence[TrialTally | TaskTally], at: int = 0) -> None:
        """Show one of a cell's items, from which the keys step through the others.

        Without items, show the cell's run.
        """
        work, host, own = cell.work, self._host, self._host.session_path
        # Imported results are in another session; going back reopens this one.
        session = Path(work.session) if work.session else own
        locations = [
            Location(session, "trajectory", item.trial)
            if isinstance(item, TrialTally)
            else Location(session, "regeneration", cell.run, Anchor(item=item.task), work.group[0])
            for item in items
        ]
        if own is not None:
            back = partial(host.go_to, Location(own, "study", study))
            locations = locations or [Location(session, "regeneration", cell.run, None, work.group[0])]
            host.follow(ResultList(lambda at: back(), locations, row="item"), at)

    def go_to_pair(self, outcome: StudyOutcome, comparison: ColumnComparison, pair: ItemPair) -> None:
        reader = self._host.reader
        if reader is not None and pair.left is not None and pair.right is not None:
            self._pairing.ask(lambda: _sides(reader, outcome, comparison, pair), self._host.show_pair)


def _sides(reader: SessionReader, outcome: StudyOutcome, comparison: ColumnComparison, pair: ItemPair) -> MarkedPair:
    """Return the two items to show side by side: trials, or one sample of each task. Runs in a thread.

    If the tasks differ, the samples illustrate the difference: one that passed on the better side and one that failed
    on the other. Raises WorkbenchError if a task has no tested sample.
    """
    found, gap = [], pair.difference
    for column, item, is_better in (
        (comparison.left, pair.left, (gap or 0) < 0),
        (comparison.right, pair.right, (gap or 0) > 0),
    ):
        assert item is not None
        title = one_line(f"{outcome.summary(column).title} · {pair.row} · {pair.name}", 100)
        session = Path(item.session) if item.session else reader.path
        if outcome.study.kind == AGENTS:
            found.append(MarkedItem(session, "trial", item.id, title))
        else:
            work = outcome.cell(pair.row, column).work
            sample = _sample(reader, session, item.id, work, title, is_better if gap else None)
            found.append(MarkedItem(session, "candidate", sample, title, item.run))
    return MarkedPair(found[0], found[1], *(outcome.scale if outcome.study.kind == AGENTS else ()))


def _sample(reader: SessionReader, session: Path, task: str, work: CellWork, title: str, passed: bool | None) -> str:
    from workbench.session.reader import SessionReader

    group = Group("", *work.group, work.settings)
    if session == reader.path:
        rows = samples_of(reader, task, group)
    else:
        with SessionReader(session, surveyed=False) as other:
            rows = samples_of(other, task, group)
    done = [row for row in rows if row.verdict]
    if not done:
        raise WorkbenchError(f"{title} has no tested sample yet.")
    return next((row.id for row in done if passed is None or (row.verdict == "passed") is passed), done[0].id)


def active_runs(outcome: StudyOutcome) -> tuple[str, ...]:
    cells = outcome.cells.values()
    return tuple(dict.fromkeys(one.run for one in cells if one.state == "running" and one.run and not one.work.session))


def is_resumable(outcome: StudyOutcome) -> bool:
    """Return whether a study is incomplete and no engine is working on it."""
    return bool(outcome.study.columns) and not outcome.finished and not active_runs(outcome)
