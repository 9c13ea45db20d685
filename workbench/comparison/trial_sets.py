"""Compare two runs, agents or models: total, tiers and criteria, paired by case, with means over repeats.

Each part of the points is compared over the trials in which both sides have this part. Differences are clustered by
case.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from workbench.base.text import NOTHING, one_line
from workbench.comparison import panes
from workbench.comparison.trials import Part, Scale, by_judges, common_scales, criteria_of
from workbench.results.scores import card_of, totals_of
from workbench.results.spread import Total, comparable
from workbench.rubric.scorecard import Criterion
from workbench.session.groups import AGENT_LIMITS, settings_of
from workbench.session.json_forms import TIER_NAMES, picked
from workbench.statistics.intervals import Value
from workbench.statistics.paired import Paired, difference, holm, tally

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import ScoreRow, TrialRow

_TOTAL: Part = (0, "", 0)


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """The repeats of a trial on one side, with the mean over those that have ``scores``.

    ``trial`` is the first repeat with a score, or else the first repeat.
    """

    trial: TrialRow
    mean: Total
    repeats: int
    scores: tuple[ScoreRow, ...]

    @property
    def count(self) -> str:
        scored = len(self.scores)
        return f"{self.repeats:,}" if scored == self.repeats else f"{scored:,} of {self.repeats:,}"

    def to_json(self) -> dict[str, Any]:
        named = {**picked(self.trial, "id:trial", "agent", "model"), **picked(self.mean, "points:score", "out_of")}
        return {**named, "repeats": self.repeats, "scored": len(self.scores)}


class ChosenTrials:
    """The trials of a run, agent or model, without forks.

    ``scales`` contains their pairs of rubric and judge, sorted by number of scores, descending.
    """

    def __init__(self, reader: SessionReader, rows: Iterable[TrialRow], title: str) -> None:
        self.reader, self.title = reader, title
        self.rows = {row.id: row for row in rows if not row.parent}
        self.runs = tuple(dict.fromkeys(row.run_id for row in self.rows.values()))
        scores = (row for row in reader.scores() if row.trial_id in self.rows)
        self.scores = {(row.trial_id, row.rubric, row.judge): row for row in scores}
        counts = Counter((rubric, judge) for _, rubric, judge in self.scores)
        self.scales = sorted(counts, key=lambda one: (-counts[one], one[0] != "aeo-bench", one))

    def repeats(self, scale: Scale, key: Callable[[TrialRow], Any]) -> dict[Any, ScoredTrial]:
        """Group the repeats of each trial; they are independent, so repeats of both sides are not paired by number."""
        totals = totals_of(self.reader, self.scores.values())
        groups: dict[Any, list[TrialRow]] = defaultdict(list)
        for row in self.rows.values():
            groups[key(row)].append(row)
        found = {}
        for name, mine in groups.items():
            of = [totals.get((row.id, *scale), Total()) for row in mine]
            counted = comparable(of)
            kept = [row for row, one in zip(mine, of, strict=True) if one in counted]
            points = [one.points for one in counted if one.points is not None]
            mean = replace(counted[0], points=statistics.fmean(points)) if counted else Total()
            scores = tuple(self.scores[row.id, *scale] for row in kept)
            found[name] = ScoredTrial([*kept, *mine][0], mean, len(mine), scores)
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        runs = f"run {self.runs[0]}" if len(self.runs) == 1 else f"{len(self.runs):,} runs"
        return self.title, self.reader.path.name, "" if self.title in self.runs else runs

    def to_json(self, scale: Scale) -> dict[str, Any]:
        session, (rubric, judge) = self.reader.path.name, scale
        return {"session": session, "title": self.title, "runs": self.runs, "rubric": rubric, "judge": judge}


# the gap is None unless the same judge scored the same tiers on both sides
TrialPair = panes.PairedRow[ScoredTrial]


def read_sets(left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0) -> panes.PairComparison:  # fmt: skip
    """Compare two sets of trials, each specified as the id of a run, or as trial ids and a title."""
    noun = "Run" if isinstance(left[1], str) else "Group"
    return compare_trials(*panes.both(left, right, _chosen, noun), rubric, judge)


def _chosen(reader: SessionReader, key: str | tuple[Sequence[str], str]) -> ChosenTrials | None:
    if isinstance(key, str):
        run = reader.run(key)
        return ChosenTrials(reader, reader.trials(key), run.name or run.id) if run is not None else None
    ids = frozenset(key[0])
    rows = [row for row in reader.trials() if row.id in ids]
    return ChosenTrials(reader, rows, key[1]) if rows else None


# -- points of both sides


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsPart(panes.PairedRow[float]):
    """A part of the scorecard; the total has tier 0 and the title "".

    ``maximum`` is None if it differs between trials.
    """

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
        if pair.gap is None:
            del a[_TOTAL]
        for part in dict.fromkeys((_TOTAL, *a, *b)):
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
    for level in range(3):  # total, tiers, criteria
        adjusted |= holm({part: p for part, p in tests.items() if (part[0] > 0) + bool(part[1]) == level})
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
    repeats: dict[Part, list[Criterion]] = defaultdict(list)
    for card in filter(None, (card_of(reader, score) for score in trial.scores)):
        tiers = {(at, "", 0): Criterion(at, "", "", one.points, one.maximum, "") for at, one in card.tiers.items()}
        for part, one in {**criteria_of(card), **tiers}.items():
            if one.points is not None:
                repeats[part].append(one)
    means = {part: math.fsum(one.points or 0.0 for one in of) / len(of) for part, of in repeats.items()}
    total = Criterion(0, "", "", trial.mean.points, trial.mean.out_of, "")
    return {_TOTAL: total, **{part: replace(of[0], points=means[part]) for part, of in repeats.items()}}


def paired_points_pane(parts: Sequence[PointsPart]) -> panes.PaneTable[PointsPart]:
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
    return panes.PaneTable(
        summary=f"criteria: {panes.differing_words([one for one in parts if one.title])}",
        rows=rows,
        columns=(
            panes.texts("points", name, 14, 44),
            panes.gap_column("B − A", 0, 6, 1),
            panes.PaneColumn("95 % interval", lambda row: (panes.interval_words(row.paired.bounds, 1) or NOTHING, "dim"), 14),
            panes.PaneColumn("p (Holm)", lambda row: "" if row.adjusted is None else f"{row.adjusted:.2g}", 8),
            *panes.sided("{}", lambda value: panes.figure(value, 1), 6, priority=2),
            panes.PaneColumn("cases won", won, 12, priority=1),
            panes.PaneColumn("trials", trials, 8, priority=1),
        ),
        nothing="No judge scored a trial of both sides, so no points can be compared.",
        page="all",
    )  # fmt: skip


# -- comparing


def compare_trials(left: ChosenTrials, right: ChosenTrials, rubric: str = "", judge: str = "") -> panes.PairComparison:
    """Compare the trials of two sides by a rubric and judge; the default is the pair with the most trials."""
    sides = left, right
    scales = common_scales(left.scales, right.scales, rubric, judge)
    same_judge = scales[0] == scales[1]
    # If each side has a single agent (or model) and the two differ, trials are matched without it.
    named = {
        name: [{getattr(row, name) for row in side.rows.values()} for side in sides] for name in ("agent", "model")
    }
    ignored = [name for name, (a, b) in named.items() if len(a) == len(b) == 1 and a != b]
    key = attrgetter("case_id", *(name for name in named if name not in ignored))
    trials = [side.repeats(scale, key) for side, scale in zip(sides, scales, strict=True)]
    found: list[TrialPair] = []
    for _, a, b in panes.joined(*trials):
        gap = None
        if a and b and same_judge and (a.mean.tiers, a.mean.out_of) == (b.mean.tiers, b.mean.out_of):
            gap = difference(a.mean.points, b.mean.points)
        row = next(one.trial for one in (a, b) if one is not None)
        found.append(panes.PairedRow(a, b, row.case_name or row.case_id, (gap,)))
    pairs = sorted(found, key=lambda pair: (pair.order, pair.name, pair.either.trial.agent))
    parts = paired_points(found if same_judge else (), left.reader, right.reader)
    compared = [pair for pair in pairs if pair.gap is not None]
    means = [
        statistics.fmean(getattr(pair, side).mean.points for pair in compared) if compared else None
        for side in ("left", "right")
    ]
    gap = difference(*means)
    count = tally(pair.gap or 0.0 for pair in compared)
    common, only_left, only_right = panes.in_each(pairs)
    conditions = _conditions(left, right)

    note = [f"{panes.wins(count)} by means of repeats", by_judges(*scales)]
    note += (
        [f"different conditions: {'; '.join(f'{what} {a} | {b}' for what, a, b in conditions)}"] if conditions else []
    )
    note += [f"joined whatever the {' and the '.join(ignored)}"] if ignored else []
    adjusted = "of tiers and of criteria adjusted for their number (Holm)"
    notes = [f"p by a {parts[0].paired.test.rule}; {adjusted}."] if parts else []
    notes += [] if same_judge else ["workbench rescore scores both sides by one judge."]
    shown = [NOTHING if one is None else f"{one:.1f}" for one in means]

    def choose(a: SessionReader, b: SessionReader, rows: Mapping[str, Any]) -> panes.Leads:
        row = rows["Trials"]
        both = () if row is None else ((row.left, False), (row.right, True))
        return tuple(panes.Lead("trial", one.trial.id, of_b) for one, of_b in both if one is not None)

    return panes.PairComparison(
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


def _conditions(left: ChosenTrials, right: ChosenTrials) -> list[tuple[str, str, str]]:
    sides, found = (left, right), []
    plans = [[settings_of(run.config) for run in side.reader.all_runs() if run.id in side.runs] for side in sides]
    for key, name in AGENT_LIMITS.items():
        a, b = (", ".join(sorted({str(plan[key]) for plan in of if plan.get(key)})) or "not known" for of in plans)
        found += [(name, a, b)] if a != b else []
    contents = [{row.case_id: row.content for row in side.rows.values() if row.content} for side in sides]
    changed = sum(contents[0][case] != contents[1][case] for case in contents[0].keys() & contents[1].keys())
    return [*found, *([("content", "as it was", f"changed in {changed:,} cases")] if changed else [])]


def _trials_pane(pairs: Sequence[TrialPair]) -> panes.PaneTable[TrialPair]:
    def who(pair: TrialPair) -> panes.Cell:
        trials = (one.trial for one in (pair.left, pair.right) if one is not None)
        names = dict.fromkeys(f"{one.agent} · {one.model.rpartition('/')[2]}" for one in trials)
        return one_line(" | ".join(names), 200), "dim"

    def repeats(pair: TrialPair) -> str:
        return "|".join(dict.fromkeys(NOTHING if one is None else one.count for one in (pair.left, pair.right)))

    def points(one: ScoredTrial | None) -> str:
        if one is None or one.mean.points is None:
            return NOTHING if one is None else "?"
        return panes.points(one.mean.points, one.mean.out_of)

    return panes.PaneTable(
        summary=panes.in_each_words(pairs),
        rows=pairs,
        columns=(
            panes.texts("case", lambda pair: (one_line(pair.name, 200), "strong"), 12, 60, cut="end"),
            panes.texts("agent · model", who, 14, 120),
            panes.PaneColumn("repeats", repeats, 7, 16),
            *panes.sided("{}", points),
            panes.gap_column("B − A", 0, 8, 1),
        ),
        nothing="Neither side has a trial of its own.",
        page="all",
    )


TRIAL_SETS = panes.ComparisonKind("trials", "two sets of trials", ("Points", "Trials"), read_sets)
