"""What is seen on the terminal."""

from __future__ import annotations

from rich.console import Console, Group
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from countdown_timer.clock import Countdown
from countdown_timer.durations import format_clock, format_duration, format_tenths

DEFAULT_MESSAGE = "Time is up!"


def colour_for(fraction: float) -> str:
    """Return the colour for the share of the time that is over: green below 0.5, yellow below 0.9, else red."""
    if fraction < 0.5:
        return "green"
    return "yellow" if fraction < 0.9 else "red"


def percent(fraction: float) -> str:
    """Return fraction as a whole percentage, rounded down, with a percent sign: 0.257 gives "25%"."""
    return f"{int(fraction * 100)}%"


def headline(countdown: Countdown) -> Text:
    """Return the bold remaining time (format_clock of display_seconds) in the colour of its fraction."""
    return Text(format_clock(countdown.display_seconds()), style=f"bold {colour_for(countdown.fraction())}")


def countdown_view(countdown: Countdown, width: int = 40) -> Group:
    """Return what a countdown shows: its headline, and below it a progress bar of that width with its percentage."""
    fraction = countdown.fraction()
    bar = ProgressBar(total=1.0, completed=fraction, width=width, complete_style=colour_for(fraction))
    row = Table.grid(padding=(0, 1))
    row.add_row(bar, percent(fraction))
    return Group(headline(countdown), row)


def stopwatch_view(elapsed: float) -> Text:
    """Return what a stopwatch shows: the elapsed time with tenths, in bold cyan."""
    return Text(format_tenths(elapsed), style="bold cyan")


def final_panel(message: str, seconds: int) -> Panel:
    """Return the panel at the end: message, with the duration that is over as its title (format_duration)."""
    return Panel(Text(message), title=format_duration(seconds), expand=False)


def ring(console: Console, times: int = 1) -> int:
    """Ring the terminal bell that many times and return times; ring nothing if console is not a terminal.

    In that case return 0.
    """
    if not console.is_terminal:
        return 0
    for _ in range(times):
        console.bell()
    return times
