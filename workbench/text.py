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
# C0 except tab and newline, DEL, C1, and the bidirectional overrides, which can hide code.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Characters that JSON does not escape but that a terminal would interpret or that end a line for some readers.
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    r"""Return ``text`` without terminal control sequences; tabs and newlines are kept, ``\r\n`` becomes ``\n``."""
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


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
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
