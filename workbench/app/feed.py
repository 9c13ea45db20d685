"""Watches the open session file in a thread and posts its changes to the app in batches."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

POLL_SECONDS = 0.06
LIVENESS_SECONDS = 1.0
_BATCH = 5000


class SessionChanged(Message):
    """Rows of the session changed; the oldest change comes first, and each (kind, item, part) occurs once.

    A change of a run with the part ``liveness`` means that its engine started or died.
    """

    def __init__(self, reader: SessionReader, changes: tuple[Change, ...]) -> None:
        super().__init__()
        self.reader = reader
        self.changes = changes

    def can_replace(self, message: Message) -> bool:
        """Merge with a later batch, so that a busy app handles a single message for many polls."""
        if not isinstance(message, SessionChanged) or message.reader is not self.reader:
            return False
        message.changes = merged(self.changes, message.changes)
        return True


class SessionFailed(Message):
    """A session file could not be opened or read; ``sentence`` explains why and what the user can do."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence


def merged(earlier: tuple[Change, ...], later: tuple[Change, ...]) -> tuple[Change, ...]:
    """Merge two batches without losing a change; a repeated change appears once, at its last position."""
    last = {(change.kind, change.item, change.part): change for change in earlier}
    for change in later:
        key = (change.kind, change.item, change.part)
        last.pop(key, None)
        last[key] = change
    return tuple(last.values())


class SessionFeed(threading.Thread):
    """A thread that polls ``PRAGMA data_version``, which takes microseconds.

    It is not a Textual worker, because waiting for all workers of the app would then never end.
    """

    def __init__(self, target: MessagePump) -> None:
        super().__init__(name="session-feed", daemon=True)
        self._target = target
        self._wake = threading.Condition()
        self._reader: SessionReader | None = None
        self._since = 0
        self._stopped = False

    def watch(self, reader: SessionReader | None, since: int = 0) -> None:
        with self._wake:
            self._reader, self._since = reader, since
            self._wake.notify()

    def stop(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify()

    def run(self) -> None:
        from workbench.session.rows import Change

        watched: SessionReader | None = None
        version, checked = -1, 0.0
        states: dict[str, str] = {}
        while True:
            with self._wake:
                while self._reader is None and not self._stopped:
                    self._wake.wait()
                if not self._stopped:
                    self._wake.wait(POLL_SECONDS)
                if self._stopped:
                    return
                reader, since = self._reader, self._since
            if reader is None:
                continue
            if reader is not watched:
                watched, version, checked, states = reader, -1, 0.0, {}
            try:
                news: tuple[Change, ...] = ()
                now = reader.data_version()
                if now != version:
                    news, since = self._read(reader, since)
                    version = now
                if news or time.monotonic() - checked > LIVENESS_SECONDS:
                    checked = time.monotonic()
                    self._require_in_place(reader)
                    fresh = {
                        run.id: reader.run_state(run) for run in reader.runs() if run.state in ("running", "queued")
                    }
                    other = (
                        Change(0, "run", run, "liveness")
                        for run, state in fresh.items()
                        if states.get(run, state) != state
                    )
                    news = merged(news, tuple(other))
                    states = fresh
            except Exception as error:
                self._fail(reader, SessionFailed(f"Stopped watching the session: {error}"))
                continue
            with self._wake:
                if self._reader is not reader:
                    continue
                self._since = since
            if news:
                self._target.post_message(SessionChanged(reader, news))

    @staticmethod
    def _require_in_place(reader: SessionReader) -> None:
        from workbench.base.errors import WorkbenchError
        from workbench.session.moved_files import Fate

        fate = reader.fate()
        if fate is not Fate.IN_PLACE:
            raise WorkbenchError(f"{reader.path.name} was {fate.value}; the screen shows its last state.")

    @staticmethod
    def _read(reader: SessionReader, since: int) -> tuple[tuple[Change, ...], int]:
        news: tuple[Change, ...] = ()
        while batch := reader.changes(since, _BATCH):
            news = merged(news, tuple(batch))
            since = batch[-1].seq
            if len(batch) < _BATCH:
                break
        return news, since

    def _fail(self, reader: SessionReader, failure: SessionFailed) -> None:
        with self._wake:
            if self._reader is not reader or self._stopped:
                return  # the app has closed this reader and watches another one
            self._reader = None
        self._target.post_message(failure)
