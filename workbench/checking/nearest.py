"""The nearest true name to one that is not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

#: How alike two names have to be, from 0 to 1, for one to be meant by the other.
NEAR = 0.8
_CLEARLY = 0.08


def nearest(name: str, names: Iterable[str], least: float = NEAR) -> tuple[str, bool]:
    """Return the name most like another and whether only that one can be meant; "" where none is near.

    Names of the same words in another order or form (``count_words``, ``word_count``) are near as well.
    """
    found = sorted({one for one in names if one != name and abs(len(one) - len(name)) <= max(6, len(name) // 2)})
    rated = sorted(((_alike(name, one), one) for one in found), key=lambda pair: (-pair[0], pair[1]))
    if not rated or rated[0][0] < least:
        return "", False
    second = rated[1][0] if len(rated) > 1 else 0.0
    return rated[0][1], rated[0][0] - second >= _CLEARLY


def _alike(one: str, other: str) -> float:
    ratio = difflib.SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio()
    words = [_words(one), _words(other)]
    return max(ratio, 0.9 if len(words[0]) > 1 and words[0] == words[1] else 0.0)


def _words(name: str) -> list[str]:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return sorted(part.lower().removesuffix("s") for part in parts)
