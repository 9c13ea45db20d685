"""Two document runs side by side: mean points of the repeats of each trial, joined by what the trials are."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.comparison.criteria import difference
from workbench.results.scores import totals_of
from workbench.rubric.totals import Total, comparable

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow, ScoreRow, TrialRow

Scale = tuple[str, str]
"""Rubric and judge."""


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """The repeats of a trial in one run, with their mean points by one rubric and judge.

    Attributes:
        trial: The first repeat that is in the mean, else the first of all.
        points: Mean points, None where no repeat is scored.
        out_of: What they are out of.
        tiers: Of which tiers they are.
        repeats: How many repeats there are.
        scored: How many of them are in the mean.
    """

    trial: TrialRow
    points: float | None
    out_of: float
    tiers: tuple[int, ...] = ()
    repeats: int = 1
    scored: int = 0

    @property
    def count(self) -> str:
        """How many repeats are in the mean: ``3``, ``2 of 3``."""
        return f"{self.repeats:,}" if self.scored == self.repeats else f"{self.scored:,} of {self.repeats:,}"


@dataclass(frozen=True, slots=True)
class RunSide:
    """One of the two runs: its session's file, its row, its trials, and by which rubric and judge they have points."""

    session: str
    run: RunRow
    scale: Scale
    trials: tuple[ScoredTrial, ...]


@dataclass(frozen=True, slots=True)
class TrialsPair:
    """A trial of both runs, or of one (None for the other); ``same_judge`` is whether one judge scored both."""

    left: ScoredTrial | None
    right: ScoredTrial | None
    same_judge: bool = True

    @property
    def either(self) -> ScoredTrial:
        """One of them."""
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
class RunsComparison:
    """Two document runs; every difference is right minus left.

    Attributes:
        left: The first run, A on the screen.
        right: The second one, B.
        pairs: All trials of either: those of both by the size of their difference, then A's alone, then B's alone.
        ignored: What trials were not told apart by, since each run has one of it: ``agent``, ``model``.
    """

    left: RunSide
    right: RunSide
    pairs: tuple[TrialsPair, ...]
    ignored: tuple[str, ...]

    @property
    def compared(self) -> tuple[TrialsPair, ...]:
        """The pairs that have a difference."""
        return tuple(pair for pair in self.pairs if pair.difference is not None)

    @property
    def common(self) -> int:
        """Trials that both runs have, scored or not."""
        return sum(pair.left is not None and pair.right is not None for pair in self.pairs)

    @property
    def only_left(self) -> int:
        """Trials that only the left run has."""
        return sum(pair.right is None for pair in self.pairs)

    @property
    def only_right(self) -> int:
        """Trials that only the right run has."""
        return sum(pair.left is None for pair in self.pairs)

    @property
    def means(self) -> tuple[float | None, float | None]:
        """Mean points of each run over the compared pairs, None where there is none."""
        found = self.compared
        if not found:
            return None, None
        left, right = ([getattr(pair, name).points for pair in found] for name in ("left", "right"))
        return statistics.fmean(left), statistics.fmean(right)

    @property
    def tally(self) -> tuple[int, int, int]:
        """How many trials the right run wins, how many are equal, how many it loses."""
        gaps = [pair.difference or 0.0 for pair in self.compared]
        return sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), sum(gap < 0 for gap in gaps)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        wins, ties, losses = self.tally
        means = self.means
        return {
            "a": {
                "session": self.left.session,
                "run": self.left.run.id,
                "rubric": self.left.scale[0],
                "judge": self.left.scale[1],
            },
            "b": {
                "session": self.right.session,
                "run": self.right.run.id,
                "rubric": self.right.scale[0],
                "judge": self.right.scale[1],
            },
            "compared": len(self.compared),
            "common_trials": self.common,
            "only_a": self.only_left,
            "only_b": self.only_right,
            "joined_without": list(self.ignored),
            "same_judge": self.left.scale == self.right.scale,
            "mean": {"a": means[0], "b": means[1], "difference": difference(*means)},
            "wins": wins,
            "ties": ties,
            "losses": losses,
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


def _trial_json(one: ScoredTrial | None) -> dict[str, Any] | None:
    if one is None:
        return None
    row = one.trial
    return {"trial": row.id, "agent": row.agent, "model": row.model, "score": one.points, "out_of": one.out_of,
            "repeats": one.repeats, "scored": one.scored}  # fmt: skip


def compare_runs(
    left: tuple[SessionReader, str], right: tuple[SessionReader, str], rubric: str = "", judge: str = ""
) -> RunsComparison | None:
    """Read and compare two document runs; None if one of them is not in its session.

    Args:
        left: The session of one run, and the run.
        right: Those of the other.
        rubric: By which rubric, "" for the one that most of their trials have points by.
        judge: By which judge, "" likewise.
    """
    runs = [reader.run(key) for reader, key in (left, right)]
    # A person took part in forks, and they are not drawn independently of their parents.
    trials = [[row for row in reader.trials(key) if not row.parent] for reader, key in (left, right)]
    scores = [_scores(reader, mine) for (reader, _), mine in zip((left, right), trials, strict=True)]
    scales = _scales(scores[0], scores[1], rubric, judge)
    if runs[0] is None or runs[1] is None:
        return None
    ignored = tuple(name for name in ("agent", "model") if _one_each(name, trials[0], trials[1]))
    key = _key(ignored)
    a, b = (
        RunSide(reader.path.name, run, scale, _repeats(reader, rows, scale, mine, key))  # type: ignore[arg-type]
        for (reader, _), run, scale, rows, mine in zip((left, right), runs, scales, trials, scores, strict=True)
    )
    mine, other = {key(one.trial): one for one in a.trials}, {key(one.trial): one for one in b.trials}
    pairs = [
        TrialsPair(mine.get(name), other.get(name), scales[0] == scales[1])
        for name in [*mine, *(name for name in other if name not in mine)]
    ]
    return RunsComparison(a, b, tuple(sorted(pairs, key=_place)), ignored)


def _scores(reader: SessionReader, trials: Sequence[TrialRow]) -> dict[tuple[str, str, str], ScoreRow]:
    wanted = {row.id for row in trials}
    return {(row.trial_id, row.rubric, row.judge): row for row in reader.scores() if row.trial_id in wanted}


def _scales(
    left: dict[tuple[str, str, str], ScoreRow], right: dict[tuple[str, str, str], ScoreRow], rubric: str, judge: str
) -> tuple[Scale, Scale]:
    """Return by which scale each run's points are: one of both if there is one, else one rubric and each by its own judge."""

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
    """Return the trials of a run, the repeats of each together: repeats are drawn independently, so their numbers pair nothing."""
    totals = totals_of(reader, scores.values())
    groups: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    found = []
    for mine in groups.values():
        of = [totals.get((row.id, *scale), Total()) for row in mine]
        counted = comparable(of)
        points = [one.points for one in counted if one.points is not None]
        if not points:
            found.append(ScoredTrial(mine[0], None, 0.0, repeats=len(mine)))
            continue
        shown = mine[of.index(counted[0])]
        mean, first = statistics.fmean(points), counted[0]
        found.append(ScoredTrial(shown, mean, first.out_of, first.tiers, len(mine), len(points)))
    return tuple(found)


def _one_each(name: str, left: Sequence[TrialRow], right: Sequence[TrialRow]) -> bool:
    """Return whether each run has one agent (or model), and not the same: that is what the runs differ in."""
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
