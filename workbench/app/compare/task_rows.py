"""The tasks of two groups: passed samples and pass@k of each, and what B has more or less."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import NOTHING, ONLY_A, ONLY_B, SAME, change, of_change
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import GroupComparison, TaskPair
from workbench.regeneration.outcome import TaskResult
from workbench.session.rows import TaskRow
from workbench.text import one_line, shortened

_COUNT, _SHARE, _GAP = 8, 6, 7
_LEAST = 18
WINS, LOSES = "▲", "▼"
"""The sign of a task that B solves more, or less, often than A."""


class TaskRows(DifferenceList[GroupComparison]):
    """Sign, function, passed of counted samples, pass@k of both and the difference; the largest differences first."""

    def kinds_of(self, comparison: GroupComparison) -> Sequence[Kind]:
        """Return for which tasks both have the same pass@k."""
        return [Kind.SAME if _same(pair) else Kind.DIFFERENT for pair in comparison.pairs]

    @property
    def selected(self) -> TaskPair | None:
        """The task under the cursor."""
        pairs = self.comparison.pairs if self.comparison is not None else ()
        return pairs[self.place] if 0 <= self.place < len(pairs) else None

    def empty_text(self, comparison: GroupComparison) -> str:
        """Return that there is no task."""
        return "Neither has a task with a sample."

    def _columns(self, width: int) -> tuple[list[int], bool, bool]:
        """Return which k have room (as places), and whether the values of both, and the files, have room too."""
        comparison = self.comparison
        ks = len(comparison.ks) if comparison is not None else 1
        room = width - 2 - _LEAST - 2 * _COUNT
        places = [at for at in range(ks) if (at + 1) * _GAP <= room] or [0]
        values = room - len(places) * (_GAP + 2 * _SHARE) >= 0
        return places, values, room - len(places) * (_GAP + (2 * _SHARE if values else 0)) >= 16

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        assert self.comparison is not None
        places, values, files = self._columns(width)
        cells = ""
        for at in places:
            k = self.comparison.ks[at]
            cells += (fit("A", _SHARE, right=True) + fit("B", _SHARE, right=True)) if values else ""
            cells += fit(f"@{k}", _GAP, right=True)
        name, file = self._names(width)
        heads = fit("function", name) + (fit("file", file) if files else "")
        counts = fit("A passed", _COUNT, right=True) + fit("B", _COUNT, right=True)
        return [(f"  {heads}{counts}{cells}", "dim")]

    def _names(self, width: int) -> tuple[int, int]:
        places, values, files = self._columns(width)
        rest = width - 2 - 2 * _COUNT - len(places) * (_GAP + (2 * _SHARE if values else 0))
        return (rest - rest * 2 // 5, rest * 2 // 5) if files else (rest, 0)

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a task."""
        assert self.comparison is not None
        pair = self.comparison.pairs[place]
        places, values, files = self._columns(width)
        gap = next((one for one in pair.differences if one), 0.0)
        sign = (
            ONLY_A
            if pair.right is None
            else ONLY_B
            if pair.left is None
            else WINS
            if gap > 0
            else LOSES
            if gap < 0
            else SAME
        )
        style = {ONLY_A: "only-a", ONLY_B: "only-b"}.get(sign, of_change(gap) or "dim")
        name, file = self._names(width)
        parts: list[Part] = [
            (f"{sign} ", style),
            (fit(one_line(pair.name, 200), name - 1) + " ", "strong" if gap else ""),
        ]
        if files:
            parts.append((fit(shortened(one_line(pair.path, 300), file - 1), file), "dim"))
        parts += [(fit(_passed(one), _COUNT, right=True), "") for one in (pair.left, pair.right)]
        for at in places:
            k = self.comparison.ks[at]
            if values:
                parts += [(fit(_at(one, k), _SHARE, right=True), "dim") for one in (pair.left, pair.right)]
            value = pair.differences[at]
            parts.append((fit(change(value, 2) or NOTHING, _GAP, right=True), of_change(value) or "dim"))
        return parts


def _same(pair: TaskPair) -> bool:
    known = [gap for gap in pair.differences if gap is not None]
    if not pair.both or not known:
        return pair.both and _passed(pair.left) == _passed(pair.right)
    return not any(known)


def _passed(found: tuple[TaskRow, TaskResult] | None) -> str:
    return NOTHING if found is None else f"{found[1].passed:,}/{found[1].counted:,}"


def _at(found: tuple[TaskRow, TaskResult] | None, k: int) -> str:
    value = found[1].at(k) if found is not None else None
    return NOTHING if value is None else f"{value:.2f}"
