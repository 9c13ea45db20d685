"""The trials of two document runs: points of each, and what B has more or less."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.task_rows import LOSES, WINS
from workbench.app.compare.wording import NOTHING, ONLY_A, ONLY_B, SAME, change, of_change
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import RunsComparison, ScoredTrial, TrialsPair
from workbench.text import one_line, shortened

_POINTS, _REPEATS = 9, 7


class RunTrialRows(DifferenceList[RunsComparison]):
    """Sign, case, agent and model, repeats, mean points of each and the difference; the largest differences first."""

    def kinds_of(self, comparison: RunsComparison) -> Sequence[Kind]:
        """Return which trials have the same points in both runs."""
        return [Kind.SAME if pair.difference == 0 else Kind.DIFFERENT for pair in comparison.pairs]

    @property
    def selected(self) -> TrialsPair | None:
        """The trial under the cursor."""
        pairs = self.comparison.pairs if self.comparison is not None else ()
        return pairs[self.place] if 0 <= self.place < len(pairs) else None

    def empty_text(self, comparison: RunsComparison) -> str:
        """Return that there is no trial."""
        return "Neither run has a trial of its own."

    def _names(self, width: int) -> tuple[int, int]:
        rest = max(16, width - 2 - _REPEATS - 1 - 3 * _POINTS)
        return rest * 2 // 5, rest - rest * 2 // 5

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        case, agent = self._names(width)
        points = "".join(fit(title, _POINTS, right=True) for title in ("A", "B", "B − A"))
        return [
            (
                f"  {fit('case', case)}{fit('agent · model', agent)}{fit('repeats', _REPEATS, right=True)} {points}",
                "dim",
            )
        ]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a trial of both runs, or of one."""
        assert self.comparison is not None
        pair = self.comparison.pairs[place]
        gap = pair.difference
        alone = ONLY_A if pair.right is None else ONLY_B if pair.left is None else ""
        sign = alone or (WINS if (gap or 0) > 0 else LOSES if (gap or 0) < 0 else SAME if gap == 0 else "?")
        style = {ONLY_A: "only-a", ONLY_B: "only-b"}.get(sign, of_change(gap) or "dim")
        row = pair.either.trial
        case, agent = self._names(width)
        who = f"{row.agent} · {row.model.rpartition('/')[2]}"
        if pair.left is not None and pair.right is not None:
            mine, other = pair.left.trial, pair.right.trial
            if (mine.agent, mine.model) != (other.agent, other.model):
                who = " | ".join(f"{one.agent} · {one.model.rpartition('/')[2]}" for one in (mine, other))
        return [
            (f"{sign} ", style),
            (fit(one_line(row.case_name or row.case_id, 200), case - 1) + " ", "strong"),
            (fit(shortened(one_line(who, 200), agent - 1), agent), "dim"),
            (fit(_repeats(pair), _REPEATS, right=True) + " ", ""),
            *((fit(_points(one), _POINTS, right=True), "") for one in (pair.left, pair.right)),
            (fit(change(gap, 1) or NOTHING, _POINTS, right=True), of_change(gap) or "dim"),
        ]


def _repeats(pair: TrialsPair) -> str:
    counts = ["–" if one is None else f"{one.scored:,}" for one in (pair.left, pair.right)]
    return counts[0] if counts[0] == counts[1] else "|".join(counts)


def _points(one: ScoredTrial | None) -> str:
    if one is None:
        return NOTHING
    if one.points is None:
        return "?"
    return f"{one.points:.1f}" + (f"/{one.out_of:.0f}" if one.out_of != 100 else "")
