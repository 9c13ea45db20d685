"""Two scorecards joined criterion by criterion: points of both, and what one has more or less than the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.comparison import panes
from workbench.rubric.scorecard import Criterion, Scorecard
from workbench.session.json_forms import TIER_NAMES
from workbench.text import one_line


@dataclass(frozen=True, slots=True)
class CriterionPair(panes.Pair[Criterion]):
    """A criterion in two scorecards, None where one does not have it."""

    tier: int
    title: str

    @property
    def difference(self) -> float | None:
        if self.left is None or self.right is None:
            return None
        return panes.difference(self.left.points, self.right.points)

    @property
    def differs(self) -> bool:
        """Whether the points differ, a score that only one has included; other reasons for the same points do not count."""
        mine = None if self.left is None else self.left.points
        other = None if self.right is None else self.right.points
        return bool(self.difference) if mine is not None and other is not None else mine is not other


@dataclass(frozen=True, slots=True)
class TierPair:
    """A tier in two scorecards with its criteria; a sum is None where a criterion is unscored or missing."""

    number: int
    left: float | None
    right: float | None
    criteria: tuple[CriterionPair, ...]

    @property
    def difference(self) -> float | None:
        return panes.difference(self.left, self.right)


def join_criteria(left: Scorecard | None, right: Scorecard | None) -> tuple[TierPair, ...]:
    """Return the criteria of two scorecards by tier, each joined by its key, or by its title where it has no key.

    They keep the order of the left card; what only the right one has follows at the end of its tier. Remarks, which carry
    no points, are left out.
    """
    by_tier: dict[int, list[CriterionPair]] = {}
    for name, a, b in panes.joined(criteria_of(left), criteria_of(right)):
        pair = CriterionPair(a, b, *name[:2])
        by_tier.setdefault(name[0], []).append(replace(pair, title=pair.either.title or name[1]))
    return tuple(
        TierPair(number, _sum([one.left for one in pairs]), _sum([one.right for one in pairs]), tuple(pairs))
        for number, pairs in sorted(by_tier.items())
    )


def criteria_of(card: Scorecard | None) -> dict[tuple[int, str, int], Criterion]:
    """Return the criteria with points by tier, name and, should a name occur twice, which of them."""
    found: dict[tuple[int, str, int], Criterion] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for one in card.criteria if card is not None else ():
        if one.maximum:
            name = one.tier, one.key or one.title
            found[*name, counts[name]] = one
            counts[name] += 1
    return found


def _sum(judged: list[Criterion | None]) -> float | None:
    given = [one.points for one in judged if one is not None and one.points is not None]
    return round(math.fsum(given), 6) if given and len(given) == len(judged) else None


# -- what is shown

Point = TierPair | CriterionPair


def points_pane(tiers: Sequence[TierPair], nothing: str) -> panes.Table[Point]:
    """Return the points of both, criterion by criterion under their tiers, and why one has fewer."""
    rows: list[Point] = []
    for tier in tiers:
        rows += [tier, *tier.criteria]
    differing = [one for tier in tiers for one in tier.criteria if one.differs]
    gaps = [one.difference for one in differing if one.difference is not None]
    said = [f"B wins {sum(gap > 0 for gap in gaps)}, loses {sum(gap < 0 for gap in gaps)}"] if gaps else []
    said += [f"{len(differing) - len(gaps)} scored in one only"] if len(differing) > len(gaps) else []
    return panes.Table(
        said=" · ".join(said) or ("all the same" if tiers else ""),
        rows=rows,
        columns=(
            panes.Column("criterion", _title, 14, 28, text=True),
            panes.Column("A", lambda row: _points(row, row.left), 6),
            panes.Column("B", lambda row: _points(row, row.right), 6),
            panes.Column("B − A", lambda row: panes.change_cell(row.difference, 1, "", ""), 6),
            panes.texts("why", _why, 12, 2_000, priority=1, cut="end"),
        ),
        sign=_sign,
        nothing=nothing,
        heading=lambda row: isinstance(row, TierPair),
        below=_reasons,
    )


def _title(row: Point) -> panes.Cell:
    if isinstance(row, CriterionPair):
        return one_line(row.title, 60), ""
    return f"{row.number} {TIER_NAMES.get(row.number, f'Tier {row.number}')}", "strong"


def _points(row: Point, side: float | Criterion | None) -> panes.Cell:
    if isinstance(row, CriterionPair) and side is None:
        return panes.NOTHING
    points = side.points if isinstance(side, Criterion) else side
    return "?" if points is None else f"{points:.1f}", "strong" if isinstance(row, TierPair) else ""


def _sign(row: Point) -> tuple[str, str]:
    if isinstance(row, TierPair):
        return "", ""
    return ("≠", panes.change_cell(row.difference, 1)[1]) if row.differs else panes.SAME


def _why(pair: Point) -> panes.Cell:
    """Return the reason of the trial with fewer points, or without any; an unscored one first, for there it is why."""
    if isinstance(pair, TierPair) or not pair.differs:
        return ""
    a, b, gap = pair.left, pair.right, pair.difference
    of_b = a is not None and a.points is not None if gap is None else gap < 0
    return f"B: {_reason(b)}" if of_b else f"A: {_reason(a)}", "dim"


def _reason(judged: Criterion | None) -> str:
    if judged is None:
        return "not in its scorecard"
    # Who judged stands above; here it would take the room of the reason.
    return one_line(judged.reason, 2_000).removeprefix("offline judge: ") or "no reason was recorded"


def _reasons(row: Point) -> list[tuple[str, int]]:
    if isinstance(row, TierPair):
        return []
    a, b = _reason(row.left), _reason(row.right)
    return [(f"A and B: {a}", 2)] if a == b and row.left and row.right else [(f"A: {a}", 1), (f"B: {b}", 1)]
