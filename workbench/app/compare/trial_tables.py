"""What two trials, or two runs of trials, differ in: steps, points, files, and the trials of each run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from workbench.app.compare.difference_list import Differences
from workbench.app.compare.wording import NOTHING, ONLY_A, ONLY_B, SAME, change, of_change, sided, signed, wrapped
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.document import prepared
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import (
    Comparison,
    CriterionPair,
    FilePair,
    PairedPoints,
    ScoredTrial,
    StepPair,
    TierPair,
    TrialsComparison,
    TrialsPair,
)
from workbench.rubric.scorecard import Criterion
from workbench.session.json_forms import TIER_NAMES
from workbench.session.rows import StepRow
from workbench.text import one_line, shortened

Point = TierPair | CriterionPair


def _step(pair: StepPair) -> StepRow:
    step = pair.left or pair.right
    assert step is not None
    return step


def _number(step: StepRow | None) -> str:
    return NOTHING if step is None else f"{step.number:,}"


def _target(pair: StepPair) -> str:
    if pair.left is not None and pair.right is not None and pair.left.target != pair.right.target:
        mine, other = one_line(pair.left.target, 200).split(), one_line(pair.right.target, 200).split()
        common = len(list(takewhile(lambda words: words[0] == words[1], zip(mine, other, strict=False))))
        return " ".join([*mine[:common], "A", *mine[common:], "· B", *other[common:]])
    return one_line(_step(pair).target, 400)


def _look(how: str) -> Part:
    return {
        "read": ("● read", "seen-read"),
        "partly read": ("◐ partly", "seen-read"),
        "listed": ("○ listed", "seen-listed"),
        "": ("· unseen", "dim"),
    }.get(how, (how, ""))


def _title(row: Point) -> Part:
    if isinstance(row, CriterionPair):
        return one_line(row.title, 60), ""
    return f"{row.number} {TIER_NAMES.get(row.number, f'Tier {row.number}')}", "strong"


def _points_of(row: Point, side: float | Criterion | None) -> Part:
    if isinstance(row, CriterionPair) and side is None:
        return NOTHING, ""
    points = side.points if isinstance(side, Criterion) else side
    return "?" if points is None else f"{points:.1f}", "strong" if isinstance(row, TierPair) else ""


def _why(row: Point) -> Part:
    return (why(row), "dim") if isinstance(row, CriterionPair) and row.differs else ("", "dim")


def why(pair: CriterionPair) -> str:
    """Return the reason of the trial with fewer points, or without any."""
    a, b = pair.left, pair.right
    if pair.difference is None:
        # An unscored one first: that is the reason why there is no difference.
        name, lesser = ("B", b) if a is not None and a.points is not None else ("A", a)
    else:
        name, lesser = ("B", b) if pair.difference < 0 else ("A", a)
    return f"{name}: {_reason(lesser)}"


def reasons(pair: CriterionPair | None, width: int, lines: int) -> str:
    """Return both reasons, each in at most so many lines; "" without a criterion."""
    if pair is None:
        return ""
    if pair.left is not None and pair.right is not None and pair.left.reason == pair.right.reason:
        return wrapped(f"A and B: {_reason(pair.left)}", width, 2 * lines)
    return "\n".join(
        wrapped(f"{name}: {_reason(one)}", width, lines) for name, one in (("A", pair.left), ("B", pair.right))
    )


def _reason(judged: Criterion | None) -> str:
    if judged is None:
        return "not in its scorecard"
    # Who judged stands above; here it would take the room of the reason.
    reason = one_line(prepared(judged.reason), 2_000).removeprefix("offline judge: ")
    return reason or "no reason was recorded"


def _case(pair: TrialsPair) -> Part:
    return one_line(pair.either.trial.case_name or pair.either.trial.case_id, 200), "strong"


def _who(pair: TrialsPair) -> Part:
    sides = [side.trial for side in (pair.left, pair.right) if side is not None]
    names = dict.fromkeys(f"{trial.agent} · {trial.model.rpartition('/')[2]}" for trial in sides)
    return one_line(" | ".join(names), 200), "dim"


def _repeats(pair: TrialsPair) -> Part:
    counts = dict.fromkeys(NOTHING if one is None else f"{one.scored:,}" for one in (pair.left, pair.right))
    return "|".join(counts), ""


def _scored(read: Callable[[TrialsPair], ScoredTrial | None]) -> Callable[[TrialsPair], Part]:
    def cell(pair: TrialsPair) -> Part:
        one = read(pair)
        if one is None or one.points is None:
            return NOTHING if one is None else "?", ""
        return f"{one.points:.1f}" + (f"/{one.out_of:.0f}" if one.out_of != 100 else ""), ""

    return cell


def _change(value: float | None, digits: int) -> Part:
    return change(value, digits) or NOTHING, of_change(value) or "dim"


def _step_columns(comparison: Comparison) -> tuple[Column[StepPair], ...]:
    last = max((step.number for side in (comparison.left, comparison.right) for step in side.steps), default=0)
    size = max(2, len(f"{last:,}"))
    return (
        Column(title="A", cell=lambda pair: (_number(pair.left), "dim"), width=size),
        Column(title="B", cell=lambda pair: (_number(pair.right), "dim"), width=size),
        Column(title="action", cell=lambda pair: one_line(_step(pair).action, 15), width=15, text=True),
        Column(title="target", cell=_target, width=8, widest=400, text=True),
    )


STEPS: Differences[Comparison, StepPair] = Differences(
    rows=lambda comparison: comparison.steps,
    columns=_step_columns,
    sign=lambda pair: (SAME, "dim") if pair.same else (ONLY_A, "only-a") if pair.left else (ONLY_B, "only-b"),
    nothing="Neither trial has a step.",
    by_stretch=True,
)
"""The steps of both trials, aligned."""
FILES: Differences[Comparison, FilePair] = Differences(
    rows=lambda comparison: comparison.files,
    columns=lambda comparison: (
        Column(title="A", cell=lambda pair: _look(pair.left), width=8, text=True),
        Column(title="B", cell=lambda pair: _look(pair.right), width=8, text=True),
        Column(title="path", cell=lambda pair: pair.path, width=8, widest=400, text=True, shorten=shortened),
    ),
    sign=lambda pair: {0: (SAME, "dim"), -1: (ONLY_A, "only-a"), 1: (ONLY_B, "only-b")}[pair.closer],
    nothing="Neither agent saw a file.",
)
"""The files that either agent saw, and how closely each looked."""


def _points_rows(comparison: Comparison) -> list[Point]:
    rows: list[Point] = []
    for tier in comparison.tiers:
        rows += [tier, *tier.criteria]
    return rows


def _points_sign(row: Point) -> Part:
    if isinstance(row, TierPair):
        return "", ""
    return "≠" if row.differs else SAME, of_change(row.difference) or "dim"


def _no_points(comparison: Comparison) -> str:
    left, right = (one_line(side.no_card, 400) for side in (comparison.left, comparison.right))
    return f"A and B: {left}" if left == right else f"A: {left}\nB: {right}"


POINTS: Differences[Comparison, Point] = Differences(
    rows=_points_rows,
    columns=lambda comparison: (
        Column(title="criterion", cell=_title, width=14, widest=28, text=True),
        Column(title="A", cell=lambda row: _points_of(row, row.left), width=6),
        Column(title="B", cell=lambda row: _points_of(row, row.right), width=6),
        Column(title="B − A", cell=lambda row: (change(row.difference, 1), of_change(row.difference)), width=6),
        Column(title="why", cell=_why, width=12, widest=2_000, text=True, priority=1),
    ),
    sign=_points_sign,
    nothing=_no_points,
    heading=lambda row: isinstance(row, TierPair),
    below=lambda row, width, lines: reasons(row if isinstance(row, CriterionPair) else None, width, lines),
)
"""The points of both trials, criterion by criterion under their tiers, and why one has fewer."""
TRIALS: Differences[TrialsComparison, TrialsPair] = Differences(
    rows=lambda comparison: comparison.pairs,
    columns=lambda comparison: (
        Column(title="case", cell=_case, width=12, widest=60, text=True),
        Column(title="agent · model", cell=_who, width=14, widest=120, text=True, shorten=shortened),
        Column(title="repeats", cell=_repeats, width=7),
        Column(title="A", cell=_scored(lambda pair: pair.left), width=8),
        Column(title="B", cell=_scored(lambda pair: pair.right), width=8),
        Column(title="B − A", cell=lambda pair: _change(pair.difference, 1), width=8),
    ),
    sign=lambda pair: sided(pair.left, pair.right) or signed(pair.difference),
    nothing="Neither side has a trial of its own.",
)
"""The trials of two runs, agents or models; the largest differences first."""


def _part(row: PairedPoints) -> Part:
    if row.title:
        return f"{row.tier} {one_line(row.title, 60)}", ""
    return f"tier {row.tier} {TIER_NAMES.get(row.tier, '')}".rstrip() if row.tier else "total", "strong"


def _bounds(row: PairedPoints) -> Part:
    low, high = row.difference.interval.low, row.difference.interval.high
    return (NOTHING if low is None or high is None else f"{change(low, 1)} to {change(high, 1)}"), "dim"


def _compared(row: PairedPoints) -> Part:
    return f"{row.trials:,} of {row.trials + row.missing:,}" if row.missing else f"{row.trials:,}", "dim"


PAIRED_POINTS: Differences[TrialsComparison, PairedPoints] = Differences(
    rows=lambda comparison: sorted(comparison.points, key=lambda one: (bool(one.title), one.title and -abs(one.gap))),
    columns=lambda comparison: (
        Column(title="points", cell=_part, width=14, widest=44, text=True, shorten=shortened),
        Column(title="B − A", cell=lambda row: _change(row.gap, 1), width=6),
        Column(title="95 % interval", cell=_bounds, width=14),
        Column(title="p (Holm)", cell=lambda row: "" if row.adjusted is None else f"{row.adjusted:.2g}", width=8),
        Column(title="A", cell=lambda row: f"{row.left:.1f}", width=6, priority=2),
        Column(title="B", cell=lambda row: f"{row.right:.1f}", width=6, priority=2),
        Column(title="cases won", cell=lambda row: (f"B {row.cases.wins:,} of {row.cases.items:,}", "dim"), width=12, priority=1),
        Column(title="trials", cell=_compared, width=8, priority=1),
    ),
    sign=lambda row: signed(row.gap),
    nothing="No trial of both is scored by one judge, so no points can be compared.",
)  # fmt: skip
"""The total, the tiers and the criteria, the largest difference first, each paired by case."""
