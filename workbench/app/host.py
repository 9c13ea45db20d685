"""What a mode may ask of the app, and nothing else: modes know this interface, not the app."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.notifications import SeverityLevel
    from textual.signal import Signal

    from workbench.app.marks import Marks, Pair
    from workbench.app.place import Place
    from workbench.app.trail import Trail
    from workbench.engine.launching import WarmEngine
    from workbench.engine.plan import DocumentPlan
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change
    from workbench.settings import Settings


class Host(Protocol):
    """The open session, the engine, other modes, and the terminal.

    Attributes:
        settings: The settings in force.
        selected_trial: The trial that the Trajectory mode shows, also before that mode was mounted.
        selected_run: The run that the Regeneration mode shows, likewise.
        trials_seen: How the table of all trials was left, for that table alone; None before.
    """

    settings: Settings
    selected_trial: str | None
    selected_run: str | None
    trials_seen: Any

    @property
    def marks(self) -> Marks:
        """What is marked to be compared; it outlives the opening of another session."""

    @property
    def trail(self) -> Trail:
        """Which list led to the place that is shown."""

    # -- the open session

    @property
    def session_path(self) -> Path | None:
        """The session that is open or being opened, None for none."""

    @property
    def reader(self) -> SessionReader | None:
        """Its reader once it is open; queries that may take long belong into a thread."""

    @property
    def facts_sentence(self) -> str:
        """How it stands, in one sentence."""

    @property
    def session_opened(self) -> Signal[SessionReader | None]:
        """Published with the reader of a session that was opened, with None for one that was closed."""

    @property
    def session_changed(self) -> Signal[tuple[Change, ...]]:
        """Published with what changed in it."""

    @property
    def facts_changed(self) -> Signal[str]:
        """Published with :attr:`facts_sentence`."""

    def open_session(self, path: Path, *, show: bool = False, then: Callable[[], Any] | None = None) -> None:
        """Open a session file; ``show`` goes to what its state is about, ``then`` is called once it is open."""

    def close_session(self) -> None:
        """Let go of the open session."""

    # -- runs

    @property
    def warm(self) -> WarmEngine | None:
        """The idle engine, None until it was started."""

    def start_run(self, plan: DocumentPlan, name: str, session: Path | None = None, *, queue: bool = False) -> None:
        """Start a run in a session, by default the open one, or in a new one called ``name`` where that is only read.

        With ``queue`` it waits until the session's runs before it are over.
        """

    def resume_session(self, path: Path, run: str | None = None) -> None:
        """Take up what is missing in a session, or in one of its runs."""

    def cancel_session(self, path: Path, run: str | None = None) -> None:
        """Cancel the runs of a session, or one of them."""

    def export_report(self, session: Path, place: str, format: str) -> None:
        """Write a report of a session in a format, a name or the dotted path of one of another package."""

    # -- other modes

    async def show_trial(self, trial_id: str, place: Place | None = None) -> None:
        """Show a trial of the open session, or a place in it, in the Trajectory mode."""

    async def show_run(self, run_id: str, evaluator: str = "", place: Place | None = None) -> None:
        """Show a regeneration run of the open session, with the samples of ``evaluator`` once there are some, and a place in it."""

    async def show_study(self, name: str) -> None:
        """Show a study of the open session, by its name, in the Study mode."""

    async def show_case(self, key: str, place: Place | None = None) -> None:
        """Show a case, or a file of it (``place.item``), in the Cases mode."""

    def show_pair(self, pair: Pair) -> None:
        """Show two things side by side, over the mode."""

    def leave_place(self) -> None:
        """Note where a person is, for the way back, before something else is shown."""

    async def ask_and_regenerate(self, source: str = "", docs: str = "") -> None:
        """Ask what to regenerate and start it; call it from a worker.

        Args:
            source: Case or source to start with, "" for the first one of the catalogue.
            docs: Doc system to start with.
        """

    async def ask_for_study(self, rows: Sequence[str] = (), like: str = "") -> None:
        """Ask what a new study is to compare and start it; call it from a worker.

        Args:
            rows: Cases or sources to start with; none for those of the packaged studies.
            like: A study that comes with the program, or the file of one, to start with.
        """

    # -- the terminal

    @property
    def in_browser(self) -> bool:
        """Whether it is a browser, whose person has no files here."""

    def download(self, path: Path) -> None:
        """Have the browser download a file; it is open when this returns, so that it may be deleted."""

    def after_first_paint(self, what: Callable[[], Any]) -> None:
        """Call something once the terminal shows the first screen (later ones: once they are laid out)."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
    ) -> None:
        """Show a notice, literally."""

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text."""

    def suspend(self) -> AbstractContextManager[None]:
        """Hand the terminal over to another program.

        Raises:
            SuspendNotSupported: This terminal cannot.
        """

    def confirm(self, title: str, question: str, yes: str, then: Callable[[], Any]) -> None:
        """Ask yes or no, and do something after a yes."""

    async def push_screen_wait(self, screen: Any) -> Any:
        """Show a dialog and return its answer; call it from a worker."""
