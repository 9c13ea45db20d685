"""What is asked of a study as a whole, in threads: go on, stop, a report of it, how long it still takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.study.nothing import FILE
from workbench.app.toolkit.latest import Latest
from workbench.studies.declaration import PAPER

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.study.screen import StudyScreen
    from workbench.studies.outcome import StudyOutcome

LEFT_SECONDS = 10.0
"""Time between two looks at how long a study will still take."""
_ROWS = ("csv", "parquet")
"""Formats of cells and items, which the published tables do not have."""


class Orders:
    """Hands what was asked to engines and processes.

    Args:
        host: The app.
        node: Whose message queue brings results back.
    """

    def __init__(self, host: WorkbenchApp, node: StudyScreen) -> None:
        self._host = host
        self._jobs = Latest(node, "study-orders", every=True)
        self._reports = Latest(node, "study-report", every=True)

    def resume(self, session: Path, study: str) -> None:
        """Execute what a study lacks; of an example in a copy."""
        host = self._host

        def work() -> tuple[Path, int]:
            from workbench.app import runs

            return runs.resume_study(session, study)

        def done(taken_up: tuple[Path, int]) -> None:
            own, count = taken_up
            if not count:
                host.notify("Nothing is missing in it that can be had now.", title=study)
                return
            host.notify(f"Going on: {count:,} run{'s' if count != 1 else ''} lack something.", title=study)
            if own != host.session_path:
                host.open_session(own, then=lambda: host.show_study(study))

        self._jobs.ask(work, done)

    def cancel(self, session: Path, outcome: StudyOutcome) -> None:
        """Cancel the run under way, with which the study ends; what is done stays."""
        for run in going(outcome):
            self._host.cancel_session(session, run)

    async def begin(self, way: str) -> None:
        """Begin a study in the way that was chosen, see :mod:`begin_list`; call it from a worker."""
        from workbench.app.toolkit.form import AskText

        if way == PAPER:
            await self.ask_for_report(None, PAPER)
        elif way == FILE:
            note = "The dialog opens with what the file declares."
            question = AskText("Study of a file", note, placeholder="study.toml", paths=True)
            if answer := await self._host.push_screen_wait(question):
                await self._host.ask_for_study(like=answer)
        else:
            await self._host.ask_for_study(like=way)

    async def ask_for_report(self, session: Path | None, study: str) -> None:
        """Ask for a file and have the report on a study written there; call it from a worker.

        Args:
            session: The session file, None for the published tables.
            study: Name of the study.
        """
        from workbench.app.toolkit.report_dialog import ReportDialog, hand_over, place_of, suggested_place
        from workbench.reports import STUDY_FORMATS

        published = study == PAPER and session is None
        formats = {name: what for name, what in STUDY_FORMATS.items() if not (published and name in _ROWS)}
        safe = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in study)
        suggested = suggested_place(self._host, f"study-{safe}.html")
        on_disk = not self._host.in_browser
        title = f"Report on the study {study}"
        wanted = await self._host.push_screen_wait(ReportDialog(title, suggested, formats, None, on_disk=on_disk))
        if wanted is None:
            return

        def work() -> Path:
            from workbench.reports.in_a_process import write_study_in_a_process

            out = place_of(self._host, wanted[0])
            write_study_in_a_process(session, study, wanted[1], out)
            return out

        def done(out: Path) -> None:
            hand_over(self._host, out, "report")

        self._host.notify(f"Writing the report on {study}…", timeout=2)
        self._reports.ask(work, done)


class Remaining:
    """How long a study that is executed will still take; reckoned now and then.

    Args:
        host: The app.
        node: Whose message queue brings results back.
        say: Called when another figure is known.

    Attributes:
        seconds: By what former work took, None where nothing like it was measured, and of a study that nothing works on.
    """

    def __init__(self, host: WorkbenchApp, node: StudyScreen, say: Callable[[], None]) -> None:
        self._host, self._say = host, say
        self._reckoning = Latest(node, "study-left")
        self._asked = -LEFT_SECONDS
        self.seconds: float | None = None

    def ask(self, session: Path, outcome: StudyOutcome) -> None:
        """Have it reckoned, unless that was done a moment ago."""
        now = time.monotonic()
        if not going(outcome):
            self.seconds, self._asked = None, -LEFT_SECONDS
        elif now - self._asked >= LEFT_SECONDS:
            self._asked = now
            name, at_once = outcome.study.name, self._host.settings.trials_at_once

            def work() -> float | None:
                from workbench.engine.study_estimate import seconds_left

                return seconds_left(session, name, at_once)

            self._reckoning.ask(work, self._has_reckoned, lambda _: self._has_reckoned(None))

    def _has_reckoned(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._say()


def going(outcome: StudyOutcome) -> tuple[str, ...]:
    """Return the runs of a study that an engine executes."""
    cells = outcome.cells.values()
    return tuple(dict.fromkeys(one.run for one in cells if one.state == "running" and one.run and not one.work.session))


def can_go_on(outcome: StudyOutcome) -> bool:
    """Return whether something of a study is missing and no engine works on it."""
    return bool(outcome.study.columns) and not outcome.finished and not going(outcome)
