"""Measure whether a docstring leaks the code, as the overlap of normalised token n-grams between docstring and body.

Formula ``ngram-1`` splits docstring and body into tokens. Tokens are identifiers and keywords (in lower case, split at
underscores and capitals), numbers, and operators; brackets, commas, quotes and comments are dropped. With n = 4,
``overlap`` is the share of the body's distinct n-grams that also occur in the docstring; a body of fewer than n tokens
is compared as a whole. ``longest`` is the length of the longest run of body tokens that the docstring repeats. A
docstring is flagged if its overlap is at least 0.4, or if it repeats a run of 12 or more tokens that contains an
operator, which is about one copied statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.repository.lines import LineKind, read_lines

LEAKAGE_VERSION = "ngram-1"
SIZE = 4
THRESHOLD = 0.4
RUN = 12
_BELOW = THRESHOLD - 0.0001  # Sessions store four decimals.
_MAX_TOKENS = 4000  # maximum tokens per side, because finding the longest run is quadratic in the worst case

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|\d+(?:\.\d+)?|[-+*/%=<>!&|^~@]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Leakage:
    """How much of a body its docstring repeats: ``overlap`` from 0 to 1, ``longest`` in tokens."""

    overlap: float
    longest: int
    flagged: bool
    version: str = LEAKAGE_VERSION

    @property
    def level(self) -> float:
        """The overlap, moved to the side of ``THRESHOLD`` that matches the flag; sessions store only this number."""
        if self.flagged:
            return max(self.overlap, THRESHOLD)
        return min(self.overlap, _BELOW)


def measure_leakage(docstring: str | None, body: str) -> Leakage:
    """Return the overlap of ``docstring`` with ``body``, which is code without its docstring."""
    words = tokens(docstring or "")[:_MAX_TOKENS]
    code = tokens(_without_comments(body))[:_MAX_TOKENS]
    if not words or not code:
        return Leakage(0.0, 0, False)
    size = min(SIZE, len(code))
    body_ngrams = {tuple(code[n : n + size]) for n in range(len(code) - size + 1)}
    docstring_ngrams = {tuple(words[n : n + size]) for n in range(len(words) - size + 1)}
    overlap = len(body_ngrams & docstring_ngrams) / len(body_ngrams)
    longest, run = _longest_run(words, code)
    operator = any(not token[0].isalnum() for token in run)
    # Two or three tokens ("return name") can match by chance.
    enough = len(code) >= SIZE
    return Leakage(overlap, longest, enough and (overlap >= THRESHOLD or (longest >= RUN and operator)))


def tokens(text: str) -> list[str]:
    found: list[str] = []
    for token in _TOKEN.findall(text):
        if token[0].isalpha() or token[0] == "_":
            found.extend(word.lower() for word in _WORD.findall(token))
        else:
            found.append(token)
    return found


def _without_comments(body: str) -> str:
    lines: list[str] = []
    for line in read_lines(body):
        if line.kind in (LineKind.COMMENT, LineKind.BLANK):
            continue
        lines.append(re.sub(r"""[ \t]+\#[^'"\n]*$""", "", line.text))
    return "".join(lines)


def _longest_run(words: list[str], code: list[str]) -> tuple[int, list[str]]:
    """Return the longest common run of tokens, by dynamic programming over sparse rows."""
    positions: dict[str, list[int]] = {}
    for position, token in enumerate(code):
        positions.setdefault(token, []).append(position)
    best, end = 0, 0
    previous: dict[int, int] = {}
    for token in words:
        row = {position: previous.get(position - 1, 0) + 1 for position in positions.get(token, ())}
        for position, length in row.items():
            if length > best:
                best, end = length, position + 1
        previous = row
    return best, code[end - best : end]
