"""Two trials of a session side by side: steps, files, points, READMEs, effort."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.comparison.alignment import align
from workbench.comparison.criteria import TierPair, difference, join_criteria
from workbench.comparison.words import TextDiff, word_diff
from workbench.grounding.exploration import LISTED, PARTLY, READ

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.rows import AccessedFileRow, StepRow, TrialRow

_HOW_CLOSELY = {LISTED: 1, PARTLY: 2, READ: 3}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two trials, as it was read.

    Attributes:
        trial: Its row.
        state: As a person should see it, ``interrupted`` and ``unscored`` included.
        told_apart: A mark of its content where another trial of the same name has other content, else "".
        steps: Its steps in order.
        seen: Files that its agent listed or read.
        readme: What it handed in, None where there is nothing to show.
        no_readme: Why there is no README, "" where there is one.
        cut: Whether the README goes on behind what was read.
        total: Points on the scale of the comparison, None where it has none.
        out_of: What they are out of.
        card: The scorecard, None where there is none.
        no_card: Why there are no criteria, "" where there are some.
        session: Name of its session's file.
        judge: By whose points it is compared.
        rubric: By which rubric.
        unscored: Numbers of the tiers without points.
    """

    trial: TrialRow
    state: str
    told_apart: str
    steps: tuple[StepRow, ...]
    seen: tuple[AccessedFileRow, ...]
    readme: str | None
    no_readme: str
    cut: bool
    total: float | None
    out_of: float
    card: Scorecard | None
    no_card: str
    session: str = ""
    judge: str = ""
    rubric: str = ""
    unscored: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        return self.trial.prompt_tokens + self.trial.completion_tokens


@dataclass(frozen=True, slots=True)
class StepPair:
    """A step that both took, or one that only one took (None for the other)."""

    left: StepRow | None
    right: StepRow | None

    @property
    def same(self) -> bool:
        return self.left is not None and self.right is not None


@dataclass(frozen=True, slots=True)
class FilePair:
    """How closely each agent looked at a path: ``read``, ``partly read``, ``listed``, or "" for not at all."""

    path: str
    left: str
    right: str

    @property
    def closer(self) -> int:
        """Return 0 where both looked equally closely, -1 where the left one looked closer, 1 where the right one did."""
        mine, other = _HOW_CLOSELY.get(self.left, 0), _HOW_CLOSELY.get(self.right, 0)
        return (other > mine) - (other < mine)


@dataclass(frozen=True, slots=True)
class Effort:
    """A figure of both trials, None where it is not known; ``comparable`` is False for points out of different sums."""

    name: str
    left: float | None
    right: float | None
    comparable: bool = True

    @property
    def difference(self) -> float | None:
        """The right one minus the left one, None unless both are known and can be compared."""
        return difference(self.left, self.right) if self.comparable else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two trials and how they differ; every difference is right minus left.

    Attributes:
        left: The first trial, A on the screen.
        right: The second trial, B on the screen.
        steps: All steps of both, aligned.
        files: All paths that either saw, by name.
        tiers: Points of both, by tier and criterion.
        readme: The READMEs, line by line and word by word.
        efforts: ``steps``, ``tokens``, ``seconds``, ``cost`` (US dollars) and ``score``, in this order.
    """

    left: Side
    right: Side
    steps: tuple[StepPair, ...]
    files: tuple[FilePair, ...]
    tiers: tuple[TierPair, ...]
    readme: TextDiff
    efforts: tuple[Effort, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "a": _side_json(self.left),
            "b": _side_json(self.right),
            "efforts": {
                one.name: {"a": one.left, "b": one.right, "difference": one.difference} for one in self.efforts
            },
            "points": [
                {
                    "tier": tier.number,
                    "criterion": one.title,
                    "a": one.left.points if one.left else None,
                    "b": one.right.points if one.right else None,
                    "difference": one.difference,
                    "reason_a": one.left.reason if one.left else None,
                    "reason_b": one.right.reason if one.right else None,
                }
                for tier in self.tiers
                for one in tier.criteria
            ],
            "steps": {
                "a": len(self.left.steps),
                "b": len(self.right.steps),
                "common": sum(pair.same for pair in self.steps),
            },
            "files": [{"path": one.path, "a": one.left or None, "b": one.right or None} for one in self.files],
            "words": {
                "a": self.readme.left_words,
                "b": self.readme.right_words,
                "common": self.readme.common_words,
            },
        }


def _side_json(side: Side) -> dict[str, Any]:
    trial = side.trial
    return {
        "session": side.session,
        "trial": trial.id,
        "agent": trial.agent,
        "model": trial.model,
        "case": trial.case_name or trial.case_id,
        "repeat": trial.repeat,
        "state": side.state,
        "judge": side.judge,
        "score": side.total,
        "out_of": side.out_of,
    }


def compare(left: Side, right: Side) -> Comparison:
    """Compare two trials; takes time that grows with the product of their sizes, see the parts for its bounds."""
    a, b = left.trial, right.trial
    return Comparison(
        left,
        right,
        align_steps(left.steps, right.steps),
        join_files(left.seen, right.seen),
        join_criteria(left.card, right.card),
        word_diff(left.readme, right.readme),
        (
            Effort("steps", a.steps, b.steps),
            Effort("tokens", left.tokens, right.tokens),
            Effort("seconds", a.seconds, b.seconds),
            Effort("cost", a.cost_usd, b.cost_usd),
            Effort("score", left.total, right.total, comparable=_same_scale(left, right)),
        ),
    )


def _same_scale(left: Side, right: Side) -> bool:
    scales = [(side.rubric, side.judge, side.unscored, side.out_of) for side in (left, right)]
    return scales[0] == scales[1]


def align_steps(left: Sequence[StepRow], right: Sequence[StepRow]) -> tuple[StepPair, ...]:
    """Align steps by the longest common subsequence of their actions; see :func:`action_of`."""
    places = align([action_of(step) for step in left], [action_of(step) for step in right])
    return tuple(
        StepPair(None if i is None else left[i], None if j is None else right[j]) for i, j in places
    )  # fmt: skip


def action_of(step: StepRow) -> tuple[str, str, str]:
    """Return what a step is compared by: kind, action and target.

    The target of a ``respond`` step is the size of the README, which two agents hardly ever share, so it does not count.
    """
    return step.kind, step.action, "" if step.kind == "respond" else step.target


def join_files(left: Iterable[AccessedFileRow], right: Iterable[AccessedFileRow]) -> tuple[FilePair, ...]:
    """Return all paths that either agent saw, by name, with the closest look of each."""
    mine, other = _looks(left), _looks(right)
    return tuple(FilePair(path, mine.get(path, ""), other.get(path, "")) for path in sorted(mine.keys() | other.keys()))


def _looks(seen: Iterable[AccessedFileRow]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in seen:
        if _HOW_CLOSELY.get(row.how, 0) > _HOW_CLOSELY.get(found.get(row.path, ""), 0):
            found[row.path] = row.how
    return found
