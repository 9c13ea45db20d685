"""What two trials, or two runs of trials, differ in: steps, points, files, and the trials of each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from workbench.app.compare.difference_list import DifferenceTable, Kind
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


class StepRows(DifferenceTable[Comparison, StepPair]):
    """The steps of both trials, aligned: a row for each step that both took, or that only one took."""

    by_stretch = True
    nothing = "Neither trial has a step."

    def rows_of(self, comparison: Comparison) -> Sequence[StepPair]:
        """Return the aligned steps."""
        return comparison.steps

    def columns_of(self, comparison: Comparison) -> Sequence[Column[StepPair]]:
        """Return the number of the step on each side, its action and target."""
        last = max((step.number for side in (comparison.left, comparison.right) for step in side.steps), default=0)
        size = max(2, len(f"{last:,}"))
        return (
            Column(title="A", cell=lambda pair: (_number(pair.left), "dim"), width=size),
            Column(title="B", cell=lambda pair: (_number(pair.right), "dim"), width=size),
            Column(title="action", cell=lambda pair: one_line(_step(pair).action, 15), width=15, text=True),
            Column(title="target", cell=_target, width=8, widest=400, text=True),
        )

    def sign_of(self, row: StepPair) -> Part:
        """Return who took the step."""
        return (SAME, "dim") if row.same else (ONLY_A, "only-a") if row.left else (ONLY_B, "only-b")


def _step(pair: StepPair) -> StepRow:
    step = pair.left or pair.right
    assert step is not None
    return step


def _number(step: StepRow | None) -> str:
    return NOTHING if step is None else f"{step.number:,}"


def _target(pair: StepPair) -> str:
    """Return the target, or both where a step that both took has two."""
    if pair.left is not None and pair.right is not None and pair.left.target != pair.right.target:
        mine, other = one_line(pair.left.target, 200).split(), one_line(pair.right.target, 200).split()
        common = len(list(takewhile(lambda words: words[0] == words[1], zip(mine, other, strict=False))))
        return " ".join([*mine[:common], "A", *mine[common:], "· B", *other[common:]])
    return one_line(_step(pair).target, 400)


class FileRows(DifferenceTable[Comparison, FilePair]):
    """The files that either agent saw, and how closely each looked."""

    nothing = "Neither agent saw a file."

    def rows_of(self, comparison: Comparison) -> Sequence[FilePair]:
        """Return the files, by name."""
        return comparison.files

    def columns_of(self, comparison: Comparison) -> Sequence[Column[FilePair]]:
        """Return how each looked, and the path."""
        return (
            Column(title="A", cell=lambda pair: _look(pair.left), width=8, text=True),
            Column(title="B", cell=lambda pair: _look(pair.right), width=8, text=True),
            Column(title="path", cell=lambda pair: pair.path, width=8, widest=400, text=True, shorten=shortened),
        )

    def sign_of(self, row: FilePair) -> Part:
        """Return who looked closer."""
        return {0: (SAME, "dim"), -1: (ONLY_A, "only-a"), 1: (ONLY_B, "only-b")}[row.closer]


def _look(how: str) -> Part:
    return {
        "read": ("● read", "seen-read"),
        "listed": ("○ listed", "seen-listed"),
        "": ("· unseen", "dim"),
    }.get(how, (how, ""))


class PointRows(DifferenceTable[Comparison, TierPair | CriterionPair]):
    """The points of both trials, criterion by criterion under their tiers, and why one has fewer."""

    def rows_of(self, comparison: Comparison) -> Sequence[TierPair | CriterionPair]:
        """Return each tier and its criteria."""
        rows: list[TierPair | CriterionPair] = []
        for tier in comparison.tiers:
            rows += [tier, *tier.criteria]
        return rows

    def columns_of(self, comparison: Comparison) -> Sequence[Column[TierPair | CriterionPair]]:
        """Return the points of each, the difference, and the reason of who has less."""
        return (
            Column(title="criterion", cell=_title, width=14, widest=28, text=True),
            Column(title="A", cell=lambda row: _points_of(row, row.left), width=6),
            Column(title="B", cell=lambda row: _points_of(row, row.right), width=6),
            Column(title="B − A", cell=lambda row: (change(row.difference, 1), of_change(row.difference)), width=6),
            Column(title="why", cell=_why, width=12, widest=2_000, text=True, priority=1),
        )

    def sign_of(self, row: TierPair | CriterionPair) -> Part:
        """Return whether the points differ; a tier has no sign."""
        if isinstance(row, TierPair):
            return "", ""
        return "≠" if row.differs else SAME, of_change(row.difference) or "dim"

    def kind_of(self, row: TierPair | CriterionPair) -> Kind:
        """Tiers are headings."""
        return Kind.HEADING if isinstance(row, TierPair) else super().kind_of(row)

    @property
    def criterion(self) -> CriterionPair | None:
        """The criterion under the cursor."""
        return self.selected if isinstance(self.selected, CriterionPair) else None

    def on_resize(self) -> None:
        """Have the reasons wrapped for the new width, too."""
        super().on_resize()
        self.post_message(self.Moved(self, self.cursor))

    def empty_text(self, comparison: Comparison) -> str:
        """Return why there are no points."""
        left, right = (one_line(side.no_card, 400) for side in (comparison.left, comparison.right))
        return f"A and B: {left}" if left == right else f"A: {left}\nB: {right}"


def _title(row: TierPair | CriterionPair) -> Part:
    if isinstance(row, CriterionPair):
        return one_line(row.title, 60), ""
    return f"{row.number} {TIER_NAMES.get(row.number, f'Tier {row.number}')}", "strong"


def _points_of(row: TierPair | CriterionPair, side: float | Criterion | None) -> Part:
    if isinstance(row, CriterionPair) and side is None:
        return NOTHING, ""
    points = side.points if isinstance(side, Criterion) else side
    return "?" if points is None else f"{points:.1f}", "strong" if isinstance(row, TierPair) else ""


def _why(row: TierPair | CriterionPair) -> Part:
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


class PairedPointRows(DifferenceTable[TrialsComparison, PairedPoints]):
    """The total, the tiers and the criteria of two sides, each paired by case, with its interval and its test."""

    nothing = "No trial of both is scored by one judge, so no points can be compared."

    def rows_of(self, comparison: TrialsComparison) -> Sequence[PairedPoints]:
        """Return total and tiers, then the criteria, the largest difference first."""
        parts = [one for one in comparison.points if not one.title]
        return parts + sorted((one for one in comparison.points if one.title), key=lambda one: -abs(one.gap))

    def columns_of(self, comparison: TrialsComparison) -> Sequence[Column[PairedPoints]]:
        """Return what is compared, the mean of each side, the difference and how sure it is."""
        return (
            Column(title="points", cell=_part, width=14, widest=44, text=True, shorten=shortened),
            Column(title="B − A", cell=lambda row: _change(row.gap, 1), width=6),
            Column(title="95 % interval", cell=_bounds, width=14),
            Column(
                title="p (Holm)", cell=lambda row: ("" if row.adjusted is None else f"{row.adjusted:.2g}", ""), width=8
            ),
            Column(title="A", cell=lambda row: (f"{row.left:.1f}", ""), width=6, priority=2),
            Column(title="B", cell=lambda row: (f"{row.right:.1f}", ""), width=6, priority=2),
            Column(title="cases won", cell=_cases_won, width=12, priority=1),
            Column(title="trials", cell=_trials, width=8, priority=1),
        )

    def sign_of(self, row: PairedPoints) -> Part:
        """Return which side has more points."""
        return signed(row.gap)


def _part(row: PairedPoints) -> Part:
    if row.title:
        return f"{row.tier} {one_line(row.title, 60)}", ""
    return (
        ("total", "strong") if not row.tier else (f"tier {row.tier} {TIER_NAMES.get(row.tier, '')}".rstrip(), "strong")
    )


def _bounds(row: PairedPoints) -> Part:
    low, high = row.difference.interval.low, row.difference.interval.high
    return (NOTHING if low is None or high is None else f"{change(low, 1)} to {change(high, 1)}"), "dim"


def _cases_won(row: PairedPoints) -> Part:
    cases = row.difference.repositories
    return f"B {cases.wins:,} of {cases.items:,}", "dim"


def _trials(row: PairedPoints) -> Part:
    return f"{row.trials:,} of {row.trials + row.missing:,}" if row.missing else f"{row.trials:,}", "dim"


class RunTrialRows(DifferenceTable[TrialsComparison, TrialsPair]):
    """The trials of both sides: mean points of each, and what B has more or less; the largest differences first."""

    nothing = "Neither side has a trial of its own."

    def rows_of(self, comparison: TrialsComparison) -> Sequence[TrialsPair]:
        """Return the trials of both."""
        return comparison.pairs

    def columns_of(self, comparison: TrialsComparison) -> Sequence[Column[TrialsPair]]:
        """Return case, agent and model, repeats, mean points of each and the difference."""
        return (
            Column(title="case", cell=_case, width=12, widest=60, text=True),
            Column(title="agent · model", cell=_who, width=14, widest=120, text=True, shorten=shortened),
            Column(title="repeats", cell=_repeats, width=7),
            Column(title="A", cell=_scored(lambda pair: pair.left), width=8),
            Column(title="B", cell=_scored(lambda pair: pair.right), width=8),
            Column(title="B − A", cell=lambda pair: _change(pair.difference, 1), width=8),
        )

    def sign_of(self, row: TrialsPair) -> Part:
        """Return which side has the trial, or more points."""
        return sided(row.left, row.right) or signed(row.difference)


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
