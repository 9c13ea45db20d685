"""Measuring time with a clock that can be exchanged, so that nothing has to wait in a test."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Clock:
    """Where the time comes from: now returns seconds from any start, sleep waits for seconds."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass
class Stopwatch:
    """Measures the time since it was started, without the time that it was paused."""

    clock: Clock = field(default_factory=Clock)
    _started: float | None = None
    _collected: float = 0.0

    @property
    def is_running(self) -> bool:
        """True after start, until pause."""
        return self._started is not None

    def start(self) -> None:
        """Start, or go on after a pause. Nothing changes if it is running already."""
        if self._started is None:
            self._started = self.clock.now()

    def pause(self) -> None:
        """Stop the time until the next start. Nothing changes if it is not running."""
        if self._started is not None:
            self._collected += self.clock.now() - self._started
            self._started = None

    def reset(self) -> None:
        """Forget all time and stop, as if it had never been started."""
        self._started = None
        self._collected = 0.0

    def elapsed(self) -> float:
        """Return the seconds measured so far, including the present run if it is running."""
        if self._started is None:
            return self._collected
        return self._collected + self.clock.now() - self._started

    def ticks(self, interval: float) -> Iterator[float]:
        """Start, then yield the elapsed seconds again and again without end, with a sleep of interval between."""
        self.start()
        while True:
            yield self.elapsed()
            self.clock.sleep(interval)


@dataclass
class Countdown:
    """Counts a number of seconds down to nothing."""

    seconds: float
    watch: Stopwatch = field(default_factory=Stopwatch)

    def remaining(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(0.0, self.seconds - self.watch.elapsed())

    def display_seconds(self) -> int:
        """Return the remaining seconds, rounded up to a whole number, so that 0 is shown only at the end."""
        return math.ceil(self.remaining())

    def fraction(self) -> float:
        """Return the share of the time that is over, from 0.0 to 1.0; 1.0 if there were no seconds at all."""
        if self.seconds <= 0:
            return 1.0
        return 1.0 - self.remaining() / self.seconds

    @property
    def is_over(self) -> bool:
        """True if no time remains."""
        return self.remaining() <= 0

    def next_delay(self, interval: float) -> float:
        """Return how long to sleep before the next tick: interval, or the remaining time if that is shorter."""
        return min(interval, self.remaining())

    def ticks(self, interval: float = 0.1) -> Iterator[float]:
        """Start, then yield the remaining seconds with a sleep of next_delay between, until none remain.

        The last value is always 0.0.
        """
        self.watch.start()
        while not self.is_over:
            yield self.remaining()
            self.watch.clock.sleep(self.next_delay(interval))
        yield 0.0
