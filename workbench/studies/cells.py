"""The figures of trials, tasks, cells and columns by a measure, and what is missing from them, with reasons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from workbench.base.text import many, plural
from workbench.regeneration.passk import pass_at_k
from workbench.results.studies import Counts
from workbench.statistics.intervals import OF_TRIALS, ClusteredValues, Interval, Value, clusters_of, share_interval_of
from workbench.studies.cell_work import ARCHIVED, CellWork, TaskTally, TrialTally
from workbench.studies.declaration import AGENTS, USE, InJson, Study, StudyColumn, in_points

POINTS = 100.0
"""Trial scores are scaled to this maximum, whatever the total of the rubric."""
UNSCORED = "unscored"
JUDGED: dict[str, tuple[str, str]] = {
    "works": ("block", "not run"),
    "claims": ("claim", "undecided"),
    USE: ("answer", "without a verdict"),
}
"""What measures of agents that are shares count, and the word for what has no result; see :data:`SHARES`."""
SHARES = tuple(JUDGED)
DOUBTFUL, REPAIRED, CUT = "doubtful", "repaired", "cut"
"""Marks of candidates that are counted next to pass@k and that rankings can exclude.

Agents' answers can also be cut.
"""
CREDITED, FORMATTED = "credited for missing facts", "with points from the format"
"""Kinds of trials that are counted next to the score: those whose tier 3 points were credited by rule, and those whose
answer format earned more than 10% of the points.
"""

pass_at = lru_cache(maxsize=100_000)(pass_at_k)
Scale = tuple[str, str]
"""A rubric and a judge."""


class Missing(NamedTuple):
    """Items that no figure includes: their state (``unscored``, ``failed``, ``queued`` …), the reason, and a count."""

    kind: str
    why: str
    items: int

    @property
    def brief(self) -> str:
        return f"{self.items:,} {self.kind}"

    @property
    def words(self) -> str:
        """Return ``3 unscored: The judge gave no answer.``."""
        return self.brief + (f": {self.why}" if self.why else "")


def brief(missing: Iterable[Missing]) -> str:
    kinds: Counter[str] = Counter()
    for one in missing:
        kinds[one.kind] += one.items
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())


def counted_missing(found: Iterable[tuple[str, str] | Missing]) -> tuple[Missing, ...]:
    """Return missing items with those of the same kind and reason counted together."""
    counts: Counter[tuple[str, str]] = Counter()
    for one in found:
        counts[one[0], one[1]] += one.items if isinstance(one, Missing) else 1
    return tuple(Missing(kind, why, count) for (kind, why), count in counts.items())


WITHOUT = "without a value"
STATES = ("done", "running", "queued", "interrupted", UNSCORED, "failed", "cancelled", "missing")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval, in points out of 100 (``score`` and :data:`SHARES`) or as a share (``pass@k``).

    Attributes:
        missing: Trials without a score, or tasks with fewer than k counted samples, with reasons; the mean excludes
            them.
        own: For ``score``, the models' own points and their maximum, if the format of every answer earned more than
            10 %; otherwise None.
        judged: For :data:`SHARES`, the numbers of good, judged, and all blocks, claims or answers.
    """

    value: float | None
    interval: Interval
    items: int
    missing: tuple[Missing, ...] = ()
    rows: int = 1
    judged: tuple[int, int, int] | None = None
    own: tuple[float, float] | None = None

    @property
    def undefined(self) -> int:
        return sum(one.items for one in self.missing)

    def judged_words(self, measure: str) -> str:
        """Return the counts behind a share: ``8 of 10 blocks, 2 not run``."""
        good, judged, every = self.judged or (0, 0, 0)
        noun, left = JUDGED[measure]
        rest = f", {every - judged:,} {left}" if every > judged else ""
        return f"{good:,} of {plural(judged, noun)}{rest}"

    def to_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "interval": self.interval.words,
            "items": self.items,
            "undefined": self.undefined,
            "missing": [{"state": one.kind, "why": one.why or None, "count": one.items} for one in self.missing],
            "missing_in_words": "; ".join(one.words for one in self.missing) or None,
            "rows": self.rows,
            **({} if self.own is None else {"own": self.own[0], "own_of": self.own[1]}),
            **({} if self.judged is None else dict(zip(("good", "judged", "all"), self.judged, strict=True))),
        }


@dataclass(frozen=True, slots=True)
class StudyCell(InJson):
    """One row in one column, in one of the :data:`STATES`.

    Attributes:
        done: Number of trials that ended with a score, or of candidates with a verdict; ``planned`` is the expected total,
            or None if unknown.
        documented: Share of the tasks with a function that has a docstring.
        doubts: Number of doubtful passes, repaired passes, and answers cut at the token limit; zeros are omitted.
    """

    work: CellWork
    state: str
    done: int
    planned: int | None
    means: Mapping[str, Mean]
    documented: float | None = None
    doubts: Mapping[str, int] = field(default_factory=dict)
    JSON = (
        "row column state done planned means documented doubts work.conditions:conditions work.left_out:left_out work.tokens:tokens "
        "work.cost_usd:cost work.seconds:seconds run? problem?"
    )

    @property
    def row(self) -> str:
        return self.work.row

    @property
    def column(self) -> StudyColumn:
        return self.work.column

    @property
    def problem(self) -> str:
        """Why the cell stopped, or what the first incomplete measure lacks and why; "" if there is no problem."""
        if self.state == "done":
            return ""
        missing = next((mean.missing for mean in self.means.values() if mean.missing), ())
        return self.work.problem or "; ".join(one.words for one in missing if one.why)

    @property
    def run(self) -> str:
        return self.work.run


# -- one trial or task


def score_of(trial: TrialTally, scale: Scale) -> float | None:
    """Return a trial's points out of 100, or None if that rubric and judge did not score all its tiers."""
    card = trial.scores.get(scale)
    return card.points if card is not None and trial.state == "done" else None


def value_of(trial: TrialTally, measure: str, scale: Scale) -> float | None:
    """Return a trial's value of an agent measure in points out of 100 (also for shares), or None if it has none."""
    if measure == "score":
        return score_of(trial, scale)
    if measure == USE:
        return POINTS * trial.use if trial.use is not None else None
    good, of, _ = trial.checks.get(measure, (0, 0, 0))
    return POINTS * good / of if of else None


def missing_of(trial: TrialTally, measure: str, scale: Scale) -> tuple[str, str] | None:
    """Return why a trial lacks a value of a measure, as (kind, reason), or None if it has a value."""
    if value_of(trial, measure, scale) is not None:
        return None
    if trial.state != "done":
        return trial.state, trial.error
    if measure == "score":
        return UNSCORED, _unscored(trial, scale)
    if measure == USE:
        return "not measured", trial.use_problem if trial.readme else "no README was submitted"
    if measure in trial.checks:
        return "without a share", "no block was run" if measure == "works" else "all of its claims are undecided"
    return "not checked", "" if trial.readme else "no README was submitted"


def _unscored(trial: TrialTally, scale: Scale) -> str:
    rubric, judge = scale
    card = trial.scores.get(scale)
    if card is not None:
        tiers = ", ".join(map(str, card.unscored))
        return card.problem or f"{many('tier', len(card.unscored))} {tiers} without points"
    others = sorted(trial.scores)
    if not others:
        return "it has no scores"
    same = [by for of, by in others if of == rubric]
    by = ", ".join(same) if same else ", ".join(f"{of} by {by}" for of, by in others)
    mine = judge if same else f"{rubric} by {judge}"
    return f"scored by {by}, this study by {mine}: rescore"


def pass_of(task: TaskTally, k: int, without: str = "") -> float | None:
    """Return pass@k of a task, or None with fewer than k counted samples.

    ``without`` excludes cut answers from the samples, or doubtful or repaired candidates from the passes.
    """
    counted, passed = task.counted, task.passed
    if without == CUT:
        counted, passed = counted - task.cut, passed - task.cut_passed
    elif without:
        passed -= task.doubtful if without == DOUBTFUL else task.repaired
    return pass_at(counted, passed, k)


# -- cells


def as_trials(interval: Interval) -> Interval:
    return replace(interval, unit=OF_TRIALS[interval.unit])


def cell_of(work: CellWork, study: Study, scale: tuple[str, str]) -> StudyCell:
    """Return the figures of a cell, or of a part of one."""
    if study.kind == AGENTS:
        done = sum(
            score_of(trial, scale) is not None
            and not (study.settings.checks and trial.readme and "works" not in trial.checks)
            and not (study.settings.use and trial.readme and trial.use is None and not trial.use_ended)
            for trial in work.trials
        )
        means = {measure: _of_trials(work, measure, scale) for measure in study.measures}
        counted = [
            trial.totals[scale] for trial in work.trials if score_of(trial, scale) is not None and scale in trial.totals
        ]
        doubts = {
            CUT: sum(trial.cut for trial in work.trials),
            CREDITED: sum(one.credited for one in counted),
            FORMATTED: sum(one.own is not None for one in counted),
        }
        return StudyCell(work, _state(work, done), done, work.planned, means, doubts=nonzero(doubts))
    # Errors of the Workbench are not samples, because a resumed run tests these candidates again.
    done = sum(one[3] for one in work.counts)
    if work.planned is not None:
        done = min(done, work.planned)
    means = {f"pass@{k}": _pass(work, k, study.samples) for k in study.k}
    documented = documented_share(work.counts)
    doubts = {
        DOUBTFUL: sum(one[5] for one in work.counts),
        REPAIRED: sum(one[6] for one in work.counts),
        CUT: sum(one[7] for one in work.counts),
    }
    return StudyCell(work, _state(work, done), done, work.planned, means, documented, nonzero(doubts))


def nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def _of_trials(work: CellWork, measure: str, scale: tuple[str, str]) -> Mean:
    values = [value for trial in work.trials if (value := value_of(trial, measure, scale)) is not None]
    missing = [why for trial in work.trials if (why := missing_of(trial, measure, scale)) is not None]
    missing += [("not begun", work.problem)] * max(0, (work.planned or 0) - len(work.trials))
    mean = _points([Value(work.row, "", one) for one in values], counted_missing(missing))
    if measure == "score":
        return replace(mean, own=_own(work.trials, scale))
    judged = [trial.checks[measure] for trial in work.trials if measure in trial.checks]
    return replace(mean, judged=_sums(judged))


def _own(trials: Iterable[TrialTally], scale: tuple[str, str]) -> tuple[float, float] | None:
    every = [
        trial.totals[scale].own for trial in trials if score_of(trial, scale) is not None and scale in trial.totals
    ]
    known = [one for one in every if one is not None]
    if not known or len(known) < len(every):
        return None
    return math.fsum(own for own, _ in known) / len(known), math.fsum(of for _, of in known) / len(known)


def _sums(counts: Iterable[tuple[int, int, int]]) -> tuple[int, int, int]:
    good, of, every = ([one[at] for one in (*counts,)] for at in range(3))
    return sum(good), sum(of), sum(every)


def _state(work: CellWork, done: int) -> str:
    if work.planned is not None and done >= work.planned > 0:
        return "done"
    if not work.run and work.problem == ARCHIVED:
        return "missing"
    if work.problem and work.run_state not in ("running", "queued"):
        return "failed"
    if work.run_state == "done":
        # All trials have ended but some have no score, or there are no tasks left.
        return UNSCORED if any(trial.state == "done" for trial in work.trials) else "failed"
    return work.run_state or "missing"


def _points(values: Sequence[Value], missing: tuple[Missing, ...], rows: int = 1) -> Mean:
    shares = clusters_of(replace(one, value=one.value / POINTS) for one in values)
    interval = as_trials(share_interval_of(shares))
    if interval.low is not None and interval.high is not None:
        interval = replace(interval, low=POINTS * interval.low, high=POINTS * interval.high)
    return Mean(clusters_of(values).mean if values else None, interval, len(values), missing, rows)


def documented_share(counts: Counts) -> float | None:
    return sum(one[0].documented for one in counts) / len(counts) if counts else None


def _pass(work: CellWork, k: int, samples: int) -> Mean:
    files: dict[str, list[float]] = {}
    for info, _, _, counted, passed, *_ in work.counts:
        if (value := pass_at(counted, passed, k)) is not None:
            files.setdefault(info.file, []).append(value)
    count = sum(map(len, files.values()))
    undefined = len(work.counts) - count
    waiting = sum(bool(one[2]) and one[3] < k for one in work.counts) if undefined else 0
    ahead = 0 if work.session else max(0, (work.planned or 0) // samples - len(work.counts))
    few = f"fewer than {k} counted samples" if k > 1 else "no counted sample"
    missing = [
        Missing(WITHOUT, f"{few} yet", waiting),
        Missing(
            WITHOUT, f"{few}: the other candidates are workbench errors or were not requested", undefined - waiting
        ),
        Missing(WITHOUT, "not begun", ahead),
    ]
    if len(files) > 1:
        pairs = sorted((math.fsum(values), float(len(values))) for values in files.values())
        clusters = ClusteredValues("file", tuple(one for one, _ in pairs), tuple(size for _, size in pairs), count)
    else:
        clusters = clusters_of(Value("", file, value) for file, values in files.items() for value in values)
    return Mean(
        clusters.mean if count else None,
        share_interval_of(clusters),
        count,
        counted_missing(one for one in missing if one.items),
    )


def over_rows(measure: str, cells: Sequence[StudyCell], scale: tuple[str, str]) -> Mean:
    """Return the unweighted mean of a column's cells over their rows."""
    having = [cell for cell in cells if cell.means[measure].value is not None]
    missing = counted_missing(one for cell in cells for one in cell.means[measure].missing)
    if in_points(measure):
        values = [
            Value(cell.row, "", value)
            for cell in having
            for trial in cell.work.trials
            if (value := value_of(trial, measure, scale)) is not None
        ]
        judged = [one for cell in cells if (one := cell.means[measure].judged) is not None]
        own = None if measure != "score" else _own([trial for cell in cells for trial in cell.work.trials], scale)
        return replace(_points(values, missing, len(having)), judged=_sums(judged) if judged else None, own=own)
    if len(having) == 1:
        return replace(having[0].means[measure], missing=missing)
    items = sum(cell.means[measure].items for cell in having)
    means = sorted(cell.means[measure].value or 0.0 for cell in having)
    clusters = ClusteredValues("repository" if means else "", tuple(means), (1.0,) * len(means), items)
    return Mean(clusters.mean if means else None, share_interval_of(clusters), items, missing, len(having))
