"""The points of both trials, criterion by criterion under their tiers, and why one has fewer."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import Comparison, CriterionPair, Judged, TierPair
from workbench.session.json_forms import TIER_NAMES
from workbench.text import one_line

_POINTS = 6
_LEAST_REASON = 12


class PointRows(DifferenceList[Comparison]):
    """Sign, criterion, points of each, what B has more or less, and the reason of who has less."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entries: list[TierPair | CriterionPair] = []

    def kinds_of(self, comparison: Comparison) -> Sequence[Kind]:
        """Return which criteria have the same points; tiers are headings."""
        self._entries = []
        for tier in comparison.tiers:
            self._entries += [tier, *tier.criteria]
        return [
            Kind.HEADING if isinstance(one, TierPair) else Kind.DIFFERENT if one.differs else Kind.SAME
            for one in self._entries
        ]

    @property
    def selected(self) -> CriterionPair | None:
        """The criterion under the cursor."""
        entry = self._entries[self.place] if 0 <= self.place < len(self._entries) else None
        return entry if isinstance(entry, CriterionPair) else None

    def on_resize(self) -> None:
        """Have the reasons wrapped for the new width, too."""
        super().on_resize()
        self.post_message(self.Moved(self, self.cursor))

    def empty_text(self, comparison: Comparison) -> str:
        """Return why there are no points."""
        left, right = (one_line(side.no_card, 400) for side in (comparison.left, comparison.right))
        return f"A and B: {left}" if left == right else f"A: {left}\nB: {right}"

    def _names(self, width: int) -> int:
        """Return the width of the names; longer ones are cut in the middle of a narrow pane."""
        longest = max((len(one.title) for one in self._entries if isinstance(one, CriterionPair)), default=12)
        return max(10, min(longest + 2, 28, width - 3 - 3 * (_POINTS + 1)))

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        titles = "".join(" " + fit(title, _POINTS, right=True) for title in ("A", "B", "B − A"))
        return [(f"  {fit('criterion', self._names(width))}{titles}  why", "dim")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a tier with its sums, or a criterion."""
        entry = self._entries[place]
        names = self._names(width)
        if isinstance(entry, TierPair):
            name = f"{entry.number} {TIER_NAMES.get(entry.number, f'Tier {entry.number}')}"
            shown = (_points(entry.left), _points(entry.right))
            parts: list[Part] = [(f"{fit(name, names + 2)}", "strong")]
        else:
            shown = (_of(entry.left), _of(entry.right))
            sign = "≠" if entry.differs else "="
            # The sign of a difference that has a number is the number's own.
            parts = [(f"{sign} ", of_change(entry.difference) or "dim"), (fit(one_line(entry.title, 60), names), "")]
        style = "strong" if isinstance(entry, TierPair) else ""
        parts += [(" " + fit(text, _POINTS, right=True), style) for text in shown]
        parts.append((" " + fit(change(entry.difference, 1), _POINTS, right=True), of_change(entry.difference)))
        room = width - names - 2 - 3 * (_POINTS + 1) - 2
        if isinstance(entry, CriterionPair) and entry.differs and room >= _LEAST_REASON:
            parts.append(("  " + fit(why(entry), room), "dim"))
        return parts


def why(pair: CriterionPair) -> str:
    """Return the reason of the trial with fewer points, or without any."""
    a, b = pair.left, pair.right
    if pair.difference is None:
        # An unscored one first: that is the reason why there is no difference.
        name, told = ("B", b) if a is not None and a.points is not None else ("A", a)
    else:
        name, told = ("B", b) if pair.difference < 0 else ("A", a)
    return f"{name}: {_reason(told)}"


def reasons(pair: CriterionPair | None, width: int, lines: int) -> str:
    """Return both reasons, each in at most so many lines; "" without a criterion."""
    if pair is None:
        return ""
    if pair.left is not None and pair.right is not None and pair.left.reason == pair.right.reason:
        return _wrapped(f"A and B: {_reason(pair.left)}", width, 2 * lines)
    return "\n".join(
        _wrapped(f"{name}: {_reason(one)}", width, lines) for name, one in (("A", pair.left), ("B", pair.right))
    )


def _wrapped(text: str, width: int, lines: int) -> str:
    """Return a text in at most so many lines, with an ellipsis where it goes on."""
    rows = [text[row.start : row.end].rstrip() for row in Document((Line(text),), text).rows(width)]
    if len(rows) > lines:
        rows[lines - 1] = fit(rows[lines - 1] + " …", width)
    return "\n".join(rows[:lines])


def _reason(judged: Judged | None) -> str:
    if judged is None:
        return "not in its scorecard"
    # Who judged stands above; here it would take the room of the reason.
    reason = one_line(prepared(judged.reason), 2_000).removeprefix("offline judge: ")
    return reason or "no reason was recorded"


def _of(judged: Judged | None) -> str:
    return NOTHING if judged is None else _points(judged.points)


def _points(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"
