"""Runs jobs in threads and returns their results to the app's event loop.

All slow work of the app runs in a :class:`LatestWorker`. By default only the newest request is queued, so that holding
down a key does not pile up work. Example: ``self.loader.ask(lambda: read(path), self.show)``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from workbench.app.toolkit.lifecycle import is_gone
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

    from workbench.app.app import WorkbenchApp
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

ReadT = TypeVar("ReadT")
Work = Callable[[], Any]
Done = Callable[[Any], object]
Failed = Callable[[str], object] | None
_BUSY_SECONDS = 0.05  # minimum interval at which a busy worker is polled


def sentence_of(error: Exception) -> str:
    """Return the message for an error to show to the user; for an unexpected error it includes the type."""
    if isinstance(error, (WorkbenchError, OSError)):
        return one_line(str(error), 1000)
    return one_line(f"This cannot be shown ({type(error).__name__}: {error}).", 400)


class LatestWorker:
    """Runs one job at a time for a ``node``.

    While a job is running, only the newest request is queued or, with ``every``, all of them in order.
    """

    def __init__(self, node: Widget | App[Any], group: str, *, every: bool = False) -> None:
        self._node, self._group, self._every = node, group, every
        self._busy = False
        self._waiting: list[tuple[Work, Done, Failed]] = []
        self._reports = deque[tuple[Done, Any]](maxlen=1)  # a newer report replaces one that has not been shown yet
        self.due = False  # a delayed call is pending
        self.took = self.ended = 0.0  # duration of the last job, and its end (perf_counter)
        self.requested_key: tuple[object, ...] = ()  # key of the last request
        self.shown_key: tuple[object, ...] = ()  # key of the result that is shown

    @property
    def idle(self) -> bool:
        return not self._busy

    @property
    def outdated(self) -> bool:
        """Whether a newer request is queued, so that a long job may stop early; threads may read this."""
        return bool(self._waiting) and not self._every

    def ask(self, work: Work, done: Done, failed: Failed = None) -> None:
        """Run ``work`` in a thread after the current job, then call ``done`` with its result on the event loop.

        If either raises an exception, ``failed`` is called with an error message; without ``failed``, a notice shows
        the message.
        """
        if self._busy:
            self._waiting = [*self._waiting * self._every, (work, done, failed)]
            return
        self._busy = True

        def run() -> None:
            began = perf_counter()
            try:
                value, error = work(), None
            except Exception as raised:
                value, error = None, raised
            self.ended = perf_counter()
            self.took = self.ended - began
            self._node.call_later(self._finish, value, error, done, failed)

        self._node.run_worker(run, thread=True, group=self._group, exit_on_error=False)

    def ask_for(self, key: tuple[object, ...], work: Work, done: Done, failed: Failed = None) -> None:
        """Run ``work`` for a key, unless that was the last key requested; results for older keys are discarded."""
        if key == self.requested_key:
            return
        self.requested_key = key

        def taken(value: Any) -> None:
            if key == self.requested_key:
                done(value)
                self.shown_key = key

        def missed(sentence: str) -> None:
            if key == self.requested_key and failed is not None:
                self.shown_key = ()
                failed(sentence)

        self.ask(work, taken, missed if failed is not None else None)

    def report(self, show: Done, value: Any) -> None:
        """Call ``show`` with a preliminary result on the event loop; a job calls this while it is running."""
        self._reports.append((show, value))
        self._node.call_later(self._show_report)

    def _show_report(self) -> None:
        if self._reports:
            show, value = self._reports.pop()
            self._deliver(value, None, show, None)

    def _finish(self, value: Any, error: Exception | None, done: Done, failed: Failed) -> None:
        self._busy = False
        if self._waiting:
            following, *self._waiting = self._waiting
            self.ask(*following)
        self._deliver(value, error, done, failed)

    def _deliver(self, value: Any, error: Exception | None, done: Done, failed: Failed) -> None:
        if is_gone(self._node):
            return
        if error is None:
            try:
                done(value)
            except Exception as raised:
                error = raised
        if error is None or "closed database" in str(error):
            return
        if failed is not None:
            failed(sentence_of(error))
        else:
            title = getattr(self._node, "mode_name", getattr(self._node, "short", ""))
            self._node.notify(sentence_of(error), title=title, severity="error", timeout=10)

    def soon(self, what: Work, seconds: float, *, beside: bool = False) -> None:
        """Call ``what`` after some seconds, unless a delayed call is already pending.

        If a job is running at that time, the call is delayed further, unless ``beside`` allows both at once.
        """

        def now() -> None:
            self.due = False
            if self._busy and not beside:
                self.soon(what, max(seconds, _BUSY_SECONDS))
            else:
                what()

        if not self.due:
            self.due = True
            self._node.set_timer(seconds, now)

    def drop_waiting(self) -> None:
        self._waiting = []


class LiveLoader(LatestWorker, Generic[ReadT]):
    """Loads a screen's data from the open session, and reloads it soon after a change.

    ``read`` is called on the event loop with the open session and returns a job for a thread, or None. ``show`` is
    called with the result unless another session was opened in the meantime, or with ``nothing`` if no session is
    open. ``failed`` is called with an error message. Changes of ``kinds`` trigger a reload, at most once per
    ``seconds`` and using at most the fraction ``share`` of the time.
    """

    def __init__(
        self,
        screen: App[Any] | Widget,
        group: str,
        read: Callable[[SessionReader], Callable[[], ReadT] | None],
        show: Callable[[ReadT], None],
        failed: Failed = None,
        *,
        kinds: Collection[str] = (),
        seconds: float = 0.5,
        share: float = 0.2,
        nothing: ReadT | None = None,
    ) -> None:
        super().__init__(screen, group)
        self._read, self._show, self._failed = read, show, failed
        self._kinds, self._seconds, self._nothing = kinds, seconds, nothing
        self._rests = 1 / share - 1  # pause in multiples of the last load

    @property
    def settled(self) -> bool:
        return self.idle and not self.due

    def on_changes(self, changes: Iterable[Change]) -> None:
        if any(change.kind in self._kinds for change in changes):
            self.refresh_soon()

    def refresh_soon(self, *, at_once: bool = False) -> None:
        """Reload after a pause since the last load, or immediately if it is over; ``at_once`` skips the pause."""

        def now() -> None:
            if at_once or self._rest() <= 0:
                self.refresh()
            else:
                self.refresh_soon()

        self.soon(now, 0.001 if at_once else max(0.001, self._rest()))

    def _rest(self) -> float:
        return max(self._seconds, self._rests * self.took) - (perf_counter() - self.ended)

    def refresh(self) -> None:
        app = cast("WorkbenchApp", self._node.app)
        reader = app.reader
        if reader is None and self._nothing is not None:
            self._show(self._nothing)
        work = self._read(reader) if reader is not None else None
        if work is not None:
            self.ask(work, lambda found: self._show(found) if app.reader is reader else None, self._failed)
