"""The steps of both trials, aligned: a row for each step that both took, or that only one took."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import NOTHING, ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import Comparison, StepPair
from workbench.session.rows import StepRow
from workbench.text import one_line

_ACTION = 15


class StepRows(DifferenceList[Comparison]):
    """Sign, step number of each, action, target."""

    by_stretch = True
    _number_width = 4

    def kinds_of(self, comparison: Comparison) -> Sequence[Kind]:
        """Return which steps both took."""
        last = max((step.number for side in (comparison.left, comparison.right) for step in side.steps), default=0)
        self._number_width = max(2, len(f"{last:,}")) + 1
        return [Kind.SAME if pair.same else Kind.DIFFERENT for pair in comparison.steps]

    def empty_text(self, comparison: Comparison) -> str:
        """Return that there is no step."""
        return "Neither trial has a step."

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        numbers = "".join(fit(name, self._number_width, right=True) for name in "AB")
        return [(f" {numbers}  {fit('action', _ACTION)} target", "dim")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a step."""
        assert self.comparison is not None
        pair = self.comparison.steps[place]
        step = pair.left or pair.right
        assert step is not None
        sign = SAME if pair.same else ONLY_A if pair.left else ONLY_B
        style = "" if pair.same else "only-a" if pair.left else "only-b"
        room = max(1, width - 3 - 2 * self._number_width - _ACTION - 1)
        action = fit(one_line(step.action, _ACTION), _ACTION)
        return [
            (sign, style or "dim"),
            ("".join(fit(_number(one), self._number_width, right=True) for one in (pair.left, pair.right)), "dim"),
            (f"  {action} ", style),
            (fit(_target(pair, step), room), style),
        ]


def _number(step: StepRow | None) -> str:
    return NOTHING if step is None else f"{step.number:,}"


def _target(pair: StepPair, step: StepRow) -> str:
    """Return the target, or both where a step that both took has two."""
    if pair.left is not None and pair.right is not None and pair.left.target != pair.right.target:
        mine, other = one_line(pair.left.target, 200).split(), one_line(pair.right.target, 200).split()
        common = len(list(takewhile(lambda words: words[0] == words[1], zip(mine, other, strict=False))))
        return " ".join([*mine[:common], "A", *mine[common:], "· B", *other[common:]])
    return one_line(step.target, 400)
