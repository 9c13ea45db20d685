"""Columns of a study against one another: two item by item, and rankings of its systems on items that all of them have.

Rankings are under each model or evaluator, measure and weighting; only systems whose columns were made under the same conditions
are ranked with one another (:mod:`.conditions`).
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
    """A trial or task under one column; of ``works`` and ``claims`` ``judged`` are the good ones of those that were judged."""

    id: str
    run: str
    session: str
    value: float | None
    tests: int = 1
    judged: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ItemPair:
    """An item of both columns, or of one (None for the other): a trial of the same case and repeat, or the same function."""

    row: str
    file: str
    name: str
    left: SideItem | None
    right: SideItem | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class ColumnComparison(InJson):
    """Two columns by one measure; every difference is right minus left, in points of 100 or as a share.

    ``pairs`` are all items of either: those with a difference by its size, then those of both without, then of one alone. Of rows that
    are ``apart`` nothing is paired, because the sides are ``differing`` in conditions.
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
        """Whether a row is compared, or none would be if conditions were the same."""
        return bool(self.by_row) or not self.apart

    @property
    def values(self) -> list[Value]:
        return [Value(one.row, one.file, one.difference) for one in self.pairs if one.difference is not None]

    @property
    def items(self) -> int:
        return len(self.values)

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
        """Items of both columns of which one lacks a value; they are in no figure."""
        both = (one for one in self.pairs if one.left is not None and one.right is not None)
        return sum(one.difference is None and one.row not in self.apart for one in both)

    @property
    def only_left(self) -> int:
        return sum(one.right is None for one in self.pairs)

    @property
    def only_right(self) -> int:
        return sum(one.left is None for one in self.pairs)


def compare(outcome: StudyOutcome, left: StudyColumn, right: StudyColumn, measure: str = "") -> ColumnComparison:
    """Compare two columns by a measure of the study, "" for the first of them."""
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


# -- ranked


@dataclass(frozen=True, slots=True)
class Setting:
    """Under what systems are ranked.

    Attributes:
        weighting: What counts alike: ``repositories``, ``tasks`` or ``tests``; of agents ``cases`` or ``trials``.
        without: What of candidates counts for nothing: ``doubtful`` or ``repaired`` passes, ``cut`` answers.
        apart: Under which other conditions the systems were made than the main ones of the model.
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
    """Systems from the best to the worst under one setting, by their means over the common items.

    ``judged`` says of ``works`` and ``claims`` how many are good of how many, ``orders`` (of the first weighting) how often rows keep that
    of a pair.
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
        """Return ``RepoAgent > OSA = original``, of shares with the numbers they are of: ``white (8 of 10) > planner (1 of 1)``."""
        labelled = {name: f"{name} ({good:,} of {of:,})" for name, (good, of) in self.judged.items()}
        return ranking_words([[labelled.get(name, name) for name in place] for place in self.places])

    def to_json(self) -> dict[str, Any]:
        names = ("better", "worse", "difference", "repositories:rows", "ties", "of", "resampled")
        orders = [picked(one, *names) for one in self.orders]
        return {**InJson.to_json(self), "orders": orders}


_OF_AGENTS = {"cases": "repositories", "trials": "tasks"}
"""What counts alike in a study of agents, the rows first, and the rule of :mod:`workbench.statistics.rankings` for it."""


def rankings(outcome: StudyOutcome) -> tuple[Ranking, ...]:
    """Return all rankings of a study; columns that were made otherwise are ranked apart.

    Where passes are doubtful or repaired, or answers were cut, systems are also ranked without these, each row counted alike.
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
    """Columns of one model that can be ranked against one another; ``apart`` as in :class:`Setting`."""

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
    """Return pairs of columns of one model that are not comparable: a main one of the model, another, and each difference."""
    found = []
    for several in _by_model(outcome).values():
        for column in (column for columns in several[1:] for column in columns):
            first, differences = _apart(outcome, several[0], column)
            found.append((first, column, differences))
    return found


def _apart(
    outcome: StudyOutcome, main: Iterable[StudyColumn], column: StudyColumn
) -> tuple[StudyColumn, tuple[str, ...]]:
    """Return which of the main columns a column is not comparable with, and each difference."""
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
    """Return the names of the columns of two systems of one model, by what :func:`system_name` calls them; None where one is gone."""
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
    """Yield the items with a value in every column, with the values by system."""
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
    """Return Kendall's tau between each two rankings, over the systems that both have; None where one has no order."""
    pairs = {}
    for left, right in itertools.combinations(found, 2):
        names = [name for name in left.scores if name in right.scores]
        if len(names) > 1:
            pairs[left.setting, right.setting] = kendall_tau(
                [left.scores[name] for name in names], [right.scores[name] for name in names]
            )
    return pairs


# -- what draws at random, in a process of its own: numpy takes longer to import than the app may take to start

_MOST_SECONDS = 120.0


def resampled_in_process(
    session: Path, study: str, pairs: Sequence[tuple[str, str]], measure: str, orders: bool = False
) -> dict[str, dict[Any, Any]]:
    """Return the adjusted tests of comparisons and, with ``orders``, how often pairs keep their order in resamples.

    It is ``{"tests": {pair: {"p", "test", "p_holm"}, …}, "orders": {(model, measure, better, worse): share of resamples, …}}``; a
    WorkbenchError where it cannot be computed: numpy is not installed, say.
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
