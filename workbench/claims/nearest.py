"""The nearest true name to a wrong one."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable

#: How alike two names have to be, from 0 to 1, for one to be meant by the other.
NEAR = 0.8
_CLEARLY = 0.08


def nearest(name: str, names: Iterable[str], least: float = NEAR) -> tuple[str, bool]:
    """The most similar name, and whether it is the only candidate; "" where none is near.

    Names of the same words in another order or form (``count_words``, ``word_count``) count as near.
    """
    rated: list[tuple[float, str]] = []
    matcher = difflib.SequenceMatcher(None, "", name.lower(), autojunk=False)
    words = _words(name)
    for one in {one for one in names if one != name and abs(len(one) - len(name)) <= max(6, len(name) // 2)}:
        if len(words) > 1 and len(one) > 3 and words == _words(one):
            rated.append((0.9, one))
            continue
        matcher.set_seq1(one.lower())
        # Upper bounds first, which are quick.
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
    """The only name that differs by one inner letter or two swapped neighbours; "" otherwise.

    First and last letters, digits and an s do not count: ``tomli`` and ``toml`` are two names, and so are ``item_a`` and
    ``items_a``.
    """
    found = {one for one in names if one != name and _one_letter_off(name, one)}
    return found.pop() if len(found) == 1 else ""


def slip_of(name: str, names: Iterable[str]) -> str:
    """The only name that another is a slip of (one letter, capitals, order or number of words); "" otherwise.

    Similar names are not slips: ``get_headers`` may be another library's ``get_sdk_headers``.
    """
    words = _words(name)
    found = {
        one
        for one in names
        if one != name
        # httpOriginator is what another language calls it, beside a class HttpOriginator.
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
