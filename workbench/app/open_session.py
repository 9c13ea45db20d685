"""The session that is open: its file, its reader, what is in it, and the thread that watches it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from workbench.app.toolkit.latest import Latest, Node
from workbench.app.toolkit.soon import Soon

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message_pump import MessagePump
    from textual.notifications import SeverityLevel
    from textual.signal import Signal

    from workbench.app.feed import SessionFeed
    from workbench.app.messages import SessionChanged
    from workbench.results.sessions import SessionFacts
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change
    from workbench.settings import Settings


COUNTING_SHARE = 0.1
"""Part of the time that may go into counting a session that changes all the time: 100,000 candidates take 120 ms."""
_AT_ONCE = 0.01


class Holder(Node, Protocol):
    """What an open session tells the app."""

    selected_trial: str | None
    selected_run: str | None
    settings: Settings

    @property
    def session_opened(self) -> Signal[SessionReader | None]:
        """Published with the reader of a session that was opened."""

    @property
    def session_changed(self) -> Signal[tuple[Change, ...]]:
        """Published with what changed in it."""

    @property
    def facts_changed(self) -> Signal[str]:
        """Published when it was counted."""

    @property
    def facts_sentence(self) -> str:
        """How it stands, in one sentence."""

    @property
    def screen_stack(self) -> Any:
        """The screens; none once the user left."""

    def call_later(self, callback: Callable[[], Any]) -> Any:
        """Call something soon."""

    def call_elsewhere(self, text: str) -> None:
        """Tell a person who may look elsewhere."""

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> Any:
        """Call something after so many seconds."""

    def refresh_bindings(self) -> None:
        """Look again which keys make sense."""

    def notify(
        self, message: str, *, title: str = "", severity: SeverityLevel = "information", timeout: float | None = None
    ) -> None:
        """Show a notice."""


class OpenSession:
    """Opens, watches, counts and closes one session at a time.

    Attributes:
        path: The session that is open or being opened, None for none.
        reader: Its reader once it is open.
        facts: What is in it, None until that was counted.

    Args:
        app: The app, which passes everything on.
        path: A session that is to be opened soon.
    """

    def __init__(self, app: Holder, path: Path | None) -> None:
        self._app = app
        self.path = path
        self.reader: SessionReader | None = None
        self.facts: SessionFacts | None = None
        self._opening = Latest(app, "open-session")
        self._counting = Latest(app, "facts")
        self._soon = Soon(app, _AT_ONCE, self._count_again, idle=lambda: self._counting.idle)
        self._closing = Latest(app, "close-session", every=True)
        self._feed: SessionFeed | None = None
        self._wanted: Path | None = None
        self._then: Callable[[], Any] | None = None

    def open_latest(self) -> None:
        """Open the session that was changed last, or the example."""
        from workbench.app.sessions.listing import latest_session

        def done(path: Path | None) -> None:
            if path is not None:
                self.open(path)
            else:
                self._counted(None, None)

        self._opening.ask(latest_session, done, self.failed)

    def open(self, path: Path, then: Callable[[], Any] | None = None) -> None:
        """Open a session file and call ``then`` once it is open, at once where it is already."""
        self._then, self._wanted = then, path
        if self.reader is not None and self.reader.path == path:
            self._after_opening()
        else:
            self._read(path)

    def renew(self, reader: SessionReader) -> None:
        """Open the file again that took the place of a reader's; the same trial or run is shown, and nothing is said."""
        if reader is self.reader and self._wanted in {None, reader.path}:
            self._wanted = reader.path
            self._read(reader.path)

    def _read(self, path: Path) -> None:
        def work() -> tuple[SessionReader, int]:
            from workbench.errors import WorkbenchError
            from workbench.session.reader import SessionReader

            try:
                reader = SessionReader(path)
                return reader, reader.last_change()
            except WorkbenchError:
                raise
            except Exception as error:
                # Whatever it is, nobody must wait for a session that does not come.
                raise WorkbenchError(f"{path.name} cannot be opened ({type(error).__name__}: {error}).") from error

        def done(opened: tuple[SessionReader, int]) -> None:
            if self._wanted == path:
                self._replace(*opened)
            else:
                self._let_go(opened[0])  # another one was asked for meanwhile

        self._opening.ask(work, done, self.failed)

    def _replace(self, reader: SessionReader, last_change: int) -> None:
        """Put the new session in the place of the old one."""
        from workbench.app.feed import SessionFeed

        app = self._app
        if not app.screen_stack:  # the user left while the file was being opened
            reader.close()
            return
        before, self.reader = self.reader, reader
        self.path = reader.path
        if before is None or before.path != reader.path:
            app.selected_trial = app.selected_run = None
        self.facts = None
        if self._feed is None:
            self._feed = SessionFeed(_pump(app))
            self._feed.start()
        self._feed.watch(reader, last_change)
        self._let_go(before)
        app.session_opened.publish(reader)
        self._count(reader)
        self._after_opening()
        if reader.damage:
            from workbench.session.damage import summary

            app.notify(summary(reader.damage), title="Session", severity="warning", timeout=20)

    def _after_opening(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            self._app.call_later(then)

    def close(self) -> None:
        """Let go of the open session."""
        before, self.reader, self.path, self.facts = self.reader, None, None, None
        if self._feed is not None:
            self._feed.watch(None)
        self._let_go(before)
        self._app.session_opened.publish(None)

    def _let_go(self, reader: SessionReader | None) -> None:
        if reader is not None:
            self._closing.ask(reader.close, lambda _: None)

    def take(self, message: SessionChanged) -> None:
        """Hand a batch of changes to the modes."""
        if message.reader is self.reader and self._app.screen_stack:
            self._app.session_changed.publish(message.changes)
            if any(change.kind in {"run", "trial", "candidate", "task"} for change in message.changes):
                self._soon.ask()

    def failed(self, sentence: str) -> None:
        """Say why a session cannot be shown."""
        self._then = None
        self.path = self.reader.path if self.reader is not None else None
        self._app.notify(sentence, title="Session", severity="error", timeout=12)
        self._app.session_opened.publish(self.reader)

    def _count_again(self) -> None:
        if self.reader is not None and self._app.screen_stack:
            self._count(self.reader)

    def _count(self, reader: SessionReader) -> None:
        def work() -> SessionFacts | None:
            from workbench.errors import WorkbenchError
            from workbench.results.sessions import gather

            began = time.thread_time()
            try:
                facts = gather(reader)
                self._soon.seconds = max(_AT_ONCE, (time.thread_time() - began) * (1 / COUNTING_SHARE - 1))
                return facts
            except WorkbenchError:
                return None  # the feed tells what is wrong with the file
            except Exception as error:
                sentence = f"The session's figures cannot be counted ({type(error).__name__}: {error})."
                raise WorkbenchError(sentence) from error

        def done(facts: SessionFacts | None) -> None:
            if facts is not None:
                self._counted(reader, facts)

        def failed(sentence: str) -> None:
            if reader is self.reader:
                self._app.notify(sentence, title="Session", severity="error")

        self._counting.ask(work, done, failed)

    def _counted(self, reader: SessionReader | None, facts: SessionFacts | None) -> None:
        if reader is self.reader and self._app.screen_stack:
            before, self.facts = self.facts, facts
            if before is not None and facts is not None and self._app.settings.notify != "off":
                self._tell_of_the_end(before, facts)
            if before is None or facts is None or replace(facts, changed_at=before.changed_at) != before:
                self._app.facts_changed.publish(self._app.facts_sentence)
                self._app.refresh_bindings()

    def _tell_of_the_end(self, before: SessionFacts, after: SessionFacts) -> None:
        """Tell by bell or desktop that a run has ended."""
        from workbench.app.toolkit.ending import end_words

        name = self.path.stem if self.path is not None else ""
        if said := end_words(name, dict(before.states), dict(after.states)):
            self._app.call_elsewhere(said)

    def end(self) -> None:
        """Stop the thread that watches, and close the session."""
        if self._feed is not None:
            self._feed.stop()
        if self.reader is not None:
            self.reader.close()


def _pump(app: Any) -> MessagePump:
    return app  # type: ignore[no-any-return]
