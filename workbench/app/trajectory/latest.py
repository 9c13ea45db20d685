"""Work in a thread of which only the newest request counts: what keeps a held-down key from queueing up work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.dom import DOMNode
from textual.message import Message


class Latest:
    """At most one job at a time; of those asked for meanwhile only the newest is done afterwards.

    Args:
        node: The screen whose message queue brings results back; it handles :class:`Latest.Finished`.
        group: Name of the group of workers.
    """

    class Finished(Message):
        """A job ended; ``error`` is what it raised."""

        def __init__(self, loader: Latest, done: Callable[[Any], None], value: Any, error: Exception | None) -> None:
            super().__init__()
            self.loader = loader
            self.done = done
            self.value = value
            self.error = error

    def __init__(self, node: DOMNode, group: str) -> None:
        self._node = node
        self._group = group
        self._busy = False
        self._next: tuple[Callable[[], Any], Callable[[Any], None]] | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return not self._busy

    def ask(self, job: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Run ``job`` in a thread as soon as the present one ends, then ``done`` with its value on the app's loop."""
        if self._busy:
            self._next = (job, done)
            return
        self._busy = True

        def work() -> None:
            try:
                value, error = job(), None
            except Exception as raised:
                value, error = None, raised
            self._node.post_message(self.Finished(self, done, value, error))

        self._node.run_worker(work, thread=True, group=self._group, exit_on_error=False)

    def drop_waiting(self) -> None:
        """Forget a request that was not begun."""
        self._next = None

    def settle(self, message: Latest.Finished) -> Exception | None:
        """Deliver a result and begin what waits; returns what the job raised."""
        self._busy = False
        following, self._next = self._next, None
        if following is not None:
            self.ask(*following)
        if message.error is None:
            message.done(message.value)
        return message.error
