"""Starts, resumes and cancels the runs of whole sessions and writes reports of them, in threads and one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.latest import Latest, Node
from workbench.app.toolkit.report_dialog import hand_over, place_of

if TYPE_CHECKING:
    from workbench.app.host import Host
    from workbench.app.runs import Begun
    from workbench.engine.plan import DocumentPlan


class RunControl:
    """Hands work to engines.

    Args:
        host: The app.
        node: Whose message queue brings results back.
    """

    def __init__(self, host: Host, node: Node) -> None:
        self._host = host
        self._jobs = Latest(node, "engine", every=True)
        self._reports = Latest(node, "export", every=True)

    def start(self, plan: DocumentPlan, name: str, wanted: Path | None = None, *, queue: bool = False) -> None:
        """Start a run in a session, by default the open one, or in a new one called ``name`` where that is only read, and show it.

        With ``queue`` it waits until the session's runs before it are over.
        """
        host = self._host
        session, warm = wanted or (host.session_path if host.reader is not None else None), host.warm
        host.notify(f"Starting {name}…", timeout=2)

        def work() -> Begun:
            from workbench.app import runs

            return runs.begin(session, name, plan, warm, queue=queue)

        def done(begun: Begun) -> None:
            trial = begun.trial
            if trial is None:
                host.notify("The run has no trials.", severity="warning")
            else:
                host.open_session(begun.session, then=lambda: host.show_trial(trial))

        self._jobs.ask(work, done)

    def resume(self, path: Path, run: str | None = None) -> None:
        """Take up what is missing in a session, or in one of its runs; of an example, in a copy."""
        host, warm = self._host, self._host.warm

        def work() -> tuple[Path, int]:
            from workbench.app import runs

            return runs.resume(path, run, warm)

        def done(taken_up: tuple[Path, int]) -> None:
            own, count = taken_up
            said = "Nothing is missing in it." if not count else f"Resuming {count} run{'s' if count != 1 else ''}."
            host.notify(said, title=own.stem)
            if count:
                host.open_session(own)

        self._jobs.ask(work, done)

    def cancel(self, path: Path, run: str | None = None) -> None:
        """Cancel the runs of a session, or one of them."""

        def work() -> int:
            from workbench.app import runs

            return runs.cancel(path, run)

        def done(count: int) -> None:
            said = "Nothing runs in it." if not count else "Cancelling; what is finished stays."
            self._host.notify(said, title=path.stem)

        self._jobs.ask(work, done)

    def export(self, session: Path, place: str, format: str) -> None:
        """Write a report of a session in a format, a name or the dotted path of one of another package."""
        host = self._host

        def work() -> Path:
            from workbench.reports import FORMATS, write_report
            from workbench.reports.in_a_process import write_foreign_in_a_process

            out = place_of(host, place)
            if format in FORMATS:
                write_report(session, format, out)
            else:
                write_foreign_in_a_process(session, format, out)
            return out

        def done(out: Path) -> None:
            hand_over(host, out, "report")

        self._reports.ask(work, done)
