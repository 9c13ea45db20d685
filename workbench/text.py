"""Text from outside (files, models, test output) made safe for a terminal."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[@-Z\\-_a-z0-9=>]?"  # two-character escapes and a lone ESC
    r"|\x9b[0-?]*[ -/]*[@-~]"  # C1 CSI
)
# Everything in C0 but tab and newline, DEL, C1, and the bidirectional overrides that can hide code.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    r"""Return ``text`` without terminal control sequences; tabs and newlines stay, ``\r\n`` becomes ``\n``."""
    text = text.replace("\r\n", "\n")
    return _CONTROLS.sub("", _ESCAPES.sub("", text))


def one_line(text: str, width: int = 80) -> str:
    """Return ``text`` cleaned, on one line, cut to ``width`` characters with an ellipsis."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= width else flat[: max(0, width - 1)] + "…"
