"""Estimate how hard a password is to guess."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from alphabet import CLASSES, class_of, unique

COMMON = frozenset({"password", "letmein", "qwerty", "iloveyou", "admin", "welcome", "dragon", "monkey", "abc123"})
OTHER_CHARACTERS = 32
LEVELS = ((28, "very weak"), (36, "weak"), (60, "reasonable"), (128, "strong"))


def used_classes(password: str) -> set[str]:
    """Return the names of the character classes that occur in password.

    A character that belongs to no class counts as the class "other".
    """
    return {class_of(character) or "other" for character in password}


def alphabet_size(password: str) -> int:
    """Return the sum of the sizes of all character classes that occur in password.

    The class "other" counts as OTHER_CHARACTERS characters. An empty password gives 0.
    """
    return sum(len(CLASSES[name]) if name in CLASSES else OTHER_CHARACTERS for name in used_classes(password))


def entropy_bits(password: str) -> float:
    """Return the length of password times the base-2 logarithm of its alphabet size, or 0.0 if it is empty."""
    if not password:
        return 0.0
    return len(password) * math.log2(alphabet_size(password))


def level(bits: float) -> str:
    """Return the name of the first of LEVELS whose limit is above bits, or "very strong" if there is none.

    >>> level(20), level(36), level(500)
    ('very weak', 'reasonable', 'very strong')
    """
    for limit, name in LEVELS:
        if bits < limit:
            return name
    return "very strong"


def longest_run(password: str) -> int:
    """Return the length of the longest run of one repeated character in password; 0 if it is empty.

    >>> longest_run("aabbbc")
    3
    """
    longest = current = 0
    previous = None
    for character in password:
        current = current + 1 if character == previous else 1
        longest = max(longest, current)
        previous = character
    return longest


def has_sequence(password: str, length: int = 4) -> bool:
    """Return True if password contains length neighbours that count up or down by one, such as "1234" or "dcba"."""
    codes = [ord(character) for character in password]
    for start in range(len(codes) - length + 1):
        window = codes[start : start + length]
        steps = {right - left for left, right in zip(window, window[1:])}
        if steps in ({1}, {-1}):
            return True
    return False


def is_common(password: str) -> bool:
    """Return True if password, in lower case, is one of the COMMON passwords."""
    return password.lower() in COMMON


def find_warnings(password: str) -> list[str]:
    """Return what is wrong with password, in this order; an empty list if nothing is.

    - "is one of the most common passwords" (see is_common)
    - "is shorter than 8 characters"
    - "repeats one character" if its longest run is 3 or more
    - "contains a sequence" (see has_sequence)
    - "uses few different characters" if less than half of its characters are different ones
    """
    warnings = []
    if is_common(password):
        warnings.append("is one of the most common passwords")
    if len(password) < 8:
        warnings.append("is shorter than 8 characters")
    if longest_run(password) >= 3:
        warnings.append("repeats one character")
    if has_sequence(password):
        warnings.append("contains a sequence")
    if len(unique(password)) * 2 < len(password):
        warnings.append("uses few different characters")
    return warnings


@dataclass(frozen=True)
class Report:
    """The result of a strength check."""

    bits: float
    level: str
    warnings: tuple[str, ...] = field(default=())

    @property
    def is_acceptable(self) -> bool:
        """True if there are no warnings and bits is 60 or more."""
        return self.bits >= 60 and not self.warnings

    def lines(self) -> list[str]:
        """Return the output lines: one such as "strong (71.5 bits)", then "- WARNING" for each warning."""
        return [f"{self.level} ({self.bits:.1f} bits)", *(f"- {warning}" for warning in self.warnings)]


def check(password: str) -> Report:
    """Return a Report on password; a common password always has 0.0 bits."""
    bits = 0.0 if is_common(password) else entropy_bits(password)
    return Report(bits, level(bits), tuple(find_warnings(password)))
