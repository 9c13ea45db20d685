import io

import pytest
from rich.console import Console

from countdown_timer.clock import Clock


class FakeTime:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.seconds = 1000.0
        self.naps = []
        self.interrupt_after = None

    def now(self):
        return self.seconds

    def sleep(self, seconds):
        if self.interrupt_after is not None and len(self.naps) >= self.interrupt_after:
            raise KeyboardInterrupt
        assert len(self.naps) < 100_000, "sleeps without end"
        self.naps.append(seconds)
        self.seconds += seconds


@pytest.fixture
def fake_time():
    return FakeTime()


@pytest.fixture
def clock(fake_time):
    return Clock(now=fake_time.now, sleep=fake_time.sleep)


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=60, force_terminal=False)
