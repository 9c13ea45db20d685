"""What of a study is drawn at random: asked for in a process of its own once the study is at rest, shown when it comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.app.toolkit.latest import Latest

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.timer import Timer

    from workbench.app.study.loading import StudyView
    from workbench.studies.outcome import StudyOutcome

REST_SECONDS = 1.0
"""For so long nothing must change before anything is drawn: of a live study each figure would be stale when it comes."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn, or why it could not be.

    Attributes:
        tests: Of each pair of columns by their names: its p, the sentence of its test, its p by Holm.
        resampled: Share of resamples by model, measure, better and worse system; None where it was not asked for.
        problem: Why there is neither, "" for nothing.
    """

    tests: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    resampled: Mapping[tuple[str, str, str, str], float] | None = None
    problem: str = ""


class Draws:
    """Keeps what was drawn for one state of one study by one measure.

    Args:
        node: Whose message queue brings results back, and whose timer says that it is at rest.
        show: Called with what was drawn, with None once that says nothing of what is shown any more.
    """

    def __init__(self, node: DOMNode, show: Callable[[Drawn | None], None]) -> None:
        self._show = show
        self._node = node
        self._resting: Timer | None = None
        self._drawing = Latest(node, "draws")
        self._of: tuple[StudyOutcome, str] | None = None
        self._asked: tuple[frozenset[tuple[str, str]], bool] | None = None
        self.pairs: list[tuple[str, str]] = []
        self.orders = False

    def of(self, outcome: StudyOutcome | None, measure: str) -> None:
        """Another state of a study, another study or another measure is shown: what was drawn is of no use."""
        before = self._of[0].study.name if self._of is not None else ""
        if outcome is None or outcome.study.name != before:
            self.pairs, self.orders = [], False
        if self._of is None or outcome is None or self._of[0] is not outcome or self._of[1] != measure:
            self._of = (outcome, measure) if outcome is not None else None
            self._asked = None
            self._show(None)

    def want(self, pair: tuple[str, str] | None = None, *, orders: bool = False) -> None:
        """Ask for the test of a pair of columns as well, or for resampled orders; :meth:`draw` begins."""
        if pair is not None and pair not in self.pairs:
            self.pairs.append(pair)
        self.orders = self.orders or orders

    def rest(self, then: Callable[[], None]) -> None:
        """Something changed: call ``then`` once nothing has for a while."""
        if self._resting is not None:
            self._resting.stop()
        self._resting = self._node.set_timer(REST_SECONDS, then)

    def draw(self, view: StudyView) -> None:
        """Draw what is wanted and not there yet, in a thread that waits for the process."""
        if self._of is None or view.outcome is not self._of[0] or not (self.pairs or self.orders):
            return
        outcome, measure = self._of
        wanted = frozenset(self.pairs), self.orders
        if self._asked == wanted:
            return
        self._asked = wanted
        self._show(None)
        by_name = {column.name: column for column in outcome.columns}
        pairs = [pair for pair in self.pairs if set(pair) <= by_name.keys()]
        columns = [(by_name[left], by_name[right]) for left, right in pairs]
        orders, session, name = self.orders, view.session, view.name

        def work() -> Drawn:
            from workbench.studies import drawing

            return _drawn(pairs, drawing.drawn(session, name, columns, measure, orders=orders), orders=orders)

        def done(found: Drawn) -> None:
            if self._of is not None and self._of[0] is outcome and self._of[1] == measure and self._asked == wanted:
                self._show(found)

        self._drawing.ask(work, done, lambda sentence: done(Drawn(problem=sentence)))


def _drawn(pairs: Sequence[tuple[str, str]], found: Mapping[str, Any], *, orders: bool) -> Drawn:
    resampled = {
        (model, measure, one["better"], one["worse"]): one["resampled"]
        for model, by_measure in found["orders"].items()
        for measure, every in by_measure.items()
        for one in every
        if one["resampled"] is not None
    }
    return Drawn(dict(zip(pairs, found["tests"], strict=True)), resampled if orders else None)
