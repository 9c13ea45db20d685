"""Durations as people write them, and as they read them."""

from __future__ import annotations

import re

UNIT_SECONDS = {"h": 3600, "m": 60, "s": 1}
LONGEST = 100 * 3600
_UNITS = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


class DurationError(ValueError):
    """A text that is not a duration, or a duration that cannot be counted down."""

    def __init__(self, text: str, reason: str) -> None:
        """Keep text and reason; the message is "'TEXT': REASON"."""
        super().__init__(f"{text!r}: {reason}")
        self.text = text
        self.reason = reason


def to_seconds(hours: int = 0, minutes: int = 0, seconds: int = 0) -> int:
    """Return the number of seconds in hours, minutes and seconds together."""
    return hours * 3600 + minutes * 60 + seconds


def split_seconds(total: int) -> tuple[int, int, int]:
    """Return total seconds as (hours, minutes, seconds), with minutes and seconds below 60.

    >>> split_seconds(3725)
    (1, 2, 5)
    """
    minutes, seconds = divmod(total, 60)
    hours, minutes = divmod(minutes, 60)
    return hours, minutes, seconds


def is_clock_notation(text: str) -> bool:
    """Return True if text contains a colon."""
    return ":" in text


def parse_clock(text: str) -> int:
    """Return the seconds of MINUTES:SECONDS or HOURS:MINUTES:SECONDS.

    >>> parse_clock("1:30"), parse_clock("1:00:05")
    (90, 3605)

    Raises:
        DurationError: with the reason "expected M:SS or H:MM:SS" if there are not two or three parts
            that consist of ASCII digits only, or with the reason "minutes and seconds go up to 59" if
            a part after the first is above 59.
    """
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part.isascii() and part.isdigit() for part in parts):
        raise DurationError(text, "expected M:SS or H:MM:SS")
    numbers = [int(part) for part in parts]
    if any(number > 59 for number in numbers[1:]):
        raise DurationError(text, "minutes and seconds go up to 59")
    total = 0
    for number in numbers:
        total = total * 60 + number
    return total


def parse_units(text: str) -> int:
    """Return the seconds of a text such as 30s, 5m, 1h or 1h30m; a number alone means seconds.

    The units must be in the order h, m, s, each at most once.

    Raises:
        DurationError: with the reason "expected something like 30s, 5m or 1h30m".
    """
    if text.isascii() and text.isdigit():
        return int(text)
    match = _UNITS.fullmatch(text)
    if match is None or not text:
        raise DurationError(text, "expected something like 30s, 5m or 1h30m")
    return to_seconds(*(int(group or 0) for group in match.groups()))


def parse_duration(text: str) -> int:
    """Return the seconds that text means, in clock notation (parse_clock) or with units (parse_units).

    White space around it and the case of letters do not matter.

    Raises:
        DurationError: if it is neither, with the reason "must be longer than nothing" if it is 0, or
            with the reason "must be at most 100 hours" if it is above LONGEST.
    """
    cleaned = text.strip().lower()
    seconds = parse_clock(cleaned) if is_clock_notation(cleaned) else parse_units(cleaned)
    if seconds == 0:
        raise DurationError(text, "must be longer than nothing")
    if seconds > LONGEST:
        raise DurationError(text, "must be at most 100 hours")
    return seconds


def format_clock(total: int) -> str:
    """Return total seconds as MM:SS, or as H:MM:SS from one hour on.

    >>> format_clock(65), format_clock(3600)
    ('01:05', '1:00:00')
    """
    hours, minutes, seconds = split_seconds(total)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def format_tenths(seconds: float) -> str:
    """Return seconds, rounded down to tenths, as format_clock does it, then a dot and the tenths digit.

    >>> format_tenths(65.48)
    '01:05.4'
    """
    tenths = int(seconds * 10)
    return f"{format_clock(tenths // 10)}.{tenths % 10}"


def format_duration(total: int) -> str:
    """Return total seconds with units, without those that are 0, as in "1h 30m"; "0s" if total is 0."""
    parts = [f"{number}{unit}" for number, unit in zip(split_seconds(total), "hms") if number]
    return " ".join(parts) or "0s"
