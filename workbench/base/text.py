"""Make external text (files, models, test output) safe for a terminal; format numbers, amounts and times for people."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[@-Z\\-_a-z0-9=>]?"  # two-character escapes and a lone ESC
    r"|\x9b[0-?]*[ -/]*[@-~]"  # C1 CSI
)
UNSEEN = (
    r"\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c"  # bidirectional overrides, isolates and marks: can hide code
    r"\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible in most places
)
"""Invisible characters that can make different texts look equal, for a regular expression's character class.

The joiners U+200C and U+200D are not included, because some scripts and emojis need them.
"""
# C0 except tab and newline, DEL, C1, and invisible characters.
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{UNSEEN}]")
# Characters that JSON does not escape but that a terminal would interpret, that some readers treat as a line end, or
# that are invisible.
_UNSAFE_IN_JSON = re.compile(rf"[\x7f-\x9f\u2028\u2029{UNSEEN}]")


def clean(text: str) -> str:
    r"""Return ``text`` without terminal control sequences and :data:`UNSEEN` characters.

    Tabs and newlines are preserved, and ``\r\n`` becomes ``\n``.
    """
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def sound(text: str) -> str:
    """Return ``text`` with lone surrogates replaced, so that it can be stored and sent as UTF-8."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: str, width: int = 80) -> str:
    """Return ``text`` cleaned, on one line, and cut to ``width`` characters with an ellipsis."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: max(0, width - 1)] + "…"


def shortened(text: str, width: int) -> str:
    """Return a text on one line of at most ``width`` characters, omitting the middle.

    Both ends are preserved because they identify a long name.
    """
    line = one_line(text, len(text) + 1)
    if len(line) <= width:
        return line
    end = (width - 1) // 2
    return f"{line[: width - 1 - end]}…{line[len(line) - end :] if end else ''}"


def json_text(values: Any, indent: int | None = None, *, ascii: bool = False) -> str:
    """Return values as JSON that is safe on any terminal, with readable non-ASCII text unless ``ascii``."""
    text = json.dumps(values, ensure_ascii=ascii, indent=indent)
    return _UNSAFE_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def decoded(text: str | None) -> Any:
    """Return the value of JSON text, the text itself if it is not JSON, or None for None."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# -- numbers; unknown ones are shown as NOTHING

NOTHING = "–"
_YEAR_10000 = 253_402_300_800


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 case``, ``1,200 cases``."""
    return f"{count:,} {many(noun, count)}"


def many(noun: str, count: int = 2) -> str:
    """Return a noun in the number that a count requires: ``case``, ``cases``, ``repositories``."""
    return noun if count == 1 else f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"


def fixed(value: float | None, digits: int = 0) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}"


def signed(value: float | None, digits: int) -> str:
    """Format a difference with its sign: ``+3.5``, ``−16.0``; a value that is rounded to zero has no sign."""
    if value is None:
        return NOTHING
    shown = f"{abs(value):,.{digits}f}"
    return shown if not float(shown.replace(",", "")) else f"{'+' if value > 0 else '−'}{shown}"


def bounds(
    low: float | None, high: float | None, digits: int, write: Callable[[float | None, int], str] = fixed
) -> str:
    """Return ``[0.41, 0.73]``, or "" without bounds."""
    return "" if low is None or high is None else f"[{write(low, digits)}, {write(high, digits)}]"


def share(value: float | None) -> str:
    """Format a rate between 0 and 1 to two decimals, as for pass@k."""
    return fixed(value, 2)


def percent(value: float | None) -> str:
    """Format a share between 0 and 1 as a percentage; 99.6% is not rounded to 100%."""
    if value is None:
        return NOTHING
    rounded = round(100 * value)
    return f"{99 if rounded == 100 and value < 1 else rounded} %"


def money(usd: float) -> str:
    """Format US dollars; requests cost fractions of a cent."""
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.3f}" if usd >= 0.0995 else f"${usd:.4f}".replace("$0.0000", "$0")


def size_of(count: int) -> str:
    """Format a size in bytes: ``812 B``, ``3.2 kB``, ``1.0 MB``, ``14.5 GB``."""
    if count < 1000:
        return f"{count} B"
    power, unit = (1, "kB") if count < 1_000_000 else (2, "MB") if count < 1_000_000_000 else (3, "GB")
    return f"{count / 1000**power:,.1f} {unit}"


def duration(seconds: float) -> str:
    """Format a duration: ``7 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def age(then: float, now: float | None = None) -> str:
    seconds = max(0.0, (time.time() if now is None else now) - then)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def when(unix: float | str | None) -> str:
    """Format a time in UTC to the minute, so that a report is the same on every machine."""
    try:
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(float(unix)))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return NOTHING


def iso(unix: float | str | None) -> str | None:
    """Format a time as ISO 8601 in UTC, for programs."""
    try:
        moment = float(unix or "nan")
    except ValueError:
        return None
    if not 0 <= moment < _YEAR_10000:
        return None
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(moment))}.{int(moment % 1 * 1000):03d}Z"
