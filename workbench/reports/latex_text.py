r"""Foreign text inside LaTeX of ours: no character of it is a command, ends a cell, or stops a compiler.

Latin letters stay as they are (UTF-8 has been LaTeX's input since 2018), signs of ours become commands of a plain LaTeX, and a
character that pdfLaTeX does not know is named: ``[U+4E2D]``.
"""

from __future__ import annotations

import re
import unicodedata

from workbench.text import one_line

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    # Would be ligatures, an optional argument after a line break, or a quotation mark that OT1 lacks.
    '"': "''", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "·": r"\textperiodcentered{}", "–": "--", "—": "---", "…": r"\ldots{}",
    "→": r"$\to$", "≤": r"$\le$", "≥": r"$\ge$", "τ": r"$\tau$", "’": "'", "‘": "`", "“": "``", "”": "''", "•": r"\textbullet{}",
    "\u00a0": "~",
}  # fmt: skip
_LETTERS = frozenset("ßæÆœŒøØłŁı")
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
"""Accents that a plain LaTeX can put on a letter."""
_ENDED = re.compile(r"-(?=-)|.", re.DOTALL)


def latex(text: object, width: int = 600) -> str:
    """Return a text as one line of LaTeX, cut to ``width`` characters."""
    return _ENDED.sub(lambda found: _one(found[0], found.string[found.end() :][:1]), one_line(str(text), width))


def _one(character: str, following: str) -> str:
    if character == "-" and following == "-":
        # Two would become a dash.
        return "-{}"
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii() or character in _LETTERS:
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"
