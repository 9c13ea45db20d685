"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import wraps

from rich.console import Console
from rich.live import Live

from countdown_timer import display
from countdown_timer.clock import Clock, Countdown, Stopwatch
from countdown_timer.durations import DurationError, format_tenths, parse_duration

INTERRUPTED = 130


def duration_argument(text: str) -> int:
    """Return parse_duration(text), for argparse: a DurationError becomes an argparse.ArgumentTypeError.

    The message stays the same.
    """
    try:
        return parse_duration(text)
    except DurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def build_parser() -> argparse.ArgumentParser:
    """Return the parser: an optional DURATION, --stopwatch, --message, --bell and --quiet."""
    parser = argparse.ArgumentParser(prog="countdown_timer", description="Count down, or measure time.")
    parser.add_argument(
        "duration", nargs="?", type=duration_argument, metavar="DURATION", help="30s, 5m, 1h, 1h30m, 1:30 or 1:00:00"
    )
    parser.add_argument("-s", "--stopwatch", action="store_true", help="measure time until ctrl+c")
    parser.add_argument("-m", "--message", default=display.DEFAULT_MESSAGE, help="shown at the end")
    parser.add_argument("-b", "--bell", type=int, nargs="?", const=1, default=0, metavar="TIMES", help="ring at the end")
    parser.add_argument("-q", "--quiet", action="store_true", help="show nothing while the time runs")
    return parser


def interruptible(function: Callable[..., int]) -> Callable[..., int]:
    """Decorate a command so that a KeyboardInterrupt in it returns INTERRUPTED instead of being raised."""

    @wraps(function)
    def wrapper(*args: object, **kwargs: object) -> int:
        """Return what function returns, or INTERRUPTED if it is interrupted."""
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            return INTERRUPTED

    return wrapper


@interruptible
def run_countdown(countdown: Countdown, console: Console, message: str, bell: int = 0, quiet: bool = False) -> int:
    """Run countdown to its end, with a live view unless quiet, then print the final panel and ring.

    Return 0.
    """
    if quiet:
        for _ in countdown.ticks():
            pass
    else:
        with Live(display.countdown_view(countdown), console=console, transient=True) as live:
            for _ in countdown.ticks():
                live.update(display.countdown_view(countdown))
    console.print(display.final_panel(message, int(countdown.seconds)))
    display.ring(console, bell)
    return 0


def run_stopwatch(watch: Stopwatch, console: Console, interval: float = 0.1) -> int:
    """Show the running watch until a KeyboardInterrupt; then pause it, print its time with tenths, return 0."""
    try:
        with Live(display.stopwatch_view(0.0), console=console, transient=True) as live:
            for elapsed in watch.ticks(interval):
                live.update(display.stopwatch_view(elapsed))
    except KeyboardInterrupt:
        watch.pause()
    console.print(format_tenths(watch.elapsed()))
    return 0


def main(arguments: Sequence[str] | None = None, clock: Clock | None = None, console: Console | None = None) -> int:
    """Run the command line and return the exit code.

    Exactly one of DURATION and --stopwatch is needed; otherwise argparse ends the program with code 2.
    The clock and the console can be given for tests.
    """
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.stopwatch == (options.duration is not None):
        parser.error("give either a DURATION or --stopwatch")
    watch = Stopwatch(clock or Clock())
    console = console or Console()
    if options.stopwatch:
        return run_stopwatch(watch, console)
    return run_countdown(Countdown(options.duration, watch), console, options.message, options.bell, options.quiet)


if __name__ == "__main__":
    sys.exit(main())
