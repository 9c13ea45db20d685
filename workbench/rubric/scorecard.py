"""The scorecard of a document: criteria with points, reasons and evidence, and the sums of their points."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from workbench.base import typed_json
from workbench.base.text import one_line, sound

EvidenceKind = Literal["readme", "metadata", "fact", "file", "judge"]

PASS_MARK = 60.0
"""Points out of 100 that a case needs to pass (the same as in the original)."""
NO_FACTS_POINTS = 15.0
"""Points that the original awards in tier 3 without facts (``without_facts`` of ``workbench.rubric.score``)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a criterion's points."""

    kind: EvidenceKind
    text: str
    start: int | None = None  # half-open character span in the README (kind ``readme``)
    end: int | None = None
    path: str | None = None  # a repository file, or a metadata key
    line: int | None = None  # from 1


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a scorecard. ``points`` is None if the criterion is unscored, which is never the same as 0."""

    tier: int
    key: str
    title: str
    points: float | None
    maximum: float
    reason: str
    evidence: tuple[Evidence, ...] = ()
    judged_by: str = "rule"  # ``rule``, ``offline-4`` or the name of the judge model
    samples: tuple[float, ...] = ()  # points of each repeat of a judge; ``points`` is their mean
    given: float | None = None  # points that the format itself earned (see `.scoring`), or None if free or unknown

    @property
    def missing(self) -> float:
        """Return the missing points, which are all points if the criterion is unscored."""
        return round(self.maximum - (self.points or 0.0), 6)


@dataclass(frozen=True, slots=True)
class TierScore:
    """The sum of one tier; ``points`` is None if any of its criteria is unscored."""

    points: float | None
    maximum: float


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of a judge's repeats.

    ``of`` is ``3.purpose``, ``tier 3`` or ``total``; ``sd`` is the sample standard deviation.
    """

    of: str
    repeats: int
    mean: float
    low: float
    high: float
    sd: float


def _sum(points: list[float]) -> float:
    """Add points without binary rounding errors: 14.6, not 14.600000000000001."""
    return round(math.fsum(points), 9)


@dataclass(frozen=True, slots=True)
class Scorecard:
    """All criteria of one document under one rubric, in tier order."""

    rubric: str
    judge: str
    criteria: tuple[Criterion, ...]

    @property
    def tiers(self) -> dict[int, TierScore]:
        """Return tier number → sum; a tier with an unscored criterion has points None."""
        sums: dict[int, TierScore] = {}
        for number in sorted({criterion.tier for criterion in self.criteria}):
            mine = [criterion for criterion in self.criteria if criterion.tier == number]
            given = [criterion.points for criterion in mine if criterion.points is not None]
            complete = len(given) == len(mine)
            sums[number] = TierScore(
                points=_sum(given) if complete else None, maximum=sum(criterion.maximum for criterion in mine)
            )
        return sums

    @property
    def total(self) -> float | None:
        """Return the points of the scored tiers, or None if no tier is scored."""
        given = [tier.points for tier in self.tiers.values() if tier.points is not None]
        return _sum(given) if given else None

    @property
    def given(self) -> float | None:
        """Return the points that the answer's format earned by itself, or None for a free answer."""
        found = [criterion.given for criterion in self.criteria if criterion.given is not None]
        return _sum(found) if found else None

    @property
    def credited(self) -> bool:
        third = [criterion for criterion in self.criteria if criterion.tier == 3 and criterion.maximum]
        # If there are facts, a judge scores tier 3, so only a case without facts has points by rule there.
        return bool(third) and all(one.judged_by == "rule" and one.points for one in third)

    @property
    def out_of(self) -> float:
        return sum(tier.maximum for tier in self.tiers.values() if tier.points is not None)

    @property
    def spread(self) -> tuple[Spread, ...]:
        """Return the spread of a judge's repeats by criterion, tier and total, or () if there are no repeats."""
        judged = [one for one in self.criteria if len(one.samples) > 1]
        repeats = min((len(one.samples) for one in judged), default=0)
        values = {f"{one.tier}.{one.key}": one.samples for one in judged}
        sums = {f"tier {number}": {number} for number in sorted({one.tier for one in judged})}
        for name, numbers in {**sums, "total": set(self.tiers)}.items() if judged else ():
            mine = [one for one in self.criteria if one.tier in numbers]
            if all(one.points is not None for one in mine):
                several = [one.samples if len(one.samples) > 1 else (one.points or 0.0,) * repeats for one in mine]
                values[name] = tuple(sum(each) for each in zip(*several))  # noqa: B905 - some repeats may have failed
        return tuple(
            Spread(name, len(each), statistics.fmean(each), min(each), max(each), statistics.stdev(each))
            for name, each in values.items()
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data that includes the sums, for use by other programs."""
        return {
            "rubric": self.rubric,
            "judge": self.judge,
            "total": self.total,
            "out_of": self.out_of,
            "given": self.given,
            "tiers": {str(number): asdict(tier) for number, tier in self.tiers.items()},
            "criteria": [asdict(criterion) for criterion in self.criteria],
            "spread": [asdict(one) for one in self.spread],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Scorecard:
        return typed_json.convert(Scorecard, data)


# -- evidence that is safe to store and to show

_SHOWN = 120


def quote(text: str, width: int = _SHOWN) -> str:
    """Return a short, terminal-safe, single-line rendering of untrusted text."""
    # Truncate before cleaning, because the text may be megabytes long.
    return sound(one_line(text[: width * 4], width))


def quoted(readme: str, start: int, end: int) -> Evidence:
    start = max(0, min(start, len(readme)))
    end = max(start, min(end, len(readme)))
    return Evidence("readme", quote(readme[start:end]), start, end, line=readme.count("\n", 0, start) + 1)


def fact(text: str) -> Evidence:
    return Evidence("fact", quote(text))


def metadata_value(path: str, text: str) -> Evidence:
    return Evidence("metadata", quote(text), path=sound(path))
