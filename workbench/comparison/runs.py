"""Two regeneration runs side by side: which of their groups stand beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.comparison.groups import GroupSide


@dataclass(frozen=True, slots=True)
class GroupsBeside:
    """The groups of two runs: those that belong together, and those that only one run has."""

    pairs: tuple[tuple[GroupSide, GroupSide], ...]
    only_left: tuple[GroupSide, ...]
    only_right: tuple[GroupSide, ...]


_ALIKE: tuple[Callable[[GroupSide], Any], ...] = (
    lambda side: side.group,
    lambda side: (side.group.evaluator, side.group.docs),
    lambda side: side.group.evaluator,
)
"""What groups are put together by, the closest likeness first."""


def join_groups(left: Sequence[GroupSide], right: Sequence[GroupSide]) -> GroupsBeside:
    """Put the groups of two runs together, controls left out.

    Equal groups belong together, then those of the same evaluator and documentation, then of the same evaluator; where one of each
    is left over, these two do.
    """
    mine = [side for side in left if not side.outcome.control]
    other = [side for side in right if not side.outcome.control]
    pairs: list[tuple[GroupSide, GroupSide]] = []
    for alike in _ALIKE:
        for a in list(mine):
            b = next((one for one in other if alike(one) == alike(a)), None)
            if b is not None:
                pairs.append((a, b))
                mine.remove(a)
                other.remove(b)
    if len(mine) == len(other) == 1:
        pairs.append((mine.pop(), other.pop()))
    return GroupsBeside(tuple(pairs), tuple(mine), tuple(other))
