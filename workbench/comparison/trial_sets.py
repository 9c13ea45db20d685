"""Two runs, agents or models side by side: total, tiers and criteria paired by case, and the mean points of each trial's repeats.

A part of the points is compared over the trials in which both sides have it. Differences are clustered by case, because trials
of one case are alike.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.points import paired_points, paired_points_pane
from workbench.comparison.trials import Scale, by_judges, common_scales
from workbench.results.scores import totals_of
from workbench.rubric.spread import Total, comparable
from workbench.session.groups import AGENT_LIMITS, settings_of
from workbench.statistics.paired import difference, tally
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import ScoreRow, TrialRow

_Scores = dict[tuple[str, str, str], "ScoreRow"]


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """The repeats of a trial on one side: the mean of those with ``scores``; ``trial`` is the first of these, else of all."""

    trial: TrialRow
    mean: Total
    repeats: int
    scores: tuple[ScoreRow, ...]

    @property
    def count(self) -> str:
        scored = len(self.scores)
        return f"{self.repeats:,}" if scored == self.repeats else f"{scored:,} of {self.repeats:,}"

    def to_json(self) -> dict[str, Any]:
        row = self.trial
        return {"trial": row.id, "agent": row.agent, "model": row.model, "score": self.mean.points, "out_of": self.mean.out_of,
                "repeats": self.repeats, "scored": len(self.scores)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChosenTrials:
    """The trials of one side: those of a run, of an agent, of a model; forks are left out, for a person took part in them."""

    reader: SessionReader
    rows: Sequence[TrialRow]
    title: str

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.run_id for row in self.rows))

    @property
    def parts(self) -> tuple[str, ...]:
        runs = f"run {self.runs[0]}" if len(self.runs) == 1 else f"{len(self.runs):,} runs"
        return self.title, self.reader.path.name, "" if self.title in self.runs else runs

    def to_json(self, scale: Scale) -> dict[str, Any]:
        session, (rubric, judge) = self.reader.path.name, scale
        return {"session": session, "title": self.title, "runs": self.runs, "rubric": rubric, "judge": judge}


TrialPair = panes.Pair[ScoredTrial]
"""A trial of both sides, or of one; its gap is None unless both have points of the same tiers by one judge."""


# -- reading


def read_sets(left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0) -> panes.Comparison:  # fmt: skip
    """Compare two sets of trials, each named by a run's id, or by its trials' ids and what these are called."""
    noun = "Run" if isinstance(left[1], str) else "Group"
    return compare_trials(*panes.both(left, right, _chosen, noun), rubric, judge)


def _chosen(reader: SessionReader, key: str | tuple[Sequence[str], str]) -> ChosenTrials | None:
    if isinstance(key, str):
        run = reader.run(key)
        if run is None:
            return None
        rows, title = reader.trials(key), run.name or run.id
    else:
        ids, title = frozenset(key[0]), key[1]
        rows = [row for row in reader.trials() if row.id in ids]
        if not rows:
            return None
    return ChosenTrials(reader, [row for row in rows if not row.parent], title)


def _scores(reader: SessionReader, trials: Sequence[TrialRow]) -> tuple[_Scores, list[Scale]]:
    """Return the scores of trials, and by which scales they are, those of most trials first."""
    wanted = {row.id for row in trials}
    scores = {(row.trial_id, row.rubric, row.judge): row for row in reader.scores() if row.trial_id in wanted}
    counts = Counter((rubric, judge) for _, rubric, judge in scores)
    return scores, sorted(counts, key=lambda one: (-counts[one], one[0] != "aeo-bench", one))


def _repeats(
    side: ChosenTrials, scale: Scale, scores: _Scores, key: Callable[[TrialRow], Any]
) -> dict[Any, ScoredTrial]:
    """Return the trials of a side, the repeats of each together: repeats are drawn independently, so their numbers pair nothing."""
    totals = totals_of(side.reader, scores.values())
    groups: dict[Any, list[TrialRow]] = defaultdict(list)
    for row in side.rows:
        groups[key(row)].append(row)
    found = {}
    for name, mine in groups.items():
        of = [totals.get((row.id, *scale), Total()) for row in mine]
        counted = comparable(of)
        kept = [row for row, one in zip(mine, of, strict=True) if one in counted]
        points = [one.points for one in counted if one.points is not None]
        mean = replace(counted[0], points=statistics.fmean(points)) if counted else Total()
        found[name] = ScoredTrial([*kept, *mine][0], mean, len(mine), tuple(scores[row.id, *scale] for row in kept))
    return found


# -- comparing


def compare_trials(left: ChosenTrials, right: ChosenTrials, rubric: str = "", judge: str = "") -> panes.Comparison:
    """Compare the trials of two sides by a rubric and judge, "" for those that most of their trials have points by."""
    sides = left, right
    (mine, by_mine), (other, by_other) = (_scores(side.reader, side.rows) for side in sides)
    scales = common_scales(by_mine, by_other, rubric, judge)
    same_judge = scales[0] == scales[1]
    ignored = [name for name in ("agent", "model") if _one_each(name, left.rows, right.rows)]
    names = [name for name in ("case_id", "agent", "model") if name not in ignored]

    def key(row: TrialRow) -> tuple[object, ...]:
        return tuple(getattr(row, name) for name in names)

    trials = [_repeats(*one, key) for one in zip(sides, scales, (mine, other), strict=True)]
    found = [_pair(a, b, same_judge) for _, a, b in panes.joined(*trials)]
    pairs = sorted(found, key=lambda pair: (pair.order, pair.name, pair.either.trial.agent))
    parts = paired_points(found if same_judge else (), left.reader, right.reader)
    compared = [
        (pair.left.mean.points, pair.right.mean.points)
        for pair in pairs
        if pair.gap is not None and pair.left and pair.right
    ]
    means = [statistics.fmean(float(one[at] or 0) for one in compared) if compared else None for at in (0, 1)]
    gap = difference(*means)
    count = tally(pair.gap for pair in pairs if pair.gap is not None)
    common, only_left, only_right = panes.in_each(pairs)
    conditions = _conditions(left, right)

    note = [
        f"{panes.wins(count)} by means of repeats",
        by_judges(*scales),
    ]
    if conditions:
        note.append(f"differ in {'; '.join(f'{what} {a} | {b}' for what, a, b in conditions)}")
    if ignored:
        note.append(f"joined whatever the {' and the '.join(ignored)}")
    notes = []
    if parts:
        rule = parts[0].paired.test.rule
        notes.append(f"p by a {rule}; of tiers and of criteria adjusted for their number (Holm).")
    if not same_judge:
        notes.append("workbench rescore scores both sides by one judge.")
    shown = [panes.NOTHING if one is None else f"{one:.1f}" for one in means]

    def choose(a: SessionReader, b: SessionReader, rows: Mapping[str, Any]) -> panes.Leads:
        row = rows["Trials"]
        both = () if row is None else ((row.left, False), (row.right, True))
        return tuple(panes.Lead("trial", one.trial.id, of_b) for one, of_b in both if one is not None)

    return panes.Comparison(
        names=panes.names_apart(left.parts, right.parts, 1, 3),
        columns=(
            panes.Amount("trials", len(trials[0]), len(trials[1]), 8, comparable=False).column,
            panes.head_column(f"mean over {len(compared):,}", (*shown, panes.change_cell(gap, 1, none="strong")), 14, style="score"),
        ),
        note=one_line(" · ".join(note), 400),
        leads=(),
        choose=choose,
        scale=scales[0],
        notes=lambda: notes,
        panes={"Points": paired_points_pane(parts), "Trials": _trials_pane(pairs)},
        to_json=lambda: {
            "a": left.to_json(scales[0]),
            "b": right.to_json(scales[1]),
            "compared": len(compared),
            "common_trials": common,
            "only_a": only_left,
            "only_b": only_right,
            "joined_without": ignored,
            "same_judge": same_judge,
            "conditions": {name: [a, b] for name, a, b in conditions},
            "mean": {"a": means[0], "b": means[1], "difference": gap},
            **asdict(count),
            "points": [one.part_json() for one in parts],
            "trials": [{"case": pair.name, **pair.to_json(ScoredTrial.to_json), "difference": pair.gap} for pair in pairs],
        },
    )  # fmt: skip


def _pair(a: ScoredTrial | None, b: ScoredTrial | None, same_judge: bool) -> TrialPair:
    gap = None
    if a and b and same_judge and (a.mean.tiers, a.mean.out_of) == (b.mean.tiers, b.mean.out_of):
        gap = difference(a.mean.points, b.mean.points)
    row = next(one.trial for one in (a, b) if one is not None)
    return panes.Pair(a, b, row.case_name or row.case_id, (gap,))


def _one_each(name: str, left: Sequence[TrialRow], right: Sequence[TrialRow]) -> bool:
    """Return whether each side has one agent (or model), and not the same: that is what the sides differ in."""
    mine, other = ({getattr(row, name) for row in rows} for rows in (left, right))
    return len(mine) == len(other) == 1 and mine != other


def _conditions(left: ChosenTrials, right: ChosenTrials) -> list[tuple[str, str, str]]:
    plans = [
        [settings_of(run.config) for run in side.reader.every_run() if run.id in side.runs] for side in (left, right)
    ]
    found = []
    for key, name in AGENT_LIMITS.items():
        a, b = (", ".join(sorted({str(plan[key]) for plan in of if plan.get(key)})) or "not known" for of in plans)
        found += [(name, a, b)] if a != b else []
    contents = [{row.case_id: row.content for row in side.rows if row.content} for side in (left, right)]
    changed = sum(contents[0][case] != contents[1][case] for case in contents[0].keys() & contents[1].keys())
    return [*found, *([("content", "as it was", f"changed in {changed:,} cases")] if changed else [])]  # fmt: skip


def _trials_pane(pairs: Sequence[TrialPair]) -> panes.Table[TrialPair]:
    def who(pair: TrialPair) -> panes.Cell:
        sides = [side.trial for side in (pair.left, pair.right) if side is not None]
        names = dict.fromkeys(f"{trial.agent} · {trial.model.rpartition('/')[2]}" for trial in sides)
        return one_line(" | ".join(names), 200), "dim"

    def repeats(pair: TrialPair) -> str:
        return "|".join(dict.fromkeys(panes.NOTHING if one is None else one.count for one in (pair.left, pair.right)))

    def points(one: ScoredTrial | None) -> str:
        if one is None or one.mean.points is None:
            return panes.NOTHING if one is None else "?"
        return panes.points(one.mean.points, one.mean.out_of)

    return panes.Table(
        summary=panes.in_each_words(pairs),
        rows=pairs,
        columns=(
            panes.texts("case", lambda pair: (one_line(pair.name, 200), "strong"), 12, 60, cut="end"),
            panes.texts("agent · model", who, 14, 120),
            panes.Column("repeats", repeats, 7, 16),
            panes.Column("A", lambda pair: points(pair.left), 8),
            panes.Column("B", lambda pair: points(pair.right), 8),
            panes.gap_column("B − A", 0, 8, 1),
        ),
        nothing="Neither side has a trial of its own.",
        page="all",
    )


TRIAL_SETS = panes.Kind("trials", "two sets of trials", ("Points", "Trials"), read_sets)
