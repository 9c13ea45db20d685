"""Time in the terminal."""

from countdown_timer.clock import Clock, Countdown, Stopwatch
from countdown_timer.durations import DurationError, format_duration, parse_duration

__all__ = ["Clock", "Countdown", "DurationError", "Stopwatch", "format_duration", "parse_duration"]
