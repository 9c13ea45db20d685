"""The open session: its file, its reader, its facts, and the thread that watches it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.signal import Signal

from workbench.app.keys import key_of
from workbench.app.opening import OpeningApp
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.app.feed import SessionChanged, SessionFailed, SessionFeed
    from workbench.base.settings import Settings
    from workbench.orders.launching import WarmEngine
    from workbench.results.sessions import SessionFacts
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

COUNTING_SHARE = 0.1
"""Maximum share of the time to spend on counting a session that changes constantly; 100,000 candidates take 120 ms."""
_COUNTED = frozenset({"run", "trial", "candidate", "task"})


class SessionApp(OpeningApp):
    """An app with one open session; its signals report opened and closed sessions, changes and new facts."""

    def __init__(self, session: Path | None, settings: Settings, first_mode: str) -> None:
        self.session_path: Path | None = session
        super().__init__(settings.theme, first_mode)
        self.settings = settings
        self.reader: SessionReader | None = None
        self.facts: SessionFacts | None = None
        self.selected_trial: str | None = None
        self.selected_run: str | None = None
        self.warm: WarmEngine | None = None
        self.session_opened: Signal[SessionReader | None] = Signal(self, "session-opened")
        self.session_changed: Signal[tuple[Change, ...]] = Signal(self, "session-changed")
        self.facts_changed: Signal[str] = Signal(self, "facts-changed")
        self.opening_session = LatestWorker(self, "open-session")
        self._closing_session = LatestWorker(self, "close-session", every=True)
        self._counting = LiveLoader(
            self,
            "facts",
            self._count,
            self._has_counted,
            self._not_counted,
            kinds=_COUNTED,
            seconds=0.01,
            share=COUNTING_SHARE,
        )
        self._feed: SessionFeed | None = None
        self._wanted_session: Path | None = None
        self._once_opened: Callable[[], Any] | None = None

    @property
    def opened(self) -> Path | None:
        """The path of the open session, or None while it is being opened."""
        return self.session_path if self.reader is not None else None

    @property
    def facts_sentence(self) -> str:
        return header_sentence(self.facts) if self.facts is not None else ""

    # -- opening and closing

    def open_session(self, path: Path, *, then: Callable[[], Any] | None = None) -> None:
        """Open a session file and call ``then`` once it is open."""
        self._once_opened, self._wanted_session = then, path
        if self.reader is not None and self.reader.path == path:
            self._after_opening()
        else:
            self._read_session(path)

    def _read_session(self, path: Path) -> None:
        def work() -> tuple[SessionReader, int]:
            from workbench.session.reader import SessionReader

            try:
                reader = SessionReader(path)
                return reader, reader.last_change()
            except WorkbenchError:
                raise
            except Exception as error:
                # Whatever the error, the app must stop waiting for the session.
                raise WorkbenchError(f"{path.name} cannot be opened ({type(error).__name__}: {error}).") from error

        def done(opened: tuple[SessionReader, int]) -> None:
            if self._wanted_session == path:
                self._replace_session(*opened)
            else:
                self._release(opened[0])  # another session was requested in the meantime

        self.opening_session.ask(work, done, self.session_failed)

    def _replace_session(self, reader: SessionReader, last_change: int) -> None:
        from workbench.app.feed import SessionFeed

        if not self.screen_stack:  # the app exited while the file was being opened
            reader.close()
            return
        before, self.reader = self.reader, reader
        self.session_path = reader.path
        if before is None or before.path != reader.path:
            self.selected_trial = self.selected_run = None
        self.facts = None
        if self._feed is None:
            self._feed = SessionFeed(self)
            self._feed.start()
        self._feed.watch(reader, last_change)
        self._release(before)
        self.session_opened.publish(reader)
        self._counting.refresh()
        self._after_opening()
        if reader.damage:
            from workbench.session.row_reader import summary

            self.notify(summary(reader.damage), title="Session", severity="warning", timeout=20)

    def _after_opening(self) -> None:
        then, self._once_opened = self._once_opened, None
        if then is not None:
            self.call_later(then)

    def close_session(self) -> None:
        before, self.reader, self.session_path, self.facts = self.reader, None, None, None
        if self._feed is not None:
            self._feed.watch(None)
        self._release(before)
        self.session_opened.publish(None)

    def _release(self, reader: SessionReader | None) -> None:
        if reader is not None:
            self._closing_session.ask(reader.close, lambda _: None)

    def end_session(self) -> None:
        if self._feed is not None:
            self._feed.stop()
        if self.reader is not None:
            self.reader.close()

    # -- changes

    def on_session_changed(self, message: SessionChanged) -> None:
        if message.reader is self.reader and self.screen_stack:
            self.session_changed.publish(message.changes)
            self._counting.on_changes(message.changes)

    def on_session_failed(self, message: SessionFailed) -> None:
        self.session_failed(message.sentence)

    def session_failed(self, sentence: str) -> None:
        self._once_opened = None
        self.session_path = self.reader.path if self.reader is not None else None
        self.notify(sentence, title="Session", severity="error", timeout=12)
        self.session_opened.publish(self.reader)

    # -- counting

    def _count(self, reader: SessionReader) -> Callable[[], SessionFacts | None]:
        def work() -> SessionFacts | None:
            from workbench.results.sessions import gather

            try:
                return gather(reader)
            except WorkbenchError:
                return None  # the feed reports errors in the file

        return work

    def _has_counted(self, facts: SessionFacts | None) -> None:
        if facts is not None:
            self.counted(facts)

    def _not_counted(self, sentence: str) -> None:
        self.notify(f"The session cannot be counted. {sentence}", title="Session", severity="error")

    def counted(self, facts: SessionFacts | None) -> None:
        """Store and publish the facts of the open session."""
        if self.screen_stack:
            before, self.facts = self.facts, facts
            if before is not None and facts is not None and self.settings.notify != "off":
                self._notify_of_ends(before, facts)
            if before is None or facts is None or replace(facts, changed_at=before.changed_at) != before:
                self.facts_changed.publish(self.facts_sentence)
                self.refresh_bindings()

    def _notify_of_ends(self, before: SessionFacts, after: SessionFacts) -> None:
        """Notify the user, who may be working in another window, that a run has ended."""
        name = self.session_path.stem if self.session_path is not None else ""
        text = ended_message(name, dict(before.states), dict(after.states))
        if text and self.settings.notify == "bell":
            self.bell()
        elif text and self._driver is not None:
            self._driver.write(notification(text, os.environ))


def header_sentence(facts: SessionFacts) -> str:
    model = facts.models[-1] if facts.models else ""
    if len(facts.models) > 1:
        model += f" +{len(facts.models) - 1}"
    if facts.state == "running":
        left = f"▸ {facts.trials_done} of {facts.trials} trials"
        if facts.candidates:
            left = f"▸ {facts.candidates_done} of {facts.candidates} samples"
    elif facts.state == "queued":
        left = "· waiting for the engine"
    elif facts.state == "interrupted":
        left = f"‖ interrupted: {key_of('app.resume')} resumes"
    elif facts.state == "unscored":
        left = f"? unscored: {key_of('app.resume')} retries the judge"
    elif facts.state == "empty":
        left = "no runs yet"
    else:
        left = f"{facts.trials} trials" if facts.trials != 1 else "1 trial"
        left = f"{left}, nothing running"
    spend = f"${facts.spend_usd:.3f}" if facts.spend_usd is not None else ""
    return " · ".join(part for part in (model, spend, left) if part)


_GOING = ("running", "queued")
_BY_777 = ("foot", "rxvt")  # terminals that support OSC 777 but not OSC 9


def ended_message(name: str, before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return a message such as ``demo: a run has ended, done``, or "" if no run has ended.

    ``before`` and ``after`` are the numbers of runs in each state.
    """
    ended = sum(before.get(state, 0) - after.get(state, 0) for state in _GOING)
    if ended <= 0:
        return ""
    how = [state for state in after if state not in _GOING and after[state] > before.get(state, 0)]
    runs = "a run has" if ended == 1 else f"{ended} runs have"
    return f"{name}: {runs} ended" + (f", {', '.join(how)}" if how else "")


def notification(text: str, environment: Mapping[str, str]) -> str:
    """Return the control sequence for a desktop notification: OSC 9, or OSC 777 for terminals that need it."""
    message = one_line(text, 200).replace(";", ",")
    if environment.get("VTE_VERSION") or environment.get("TERM", "").startswith(_BY_777):
        return f"\x1b]777;notify;Workbench;{message}\x1b\\"
    return f"\x1b]9;{message}\x1b\\"
