"""The app itself: modes, the open session, and what every mode may ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.signal import Signal

from workbench.app.messages import SessionChanged, SessionFailed, SessionOpened

if TYPE_CHECKING:
    from workbench.app.feed import SessionFeed
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change
    from workbench.settings import Settings


def _cases() -> Screen[None]:
    from workbench.app.screens.cases import CasesScreen

    return CasesScreen()


def _trajectory() -> Screen[None]:
    from workbench.app.screens.trajectory import TrajectoryScreen

    return TrajectoryScreen()


def _sessions() -> Screen[None]:
    from workbench.app.screens.sessions import SessionsScreen

    return SessionsScreen()


def _regeneration() -> Screen[None]:
    from workbench.app.screens.regeneration import RegenerationScreen

    return RegenerationScreen()


class WorkbenchApp(App[int]):
    """The terminal program.

    Attributes:
        settings: The settings in force.
        session_path: The session that is open or being opened, None for none.
        reader: Its reader once it is open; use it in threads only where a query may take long.
        selected_trial: The trial that the Trajectory mode shows, also before that mode was mounted.
        session_opened: Published with the reader when a session was opened (or None closed). Modes get it as
            ``on_session_opened``.
        session_changed: Published with a batch of changes. Modes get it as ``on_session_changed``.

    Args:
        session: A session to open; None lets the app choose the latest one.
        settings: The settings in force.
    """

    TITLE = "Workbench"
    CSS_PATH = "styles/shell.tcss"
    DEFAULT_MODE = "cases"
    MODES = {"cases": _cases, "trajectory": _trajectory, "sessions": _sessions, "regeneration": _regeneration}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "mode('cases')", "Cases", id="app.cases", show=False),
        Binding("2", "mode('trajectory')", "Trajectory", id="app.trajectory", show=False),
        Binding("3", "mode('sessions')", "Sessions", id="app.sessions", show=False),
        Binding("4", "mode('regeneration')", "Regeneration", id="app.regeneration", show=False),
        Binding("q", "quit", "Quit", id="app.quit", show=False),
    ]

    def __init__(self, session: Path | None, settings: Settings) -> None:
        if session is not None:
            self.DEFAULT_MODE = "trajectory"  # type: ignore[misc]
        super().__init__()
        self.settings = settings
        self.session_path = session
        self.reader: SessionReader | None = None
        self.selected_trial: str | None = None
        self.session_opened: Signal[SessionReader | None] = Signal(self, "session-opened")
        self.session_changed: Signal[tuple[Change, ...]] = Signal(self, "session-changed")
        self._feed: SessionFeed | None = None

    def on_mount(self) -> None:
        """Leave all that can wait until something has been painted."""
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        if self.session_path is not None:
            self.open_session(self.session_path)

    def on_unmount(self) -> None:
        """Stop the threads and let go of the session."""
        if self._feed is not None:
            self._feed.stop()
        if self.reader is not None:
            self.reader.close()

    # -- the open session

    @work(thread=True, exclusive=True, group="open-session", exit_on_error=False)
    def open_session(self, path: Path) -> None:
        """Open a session file in a thread; ends with :class:`SessionOpened` or :class:`SessionFailed`."""
        from workbench.errors import WorkbenchError
        from workbench.session.reader import SessionReader

        try:
            reader = SessionReader(path)
        except WorkbenchError as error:
            self.post_message(SessionFailed(str(error)))
            return
        self.post_message(SessionOpened(reader))

    def on_session_opened(self, message: SessionOpened) -> None:
        """Put the new session in the place of the old one."""
        from workbench.app.feed import SessionFeed

        before, self.reader = self.reader, message.reader
        self.session_path = message.reader.path
        self.selected_trial = None
        if self._feed is None:
            self._feed = SessionFeed(self)
            self._feed.start()
        self._feed.watch(message.reader, message.reader.last_change())
        if before is not None:
            before.close()
        self.session_opened.publish(self.reader)

    def on_session_changed(self, message: SessionChanged) -> None:
        """Hand a batch of changes to the modes."""
        if message.reader is self.reader:
            self.session_changed.publish(message.changes)

    def on_session_failed(self, message: SessionFailed) -> None:
        """Say why a session cannot be shown."""
        if self.reader is None:
            self.session_path = None
        self.notify(message.sentence, title="Session", severity="error", timeout=12)
        self.session_opened.publish(self.reader)

    # -- modes

    async def action_mode(self, mode: str) -> None:
        """Go to a mode."""
        await self.switch_mode(mode)

    async def show_trial(self, trial_id: str) -> None:
        """Show a trial of the open session in the Trajectory mode."""
        from workbench.app.screens.trajectory import TrajectoryScreen

        self.selected_trial = trial_id
        await self.switch_mode("trajectory")
        screen = self.screen
        if isinstance(screen, TrajectoryScreen):
            screen.show_trial(trial_id)


def run_app(session: Path | None, settings: Settings) -> int:
    """Run the app until the user leaves it; returns the exit code."""
    app = WorkbenchApp(session, settings)
    app.run()
    return app.return_code or 0
