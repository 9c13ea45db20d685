import io

import pytest
from rich.console import Console

from countdown_timer import display
from countdown_timer.clock import Countdown, Stopwatch


@pytest.fixture
def quarter(clock, fake_time):
    """A countdown of 100 seconds, 25 of which are over."""
    countdown = Countdown(100, Stopwatch(clock))
    countdown.watch.start()
    fake_time.seconds += 25
    return countdown


@pytest.mark.parametrize(
    ("fraction", "colour"), [(0.0, "green"), (0.49, "green"), (0.5, "yellow"), (0.89, "yellow"), (0.9, "red"), (1.0, "red")]
)
def test_colour_for(fraction, colour):
    assert display.colour_for(fraction) == colour


def test_percent():
    assert display.percent(0.257) == "25%"
    assert display.percent(1.0) == "100%"


def test_headline(quarter):
    line = display.headline(quarter)
    assert line.plain == "01:15"
    assert line.style == "bold green"


def test_countdown_view(quarter, console):
    console.print(display.countdown_view(quarter, width=20))
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "01:15"
    assert lines[1].split() == ["━" * 5, "25%"]
    assert len(lines) == 2


def test_stopwatch_view():
    view = display.stopwatch_view(61.25)
    assert (view.plain, view.style) == ("01:01.2", "bold cyan")


def test_final_panel(console):
    console.print(display.final_panel("Tea is ready [now]", 90))
    text = console.file.getvalue()
    assert "Tea is ready [now]" in text
    assert "1m 30s" in text


def test_ring_on_a_terminal():
    terminal = Console(file=io.StringIO(), force_terminal=True)
    assert display.ring(terminal, 3) == 3
    assert terminal.file.getvalue().count("\a") == 3


def test_ring_into_a_file_is_silent(console):
    assert display.ring(console, 3) == 0
    assert console.file.getvalue() == ""
