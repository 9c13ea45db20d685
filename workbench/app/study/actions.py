"""What is asked of a study, and the ways from it to what is behind a cell or a pair: escape leads back from there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.location import Location, Place, ResultList
from workbench.app.marks import Marked, Pair
from workbench.app.study.detail import FILE, NEW
from workbench.app.toolkit.latest import Latest
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line, plural
from workbench.results.samples import samples_of
from workbench.session.groups import Group
from workbench.studies.declaration import AGENTS, PAPER
from workbench.studies.reading import TaskTally, TrialTally

if TYPE_CHECKING:
    from workbench.app.study.screen import StudyScreen
    from workbench.session.reader import SessionReader
    from workbench.studies.cells import StudyCell
    from workbench.studies.comparing import ColumnComparison, ItemPair
    from workbench.studies.outcome import StudyOutcome
    from workbench.studies.reading import CellWork

_ROWS = ("csv", "parquet")
"""Formats of cells and items, which the published tables do not have."""


class StudyActions:
    """Hands what was asked to engines, processes and other modes."""

    def __init__(self, screen: StudyScreen) -> None:
        self._host = screen.workbench
        self._jobs = Latest(screen, "study-orders", every=True)
        self._reports = Latest(screen, "study-report", every=True)
        self._pairing = Latest(screen, "pair")

    def resume(self, session: Path, study: str) -> None:
        """Execute what a study lacks; of an example in a copy."""
        host = self._host

        def work() -> tuple[Path, int]:
            from workbench.app import runs

            return runs.resume_study(session, study)

        def done(taken_up: tuple[Path, int]) -> None:
            own, lacking = taken_up
            if not lacking:
                host.notify("Nothing is missing in it that can be had now.", title=study)
                return
            host.notify(f"Going on: {plural(lacking, 'run')} lack something.", title=study)
            if own != host.session_path:
                host.go_to(Location(own, "study", study))

        self._jobs.ask(work, done)

    def cancel(self, session: Path, outcome: StudyOutcome) -> None:
        """Cancel the run under way, with which the study ends; what is done stays."""
        for run in going(outcome):
            self._host.cancel_session(session, run)

    async def begin(self, way: str) -> None:
        """Begin a study in the way that was chosen; call it from a worker."""
        from workbench.app.toolkit.form import AskText

        if way == PAPER:
            await self.ask_for_report(None, PAPER)
        elif way == FILE:
            note = "The dialog opens with what the file declares."
            question = AskText("Study of a file", note, placeholder="study.toml", paths=True)
            if answer := await self._host.push_screen_wait(question):
                await self._host.ask_for_study(like=answer)
        else:
            await self._host.ask_for_study(like="" if way == NEW else way)

    async def ask_for_report(self, session: Path | None, study: str) -> None:
        """Ask for a file and have the report on a study written there, without a session on the published tables; call it from a worker."""
        from workbench.app.toolkit.report_dialog import ReportDialog, hand_over, place_of, suggested_place
        from workbench.pages import STUDY_FORMATS

        host, published = self._host, study == PAPER and session is None
        formats = {name: what for name, what in STUDY_FORMATS.items() if not (published and name in _ROWS)}
        safe = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in study)
        suggested = suggested_place(host, f"study-{safe}.html")
        title = f"Report on the study {study}"
        wanted = await host.push_screen_wait(ReportDialog(title, suggested, formats, None, on_disk=not host.in_browser))
        if wanted is None:
            return

        def work() -> Path:
            from workbench.pages.writing import write_study_in_subprocess

            out = place_of(host, wanted[0])
            write_study_in_subprocess(session, study, wanted[1], out)
            return out

        host.notify(f"Writing the report on {study}…", timeout=2)
        self._reports.ask(work, lambda out: hand_over(host, out, "report"))

    # -- to what is behind it

    def go_to(self, study: str, cell: StudyCell, items: Sequence[TrialTally | TaskTally], at: int = 0) -> None:
        """Show one of some trials or tasks of a cell, in the order in which they are listed, or without any its run."""
        work, host, own = cell.work, self._host, self._host.session_path
        # Another session is opened for what others did; going back opens this one again.
        session = Path(work.session) if work.session else own
        locations = [
            Location(session, "trajectory", item.trial)
            if isinstance(item, TrialTally)
            else Location(session, "regeneration", cell.run, Place(item=item.task), work.group[0])
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


def _sides(reader: SessionReader, outcome: StudyOutcome, comparison: ColumnComparison, pair: ItemPair) -> Pair:
    """Return what is to be shown side by side: two trials, or of two tasks a sample each; called in a thread.

    Of tasks that differ, the samples are those that show it: one that passed on the better side, one that did not on the other; a
    WorkbenchError where one has none yet.
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
            found.append(Marked(session, "trial", item.id, title))
        else:
            work = outcome.cell(pair.row, column).work
            sample = _sample(reader, session, item.id, work, title, is_better if gap else None)
            found.append(Marked(session, "candidate", sample, title, item.run))
    return Pair(found[0], found[1], *(outcome.scale if outcome.study.kind == AGENTS else ()))


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


def going(outcome: StudyOutcome) -> tuple[str, ...]:
    cells = outcome.cells.values()
    return tuple(dict.fromkeys(one.run for one in cells if one.state == "running" and one.run and not one.work.session))


def can_go_on(outcome: StudyOutcome) -> bool:
    """Return whether something of a study is missing and no engine works on it."""
    return bool(outcome.study.columns) and not outcome.finished and not going(outcome)
