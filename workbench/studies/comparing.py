"""Two columns of a study against one another, item by item: what pairs are, their difference, and which differ most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.statistics.clusters import Value
from workbench.statistics.paired import Difference, paired_difference
from workbench.studies.cells import as_trials
from workbench.studies.conditions import difference_words, rows_apart
from workbench.studies.declaration import AGENTS, Column
from workbench.studies.outcome import StudyOutcome
from workbench.studies.reading import CellWork
from workbench.studies.values import pass_of, value_of


@dataclass(frozen=True, slots=True)
class SideItem:
    """A trial or task under one column.

    Attributes:
        id: Id of the trial or task in its session.
        run: Its run.
        session: The session file where that is not the study's own, else "".
        value: Points of 100 or pass@k, None where it has none.
        tests: Tests that decide over a task.
        judged: Of ``works`` and ``claims`` how many blocks or claims are good, and of how many that were judged.
    """

    id: str
    run: str
    session: str
    value: float | None
    tests: int = 1
    judged: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ItemPair:
    """An item of both columns, or of one (None for the other): a trial of the same case and repeat, or the same function.

    Attributes:
        row: Its row.
        file: The function's file; "" for a trial.
        name: ``path::function``, or ``repeat 2``.
        left: Under the first column.
        right: Under the second.
        difference: Right minus left, None unless both have a value.
    """

    row: str
    file: str
    name: str
    left: SideItem | None
    right: SideItem | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two columns by one measure; every difference is right minus left, in points of 100 or as a share.

    Attributes:
        measure: ``score`` or ``pass@k``.
        left: The first column.
        right: The second one.
        difference: Mean difference with its interval; wins, ties and losses by item and by row.
        by_row: The same of each row that both have, in the order of the study: for a forest plot.
        pairs: All items of either: those with a difference by its size, then those of both without, then of one alone.
        apart: Rows of which nothing is paired, because both sides were made under other conditions.
        differing: Each difference in conditions, in words.
    """

    measure: str
    left: Column
    right: Column
    difference: Difference
    by_row: Mapping[str, Difference]
    pairs: tuple[ItemPair, ...]
    apart: frozenset[str] = frozenset()
    differing: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether a row is compared, or none would be if conditions were the same."""
        return bool(self.by_row) or not self.apart

    @property
    def values(self) -> list[Value]:
        return [Value(one.row, one.file, one.difference) for one in self.pairs if one.difference is not None]

    @property
    def judged(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Of how many blocks or claims the shares of both sides are, over the pairs with a difference; None of other measures."""
        pairs = [
            (one.left.judged, one.right.judged)
            for one in self.pairs
            if one.difference is not None and one.left and one.right
        ]
        known = [(left, right) for left, right in pairs if left is not None and right is not None]
        return (summed(left for left, _ in known), summed(right for _, right in known)) if known else None

    @property
    def undefined(self) -> int:
        """Items that both columns have, of which one has no value; they are in no figure."""
        both = (one for one in self.pairs if one.left is not None and one.right is not None)
        return sum(one.difference is None and one.row not in self.apart for one in both)

    @property
    def only_left(self) -> int:
        return sum(one.right is None for one in self.pairs)

    @property
    def only_right(self) -> int:
        return sum(one.left is None for one in self.pairs)

    def to_json(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "left": self.left.name,
            "right": self.right.name,
            "difference": self.difference.to_json(),
            "by_row": {row: one.to_json() for row, one in self.by_row.items()},
            "items": len(self.values),
            "undefined": self.undefined,
            "only_left": self.only_left,
            "only_right": self.only_right,
            "judged": self.judged and [list(side) for side in self.judged],
            "comparable": self.comparable,
            "differing": list(self.differing),
        }


def compare(outcome: StudyOutcome, left: Column, right: Column, measure: str = "") -> Comparison:
    """Compare two columns of a study.

    Args:
        outcome: The study.
        left: The first column.
        right: The second one.
        measure: One of ``outcome.study.measures``; "" is the first of them.

    Raises:
        ValueError: There is no such measure.
    """
    measure = measure or outcome.study.measures[0]
    if measure not in outcome.study.measures:
        raise ValueError(f"a measure is one of {', '.join(outcome.study.measures)}")
    pairs: list[ItemPair] = []
    differing = rows_apart(outcome.works, outcome.rows, left, right)
    apart = frozenset(row for row, found in differing.items() if found)
    for row in outcome.rows:
        mine = items_of(outcome, outcome.cell(row, left).work, measure)
        other = items_of(outcome, outcome.cell(row, right).work, measure)
        for key in [*mine, *(key for key in other if key not in mine)]:
            a, b = mine.get(key), other.get(key)
            both = row not in apart and a is not None and b is not None and a.value is not None and b.value is not None
            gap = (b.value or 0.0) - (a.value or 0.0) if both and a is not None and b is not None else None
            pairs.append(ItemPair(row, key[0], key[1], a, b, gap))
    differences = [Value(one.row, one.file, one.difference) for one in pairs if one.difference is not None]
    by_row = {
        row: _difference([one for one in differences if one.repository == row], outcome)
        for row in outcome.rows
        if any(one.repository == row for one in differences)
    }
    pairs.sort(key=_place)
    said = difference_words(differing)
    return Comparison(measure, left, right, _difference(differences, outcome), by_row, tuple(pairs), apart, said)


def items_of(outcome: StudyOutcome, work: CellWork, measure: str, without: str = "") -> dict[tuple[str, str], SideItem]:
    """Return the items of a cell by (file, name), which says what is paired with what; ``without`` is that of ``pass_of``."""
    if outcome.study.kind == AGENTS:
        return {
            ("", f"repeat {trial.repeat}"): SideItem(
                trial.trial,
                work.run,
                work.session,
                value_of(trial, measure, outcome.scale),
                judged=trial.checks[measure][:2] if measure in trial.checks else None,
            )
            for trial in work.trials
        }
    k = int(measure.removeprefix("pass@"))
    return {
        (task.file, task.name): SideItem(task.task, work.run, work.session, pass_of(task, k, without), task.tests)
        for task in work.tasks
    }


def summed(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the sums of good ones and of judged ones."""
    found = list(counts)
    return sum(good for good, _ in found), sum(of for _, of in found)


def _difference(values: list[Value], outcome: StudyOutcome) -> Difference:
    found = paired_difference(values)
    return replace(found, interval=as_trials(found.interval)) if outcome.study.kind == AGENTS else found


def _place(pair: ItemPair) -> tuple[Any, ...]:
    """Where a pair stands: the largest differences first, losses of the right one before its wins."""
    alone = 0 if pair.left and pair.right else 1 if pair.left else 2
    gap = pair.difference
    return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0, pair.row, pair.file, pair.name
