"""The only definition of the signs for verdicts and states, and of their plain ASCII replacements.

A terminal with a non-UTF-8 locale cannot show the signs. Instead, lines use words (:func:`worded`), and cells with one
character per sample use letters (:func:`lettered`) with a legend (:func:`legend`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from unicodedata import east_asian_width

VERDICTS = {
    "passed": "✓", "failed": "✗", "timeout": "⧖", "crashed": "!", "invalid": "∅", "bypassed": "↷", "error": "↯",
}  # fmt: skip
"""The sign of each verdict; ``error`` is an error of the Workbench, not of the candidate."""
WAITING, RUNNING, INTERRUPTED, CANCELLED, UNSCORED = "·", "▸", "‖", "⊘", "?"
FORMER = "′"
"""Follows the sign of the previous verdict of a sample that is being retested."""
DOUBTFUL = "≟"
"""Follows the sign of a pass that the body might have forged."""
STATES = {
    "queued": WAITING,
    "running": RUNNING,
    "interrupted": INTERRUPTED,
    "done": VERDICTS["passed"],
    "unscored": UNSCORED,
    "failed": VERDICTS["failed"],
    "cancelled": CANCELLED,
}
"""The sign of each state of a run, trial or candidate."""


def counted(state: str, count: int) -> str:
    """Return ``3 ✓ done``; waiting has no sign here, because its dot also separates parts."""
    sign = STATES.get(state, WAITING)
    return f"{count:,} {state}" if sign == WAITING else f"{count:,} {sign} {state}"


WORDS = {glyph: name for name, glyph in VERDICTS.items()} | {
    WAITING: "waiting",
    RUNNING: "running",
    INTERRUPTED: "interrupted",
    CANCELLED: "cancelled",
    UNSCORED: "unscored",
    FORMER: "the former verdict, being tested again",
    DOUBTFUL: "doubtful",
}
OUR_ERROR = "our error"
"""The words for the verdict ``error``."""

_LETTERS = {glyph: word[0].upper() for glyph, word in WORDS.items()} | {
    CANCELLED: "X",
    INTERRUPTED: "H",
    UNSCORED: "?",
    FORMER: "'",
    DOUBTFUL: "d",
}
_TYPOGRAPHY = {
    "…": "...", "–": "-", "—": "-", "−": "-", "·": "-", "•": "*", "→": "->", "←": "<-", "×": "x", "±": "+/-", "≈": "~",
    "≠": "!=", "≥": ">=", "≤": "<=", "“": '"', "”": '"', "‘": "'", "’": "'", "‹": "<", "›": ">", "▾": "v", "ƒ": "f",
    "●": "*", "○": "o", "✎": "*", "¹": "1", "³": "3", "′": "'",
}  # fmt: skip
_SIGNS = "".join(sign for sign in (*WORDS, *_TYPOGRAPHY) if not sign.isascii())
# A sign needs no word if its own word follows: "✓ passed", "· waiting", "✗ SELF-CHECK FAILED".
_SAID = "|".join(("passed|failed|timeout|crashed|invalid|bypassed|error|unscored|waiting|running|interrupted|cancelled|doubtful|done",
                  "ok|missing|attention|not used|our error|[A-Z]{2}|The run failed"))  # fmt: skip
_BEFORE_ITS_WORD = re.compile(f"[✓✗⧖∅↷↯▸‖⊘≟!] (?=(?:{_SAID}))")
# The sign for waiting also separates the parts of a line.
_WAITING_FIRST = re.compile(r"(^\s*|(?<= · ))· (?=waiting|not used|cancelled)")
_ALONE = re.compile(f"[{''.join(sign for sign in WORDS if not sign.isascii() and sign not in (WAITING, FORMER))}]")
_ONLY_WAITING = re.compile(r"^(\s*)·(\s*)$")


_ASCII_LOCALES = ("C", "POSIX")


def shown_by(encoding: str | None) -> bool:
    """Return whether a stream with this encoding can show every sign."""
    try:
        _SIGNS.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def shown_in(environment: Mapping[str, str]) -> bool:
    """Return whether a terminal in this environment can be assumed to show every sign: not with the locale C or POSIX.

    Python itself writes UTF-8 under these locales, and on machines without any (PEP 538, which sets ``LC_CTYPE``, and
    PEP 540).
    """
    if "PYTHONIOENCODING" in environment or environment.get("PYTHONUTF8") == "1":
        return True
    language = environment.get("LANG", "")
    named = environment.get("LC_ALL") or environment.get("LC_CTYPE") or language
    if named == "C.UTF-8" and not environment.get("LC_ALL") and language in _ASCII_LOCALES:
        named = language
    return named not in _ASCII_LOCALES


def worded(text: str) -> str:
    """Convert one of our own lines to ASCII: words for signs, plain punctuation, otherwise backslash escapes."""
    if text.isascii():
        return _BEFORE_ITS_WORD.sub("", text)
    text = _WAITING_FIRST.sub(r"\1", _BEFORE_ITS_WORD.sub("", text))
    text = _ALONE.sub(lambda found: WORDS[found[0]], _ONLY_WAITING.sub(r"\1waiting\2", text))
    return escaped(text)


def escaped(text: str) -> str:
    """Convert external text to ASCII without loss: plain punctuation, otherwise backslash escapes."""
    return text.translate(_PUNCTUATION).encode("ascii", "backslashreplace").decode("ascii")


def lettered(cells: str) -> str:
    """Convert cells of samples to ASCII, with a letter for each sign."""
    return "".join(_LETTERS.get(cell, cell if cell.isascii() else "?") for cell in cells)


def legend(cells: Iterable[str], *, letters: bool = False) -> str:
    """Return a legend of the signs in some cells: ``✓ passed, ↯ our error``."""
    there = {sign for cell in cells for sign in cell}
    words = WORDS | {VERDICTS["error"]: OUR_ERROR}
    return ", ".join(f"{_LETTERS[sign] if letters else sign} {words[sign]}" for sign in WORDS if sign in there)


def narrow(char: str) -> str:
    """Return an ASCII replacement of the same width for a character, for screens that are already laid out."""
    if char in _LETTERS:
        return "." if char == WAITING else ">" if char == RUNNING else _LETTERS[char]
    plain = _TYPOGRAPHY.get(char, "")
    if len(plain) == 1:
        return plain
    if "─" <= char <= "╿":
        return "-" if char in "─━┄┅┈┉╌╍═" else "|" if char in "│┃┆┇┊┋╎╏║" else "+"
    if "\u2801" <= char <= "\u28ff":  # plot dots: the number out of eight
        return ".:o#"[((ord(char) - 0x2800).bit_count() - 1) // 2]
    if "▁" <= char <= "█":  # a bar of one to eight eighths
        return ".:o#"[(ord(char) - ord("▁")) // 2]
    if "▀" <= char <= "▟":
        return "#"
    return {"…": ".", "→": ">", "←": "<", "±": "~", "≠": "#", "↓": "v", "↑": "^", "░": "."}.get(
        char, "??" if east_asian_width(char) in "WF" else "?"
    )


_PUNCTUATION = str.maketrans(_TYPOGRAPHY)
ON_ERROR = "workbench-plain"
"""Name of the error handler for characters that a stream cannot encode, see :func:`codecs.register_error`."""


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped(error.object[error.start : error.end]), error.end


codecs.register_error(ON_ERROR, _plain)
