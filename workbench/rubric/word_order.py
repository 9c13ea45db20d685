"""Measure whether a text consists of sentences, by comparing its word order with other orders.

A sentence is compared with deterministic permutations of itself, using counts of word pairs in the docstrings of
Python's standard library (see ``tests/benchmarks/word_order_counts.py``). Real sentences rank above nearly all of their
permutations. Lists of keywords and shuffled words rank above about half, and a repeated word above none. Only the order
matters, not length, topic or vocabulary. The measure works for English only; text in another script is not judged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

COUNTS = Path(__file__).with_name("word_order.json")
EDGE = "|"
"""Marker for the beginning and the end of a sentence."""
_PERMUTATIONS = 19
_LONGEST = 40
"""Maximum number of words of a sentence to compare."""
_MOST = 300
"""Maximum number of sentences of a text to compare, from its beginning."""
LEAST = 5
"""Minimum number of words for their order to be meaningful."""

_MARKUP = re.compile(
    r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,300}\)|`{1,2}([^`\n]{1,200}?)\s*(?:<[^<>`]{0,200}>)?`{1,2}_{0,2}"
)
_END = re.compile(r"(?<=[.!?:;])\s+")
_WORD = re.compile(r"[^\W_](?:[\w'.\-/]*\w)?|--?\w[\w-]*")
_SUFFIXES = "ing ed ly tion sion ment ness able ible al ive ous ful er or s"
_ENDINGS = tuple(_SUFFIXES.split())


@dataclass(frozen=True, slots=True)
class _Counts:
    known: frozenset[str]
    singles: dict[str, int]
    pairs: dict[str, int]
    total: int
    common_stems: frozenset[str]


@cache
def _counts() -> _Counts:
    data = json.loads(COUNTS.read_text("utf-8"))
    singles = data["singles"]
    return _Counts(
        frozenset(data["known"]), singles, data["pairs"], sum(singles.values()), frozenset(data["common_stems"])
    )


def common_stems() -> frozenset[str]:
    return _counts().common_stems


def plain(text: str) -> str:
    """Return running text without Markdown and reStructuredText markup; the words of code and links are preserved."""
    text = _MARKUP.sub(lambda match: match.group(1) or match.group(2) or "", text)
    return re.sub(r"[*_]{2,3}|(?<!\w)[*_]|[*_](?!\w)|<[^<>\n]{1,200}>", "", text)


def sentences_of(text: str) -> list[list[str]]:
    return [words for part in _END.split(plain(text)) if (words := _WORD.findall(part))]


def is_list(text: str) -> bool:
    """Return whether a text is a comma-separated list of words rather than a sentence."""
    return len(re.findall(r"[^,;|]+", text)) * 2 > len(_WORD.findall(text)) > LEAST


def classes(words: Sequence[str], known: frozenset[str]) -> list[str]:
    """Return each common word unchanged, and any other word as the class of its ending."""
    found = []
    for word in words:
        low = word.lower()
        if low in known:
            found.append(low)
        elif re.search(r"[\d]", word):
            found.append("#number")
        elif re.search(r"[_./-]|[a-z][A-Z]", word):
            found.append("#code")
        else:
            found.append(
                next((f"#{end}" for end in _ENDINGS if low.endswith(end) and len(low) > len(end) + 2), "#word")
            )
    return found


def _likelihood(row: Sequence[int], table: list[list[float]]) -> float:
    return math.fsum(table[a][b] for a, b in pairwise(row))


def _shuffled(row: list[int], seed: int) -> list[int]:
    """Return the inner items in another order: Fisher–Yates with a generator that is the same on every platform."""
    inner = row[1:-1]
    state = seed * 2_654_435_761 % 2**32 + 1
    for index in range(len(inner) - 1, 0, -1):
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        other = (state >> 8) % (index + 1)
        inner[index], inner[other] = inner[other], inner[index]
    return [row[0], *inner, row[-1]]


def rank(words: Sequence[str]) -> float:
    """Return the share (0 to 1) of a sentence's permutations that are less likely than the sentence itself."""
    counts = _counts()
    row = [EDGE, *classes(words[:_LONGEST], counts.known), EDGE]
    names = list(dict.fromkeys(row))
    at = {name: index for index, name in enumerate(names)}

    def pair(a: str, b: str) -> float:
        follows = counts.pairs.get(f"{a} {b}", 0) / max(counts.singles.get(a, 1), 1)
        return math.log(0.9 * follows + 0.1 * counts.singles.get(b, 1) / counts.total)

    table = [[pair(a, b) for b in names] for a in names]
    numbers = [at[name] for name in row]
    own = _likelihood(numbers, table)
    less = 0
    for seed in range(1, _PERMUTATIONS + 1):
        less += _likelihood(_shuffled(numbers, seed), table) < own - 1e-9
    return less / _PERMUTATIONS


@dataclass(frozen=True, slots=True)
class WordOrder:
    """How much of a text consists of sentences.

    ``share`` ranges from 0 (no better than chance) to 1, and is based on ``words`` compared words.
    """

    share: float
    words: int


def order(paragraphs: Sequence[str]) -> WordOrder:
    """Return how closely the first 300 sentences of the paragraphs follow English word order.

    The result is the mean rank of the sentences, weighted by length and scaled so that chance (0.5) is 0 and 0.85 is 1.
    In real READMEs, five-word sentences and headings without a verb rank below some of their permutations.
    """
    weight = total = 0.0
    words_compared = 0
    taken = 0
    before: set[tuple[str, ...]] = set()
    for paragraph in paragraphs:
        listed = is_list(paragraph)
        for words in sentences_of(paragraph):
            if len(words) < LEAST or taken >= _MOST:
                continue
            foreign = sum(not word.isascii() for word in words)
            if foreign * 2 > len(words):
                continue
            taken += 1
            words_compared += len(words)
            lowered = tuple(word.lower() for word in words)
            # Repeated words and repeated sentences do not count as sentences, whatever their order.
            sentence = not listed and len(set(lowered)) * 2 > len(lowered) and lowered not in before
            total += len(words) * rank(words) if sentence else 0.0
            before.add(lowered)
            weight += len(words)
    if not weight:
        return WordOrder(0.0, 0)
    return WordOrder(min(1.0, max(0.0, (total / weight - 0.5) / 0.35)), words_compared)
