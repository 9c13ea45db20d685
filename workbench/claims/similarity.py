"""Similarity of texts and names: word stems, how many wanted words occur close together, and the nearest true name."""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterable
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
# Words that fit almost any program say little about a particular program, so they have little weight.
_PALE_WORDS = (
    "tool utility program application app software project simple library package python script command line cli "
    "module use user provide support feature allow offer help make work several multiple various"
)
PALE_WEIGHT = 0.3
WINDOW = 60
"""Number of words in the search window, roughly one paragraph."""


# Cached, because the same words occur thousands of times in a repository.
@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a crude stem without the plural and common English endings; ``generates`` matches ``generator``."""
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
    """A stemmed word and its position in the text."""

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
    """Return stem → the first spelling of the word in the text, for display."""
    words: dict[str, str] = {}
    for token in tokens(text):
        words.setdefault(token.stem, text[token.start : token.end])
    return words


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the wanted stems a text contains, by weight.

    ``share`` counts stems anywhere in the text; ``together`` counts those in the best window of 60 words.
    """

    share: float
    together: float
    missing: tuple[str, ...]
    start: int
    end: int


def coverage(wanted: dict[str, float], text: list[Token]) -> Coverage:
    """Measure how much of ``wanted`` a text contains (0–1 by weight), overall and in its best window of 60 words."""
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


# -- names

#: Minimum similarity (0 to 1) at which one name may be a misspelling of another.
NEAR = 0.8
_CLEARLY = 0.08


def nearest(name: str, names: Iterable[str], least: float = NEAR) -> tuple[str, bool]:
    """Return the most similar name and whether it is the only candidate, or "" if no name is similar enough.

    Names made of the same words in another order or form (``count_words``, ``word_count``) count as similar.
    """
    rated: list[tuple[float, str]] = []
    matcher = difflib.SequenceMatcher(None, "", name.lower(), autojunk=False)
    words = _words(name)
    for one in {one for one in names if one != name and abs(len(one) - len(name)) <= max(6, len(name) // 2)}:
        if len(words) > 1 and len(one) > 3 and words == _words(one):
            rated.append((0.9, one))
            continue
        matcher.set_seq1(one.lower())
        # The upper bounds are cheap to compute.
        if (
            matcher.real_quick_ratio() >= least
            and matcher.quick_ratio() >= least
            and (ratio := matcher.ratio()) >= least
        ):
            rated.append((ratio, one))
    rated.sort(key=lambda pair: (-pair[0], pair[1]))
    if not rated:
        return "", False
    second = rated[1][0] if len(rated) > 1 else 0.0
    return rated[0][1], rated[0][0] - second >= _CLEARLY


def one_letter_off(name: str, names: Iterable[str]) -> str:
    """Return the name that differs by one inner letter or two swapped letters, or "" if none or several do.

    Names that differ in the first or last letter, a digit or an s are different names, such as ``tomli`` and ``toml``,
    or ``item_a`` and ``items_a``.
    """
    found = {one for one in names if one != name and _one_letter_off(name, one)}
    return found.pop() if len(found) == 1 else ""


def slip_of(name: str, names: Iterable[str]) -> str:
    """Return the only name that ``name`` may be a misspelling of, or "" if there are none or several.

    A misspelling differs in one letter, in case, or in the order or number (singular or plural) of its words. Names
    that are merely similar do not count: ``get_headers`` may be another library's ``get_sdk_headers``.
    """
    words = _words(name)
    found = {
        one
        for one in names
        if one != name
        # In another language, httpOriginator may be an instance of a class HttpOriginator.
        and one[:1].isupper() == name[:1].isupper()
        and (
            one.lower() == name.lower()
            or (len(words) > 1 and words == _words(one))
            or _one_letter_off(name, one)
            or _one_letter_off(name.lower(), one.lower())
        )
    }
    return found.pop() if len(found) == 1 else ""


def _one_letter_off(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < 4:
        return False
    begin = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    left, right = one[begin:], other[begin:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    if begin == 0 or (one.endswith(left) and other.endswith(right)):
        return False
    swapped = len(left) == 2 and left == right[::-1]
    return (max(len(left), len(right)) == 1 or swapped) and f"{left}{right}".isalpha() and "s" not in f"{left}{right}"


@functools.lru_cache(maxsize=20_000)
def _words(name: str) -> list[str]:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return sorted(part.lower().removesuffix("s") for part in parts)
