"""Something that is done soon, once, however often it is asked for meanwhile: what follows a live session reads no more often."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.dom import DOMNode


class Soon:
    """Calls something ``seconds`` after it was first asked for, later where the last call is still at work.

    Attributes:
        seconds: How long after; it may change.
        due: Whether a call is to come.
    """

    def __init__(self, clock: DOMNode, seconds: float, what: Callable[[], Any], *, idle: Callable[[], bool]) -> None:
        self._clock, self.seconds, self._what, self._idle = clock, seconds, what, idle
        self.due = False

    def ask(self) -> None:
        """Ask for it."""
        if not self.due:
            self.due = True
            self._clock.set_timer(self.seconds, self._now)

    def _now(self) -> None:
        self.due = False
        if self._idle():
            self._what()
        else:
            self.ask()
