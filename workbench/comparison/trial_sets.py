"""Two runs, agents or models side by side: total, tiers and criteria paired by case, and the mean points of each trial's repeats.

A part of the points is compared over the trials in which both sides have it. Differences are clustered by case, because trials
of one case are alike.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.paired import paired_points, paired_points_pane
from workbench.results.scores import totals_of
from workbench.rubric.spread import Total, comparable
from workbench.session.groups import AGENT_LIMITS, settings_of
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison.trials import Scale
    from workbench.session.reader import SessionReader
    from workbench.session.rows import ScoreRow, TrialRow

_Scores = dict[tuple[str, str, str], "ScoreRow"]


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """The repeats of a trial on one side: mean points of those with ``scores``, None for none; ``trial`` is the first of these, else of all."""

    trial: TrialRow
    points: float | None
    out_of: float
    tiers: tuple[int, ...] = ()
    repeats: int = 1
    scores: tuple[ScoreRow, ...] = ()

    @property
    def count(self) -> str:
        """How many repeats are in the mean: ``3``, ``2 of 3``."""
        scored = len(self.scores)
        return f"{self.repeats:,}" if scored == self.repeats else f"{scored:,} of {self.repeats:,}"

    def to_json(self) -> dict[str, Any]:
        row = self.trial
        return {"trial": row.id, "agent": row.agent, "model": row.model, "score": self.points, "out_of": self.out_of,
                "repeats": self.repeats, "scored": len(self.scores)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChosenTrials:
    """The trials of one side: those of a run, of an agent, of a model; forks are left out, for a person took part in them."""

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
        return cls(reader, tuple(row for row in rows if not row.parent), title)

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.run_id for row in self.rows))

    def to_json(self, scale: Scale) -> dict[str, Any]:
        session, (rubric, judge) = self.reader.path.name, scale
        return {"session": session, "title": self.title, "runs": self.runs, "rubric": rubric, "judge": judge}


@dataclass(frozen=True, slots=True)
class TrialPair(panes.Pair[ScoredTrial]):
    """A trial of both sides, or of one (None for the other); ``same_judge`` is whether one judge scored both."""

    same_judge: bool = True

    @property
    def difference(self) -> float | None:
        """None unless both have points of the same tiers by one judge."""
        if self.left is None or self.right is None or not self.same_judge:
            return None
        if (self.left.tiers, self.left.out_of) != (self.right.tiers, self.right.out_of):
            return None
        return panes.difference(self.left.points, self.right.points)


# -- comparing


def read_sets(
    left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0
) -> panes.Comparison:
    """Compare two sets of trials, each named by a run's id, or by its trials' ids and what these are called."""
    noun = "Run" if isinstance(left[1], str) else "Group"
    return compare_trials(*panes.both(left, right, _chosen, noun), rubric, judge)


def _chosen(reader: SessionReader, key: str | tuple[Sequence[str], str]) -> ChosenTrials | None:
    if isinstance(key, str):
        return ChosenTrials.of_run(reader, key)
    ids = set(key[0])
    rows = [row for row in reader.trials() if row.id in ids]
    return ChosenTrials.of(reader, rows, key[1]) if rows else None


def compare_trials(left: ChosenTrials, right: ChosenTrials, rubric: str = "", judge: str = "") -> panes.Comparison:
    """Compare the trials of two sides by a rubric and judge, "" for those that most of their trials have points by."""
    scores = [_scores(side.reader, side.rows) for side in (left, right)]
    scales = _scales(scores[0], scores[1], rubric, judge)
    ignored = [name for name in ("agent", "model") if _one_each(name, left.rows, right.rows)]
    names = [name for name in ("case_id", "agent", "model") if name not in ignored]

    def key(row: TrialRow) -> tuple[object, ...]:
        return tuple(getattr(row, name) for name in names)

    mine, other = (
        {key(one.trial): one for one in _repeats(side.reader, side.rows, scale, of_side, key)}
        for side, scale, of_side in zip((left, right), scales, scores, strict=True)
    )
    found = [TrialPair(a, b, scales[0] == scales[1]) for _, a, b in panes.joined(mine, other)]
    pairs = sorted(found, key=_place)
    parts = paired_points(found, left.reader, right.reader)
    compared = [pair for pair in pairs if pair.difference is not None]
    points = [(pair.left.points, pair.right.points) for pair in compared if pair.left and pair.right]
    means = [statistics.fmean(float(one[side] or 0) for one in points) if points else None for side in (0, 1)]
    gap = panes.difference(*means)
    signs = [panes.signed(pair.difference) for pair in compared]
    wins, ties, losses = (signs.count(one) for one in (panes.MORE, panes.SAME, panes.LESS))
    common, only_left, only_right = panes.in_each(pairs)
    conditions = _conditions(left, right)

    by = f"{scales[0][0]}, {in_words(scales[0][1])}" if scales[0][0] else "no scores"
    if scales[0] != scales[1]:
        a, b = (in_words(judge) for _, judge in scales)
        by = f"{scales[0][0]}; judges differ: A {a}, B {b}: not comparable"
    said = [f"B wins {wins:,}, ties {ties:,}, loses {losses:,} by means of repeats", f"by {by}" if scales[0][0] else by]
    if conditions:
        said.append(f"differ in {'; '.join(f'{what} {a} | {b}' for what, a, b in conditions)}")
    if ignored:
        said.append(f"joined whatever the {' and the '.join(ignored)}")
    shown = [panes.NOTHING if one is None else f"{one:.1f}" for one in means]
    head = panes.Head(
        names=((_name(left, right), _name(right, left)), (_name(left), _name(right))),
        figures=(
            panes.plain("trials", len(mine), len(other), 8),
            panes.Figure(
                f"mean over {len(compared):,}",
                (shown[0], shown[1], panes.change_cell(gap, 1, none="strong")),
                14,
                style="score",
            ),
        ),
        note=one_line(" · ".join(said), 400),
    )

    def leads(pane: str, rows: Mapping[str, Any]) -> panes.Leads:
        row = rows.get("run-trials")
        sides = ((row.left, False), (row.right, True)) if row is not None else ()
        return tuple(panes.Lead("trial", one.trial.id, of_b) for one, of_b in sides if one is not None)

    def values() -> dict[str, Any]:
        return {
            "a": left.to_json(scales[0]),
            "b": right.to_json(scales[1]),
            "compared": len(compared),
            "common_trials": common,
            "only_a": only_left,
            "only_b": only_right,
            "joined_without": ignored,
            "same_judge": scales[0] == scales[1],
            "conditions": {name: [a, b] for name, a, b in conditions},
            "mean": {"a": means[0], "b": means[1], "difference": gap},
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "points": [
                {
                    "tier": one.tier or None,
                    "criterion": one.title or None,
                    "maximum": one.maximum,
                    "trials": one.paired.items,
                    "missing": one.paired.missing,
                    **one.paired.to_json(one.adjusted),
                }
                for one in parts
            ],
            "trials": [
                {
                    "case": pair.either.trial.case_name or pair.either.trial.case_id,
                    **panes.pair_json(pair, ScoredTrial.to_json),
                    "difference": pair.difference,
                }
                for pair in pairs
            ],
        }

    notes = []
    if parts:
        rule = parts[0].paired.test.rule
        notes.append(f"p by a {rule}; of tiers and of criteria adjusted for their number (Holm).")
    if scales[0] != scales[1]:
        notes.append("workbench rescore scores both sides by one judge.")
    return panes.Comparison(
        left=left,
        right=right,
        head=lambda width: head,
        leads=leads,
        scale=scales[0],
        values=values,
        notes=lambda: notes,
        panes={
            "paired-points": paired_points_pane(parts),
            "run-trials": _trials_pane(pairs, f"{common:,} in both · only A {only_left:,} · only B {only_right:,}"),
        },
    )


def _conditions(left: ChosenTrials, right: ChosenTrials) -> list[tuple[str, str, str]]:
    """Return by what the two were made, where that differs: name, A's and B's."""
    mine, other = (_limits(side) for side in (left, right))
    contents = [{row.case_id: row.content for row in side.rows if row.content} for side in (left, right)]
    changed = sum(contents[0][case] != contents[1][case] for case in contents[0].keys() & contents[1].keys())
    rows = [(name, mine[name], other[name]) for name in mine if mine[name] != other[name]]
    return [*rows, *([("content", "as it was", f"changed in {changed:,} cases")] if changed else [])]


def _limits(side: ChosenTrials) -> dict[str, str]:
    plans = [settings_of(run.config) for run in side.reader.every_run() if run.id in side.runs]
    return {
        name: ", ".join(sorted({str(plan[key]) for plan in plans if plan.get(key)})) or "not known"
        for key, name in AGENT_LIMITS.items()
    }


def _scores(reader: SessionReader, trials: Sequence[TrialRow]) -> _Scores:
    wanted = {row.id for row in trials}
    return {(row.trial_id, row.rubric, row.judge): row for row in reader.scores() if row.trial_id in wanted}


def _scales(left: _Scores, right: _Scores, rubric: str, judge: str) -> tuple[Scale, Scale]:
    """Return by which scale each side's points are: one of both if there is one, else one rubric and each by its own judge."""

    def ordered(scores: _Scores) -> list[Scale]:
        counts = Counter((of, by) for _, of, by in scores)
        wanted = [one for one in counts if rubric in ("", one[0]) and judge in ("", one[1])]
        return sorted(wanted or counts, key=lambda one: (-counts[one], one[0] != "aeo-bench", one))

    mine, other = ordered(left), ordered(right)
    both = [(one, one) for one in mine if one in other]
    both += [(one, two) for one in mine for two in other if one[0] == two[0]]
    none = (rubric, judge)
    return both[0] if both else (next(iter(mine), none), next(iter(other), none))


def _repeats(
    reader: SessionReader, rows: Sequence[TrialRow], scale: Scale, scores: _Scores, key: Callable[[TrialRow], Any]
) -> list[ScoredTrial]:
    """Return the trials of a side, the repeats of each together: repeats are drawn independently, so their numbers pair nothing."""
    totals = totals_of(reader, scores.values())
    groups: dict[Any, list[TrialRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    found = []
    for mine in groups.values():
        of = [totals.get((row.id, *scale), Total()) for row in mine]
        counted = comparable(of)
        points = [one.points for one in counted if one.points is not None]
        if not points:
            found.append(ScoredTrial(mine[0], None, 0.0, repeats=len(mine)))
            continue
        kept = [row for row, one in zip(mine, of, strict=True) if any(one is it for it in counted)]
        first, in_mean = counted[0], tuple(scores[row.id, *scale] for row in kept)
        shown = mine[of.index(first)]
        found.append(ScoredTrial(shown, statistics.fmean(points), first.out_of, first.tiers, len(mine), in_mean))
    return found


def _one_each(name: str, left: Sequence[TrialRow], right: Sequence[TrialRow]) -> bool:
    """Return whether each side has one agent (or model), and not the same: that is what the sides differ in."""
    mine, other = {getattr(row, name) for row in left}, {getattr(row, name) for row in right}
    return len(mine) == len(other) == 1 and mine != other


def _place(pair: TrialPair) -> tuple[Any, ...]:
    """The largest differences first, B's losses before its wins; then what only A has, then what only B has."""
    alone = 0 if pair.both else 1 if pair.left else 2
    gap, row = pair.difference, pair.either.trial
    return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0, row.case_name or row.case_id, row.agent


# -- what is shown


def _name(side: ChosenTrials, other: ChosenTrials | None = None) -> str:
    session = side.reader.path.name
    apart = [] if other is not None and session == other.reader.path.name else [session]
    runs = f"run {side.runs[0]}" if len(side.runs) == 1 else f"{len(side.runs):,} runs"
    return one_line(" · ".join([side.title, *apart, *([] if side.title in side.runs else [runs])]), 200)


def _trials_pane(pairs: Sequence[TrialPair], said: str) -> panes.Table[TrialPair]:
    def case(pair: TrialPair) -> panes.Cell:
        return one_line(pair.either.trial.case_name or pair.either.trial.case_id, 200), "strong"

    def who(pair: TrialPair) -> panes.Cell:
        sides = [side.trial for side in (pair.left, pair.right) if side is not None]
        names = dict.fromkeys(f"{trial.agent} · {trial.model.rpartition('/')[2]}" for trial in sides)
        return one_line(" | ".join(names), 200), "dim"

    def repeats(pair: TrialPair) -> str:
        return "|".join(dict.fromkeys(panes.NOTHING if one is None else one.count for one in (pair.left, pair.right)))

    def points(one: ScoredTrial | None) -> str:
        if one is None or one.points is None:
            return panes.NOTHING if one is None else "?"
        return f"{one.points:.1f}" + (f"/{one.out_of:.0f}" if one.out_of != 100 else "")

    return panes.Table(
        said=said,
        rows=pairs,
        columns=(
            panes.texts("case", case, 12, 60, cut="end"),
            panes.texts("agent · model", who, 14, 120),
            panes.Column("repeats", repeats, 7, 16),
            panes.Column("A", lambda pair: points(pair.left), 8),
            panes.Column("B", lambda pair: points(pair.right), 8),
            panes.Column("B − A", lambda pair: panes.change_cell(pair.difference, 1), 8),
        ),
        sign=lambda pair: panes.sided(pair.left, pair.right) or panes.signed(pair.difference),
        nothing="Neither side has a trial of its own.",
        page="all",
    )


TRIAL_SETS = panes.Kind(
    "trials", "two sets of trials", {"paired-points": "Points", "run-trials": "Trials"}, read_sets, head_lines=5
)
KINDS = {"trials": TRIAL_SETS}
