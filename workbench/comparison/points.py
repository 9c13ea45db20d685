"""Points of both sides: two scorecards criterion by criterion, and total, tiers and criteria over the trials that both have."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.results.scores import card_of
from workbench.rubric.scorecard import Criterion, Scorecard
from workbench.session.json_forms import TIER_NAMES
from workbench.statistics.clusters import Value
from workbench.statistics.paired import Paired, difference, holm
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison.trial_sets import ScoredTrial, TrialPair
    from workbench.session.reader import SessionReader

Part = tuple[int, str, int]
"""Tier, name and occurrence of a criterion; the name is "" of a whole tier, the tier 0 of the total."""
TOTAL: Part = (0, "", 0)


def criteria_of(card: Scorecard | None) -> dict[Part, Criterion]:
    """Return the criteria with points by tier, key (or title where it has none) and, should a name occur twice, which of them."""
    found: dict[Part, Criterion] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for one in card.criteria if card is not None else ():
        if one.maximum:
            name = one.tier, one.key or one.title
            found[*name, counts[name]] = one
            counts[name] += 1
    return found


# -- two scorecards

CriterionPair = panes.Pair[Criterion]


def join_criteria(left: Scorecard | None, right: Scorecard | None) -> list[CriterionPair]:
    """Return each tier, followed by its criteria in the order of the left card; what only the right one has is at its end.

    Remarks, which carry no points, are left out. The points of a tier are None where a criterion is unscored or missing.
    """
    tiers: dict[int, list[CriterionPair]] = {}
    for (tier, name, _), a, b in panes.joined(criteria_of(left), criteria_of(right)):
        title = next((one.title for one in (a, b) if one is not None), "")
        tiers.setdefault(tier, []).append(_pair(a, b, title or name))
    rows = []
    for tier, pairs in sorted(tiers.items()):
        name = f"{tier} {TIER_NAMES.get(tier, f'Tier {tier}')}"
        a, b = _sum(tier, name, [one.left for one in pairs]), _sum(tier, name, [one.right for one in pairs])
        rows += [_pair(a, b, name, heading=True), *pairs]
    return rows


def _pair(a: Criterion | None, b: Criterion | None, name: str, *, heading: bool = False) -> CriterionPair:
    points = [None if one is None else one.points for one in (a, b)]
    return panes.Pair(a, b, name, (difference(*points),), points == [None, None], heading)


def _sum(tier: int, name: str, criteria: Sequence[Criterion | None]) -> Criterion:
    given = [one.points for one in criteria if one is not None and one.points is not None]
    whole = round(math.fsum(given), 6) if len(given) == len(criteria) else None
    return Criterion(tier, "", name, whole, 0.0, "")


def criteria_pane(rows: Sequence[CriterionPair], nothing: str) -> panes.Table[CriterionPair]:
    signs = Counter(row.sign for row in rows if not row.heading)
    wins, losses, same = (signs.pop(one, 0) for one in (panes.MORE, panes.LESS, panes.SAME))
    summary = [f"B wins {wins}, loses {losses}"] if wins or losses else []
    summary += [f"{signs.total()} scored in one only"] if signs else []

    def points(row: CriterionPair, one: Criterion | None) -> panes.Cell:
        shown = panes.NOTHING if one is None else "?" if one.points is None else f"{one.points:.1f}"
        return shown, "strong" if row.heading else ""

    def why(row: CriterionPair) -> panes.Cell:
        """Return the reason of the trial with fewer points, or without any; an unscored one first, for there it is why."""
        if row.heading or row.sign == panes.SAME:
            return ""
        of_b = row.left is not None and row.left.points is not None if row.gap is None else row.gap < 0
        return f"B: {_reason(row.right)}" if of_b else f"A: {_reason(row.left)}", "dim"

    return panes.Table(
        summary=" · ".join(summary) or ("all the same" if same else ""),
        rows=rows,
        columns=(
            panes.Column("criterion", lambda row: (one_line(row.name, 60), "strong" if row.heading else ""), 14, 28, text=True),
            panes.Column("A", lambda row: points(row, row.left), 6),
            panes.Column("B", lambda row: points(row, row.right), 6),
            panes.Column("B − A", lambda row: panes.change_cell(row.gap, 1, "", ""), 6),
            panes.texts("why", why, 12, 2_000, priority=1, cut="end"),
        ),
        nothing=nothing,
        says=_reason,
    )  # fmt: skip


def _reason(judged: Criterion | None) -> str:
    if judged is None:
        return "not in its scorecard"
    # Who judged stands above; here it would take the room of the reason.
    return one_line(judged.reason, 2_000).removeprefix("offline judge: ") or "no reason was recorded"


# -- trials of both sides


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsPart(panes.Pair[float]):
    """A part of the scorecard: ``tier`` is 0 and ``title`` "" of the total; ``maximum`` is None where trials differ in that."""

    tier: int
    title: str
    maximum: float | None
    paired: Paired
    adjusted: float | None

    def part_json(self) -> dict[str, Any]:
        return {
            "tier": self.tier or None,
            "criterion": self.title or None,
            "maximum": self.maximum,
            "trials": self.paired.items,
            "missing": self.paired.missing,
            **self.paired.to_json(self.adjusted),
        }


def paired_points(pairs: Iterable[TrialPair], left: SessionReader, right: SessionReader) -> list[PointsPart]:
    both: dict[Part, list[tuple[str, Criterion, Criterion]]] = defaultdict(list)
    missing: Counter[Part] = Counter()
    for pair in pairs:
        if pair.left is None or pair.right is None:
            continue
        a, b = _means(pair.left, left), _means(pair.right, right)
        if pair.gap is not None:
            a[TOTAL], b[TOTAL] = (
                Criterion(0, "", "", one.mean.points, one.mean.out_of, "") for one in (pair.left, pair.right)
            )  # fmt: skip
        for part in dict.fromkeys((TOTAL, *a, *b)):
            if part in a and part in b:
                both[part].append((pair.left.trial.case_id, a[part], b[part]))
            else:
                missing[part] += 1
    found = {}
    for part in sorted(both, key=lambda part: (part[0], bool(part[1]))):
        values = [[Value(case, "", sides[at].points or 0.0) for case, *sides in both[part]] for at in (0, 1)]
        found[part] = Paired(values[0], values[1], missing[part], of_trials=True)
    tests = {part: one.test.p for part, one in found.items() if one.test.p is not None}
    adjusted: dict[Part, float] = {}
    # Of the total, which is one test, of tiers and of criteria.
    for several in ((False, False), (True, False), (True, True)):
        adjusted |= holm({part: p for part, p in tests.items() if (part[0] > 0, bool(part[1])) == several})
    parts = []
    for part, one in found.items():
        maxima = {side.maximum for _, *sides in both[part] for side in sides}
        parts.append(
            PointsPart(
                left=one.means[0], right=one.means[1], gaps=(one.gap,), tier=part[0], title=both[part][0][1].title,
                maximum=maxima.pop() if len(maxima) == 1 else None, paired=one, adjusted=adjusted.get(part),
            )
        )  # fmt: skip
    return parts


def _means(trial: ScoredTrial, reader: SessionReader) -> dict[Part, Criterion]:
    """Return the parts of a trial's scorecards, each with its mean points over the repeats that have it."""
    repeats: dict[Part, list[Criterion]] = defaultdict(list)
    for card in filter(None, (card_of(reader, score) for score in trial.scores)):
        tiers = {
            (tier, "", 0): Criterion(tier, "", "", one.points, one.maximum, "") for tier, one in card.tiers.items()
        }
        for part, one in {**criteria_of(card), **tiers}.items():
            if one.points is not None:
                repeats[part].append(one)
    return {
        part: replace(of[0], points=math.fsum(one.points or 0.0 for one in of) / len(of))
        for part, of in repeats.items()
    }


def paired_points_pane(parts: Sequence[PointsPart]) -> panes.Table[PointsPart]:
    def name(row: PointsPart) -> panes.Cell:
        if row.title:
            return f"{row.tier} {one_line(row.title, 60)}", ""
        return f"tier {row.tier} {TIER_NAMES.get(row.tier, '')}".rstrip() if row.tier else "total", "strong"

    def won(row: PointsPart) -> panes.Cell:
        cases = row.paired.difference.repositories
        return f"B {cases.wins:,} of {cases.items:,}", "dim"

    def trials(row: PointsPart) -> panes.Cell:
        count, missing = row.paired.items, row.paired.missing
        return f"{count:,} of {count + missing:,}" if missing else f"{count:,}", "dim"

    rows = sorted(parts, key=lambda one: (bool(one.title), -abs(one.gap or 0.0) if one.title else 0.0))
    return panes.Table(
        summary=f"criteria: {panes.differing_words([one for one in parts if one.title])}",
        rows=rows,
        columns=(
            panes.texts("points", name, 14, 44),
            panes.gap_column("B − A", 0, 6, 1),
            panes.Column("95 % interval", lambda row: (panes.interval_words(row.paired.bounds, 1) or panes.NOTHING, "dim"), 14),
            panes.Column("p (Holm)", lambda row: "" if row.adjusted is None else f"{row.adjusted:.2g}", 8),
            panes.Column("A", lambda row: panes.figure(row.left, 1), 6, priority=2),
            panes.Column("B", lambda row: panes.figure(row.right, 1), 6, priority=2),
            panes.Column("cases won", won, 12, priority=1),
            panes.Column("trials", trials, 8, priority=1),
        ),
        nothing="No trial of both is scored by one judge, so no points can be compared.",
        page="all",
    )  # fmt: skip
