"""Make text from outside (files, models, test output) safe for a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[@-Z\\-_a-z0-9=>]?"  # two-character escapes and a lone ESC
    r"|\x9b[0-?]*[ -/]*[@-~]"  # C1 CSI
)
UNSEEN = (
    r"\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c"  # bidirectional overrides, isolates and marks: can hide code
    r"\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # take no room, or none everywhere
)
"""What is not seen but makes two texts that look alike differ, as in a class of a regular expression. The joiners U+200C and U+200D,
without which some scripts and emojis fall apart, are none of it."""
# C0 except tab and newline, DEL, C1, and what is not seen.
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{UNSEEN}]")
# Characters that JSON does not escape but that a terminal would interpret, that end a line for some readers, or that are not seen.
_UNSAFE_IN_JSON = re.compile(rf"[\x7f-\x9f\u2028\u2029{UNSEEN}]")


def clean(text: str) -> str:
    r"""Return ``text`` without terminal control sequences and :data:`UNSEEN` characters; tabs and newlines are kept, ``\r\n`` becomes ``\n``."""
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def sound(text: str) -> str:
    """Return ``text`` with lone surrogates replaced, so that it can be stored and sent as UTF-8."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: str, width: int = 80) -> str:
    """Return ``text`` cleaned, on one line, cut to ``width`` characters with an ellipsis."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: max(0, width - 1)] + "…"


def shortened(text: str, width: int) -> str:
    """Return a text on one line in at most ``width`` characters, its middle left out: both ends of a long name tell it apart."""
    line = one_line(text, len(text) + 1)
    if len(line) <= width:
        return line
    end = (width - 1) // 2
    return f"{line[: width - 1 - end]}…{line[len(line) - end :] if end else ''}"


def json_text(values: Any, indent: int | None = None, *, ascii: bool = False) -> str:
    """Return values as JSON with readable non-ASCII text (unless ``ascii``) that is safe on any terminal."""
    text = json.dumps(values, ensure_ascii=ascii, indent=indent)
    return _UNSAFE_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def plural(count: int, noun: str) -> str:
    """Return ``1 case`` or ``1,200 cases``."""
    return f"{count:,} {noun if count == 1 else many(noun)}"


def many(noun: str) -> str:
    """Return ``cases``, ``repositories``."""
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
