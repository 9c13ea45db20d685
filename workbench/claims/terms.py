"""Words of a text, lightly stemmed, and how many of a wanted set stand close together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STOP_WORDS = (
    "a an and any are as at be been but by can do does each for from has have how if in into is it its like "
    "may more most no not of off on one or other out own per so some such than that the their them then there these "
    "they this to up via was what when where which while who will with you your we our us also both all "
    "without within over under about"
)
_STOP = frozenset(_STOP_WORDS.split())
# Words that fit nearly every program: they tell little about this one.
_PALE_WORDS = (
    "tool utility program application app software project simple library package python script command line cli "
    "module use user provide support feature allow offer help make work several multiple various"
)
PALE_WEIGHT = 0.3
WINDOW = 60
"""Words; about one paragraph."""


# A repository says the same words thousands of times.
@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a crude stem: plural and the commonest English endings off; ``generates`` matches ``generator``."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ation", "ing", "ion", "ed", "er", "or", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if ending == "ation":
                word += "at"
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word


@dataclass(frozen=True, slots=True)
class Token:
    """One stemmed word with its place in the text."""

    stem: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the content words of a text in order; ``camelCase`` and ``snake_case`` are split."""
    found: list[Token] = []
    for match in _WORD.finditer(text):
        start = match.start()
        for part in _CAMEL.split(match.group()):
            if part.lower() not in _STOP:
                found.append(Token(stem(part), start, start + len(part)))
            start += len(part)
    return found


PALE_STEMS = frozenset(stem(word) for word in _PALE_WORDS.split())


def weights(text: str) -> dict[str, float]:
    return {token.stem: PALE_WEIGHT if token.stem in PALE_STEMS else 1.0 for token in tokens(text)}


def spelled(text: str) -> dict[str, str]:
    """Return stem → the word's first spelling in the text, for display."""
    words: dict[str, str] = {}
    for token in tokens(text):
        words.setdefault(token.stem, text[token.start : token.end])
    return words


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which wanted stems a text has: ``share`` anywhere, ``together`` within 60 words, and where that is."""

    share: float
    together: float
    missing: tuple[str, ...]
    start: int
    end: int


def coverage(wanted: dict[str, float], text: list[Token]) -> Coverage:
    """Measure how much of ``wanted`` a text has (0–1 by weight), overall and in its best window of 60 words."""
    whole = sum(wanted.values())
    if not whole or not text:
        return Coverage(0.0, 0.0, tuple(wanted), 0, 0)
    present = {token.stem for token in text} & wanted.keys()
    share = sum(wanted[item] for item in present) / whole
    inside: Counter[str] = Counter()
    weight = best = 0.0
    span = (0, 0)
    for index, token in enumerate(text):
        if token.stem in wanted:
            inside[token.stem] += 1
            if inside[token.stem] == 1:
                weight += wanted[token.stem]
        if index >= WINDOW:
            gone = text[index - WINDOW].stem
            if gone in wanted:
                inside[gone] -= 1
                if not inside[gone]:
                    weight -= wanted[gone]
        if weight > best + 1e-9:
            best = weight
            first = next(t for t in text[max(0, index - WINDOW + 1) : index + 1] if t.stem in wanted)
            span = (first.start, token.end)
    missing = tuple(item for item in wanted if item not in present)
    return Coverage(share, best / whole, missing, *span)
