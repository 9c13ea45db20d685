"""Compare the columns of a study: two columns item by item, and rankings of systems on their common items.

There is a ranking for each combination of model or evaluator, measure and weighting. Systems are only ranked together
if their columns were made under the same conditions (:mod:`.conditions`).
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from workbench.base.errors import WorkbenchError
from workbench.base.reasons import last_words
from workbench.session.json_forms import picked
from workbench.statistics.intervals import Value
from workbench.statistics.paired import Difference, paired_difference
from workbench.statistics.rankings import (
    WEIGHTINGS,
    PairOrder,
    RankedTask,
    kendall_tau,
    pair_orders,
    ranking,
    ranking_words,
    scores,
)
from workbench.studies.cell_work import CellWork
from workbench.studies.cells import CUT, DOUBTFUL, REPAIRED, SHARES, as_trials, pass_of, value_of
from workbench.studies.conditions import apart, classes, comparable_rows, difference_words, rows_apart
from workbench.studies.declaration import AGENTS, InJson, StudyColumn
from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class SideItem:
    """A trial or task in one column.

    ``judged`` is (good, judged) for the measures ``works`` and ``claims``, and None for others.
    """

    id: str
    run: str
    session: str
    value: float | None
    tests: int = 1
    judged: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ItemPair:
    """An item of one or both columns: trials of the same case and repeat, or the same function.

    A side is None if its column lacks the item.
    """

    row: str
    file: str
    name: str
    left: SideItem | None
    right: SideItem | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class ColumnComparison(InJson):
    """Two columns compared by one measure; every difference is right minus left, in points out of 100 or as a share.

    ``pairs`` contains the items of both columns: first those with a difference, sorted by its size, then pairs without
    a difference, then items of only one column. Nothing is paired in the rows in ``apart``, where the two sides were
    made under different conditions (``differing``).
    """

    JSON = "measure left right difference by_row items undefined only_left only_right judged comparable differing"

    measure: str
    left: StudyColumn
    right: StudyColumn
    difference: Difference
    by_row: Mapping[str, Difference]
    pairs: tuple[ItemPair, ...]
    apart: frozenset[str] = frozenset()
    differing: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether rows were compared, or at least no row was excluded because of different conditions."""
        return bool(self.by_row) or not self.apart

    @property
    def values(self) -> list[Value]:
        return [Value(one.row, one.file, one.difference) for one in self.pairs if one.difference is not None]

    @property
    def items(self) -> int:
        return len(self.values)

    @property
    def judged(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """(Good, judged) blocks or claims of each side over the pairs with a difference, or None for other measures."""
        pairs = [
            (one.left.judged, one.right.judged)
            for one in self.pairs
            if one.difference is not None and one.left and one.right
        ]
        known = [(left, right) for left, right in pairs if left is not None and right is not None]
        return (summed(left for left, _ in known), summed(right for _, right in known)) if known else None

    @property
    def undefined(self) -> int:
        """The number of items that both columns have but that lack a value in one column; no figure includes them."""
        both = (one for one in self.pairs if one.left is not None and one.right is not None)
        return sum(one.difference is None and one.row not in self.apart for one in both)

    @property
    def only_left(self) -> int:
        return sum(one.right is None for one in self.pairs)

    @property
    def only_right(self) -> int:
        return sum(one.left is None for one in self.pairs)


def compare(outcome: StudyOutcome, left: StudyColumn, right: StudyColumn, measure: str = "") -> ColumnComparison:
    """Compare two columns by a measure of the study; "" selects the study's first measure."""
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
    differing_words = difference_words(differing)
    return ColumnComparison(
        measure, left, right, _difference(differences, outcome), by_row, tuple(pairs), apart, differing_words
    )


def items_of(outcome: StudyOutcome, work: CellWork, measure: str, without: str = "") -> dict[tuple[str, str], SideItem]:
    """Return the items of a cell by (file, name), the key by which items are paired.

    ``without`` has the same meaning as in ``pass_of``.
    """
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
    found = list(counts)
    return sum(good for good, _ in found), sum(of for _, of in found)


def _difference(values: list[Value], outcome: StudyOutcome) -> Difference:
    found = paired_difference(values)
    return replace(found, interval=as_trials(found.interval)) if outcome.study.kind == AGENTS else found


def _place(pair: ItemPair) -> tuple[Any, ...]:
    """Return the sort key of a pair: largest differences first, and losses of the right side before its wins."""
    alone = 0 if pair.left and pair.right else 1 if pair.left else 2
    gap = pair.difference
    return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0, pair.row, pair.file, pair.name


# -- rankings


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of a ranking.

    Attributes:
        weighting: The unit with equal weight: ``repositories``, ``tasks`` or ``tests``; for agents, ``cases`` or
            ``trials``.
        without: The kind of candidates to exclude: ``doubtful`` or ``repaired`` passes, or ``cut`` answers.
        apart: Differences from the conditions of the model's main columns.
    """

    model: str
    measure: str
    weighting: str
    without: str = ""
    apart: str = ""

    @property
    def words(self) -> str:
        """Return ``local · pass@1 · without doubtful · by tasks``."""
        parts = (self.apart, self.measure, f"without {self.without}" if self.without else "", f"by {self.weighting}")
        return " · ".join(filter(None, (self.model or "default model", *parts)))


@dataclass(frozen=True, slots=True)
class Ranking(InJson):
    """Systems from best to worst in one setting, by their means over the common items.

    ``judged`` has the numbers behind the shares ``works`` and ``claims``. ``orders`` has, for each pair, the number of
    rows with the same order as the ranking; it is only set for the first weighting.
    """

    JSON = (
        "setting.model:model setting.measure:measure setting.weighting:weighting setting.without?:without setting.apart?:conditions "
        "judged scores places:ranking items"
    )

    setting: Setting
    scores: dict[str, float]
    places: tuple[tuple[str, ...], ...]
    items: int
    orders: tuple[PairOrder, ...] = ()
    judged: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Return ``RepoAgent > OSA = original``; shares have their counts: ``white (8 of 10) > planner (1 of 1)``."""
        labelled = {name: f"{name} ({good:,} of {of:,})" for name, (good, of) in self.judged.items()}
        return ranking_words([[labelled.get(name, name) for name in place] for place in self.places])

    def to_json(self) -> dict[str, Any]:
        names = ("better", "worse", "difference", "repositories:rows", "ties", "of", "resampled")
        orders = [picked(one, *names) for one in self.orders]
        return {**InJson.to_json(self), "orders": orders}


_OF_AGENTS = {"cases": "repositories", "trials": "tasks"}
"""Weightings in a study of agents, rows first, and the corresponding rule of :mod:`workbench.statistics.rankings`."""


def rankings(outcome: StudyOutcome) -> tuple[Ranking, ...]:
    """Return all rankings of a study; columns made under different conditions are ranked separately.

    If there are doubtful or repaired passes or cut answers, there are additional rankings without them, with equal
    weight for each row.
    """
    found = []
    for one in ranked_columns(outcome):
        for measure in outcome.study.measures:
            found += _rankings(outcome, one, measure)
            for without in (DOUBTFUL, REPAIRED, CUT) if outcome.study.kind != AGENTS else ():
                if any(outcome.summary(column).doubts.get(without) for column in one.columns):
                    found += _rankings(outcome, one, measure, without)[:1]
    return tuple(found)


def _rankings(outcome: StudyOutcome, one: RankedColumns, measure: str, without: str = "") -> list[Ranking]:
    every = list(_common_items(outcome, one.columns, measure, without))
    tasks = [task for task, _ in every]
    orders = pair_orders(tasks)
    rules = _OF_AGENTS if outcome.study.kind == AGENTS else dict(zip(WEIGHTINGS, WEIGHTINGS, strict=True))
    means = {weighting: scores(tasks, rule) for weighting, rule in rules.items()}
    first = next(iter(means))
    judged = {
        name: summed(side.judged for _, sides in every if (side := sides[name]).judged is not None)
        for name in (every[0][1] if every and measure in SHARES else ())
    }
    return [
        Ranking(
            Setting(one.model, measure, weighting, without, one.apart),
            mean,
            ranking(mean),
            len(tasks),
            orders if weighting == first and not without else (),
            judged,
        )
        for weighting, mean in means.items()
    ]


class RankedColumns(NamedTuple):
    """Columns of one model that can be ranked together; for ``apart`` see :class:`Setting`."""

    model: str
    columns: list[StudyColumn]
    apart: str = ""


def ranked_columns(outcome: StudyOutcome) -> list[RankedColumns]:
    return [
        RankedColumns(
            model, columns, "" if columns is several[0] else "; ".join(_apart(outcome, several[0], columns[0])[1])
        )
        for model, several in _by_model(outcome).items()
        for columns in several
        if len(columns) > 1
    ]


def not_ranked(outcome: StudyOutcome) -> list[tuple[StudyColumn, StudyColumn, tuple[str, ...]]]:
    """Return the pairs of columns of one model that are not comparable: a main column, another, and the differences."""
    found = []
    for several in _by_model(outcome).values():
        for column in (column for columns in several[1:] for column in columns):
            first, differences = _apart(outcome, several[0], column)
            found.append((first, column, differences))
    return found


def _apart(
    outcome: StudyOutcome, main: Iterable[StudyColumn], column: StudyColumn
) -> tuple[StudyColumn, tuple[str, ...]]:
    """Return the main columns that a column cannot be compared with, and the differences."""
    every = ((one, apart(outcome.works, outcome.rows, one, column)) for one in main)
    return next((one, differing_words) for one, differing_words in every if differing_words)


def _by_model(outcome: StudyOutcome) -> dict[str, list[list[StudyColumn]]]:
    found: dict[str, list[StudyColumn]] = {}
    for column in outcome.columns:
        found.setdefault(column.model, []).append(column)
    return {model: classes(outcome.works, outcome.rows, columns) for model, columns in found.items()}


def system_name(column: StudyColumn) -> str:
    return f"{column.system} ({column.source})" if column.source else column.system


def columns_of(outcome: StudyOutcome, model: str, left: str, right: str) -> tuple[str, str] | None:
    """Return the names of the columns for two systems of one model, or None if a column no longer exists.

    The systems are given by their :func:`system_name`.
    """
    names = {system_name(one): one.name for one in outcome.columns if one.model == model}
    return (names[left], names[right]) if left in names and right in names else None


def common_items(
    outcome: StudyOutcome, columns: Iterable[StudyColumn], measure: str, without: str = ""
) -> list[RankedTask]:
    """Return the items with a value in every column; columns without any result are ignored."""
    return [task for task, _ in _common_items(outcome, columns, measure, without)]


def _common_items(
    outcome: StudyOutcome, columns: Iterable[StudyColumn], measure: str, without: str
) -> Iterator[tuple[RankedTask, dict[str, SideItem]]]:
    """Yield each item that has a value in every column, and its values by system."""
    having = [one for one in columns if any(outcome.cell(row, one).means[measure].items for row in outcome.rows)]
    comparable = comparable_rows(outcome.works, outcome.rows, having) if len(having) > 1 else set()
    for row in outcome.rows:
        if row not in comparable:
            continue
        sides = {system_name(one): items_of(outcome, outcome.cell(row, one).work, measure, without) for one in having}
        for key in next(iter(sides.values())):
            found = {name: item for name, mine in sides.items() if (item := mine.get(key)) and item.value is not None}
            if len(found) == len(sides):
                values = {name: side.value or 0.0 for name, side in found.items()}
                yield RankedTask(row, key[0], values, next(iter(found.values())).tests), found


def taus(found: Iterable[Ranking]) -> dict[tuple[Setting, Setting], float | None]:
    """Return Kendall's tau for each pair of rankings over their common systems; None if either has only ties."""
    pairs = {}
    for left, right in itertools.combinations(found, 2):
        names = [name for name in left.scores if name in right.scores]
        if len(names) > 1:
            pairs[left.setting, right.setting] = kendall_tau(
                [left.scores[name] for name in names], [right.scores[name] for name in names]
            )
    return pairs


# -- random draws run in a separate process: importing numpy takes longer than the app's whole start may take

_MOST_SECONDS = 120.0


def resampled_in_process(
    session: Path, study: str, pairs: Sequence[tuple[str, str]], measure: str, orders: bool = False
) -> dict[str, dict[Any, Any]]:
    """Return the adjusted tests of comparisons and, with ``orders``, how often pairs keep their order in resamples.

    The result is ``{"tests": {pair: {"p", "test", "p_holm"}, …}, "orders": {(model, measure, better, worse): share of
    resamples, …}}``, or a WorkbenchError if it cannot be computed, for example because numpy is not installed.
    """
    request = {"pairs": pairs, "measure": measure, "orders": orders}
    done = subprocess.run(
        [sys.executable, "-m", "workbench.studies", str(session), study],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=_MOST_SECONDS,
        check=False,
    )
    if done.returncode:
        raise WorkbenchError(last_words(done.stderr) or "The tests could not be computed.")
    return {kind: {tuple(key): value for key, value in found} for kind, found in json.loads(done.stdout).items()}
