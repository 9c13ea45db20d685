"""Work in a thread whose result comes back to the app's loop: the one way in which the app does anything that may take long.

By default only the newest request counts, which keeps a held-down key from queueing up work; actions that must all be done
are done in their order.
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
_BUSY_SECONDS = 0.05  # time until it is looked again whether a job has ended


def sentence_of(error: Exception) -> str:
    """Return what a person should read of an error: its own sentence, or that something is damaged or unexpected."""
    if isinstance(error, (WorkbenchError, OSError)):
        return one_line(str(error), 1000)
    return one_line(f"This cannot be shown ({type(error).__name__}: {error}).", 400)


class LatestWorker:
    """At most one job at a time for a ``node``; of those asked for meanwhile only the newest is done afterwards, or ``every`` one in order."""

    def __init__(self, node: Widget | App[Any], group: str, *, every: bool = False) -> None:
        self._node, self._group, self._every = node, group, every
        self._busy = False
        self._waiting: list[tuple[Work, Done, Failed]] = []
        self._reports = deque[tuple[Done, Any]](maxlen=1)  # a later one says more than one that nobody has seen yet
        self.due = False  # something is to be called soon
        self.took = self.ended = 0.0  # seconds of the last job, and when it ended (perf_counter)
        self.asked: tuple[object, ...] = ()  # the last key for which was asked
        self.shown: tuple[object, ...] = ()  # the last one of which the result was taken

    @property
    def idle(self) -> bool:
        return not self._busy

    @property
    def outdated(self) -> bool:
        """Whether something newer waits, so that a long job may end early; threads may ask."""
        return bool(self._waiting) and not self._every

    def ask(self, work: Work, done: Done, failed: Failed = None) -> None:
        """Run ``work`` in a thread as soon as the present job ends, then ``done`` with its value on the app's loop.

        Where either raises, ``failed`` gets a sentence to show in the place of what stands there; without it a notice says so.
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
        """Ask for what belongs to a key, unless that was asked for last; what belongs to another one is not taken any more."""
        if key == self.asked:
            return
        self.asked = key

        def taken(value: Any) -> None:
            if key == self.asked:
                done(value)
                self.shown = key

        def missed(sentence: str) -> None:
            if key == self.asked and failed is not None:
                self.shown = ()
                failed(sentence)

        self.ask(work, taken, missed if failed is not None else None)

    def report(self, show: Done, value: Any) -> None:
        """Have ``show`` called with a value on the app's loop; for a job that has something to show before it ends."""
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
        """Call ``what`` after some seconds, unless something is due already.

        Where a job is at work by then it is called later, unless it may be called ``beside`` that.
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
    """What a screen shows of the open session: read in a thread, and again soon after it changed.

    ``read`` is called on the app's loop with the open session and returns what reads it in a thread, or None. ``show`` gets what was
    read, unless another session is open by then, or ``nothing`` where none is; ``failed`` a sentence where it cannot be read. It is
    read again after changes of ``kinds``, at most every some ``seconds``, with at most this ``share`` of the time spent on reading.
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
        self._rests = 1 / share - 1  # times as long as the last reading took

    @property
    def settled(self) -> bool:
        return self.idle and not self.due

    def take(self, changes: Iterable[Change]) -> None:
        if any(change.kind in self._kinds for change in changes):
            self.refresh_soon()

    def refresh_soon(self, *, at_once: bool = False) -> None:
        """Read again, at once where the last reading is long over; ``at_once`` also where it is not."""

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
