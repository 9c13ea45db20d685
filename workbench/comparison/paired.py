"""A figure that both sides have of the same items: B − A, its interval, and whether it could have come about by chance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.comparison import panes
from workbench.comparison.criteria import criteria_of
from workbench.results.scores import card_of
from workbench.session.json_forms import TIER_NAMES
from workbench.statistics.clusters import OF_TRIALS, Value, clusters_of
from workbench.statistics.paired import Difference, holm, paired_difference
from workbench.statistics.permutation import PermutationTest, permutation_test
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison.trial_sets import ScoredTrial, TrialPair
    from workbench.session.reader import SessionReader

Key = TypeVar("Key", bound=Hashable)


Part = tuple[int, str, int]
"""Tier, name and occurrence of a criterion; the name is "" of a whole tier, the tier 0 of the total."""
TOTAL: Part = (0, "", 0)
_Points = tuple[float, float, str]
"""Mean points over repeats, what they are out of, and the criterion."""


@dataclass(frozen=True)
class Paired:
    """A figure over the items that both sides have; the values of both are in the same order.

    ``missing`` are items of both of which one lacks the figure; of trials the clusters are called cases.
    """

    left_values: Sequence[Value]
    right_values: Sequence[Value]
    missing: int = 0
    of_trials: bool = False

    @cached_property
    def left(self) -> float | None:
        """The mean of A; repositories, or cases, count alike."""
        return clusters_of(self.left_values).mean if self.left_values else None

    @cached_property
    def right(self) -> float | None:
        return clusters_of(self.right_values).mean if self.right_values else None

    @property
    def gap(self) -> float | None:
        return panes.difference(self.left, self.right)

    @property
    def items(self) -> int:
        return len(self.left_values)

    @property
    def _gaps(self) -> list[Value]:
        both = zip(self.left_values, self.right_values, strict=True)
        return [Value(a.repository, a.file, panes.difference(a.value, b.value) or 0.0) for a, b in both]

    @cached_property
    def difference(self) -> Difference:
        found = paired_difference(self._gaps)
        interval = found.interval
        return replace(found, interval=replace(interval, unit=OF_TRIALS[interval.unit])) if self.of_trials else found

    @cached_property
    def test(self) -> PermutationTest:
        found = permutation_test(self._gaps)
        return replace(found, unit=OF_TRIALS[found.unit]) if self.of_trials else found

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        return self.difference.interval.low, self.difference.interval.high

    def words(self, adjusted: float | None, tests: int) -> str:
        """Return ``p = 0.013 (…); 0.04 by Holm over 6 tests``."""
        by_holm = "" if adjusted is None or tests < 2 else f"; {adjusted:.2g} by Holm over {tests:,} tests"
        return self.test.words + by_holm

    def to_json(self, adjusted: float | None, tests: int = 0) -> dict[str, Any]:
        low, high = self.bounds
        return {
            "a": self.left,
            "b": self.right,
            "difference": self.gap,
            "low": low,
            "high": high,
            "interval": self.difference.interval.words,
            "p": self.test.p,
            "p_holm": adjusted,
            "test": self.words(adjusted, tests),
        }


def adjusted_chances(found: Mapping[Key, Paired]) -> dict[Key, float]:
    """Return the p-values of those that have one, adjusted for their number (Holm)."""
    tests = {str(at): one.test.p for at, one in enumerate(found.values()) if one.test.p is not None}
    adjusted = holm(tests)
    return {key: adjusted[str(at)] for at, key in enumerate(found) if str(at) in adjusted}


# -- points of trials


@dataclass(frozen=True, slots=True)
class PointsPart:
    """A part of the scorecard on both sides: ``tier`` is 0 and ``title`` "" of the total; ``maximum`` is None where trials differ in that."""

    tier: int
    title: str
    maximum: float | None
    paired: Paired
    adjusted: float | None

    @property
    def differs(self) -> bool:
        tally = self.paired.difference.tasks
        return bool(tally.wins or tally.losses)


def paired_points(pairs: Iterable[TrialPair], left: SessionReader, right: SessionReader) -> list[PointsPart]:
    """Return the total, each tier and its criteria, in the order of the scorecard."""
    both: dict[Part, list[tuple[str, _Points, _Points]]] = defaultdict(list)
    missing: Counter[Part] = Counter()
    for pair in pairs:
        if pair.left is None or pair.right is None or not pair.same_judge:
            continue
        a, b = _points_of(pair.left, left), _points_of(pair.right, right)
        if pair.difference is not None:
            a[TOTAL], b[TOTAL] = ((one.points or 0.0, one.out_of, "") for one in (pair.left, pair.right))
        for part in dict.fromkeys((TOTAL, *a, *b)):
            if part in a and part in b:
                both[part].append((pair.either.trial.case_id, a[part], b[part]))
            else:
                missing[part] += 1
    order = list(both)
    found = {
        part: Paired(
            [Value(case, "", one[0]) for case, one, _ in both[part]],
            [Value(case, "", one[0]) for case, _, one in both[part]],
            missing[part],
            of_trials=True,
        )
        for part in sorted(both, key=lambda part: (part[0], bool(part[1]), order.index(part)))
    }
    adjusted = {part: one.test.p for part, one in found.items() if part == TOTAL}
    for criteria in (False, True):
        adjusted |= adjusted_chances({part: found[part] for part in found if part[0] and bool(part[1]) is criteria})
    maxima = {part: {one[1] for _, *sides in both[part] for one in sides} for part in both}
    return [
        PointsPart(
            part[0],
            both[part][0][1][2],
            maxima[part].pop() if len(maxima[part]) == 1 else None,
            paired,
            adjusted.get(part),
        )
        for part, paired in found.items()
    ]


def _points_of(trial: ScoredTrial, reader: SessionReader) -> dict[Part, _Points]:
    repeats: dict[Part, list[_Points]] = defaultdict(list)
    for score in trial.scores:
        card = card_of(reader, score)
        whole: Mapping[Part, Any] = {(tier, "", 0): one for tier, one in card.tiers.items()} if card is not None else {}
        for part, one in (*criteria_of(card).items(), *whole.items()):
            if one.points is not None:
                repeats[part].append((one.points, one.maximum, getattr(one, "title", "")))
    return {part: (math.fsum(one[0] for one in of) / len(of), *of[0][1:]) for part, of in repeats.items()}


def paired_points_pane(parts: Sequence[PointsPart]) -> panes.Table[PointsPart]:
    def title(row: PointsPart) -> panes.Cell:
        if row.title:
            return f"{row.tier} {one_line(row.title, 60)}", ""
        return f"tier {row.tier} {TIER_NAMES.get(row.tier, '')}".rstrip() if row.tier else "total", "strong"

    def bounds(row: PointsPart) -> panes.Cell:
        low, high = row.paired.bounds
        known = low is not None and high is not None
        return f"{panes.change(low, 1)} to {panes.change(high, 1)}" if known else panes.NOTHING, "dim"

    def won(row: PointsPart) -> panes.Cell:
        cases = row.paired.difference.repositories
        return f"B {cases.wins:,} of {cases.items:,}", "dim"

    def trials(row: PointsPart) -> panes.Cell:
        count, missing = row.paired.items, row.paired.missing
        return f"{count:,} of {count + missing:,}" if missing else f"{count:,}", "dim"

    criteria = [one.differs for one in parts if one.title]
    return panes.Table(
        said=f"{sum(criteria)} of {len(criteria)} criteria differ",
        rows=sorted(parts, key=lambda one: (bool(one.title), one.title and -abs(one.paired.gap or 0.0))),
        columns=(
            panes.texts("points", title, 14, 44),
            panes.Column("B − A", lambda row: panes.change_cell(row.paired.gap, 1), 6),
            panes.Column("95 % interval", bounds, 14),
            panes.Column("p (Holm)", lambda row: "" if row.adjusted is None else f"{row.adjusted:.2g}", 8),
            panes.Column("A", lambda row: panes.figure(row.paired.left, 1), 6, priority=2),
            panes.Column("B", lambda row: panes.figure(row.paired.right, 1), 6, priority=2),
            panes.Column("cases won", won, 12, priority=1),
            panes.Column("trials", trials, 8, priority=1),
        ),
        sign=lambda row: panes.signed(row.paired.gap),
        nothing="No trial of both is scored by one judge, so no points can be compared.",
        page="all",
    )
