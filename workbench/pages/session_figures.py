"""Figures of a session: points by trial and tier, the distribution of points, and pass@k by task.

A matrix has up to :data:`MOST_ROWS` rows; if there are more items, they become columns or are counted in bins, and the
caption says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.text import NOTHING, percent, plural, share
from workbench.pages import wording
from workbench.pages.page import Heat, HeatCell, HistogramRow, Histograms, Strip, Strips
from workbench.pages.svg import MOST_COLUMNS
from workbench.results.contents import Contents, Regenerated, Trial
from workbench.results.forks import SIGN
from workbench.results.scores import GOOD, MIDDLING, standing
from workbench.results.spread import Total, comparable, spread_of
from workbench.session.json_forms import TIER_NAMES
from workbench.statistics.histogram import histogram, means_of_runs

if TYPE_CHECKING:
    from workbench.regeneration.outcome import GroupOutcome, TaskResult

MOST_ROWS = 40
"""The maximum number of rows of a matrix."""
MOST_GROUPS = 12
"""The maximum number of rows of a histogram."""
_MOST_HEADINGS = 8
_POINT_BINS, _RATE_BINS = 20, 10
_TONES = {"good": "good", "middling": "warn", "poor": "bad"}
_SCALE = (
    f"Colours are absolute: good from {percent(GOOD)} of the points, middling from {percent(MIDDLING)}, poor below."
)


def points_by_trial(contents: Contents) -> Heat | Strips | None:
    """Return the points by trial and tier, by the first rubric and judge, or None if nothing was scored."""
    if not contents.judged:
        return None
    numbers = sorted({number for trial in contents.trials for number in _tiers(contents, trial)})
    if len(contents.trials) > MOST_ROWS:
        return _strips(contents, numbers)
    names = _labels(contents.trials)
    rows = []
    for name, trial in zip(names, contents.trials, strict=True):
        sums = _tiers(contents, trial)
        cells = [_cell(sums.get(number)) for number in numbers]
        rows.append((name, (*cells, _total_cell(contents, trial))))
    caption = f"Points by trial and tier ({_by(contents)}). {_SCALE} ?: unscored, –: not judged."
    return Heat(caption, (*map(_tier_name, numbers), "total"), tuple(rows), _describe_trials(contents, numbers))


def _tiers(contents: Contents, trial: Trial) -> dict[int, tuple[float | None, float]]:
    if trial.main is None or (trial.main.rubric, trial.main.judge) != contents.judged[0]:
        return {}
    return {number: (tier.points, tier.maximum) for number, tier in trial.tiers.items() if tier.maximum > 0}


def _tier_name(number: int) -> str:
    return f"T{number} {TIER_NAMES.get(number, '').lower()}".strip()


def _by(contents: Contents) -> str:
    rubric, judge = contents.judged[0]
    return f"{rubric} by {judge}"


def _cell(points: tuple[float | None, float] | None) -> HeatCell:
    if points is None:
        return HeatCell(None, NOTHING, "not judged")
    share = _share(points)
    return HeatCell(None, "?", "unscored") if share is None else _toned(share, wording.of(*points))


def _toned(share: float, text: str) -> HeatCell:
    stands = standing(share)
    return HeatCell(share, text, f"{percent(share)}, {stands}", _TONES[stands])


def _total_cell(contents: Contents, trial: Trial) -> HeatCell:
    """Return a trial's total, or the model's own points if they are known.

    Only a total over all tiers has a colour.
    """
    if trial.score(contents.judged[0]) is None:
        return HeatCell(None, NOTHING, "not judged")
    total = _total(contents, trial)
    share = _whole(contents, trial)
    if share is None:
        return HeatCell(None, wording.of(total.points, total.out_of), "tiers are unscored")
    return _toned(share, f"{wording.of(*total.own)} own" if total.own else wording.of(total.points, total.out_of))


def _whole(contents: Contents, trial: Trial) -> float | None:
    share = _total(contents, trial).share
    return None if share is None else share / 100


def _share(points: tuple[float | None, float] | None) -> float | None:
    return None if points is None or points[0] is None or points[1] <= 0 else points[0] / points[1]


def _labels(trials: Sequence[Trial]) -> list[str]:
    """Return labels of trials: the case, and the agent, model and repeat if these differ between trials."""
    agents = {trial.row.agent for trial in trials}
    models = {trial.row.model for trial in trials}
    repeats = {trial.row.repeat for trial in trials}

    def label(trial: Trial) -> str:
        row = trial.row
        case = (SIGN + " " if row.parent else "") + (row.case_name or row.case_id)
        names = (row.agent if len(agents) > 1 else "", row.model if len(models) > 1 else "")
        return " · ".join(
            filter(None, (case, trial.content_suffix, *names, str(row.repeat) if len(repeats) > 1 else ""))
        )

    return [label(trial) for trial in trials]


def _strips(contents: Contents, numbers: Sequence[int]) -> Strips:
    whole = {trial.row.id: _whole(contents, trial) for trial in contents.trials}
    ordered = sorted(contents.trials, key=lambda trial: (whole[trial.row.id] is None, -(whole[trial.row.id] or 0.0)))
    shares = {"total": [whole[trial.row.id] for trial in ordered]}
    for number in numbers:
        shares[_tier_name(number)] = [_share(_tiers(contents, trial).get(number)) for trial in ordered]
    rows = []
    each = 1
    for name, values in shares.items():
        means, each = means_of_runs(values, MOST_COLUMNS)
        columns = tuple(None if mean is None else (mean, _TONES[standing(mean)]) for mean in means)
        rows.append(Strip(name, columns, _standings(values)))
    column = "A column is a trial" if each == 1 else f"A column is the mean of {each:,} trials"
    caption = (
        f"Points of {len(ordered):,} trials by tier, sorted by total ({_by(contents)}). {column}; its height is the share of the "
        f"maximum, lines mark {percent(MIDDLING)} and {percent(GOOD)}. {_SCALE} Gaps are unscored. The table below has the names."
    )
    return Strips(caption, tuple(rows), (MIDDLING, GOOD, 1.0), _describe_trials(contents, numbers))


def _standings(shares: Sequence[float | None]) -> str:
    counts = Counter("unscored" if share is None else standing(share) for share in shares)
    return " · ".join(f"{counts[one]:,} {one}" for one in ("good", "middling", "poor", "unscored") if counts[one])


def _describe_trials(contents: Contents, numbers: Sequence[int]) -> str:
    sentences = [f"Total: {_standings([_whole(contents, trial) for trial in contents.trials])}."]
    for number in numbers:
        shares = [_share(_tiers(contents, trial).get(number)) for trial in contents.trials]
        sentences.append(f"{_tier_name(number)}: {_standings(shares)}.")
    return " ".join(sentences)


def distribution_of_points(contents: Contents) -> Histograms | None:
    """Return the distribution of points by agent and model, without forks, or None if nothing was scored."""
    if not contents.judged:
        return None
    drawn = [trial for trial in contents.trials if not trial.row.parent]
    counted = comparable([_total(contents, trial) for trial in drawn])
    if not counted:
        return None
    out_of, tiers = counted[0].out_of, counted[0].tiers
    several = len({trial.row.model for trial in drawn}) > 1
    groups: dict[str, list[Total]] = {}
    for trial in drawn:
        name = f"{trial.row.agent} · {trial.row.model}" if several else trial.row.agent
        groups.setdefault(name, []).append(_total(contents, trial))
    kept = set(sorted(groups, key=lambda name: -len(groups[name]))[:MOST_GROUPS])
    rows = []
    for name, mine in groups.items():
        if name not in kept:
            continue
        same = [one for one in mine if one.tiers == tiers]
        spread = spread_of(same, trials=len(mine))
        text = f"{spread.scored:,} of {spread.trials:,} scored"
        text += f", own points {spread.own[0]:.1f} of {spread.own[1]:.1f}" if spread.own else ""
        text += "" if spread.mean is None else f", mean {spread.mean:.1f}"
        text += "" if spread.sd is None else f" ± {spread.sd:.1f}"
        bins = histogram([one.points for one in same if one.points is not None], 0.0, out_of, _POINT_BINS)
        toned = tuple((one, _TONES[standing((one.low + one.high) / 2 / out_of)]) for one in bins)
        rows.append(HistogramRow(name, toned, spread.mean, text))
    left_out = len(contents.trials) - len(drawn)
    partial = sum(_total(contents, trial).points is not None for trial in drawn) - len(counted)
    unit = f"points of {out_of:g}"
    caption = (
        f"Distribution of points: trials by {unit} ({_by(contents)}). The vertical line is the mean; colours as above."
        + (f" {plural(partial, 'trial')} with points of fewer tiers excluded." if partial else "")
        + (f" {plural(left_out, 'fork')} of recorded trials excluded." if left_out else "")
        + (f" The {MOST_GROUPS} of {len(groups):,} agents with the most trials." if len(groups) > MOST_GROUPS else "")
    )
    return Histograms(caption, tuple(rows), unit, 0.0, out_of, "trials", _describe_rows(rows))


def _total(contents: Contents, trial: Trial) -> Total:
    return contents.total(trial, contents.judged[0])


def _describe_rows(rows: Sequence[HistogramRow]) -> str:
    return " ".join(f"{row.label}: {row.text}." for row in rows)


def pass_at_k_by_task(outcome: Regenerated) -> Heat | Histograms | None:
    """Return pass@k by task and group, or None if there is nothing to show."""
    asked = [(outcome.name(one.group), one) for one in outcome.groups if not one.control]
    columns = [(f"{name} pass@{k}", one, k) for name, one in asked for k in outcome.ks]
    sampled = {result.task for _, one in asked for result in one.results}
    tasks = [task for task in outcome.tasks if task.id in sampled]
    if not columns or not tasks:
        return None
    means = ", ".join(
        f"{name} pass@{estimate.k} {share(estimate.value)}" for name, one in asked for estimate in one.figures.pass_at
    )
    description = f"{plural(len(tasks), 'task')}; means: {means}."
    if len(tasks) > MOST_ROWS or len(columns) > _MOST_HEADINGS:
        return _counted_tasks(columns, description)
    results = [{result.task: result for result in one.results} for _, one, _ in columns]
    rows = []
    for task in tasks:
        cells = [_rate(mine.get(task.id), k) for mine, (_, _, k) in zip(results, columns, strict=True)]
        rows.append((task.qualified_name, tuple(cells)))
    caption = "pass@k by task: the stronger the colour, the more samples passed. –: fewer than k samples."
    return Heat(caption, tuple(name for name, _, _ in columns), tuple(rows), description)


def _rate(result: TaskResult | None, k: int) -> HeatCell:
    value = None if result is None else result.at(k)
    if result is None or value is None:
        return HeatCell(None, NOTHING, "too few samples")
    return HeatCell(value, share(value), f"{result.passed:,} of {result.counted:,} passed")


def _counted_tasks(columns: Sequence[tuple[str, GroupOutcome, int]], description: str) -> Histograms:
    rows = []
    for name, one, k in columns[:MOST_GROUPS]:
        values = [value for result in one.results if (value := result.at(k)) is not None]
        mean = next(estimate.value for estimate in one.figures.pass_at if estimate.k == k)
        text = f"{plural(len(values), 'task')}, mean {share(mean)}"
        bins = histogram(values, 0.0, 1.0, _RATE_BINS) if values else ()
        rows.append(HistogramRow(name, tuple((each, "") for each in bins), mean, text))
    caption = "Distribution of pass@k over tasks. The vertical line is the mean; the table below has each task." + (
        f" The first {MOST_GROUPS} rows of {len(columns):,}." if len(columns) > MOST_GROUPS else ""
    )
    return Histograms(caption, tuple(rows), "pass@k of a task", 0.0, 1.0, "tasks", description)
