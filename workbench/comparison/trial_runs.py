"""Two runs, agents or models side by side: mean points of the repeats of each trial, joined by what the trials are."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.comparison.criteria import difference
from workbench.comparison.paired_points import PairedPoints, paired_points
from workbench.results.scores import card_of, totals_of
from workbench.rubric.spread import Total, comparable
from workbench.session.groups import AGENT_LIMITS, settings_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import ScoreRow, TrialRow

Scale = tuple[str, str]
"""Rubric and judge."""


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """The repeats of a trial on one side, with their mean points by one rubric and judge.

    Attributes:
        trial: The first repeat that is in the mean, else the first of all.
        points: Mean points, None where no repeat is scored.
        out_of: What they are out of.
        tiers: Of which tiers they are.
        repeats: How many repeats there are.
        scores: The scores that are in the mean.
    """

    trial: TrialRow
    points: float | None
    out_of: float
    tiers: tuple[int, ...] = ()
    repeats: int = 1
    scores: tuple[ScoreRow, ...] = ()

    @property
    def scored(self) -> int:
        return len(self.scores)

    @property
    def count(self) -> str:
        """How many repeats are in the mean: ``3``, ``2 of 3``."""
        return f"{self.repeats:,}" if self.scored == self.repeats else f"{self.scored:,} of {self.repeats:,}"


@dataclass(frozen=True, slots=True)
class ChosenTrials:
    """The trials of one side: those of a run, of an agent, of a model.

    Attributes:
        reader: Their session.
        rows: The trials; forks are left out, for a person took part in them.
        title: What a person calls them.
    """

    reader: SessionReader
    rows: tuple[TrialRow, ...]
    title: str

    @classmethod
    def of_run(cls, reader: SessionReader, run_id: str) -> ChosenTrials | None:
        """Return the trials of a run, None if it is not in the session."""
        run = reader.run(run_id)
        return None if run is None else cls.of(reader, reader.trials(run_id), run.name or run.id)

    @classmethod
    def of(cls, reader: SessionReader, rows: Iterable[TrialRow], title: str) -> ChosenTrials:
        """Return trials without forks."""
        return cls(reader, tuple(row for row in rows if not row.parent), title)


@dataclass(frozen=True, slots=True)
class TrialsSide:
    """One side: its session's file, its title and runs, its trials, and by which rubric and judge they have points."""

    session: str
    title: str
    runs: tuple[str, ...]
    scale: Scale
    trials: tuple[ScoredTrial, ...]


@dataclass(frozen=True, slots=True)
class TrialsPair:
    """A trial of both sides, or of one (None for the other); ``same_judge`` is whether one judge scored both."""

    left: ScoredTrial | None
    right: ScoredTrial | None
    same_judge: bool = True

    @property
    def either(self) -> ScoredTrial:
        found = self.left or self.right
        assert found is not None
        return found

    @property
    def difference(self) -> float | None:
        """Points of the right one minus those of the left one, None unless both have points of the same tiers by one judge."""
        if self.left is None or self.right is None or not self.same_judge:
            return None
        if (self.left.tiers, self.left.out_of) != (self.right.tiers, self.right.out_of):
            return None
        return difference(self.left.points, self.right.points)


@dataclass(frozen=True, slots=True)
class TrialsComparison:
    """The trials of two sides; every difference is right minus left.

    Attributes:
        left: A on the screen.
        right: B.
        pairs: All trials of either: those of both by the size of their difference, then A's alone, then B's alone.
        ignored: What trials were not told apart by, since each side has one of it: ``agent``, ``model``.
        points: The total, each tier and each criterion over all pairs.
        conditions: By what the two were made, where that differs: name, A's and B's.
    """

    left: TrialsSide
    right: TrialsSide
    pairs: tuple[TrialsPair, ...]
    ignored: tuple[str, ...]
    points: tuple[PairedPoints, ...]
    conditions: tuple[tuple[str, str, str], ...]

    @property
    def compared(self) -> tuple[TrialsPair, ...]:
        return tuple(pair for pair in self.pairs if pair.difference is not None)

    @property
    def common(self) -> int:
        """Trials that both sides have, scored or not."""
        return sum(pair.left is not None and pair.right is not None for pair in self.pairs)

    @property
    def only_left(self) -> int:
        return sum(pair.right is None for pair in self.pairs)

    @property
    def only_right(self) -> int:
        return sum(pair.left is None for pair in self.pairs)

    @property
    def means(self) -> tuple[float | None, float | None]:
        """Mean points of each side over the compared pairs, None where there is none."""
        found = self.compared
        if not found:
            return None, None
        left, right = ([getattr(pair, name).points for pair in found] for name in ("left", "right"))
        return statistics.fmean(left), statistics.fmean(right)

    @property
    def tally(self) -> tuple[int, int, int]:
        """How many trials the right side wins, how many are equal, how many it loses."""
        gaps = [pair.difference or 0.0 for pair in self.compared]
        return sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), sum(gap < 0 for gap in gaps)

    def to_json(self) -> dict[str, Any]:
        wins, ties, losses = self.tally
        means = self.means
        return {
            "a": _side_json(self.left),
            "b": _side_json(self.right),
            "compared": len(self.compared),
            "common_trials": self.common,
            "only_a": self.only_left,
            "only_b": self.only_right,
            "joined_without": list(self.ignored),
            "same_judge": self.left.scale == self.right.scale,
            "conditions": {name: [mine, other] for name, mine, other in self.conditions},
            "mean": {"a": means[0], "b": means[1], "difference": difference(*means)},
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "points": [one.to_json() for one in self.points],
            "trials": [
                {
                    "case": pair.either.trial.case_name or pair.either.trial.case_id,
                    "a": _trial_json(pair.left),
                    "b": _trial_json(pair.right),
                    "difference": pair.difference,
                }
                for pair in self.pairs
            ],
        }


def _side_json(side: TrialsSide) -> dict[str, Any]:
    return {
        "session": side.session,
        "title": side.title,
        "runs": side.runs,
        "rubric": side.scale[0],
        "judge": side.scale[1],
    }


def _trial_json(one: ScoredTrial | None) -> dict[str, Any] | None:
    if one is None:
        return None
    row = one.trial
    return {"trial": row.id, "agent": row.agent, "model": row.model, "score": one.points, "out_of": one.out_of,
            "repeats": one.repeats, "scored": one.scored}  # fmt: skip


def compare_trials(left: ChosenTrials, right: ChosenTrials, rubric: str = "", judge: str = "") -> TrialsComparison:
    """Compare the trials of two sides.

    Args:
        left: A.
        right: B.
        rubric: By which rubric, "" for the one that most of their trials have points by.
        judge: By which judge, "" likewise.
    """
    scores = [_scores(side.reader, side.rows) for side in (left, right)]
    scales = _scales(scores[0], scores[1], rubric, judge)
    ignored = tuple(name for name in ("agent", "model") if _one_each(name, left.rows, right.rows))
    key = _key(ignored)
    a, b = (
        TrialsSide(
            side.reader.path.name,
            side.title,
            tuple(dict.fromkeys(row.run_id for row in side.rows)),
            scale,
            _repeats(side.reader, side.rows, scale, mine, key),
        )
        for side, scale, mine in zip((left, right), scales, scores, strict=True)
    )
    mine, other = {key(one.trial): one for one in a.trials}, {key(one.trial): one for one in b.trials}
    pairs = [
        TrialsPair(mine.get(name), other.get(name), scales[0] == scales[1])
        for name in [*mine, *(name for name in other if name not in mine)]
    ]
    points = paired_points(pairs, partial(card_of, left.reader), partial(card_of, right.reader))
    return TrialsComparison(a, b, tuple(sorted(pairs, key=_place)), ignored, points, _conditions(left, right))


def _conditions(left: ChosenTrials, right: ChosenTrials) -> tuple[tuple[str, str, str], ...]:
    mine, other = (_limits(side) for side in (left, right))
    contents = [{row.case_id: row.content for row in side.rows if row.content} for side in (left, right)]
    changed = sum(contents[0][case] != contents[1][case] for case in contents[0].keys() & contents[1].keys())
    rows = [(name, mine[name], other[name]) for name in mine if mine[name] != other[name]]
    return (*rows, *([("content", "as it was", f"changed in {changed:,} cases")] if changed else []))


def _limits(side: ChosenTrials) -> dict[str, str]:
    runs = {row.run_id for row in side.rows}
    plans = [settings_of(run.config) for run in side.reader.every_run() if run.id in runs]
    return {
        name: ", ".join(sorted({str(plan[key]) for plan in plans if plan.get(key)})) or "not known"
        for key, name in AGENT_LIMITS.items()
    }


def _scores(reader: SessionReader, trials: Sequence[TrialRow]) -> dict[tuple[str, str, str], ScoreRow]:
    wanted = {row.id for row in trials}
    return {(row.trial_id, row.rubric, row.judge): row for row in reader.scores() if row.trial_id in wanted}


def _scales(
    left: dict[tuple[str, str, str], ScoreRow], right: dict[tuple[str, str, str], ScoreRow], rubric: str, judge: str
) -> tuple[Scale, Scale]:
    """Return by which scale each side's points are: one of both if there is one, else one rubric and each by its own judge."""

    def ordered(scores: dict[tuple[str, str, str], ScoreRow]) -> list[Scale]:
        counts: dict[Scale, int] = {}
        for _, of, by in scores:
            counts[of, by] = counts.get((of, by), 0) + 1
        wanted = [one for one in counts if rubric in ("", one[0]) and judge in ("", one[1])]
        return sorted(wanted or counts, key=lambda one: (-counts[one], one[0] != "aeo-bench", one))

    mine, other = ordered(left), ordered(right)
    for one in mine:
        if one in other:
            return one, one
    for one in mine:
        for two in other:
            if one[0] == two[0]:
                return one, two
    none = (rubric, judge)
    return next(iter(mine), none), next(iter(other), none)


def _repeats(
    reader: SessionReader,
    rows: Sequence[TrialRow],
    scale: Scale,
    scores: dict[tuple[str, str, str], ScoreRow],
    key: Callable[[TrialRow], tuple[object, ...]],
) -> tuple[ScoredTrial, ...]:
    """Return the trials of a side, the repeats of each together: repeats are drawn independently, so their numbers pair nothing."""
    totals = totals_of(reader, scores.values())
    groups: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    found = []
    for mine in groups.values():
        of = [totals.get((row.id, *scale), Total()) for row in mine]
        counted = comparable(of)
        kept = tuple(
            scores[row.id, *scale] for row, one in zip(mine, of, strict=True) if any(one is it for it in counted)
        )
        points = [one.points for one in counted if one.points is not None]
        if not points:
            found.append(ScoredTrial(mine[0], None, 0.0, repeats=len(mine)))
            continue
        shown = mine[of.index(counted[0])]
        mean, first = statistics.fmean(points), counted[0]
        found.append(ScoredTrial(shown, mean, first.out_of, first.tiers, len(mine), kept))
    return tuple(found)


def _one_each(name: str, left: Sequence[TrialRow], right: Sequence[TrialRow]) -> bool:
    """Return whether each side has one agent (or model), and not the same: that is what the sides differ in."""
    mine, other = {getattr(row, name) for row in left}, {getattr(row, name) for row in right}
    return len(mine) == len(other) == 1 and mine != other


def _key(ignored: Sequence[str]) -> Callable[[TrialRow], tuple[object, ...]]:
    names = [name for name in ("case_id", "agent", "model") if name not in ignored]
    return lambda row: tuple(getattr(row, name) for name in names)


def _place(pair: TrialsPair) -> tuple[Any, ...]:
    alone = 0 if pair.left and pair.right else 1 if pair.left else 2
    gap = pair.difference
    row = pair.either.trial
    return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0, row.case_name or row.case_id, row.agent
