import itertools

import pytest

from countdown_timer.clock import Countdown, Stopwatch


@pytest.fixture
def watch(clock):
    return Stopwatch(clock)


def test_a_new_stopwatch_stands(watch, fake_time):
    fake_time.seconds += 5
    assert watch.is_running is False
    assert watch.elapsed() == 0.0


def test_start(watch, fake_time):
    watch.start()
    fake_time.seconds += 5
    watch.start()
    assert watch.is_running is True
    assert watch.elapsed() == 5.0


def test_pause(watch, fake_time):
    watch.start()
    fake_time.seconds += 5
    watch.pause()
    fake_time.seconds += 100
    watch.pause()
    assert watch.is_running is False
    assert watch.elapsed() == 5.0
    watch.start()
    fake_time.seconds += 2
    assert watch.elapsed() == 7.0


def test_reset(watch, fake_time):
    watch.start()
    fake_time.seconds += 5
    watch.pause()
    watch.reset()
    assert (watch.elapsed(), watch.is_running) == (0.0, False)


def test_reset_stops_a_running_watch(watch, fake_time):
    watch.start()
    watch.reset()
    fake_time.seconds += 5
    assert (watch.elapsed(), watch.is_running) == (0.0, False)


def test_stopwatch_ticks(watch):
    assert list(itertools.islice(watch.ticks(0.5), 3)) == [0.0, 0.5, 1.0]


def test_remaining_never_goes_below_nothing(watch, fake_time):
    countdown = Countdown(10, watch)
    watch.start()
    fake_time.seconds += 4
    assert countdown.remaining() == 6.0
    fake_time.seconds += 40
    assert countdown.remaining() == 0.0


def test_display_seconds_rounds_up(watch, fake_time):
    countdown = Countdown(10, watch)
    watch.start()
    fake_time.seconds += 0.25
    assert countdown.display_seconds() == 10
    fake_time.seconds += 9
    assert countdown.display_seconds() == 1


def test_fraction(watch, fake_time):
    countdown = Countdown(10, watch)
    watch.start()
    assert countdown.fraction() == 0.0
    fake_time.seconds += 2.5
    assert countdown.fraction() == 0.25
    assert Countdown(0, watch).fraction() == 1.0


def test_is_over(watch, fake_time):
    countdown = Countdown(1, watch)
    watch.start()
    assert countdown.is_over is False
    fake_time.seconds += 1
    assert countdown.is_over is True


def test_next_delay(watch, fake_time):
    countdown = Countdown(1, watch)
    watch.start()
    assert countdown.next_delay(0.25) == 0.25
    fake_time.seconds += 0.875
    assert countdown.next_delay(0.25) == 0.125


def test_countdown_ticks(watch, fake_time):
    countdown = Countdown(1.25, watch)
    assert list(countdown.ticks(0.5)) == [1.25, 0.75, 0.25, 0.0]
    assert fake_time.naps == [0.5, 0.5, 0.25]
