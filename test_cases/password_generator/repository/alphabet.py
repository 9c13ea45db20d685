"""The characters that a password may consist of."""

from __future__ import annotations

import string
from collections.abc import Iterable

CLASSES = {
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digits": string.digits,
    "symbols": "!#$%&()*+,-./:;<=>?@[]^_{|}~",
}
AMBIGUOUS = "Il1O0o|"


def class_names() -> tuple[str, ...]:
    """Return the names of all character classes, in the order of CLASSES."""
    return tuple(CLASSES)


def class_of(character: str) -> str | None:
    """Return the name of the class in CLASSES that contains character, or None if there is none."""
    for name, members in CLASSES.items():
        if character in members:
            return name
    return None


def unique(text: str) -> str:
    """Return text without repeated characters; the first of each stays in its place.

    >>> unique("banana")
    'ban'
    """
    return "".join(dict.fromkeys(text))


def without(text: str, excluded: Iterable[str]) -> str:
    """Return the characters of text that are not in excluded, in their order."""
    banned = set(excluded)
    return "".join(character for character in text if character not in banned)


def without_ambiguous(text: str) -> str:
    """Return text without the characters in AMBIGUOUS, which are easily taken for one another."""
    return without(text, AMBIGUOUS)


def build_pools(names: Iterable[str], excluded: str = "", avoid_ambiguous: bool = False) -> dict[str, str]:
    """Return a dictionary from class name to the allowed characters of that class.

    The characters in excluded are left out, and those in AMBIGUOUS too if avoid_ambiguous is true.
    The order of names is kept.

    Raises:
        ValueError: if a name is not in CLASSES ("unknown character class: NAME"), if a class has no
            characters left ("no characters left in class: NAME"), or if names is empty
            ("choose at least one character class").
    """
    pools: dict[str, str] = {}
    for name in names:
        if name not in CLASSES:
            raise ValueError(f"unknown character class: {name}")
        pool = without(CLASSES[name], excluded)
        if avoid_ambiguous:
            pool = without_ambiguous(pool)
        if not pool:
            raise ValueError(f"no characters left in class: {name}")
        pools[name] = pool
    if not pools:
        raise ValueError("choose at least one character class")
    return pools
