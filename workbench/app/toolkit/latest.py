"""Work in a thread whose result comes back to the app's loop: the one way in which the app does anything that may take long.

By default only the newest request counts, which keeps a held-down key from queueing up work; actions that must all be done
are done in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from textual.message import Message

from workbench.app.toolkit.lifecycle import is_gone
from workbench.errors import WorkbenchError
from workbench.text import one_line

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from workbench.app.app import WorkbenchApp
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

ReadT = TypeVar("ReadT")
_BUSY_SECONDS = 0.05
"""Time until it is looked again whether a job has ended."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], Any]
    done: Callable[[Any], None]
    failed: Callable[[str], None] | None


def sentence_of(error: Exception) -> str:
    """Return what a person should read of an error: its own sentence, or that something is damaged or unexpected."""
    if isinstance(error, (WorkbenchError, OSError)):
        return one_line(str(error), 1000)
    return one_line(f"This cannot be shown ({type(error).__name__}: {error}).", 400)


class Latest:
    """At most one job at a time; of those asked for meanwhile only the newest is done afterwards, or all in order.

    Args:
        node: Whose message queue brings results back.
        group: Name of the group of workers.
        every: Whether all that is asked for is done, not only the newest.

    Attributes:
        due: Whether something is to be called :meth:`soon`.
        asked: For what was asked last with :meth:`ask_for`.
        shown: Of these that whose result was taken.
        took: Seconds that the last job took.
        ended: When it ended, on the clock of :func:`time.perf_counter`.
    """

    class Finished(Message):
        """A job ended; ``error`` is what it raised."""

        def __init__(self, loader: Latest, job: _Job, value: Any, error: Exception | None) -> None:
            super().__init__()
            self.loader = loader
            self.job = job
            self.value = value
            self.error = error

    class Reported(Finished):
        """A job has something to show before it ends."""

        def can_replace(self, message: Message) -> bool:
            """A later report says more than one that nobody has seen yet."""
            return isinstance(message, Latest.Reported) and message.loader is self.loader

    def __init__(self, node: DOMNode, group: str, *, every: bool = False) -> None:
        self._node = node
        self._group = group
        self._every = every
        self._busy = False
        self._waiting: list[_Job] = []
        self.due = False
        self.took = self.ended = 0.0
        self.asked: tuple[object, ...] = ()
        self.shown: tuple[object, ...] = ()

    @property
    def idle(self) -> bool:
        return not self._busy

    @property
    def outdated(self) -> bool:
        """Whether something newer waits, so that a long job may end early; threads may ask."""
        return bool(self._waiting) and not self._every

    def ask(
        self, work: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[str], None] | None = None
    ) -> None:
        """Run ``work`` in a thread as soon as the present job ends, then ``done`` with its value on the app's loop.

        Where either raises, ``failed`` gets a sentence to show in the place of what stands there; without it the node does
        what it thinks fit.
        """
        self._ask(_Job(work, done, failed))

    def ask_for(
        self,
        key: tuple[object, ...],
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[str], None] | None = None,
    ) -> None:
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

    def report(self, show: Callable[[Any], None], value: Any) -> None:
        """Have ``show`` called with a value on the app's loop; for a job that has something to show before it ends."""
        self._node.post_message(self.Reported(self, _Job(lambda: None, show, None), value, None))

    def _ask(self, job: _Job) -> None:
        if self._busy:
            self._waiting = [*self._waiting, job] if self._every else [job]
            return
        self._busy = True

        def work() -> None:
            began = perf_counter()
            try:
                value, error = job.work(), None
            except Exception as raised:
                value, error = None, raised
            self.ended = perf_counter()
            self.took = self.ended - began
            self._node.post_message(self.Finished(self, job, value, error))

        self._node.run_worker(work, thread=True, group=self._group, exit_on_error=False)

    def soon(self, what: Callable[[], Any], seconds: float, *, beside: bool = False) -> None:
        """Call ``what`` after some seconds, unless something is due already; later where a job is at work by then.

        With ``beside`` it is called while a job is at work, too.
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
        """Forget what was not begun."""
        self._waiting = []

    def settle(self, message: Latest.Finished) -> Exception | None:
        """Deliver a result and begin what waits; returns what the job raised and nobody has shown yet."""
        if not isinstance(message, self.Reported):
            self._busy = False
            if self._waiting:
                following, *self._waiting = self._waiting
                self._ask(following)
        if is_gone(self._node):
            return None  # it came to one that still has a way to this node's results
        error = message.error
        if error is None:
            try:
                message.job.done(message.value)
            except Exception as raised:
                error = raised
        if error is None or "closed database" in str(error):
            return None
        if message.job.failed is None:
            return error
        message.job.failed(sentence_of(error))
        return None


class Live(Latest, Generic[ReadT]):
    """What a screen shows of the open session: read in a thread, and again soon after it changed.

    Args:
        screen: The screen that shows it.
        group: Name of the group of workers.
        read: Called on the app's loop with the open session; returns what reads it in a thread, None for nothing to read.
        show: Called with what was read, unless another session is open by then.
        failed: Called with a sentence where it cannot be read.
        kinds: Kinds of changes after which :meth:`take` reads again.
        seconds: Shortest time between two readings.
        share: Part of the time that may go into reading.
        nothing: What is shown where no session is open, None for what is shown already.
    """

    def __init__(
        self,
        screen: DOMNode,
        group: str,
        read: Callable[[SessionReader], Callable[[], ReadT] | None],
        show: Callable[[ReadT], None],
        failed: Callable[[str], None] | None = None,
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
        """Whether nothing is being read and nothing is about to be."""
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
