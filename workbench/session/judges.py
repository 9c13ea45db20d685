"""Names of judges in scorecards."""

from __future__ import annotations

OFFLINE = "offline"
"""The argument that selects the judge without a model, and the name of its first rule.

Later rules are ``offline-2`` etc.
"""


RULE = "offline-4"
"""Name of the current offline judge in scorecards; the number increases with every change to its scoring."""


def recorded_as(asked: str) -> str:
    """Return the name of a requested judge in scorecards; ``offline`` selects its current rule."""
    return RULE if asked == OFFLINE else asked


def is_offline(judge: str) -> bool:
    return judge == OFFLINE or (judge.startswith(f"{OFFLINE}-") and judge.removeprefix(f"{OFFLINE}-").isdigit())


LIMIT = "form and names, not truth"
"""A caveat that is shown next to the offline judge's points."""


def with_limit(words: str, judge: str) -> str:
    """Return ``words`` followed by :data:`LIMIT` if they name the offline judge."""
    return f"{words} ({LIMIT})" if is_offline(judge) else words


def in_words(judge: str) -> str:
    """Return the judge for display: ``offline judge``, ``offline judge, rule 2`` or ``judge MODEL``."""
    if not is_offline(judge):
        return f"judge {judge}"
    rule = judge.removeprefix(OFFLINE).removeprefix("-")
    return f"offline judge, rule {rule}" if rule else "offline judge"
