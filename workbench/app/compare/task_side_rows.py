"""What two tasks are, how their tests came out, and what each evaluator made of them: lists of the screen with two tasks."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import BOTH_CHANGED, NOTHING, ONLY_A, ONLY_B, SAME, change, of_change
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import EvaluatorPair, TaskComparison, TaskTest, TaskTestPair
from workbench.regeneration.outcome import TaskResult
from workbench.text import one_line, shortened

_WHAT, _COUNT, _GAP, _HOW = 22, 9, 7, 11
_STYLES = {ONLY_A: "only-a", ONLY_B: "only-b"}


class FactRows(DifferenceList[TaskComparison]):
    """Sign, what, and what it is of each task."""

    def kinds_of(self, comparison: TaskComparison) -> Sequence[Kind]:
        """Return which facts are the same of both."""
        return [Kind.SAME if a == b else Kind.DIFFERENT for _, a, b in comparison.facts]

    def empty_text(self, comparison: TaskComparison) -> str:
        """Return that nothing is known."""
        return "Nothing is known of them."

    def _columns(self, width: int) -> tuple[int, int]:
        what = min(_WHAT, max(8, width // 4))
        return what, max(4, (width - 2 - what) // 2)

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        what, half = self._columns(width)
        return [(f"  {fit('', what)}", "dim"), (fit("A", half), "only-a"), (fit("B", half), "only-b")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a fact."""
        assert self.comparison is not None
        name, a, b = self.comparison.facts[place]
        what, half = self._columns(width)
        differs = a != b
        values = (shortened(one_line(value, 300) or NOTHING, half - 1) for value in (a, b))
        return [
            (f"{BOTH_CHANGED if differs else SAME} ", "strong" if differs else "dim"),
            (fit(name, what - 1) + " ", "dim"),
            *((fit(value, half), "strong" if differs else "dim") for value in values),
        ]


class TaskTestRows(DifferenceList[TaskComparison]):
    """Sign, how many samples of each task did not pass a test, and the test."""

    def kinds_of(self, comparison: TaskComparison) -> Sequence[Kind]:
        """Return which tests both have with the same share of samples that fail it."""
        return [Kind.SAME if pair.same else Kind.DIFFERENT for pair in comparison.tests]

    @property
    def selected(self) -> TaskTestPair | None:
        """The test under the cursor."""
        tests = self.comparison.tests if self.comparison is not None else ()
        return tests[self.place] if 0 <= self.place < len(tests) else None

    def empty_text(self, comparison: TaskComparison) -> str:
        """Return that there is no test."""
        return "Neither has a test."

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        return [(f"  {fit('A', _HOW)}{fit('B', _HOW)}test", "dim")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a test."""
        assert self.comparison is not None
        pair = self.comparison.tests[place]
        sign = SAME if pair.same else ONLY_A if pair.right is None else ONLY_B if pair.left is None else BOTH_CHANGED
        style = _STYLES.get(sign, "")
        room = max(1, width - 2 - 2 * _HOW)
        return [
            (f"{sign} ", style or "dim"),
            *((fit(_how(one), _HOW - 1) + " ", _style_of(one)) for one in (pair.left, pair.right)),
            (fit(shortened(one_line(pair.test, 300), room), room), style),
        ]


class EvaluatorRows(DifferenceList[TaskComparison]):
    """Sign, evaluator, passed of counted samples of each task, and pass@k of B minus that of A."""

    def kinds_of(self, comparison: TaskComparison) -> Sequence[Kind]:
        """Return for which evaluators both tasks came out alike."""
        return [Kind.SAME if pair.same else Kind.DIFFERENT for pair in comparison.evaluators]

    def empty_text(self, comparison: TaskComparison) -> str:
        """Return that nobody was asked."""
        return "Nobody was asked for either yet."

    def _columns(self, width: int) -> tuple[int, int]:
        """Return the room of the name, and how many k have room."""
        ks = len(self.comparison.ks) if self.comparison is not None else 1
        while ks > 1 and width - 2 - 2 * _COUNT - ks * _GAP < 14:
            ks -= 1
        return max(1, width - 2 - 2 * _COUNT - ks * _GAP), ks

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        assert self.comparison is not None
        name, ks = self._columns(width)
        gaps = "".join(fit(f"@{k}", _GAP, right=True) for k in self.comparison.ks[:ks])
        counts = fit("A passed", _COUNT, right=True) + fit("B passed", _COUNT, right=True)
        return [(f"  {fit('evaluator', name)}{counts}{gaps}", "dim")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return an evaluator."""
        assert self.comparison is not None
        pair = self.comparison.evaluators[place]
        name, ks = self._columns(width)
        sign = _sign_of(pair)
        return [
            (f"{sign} ", _STYLES.get(sign, "dim" if sign == SAME else "strong")),
            (fit(shortened(pair.name, name - 1), name), _STYLES.get(sign, "")),
            *((fit(_passed(one), _COUNT, right=True), "") for one in (pair.left, pair.right)),
            *(
                (fit(change(gap, 2) or NOTHING, _GAP, right=True), of_change(gap) or "dim")
                for gap in pair.differences[:ks]
            ),
        ]


def _sign_of(pair: EvaluatorPair) -> str:
    if pair.left is None or pair.right is None:
        return ONLY_A if pair.right is None else ONLY_B
    return SAME if pair.same else BOTH_CHANGED


def _passed(result: TaskResult | None) -> str:
    return NOTHING if result is None else f"{result.passed:,}/{result.counted:,}"


def _how(test: TaskTest | None) -> str:
    """Return how many samples fail a test: ``–`` where the task does not have it, ``✓`` for none of them."""
    if test is None:
        return NOTHING
    return f"✗ {test.failed:,} of {test.samples:,}" if test.failed else "✓" if test.samples else "·"


def _style_of(test: TaskTest | None) -> str:
    return "dim" if test is None or not test.samples else "failed" if test.failed else "passed"
