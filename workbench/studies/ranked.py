"""Rankings of the systems of a study: under each model or evaluator, measure and weighting, on items that all of them have.

Only systems whose columns were made under the same conditions are ranked with one another (:mod:`.conditions`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbench.statistics.rankings import (
    WEIGHTINGS,
    Measured,
    PairOrder,
    kendall_tau,
    pair_orders,
    ranking,
    ranking_words,
    scores,
)
from workbench.studies.comparing import SideItem, items_of, summed
from workbench.studies.conditions import apart, classes, comparable_rows
from workbench.studies.declaration import AGENTS, Column, Study
from workbench.studies.outcome import StudyOutcome
from workbench.studies.values import CUT, DOUBTFUL, REPAIRED, SHARES


@dataclass(frozen=True, slots=True)
class Setting:
    """Under what systems are ranked.

    Attributes:
        model: The evaluator, or the agents' model.
        measure: ``score`` or ``pass@k``.
        weighting: What counts alike: ``repositories``, ``tasks`` or ``tests``; of agents ``cases`` or ``trials``.
        without: What of candidates counts for nothing: ``doubtful`` or ``repaired`` passes, ``cut`` answers; "" where all count.
        apart: Under which other conditions the systems were made than the main ones of the model, "" for these.
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
class Ranking:
    """Systems from the best to the worst under one setting.

    Attributes:
        setting: Under what.
        scores: The mean of each system by the name of its column, over the common items.
        places: Names of columns from the best to the worst; those of equal scores stand together.
        items: Items that all systems have; where there are none, nothing is ranked.
        judged: Of ``works`` and ``claims``, by name: how many blocks or claims are good, and of how many that were judged.
        orders: Each pair, the better first, with how often rows keep that order; for the first weighting, else empty.
    """

    setting: Setting
    scores: dict[str, float]
    places: tuple[tuple[str, ...], ...]
    items: int
    orders: tuple[PairOrder, ...] = ()
    judged: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Return ``RepoAgent > OSA = original``, of shares with the numbers they are of: ``white (8 of 10) > planner (1 of 1)``."""
        told = {name: f"{name} ({good:,} of {of:,})" for name, (good, of) in self.judged.items()}
        return ranking_words([[told.get(name, name) for name in place] for place in self.places])

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.setting.model,
            "measure": self.setting.measure,
            "weighting": self.setting.weighting,
            "without": self.setting.without or None,
            "conditions": self.setting.apart or None,
            "judged": {name: list(numbers) for name, numbers in self.judged.items()},
            "scores": self.scores,
            "ranking": [list(place) for place in self.places],
            "items": self.items,
            "orders": [
                {
                    "better": one.better,
                    "worse": one.worse,
                    "difference": one.difference,
                    "rows": one.repositories,
                    "ties": one.ties,
                    "of": one.of,
                    "resampled": one.resampled,
                }
                for one in self.orders
            ],
        }


_OF_AGENTS = {"cases": "repositories", "trials": "tasks"}
"""What counts alike in a study of agents, and the rule of :mod:`workbench.statistics.rankings` for it."""


def weightings_of(study: Study) -> dict[str, str]:
    """Return what can count alike in a study, the rows first, with the rule of :func:`workbench.statistics.rankings.scores`."""
    return _OF_AGENTS if study.kind == AGENTS else {name: name for name in WEIGHTINGS}


def rankings(outcome: StudyOutcome) -> tuple[Ranking, ...]:
    """Return all rankings of a study; a system is a column, named by its system alone within one model.

    Columns of others take part where they have results on the same items, made under the same conditions; those that were
    made otherwise are ranked apart. Where passes are doubtful or repaired, or answers were cut, systems are also ranked
    without these, each row counted alike.
    """
    found = []
    for one in ranked_columns(outcome):
        for measure in outcome.study.measures:
            found += _rankings(outcome, one, measure)
            for without in (DOUBTFUL, REPAIRED, CUT) if outcome.study.kind != AGENTS else ():
                if any(outcome.doubts(column, without) for column in one.columns):
                    found += _rankings(outcome, one, measure, without)[:1]
    return tuple(found)


def _rankings(outcome: StudyOutcome, one: RankedColumns, measure: str, without: str = "") -> list[Ranking]:
    every = list(_common(outcome, one.columns, measure, without))
    tasks = [_measured(*item) for item in every]
    orders = pair_orders(tasks)
    means = {weighting: scores(tasks, rule) for weighting, rule in weightings_of(outcome.study).items()}
    first = next(iter(means))
    judged = {
        name: summed(side.judged for _, _, sides in every if (side := sides[name]).judged is not None)
        for name in (every[0][2] if every and measure in SHARES else ())
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
    columns: list[Column]
    apart: str = ""


def ranked_columns(outcome: StudyOutcome) -> list[RankedColumns]:
    """Return the columns that can be ranked against one another: several of one model or evaluator, made under the same conditions."""
    return [
        RankedColumns(
            model, columns, "" if columns is several[0] else "; ".join(_apart(outcome, several[0], columns[0])[1])
        )
        for model, several in _by_model(outcome).items()
        for columns in several
        if len(columns) > 1
    ]


def not_ranked(outcome: StudyOutcome) -> list[tuple[Column, Column, tuple[str, ...]]]:
    """Return pairs of columns of one model that are not comparable: a main one of the model, another, and each difference."""
    found = []
    for several in _by_model(outcome).values():
        for column in (column for columns in several[1:] for column in columns):
            first, differences = _apart(outcome, several[0], column)
            found.append((first, column, differences))
    return found


def _apart(outcome: StudyOutcome, main: Iterable[Column], column: Column) -> tuple[Column, tuple[str, ...]]:
    """Return which of the main columns a column is not comparable with, and each difference."""
    every = ((one, apart(outcome.works, outcome.rows, one, column)) for one in main)
    return next((one, said) for one, said in every if said)


def _by_model(outcome: StudyOutcome) -> dict[str, list[list[Column]]]:
    found: dict[str, list[Column]] = {}
    for column in outcome.columns:
        found.setdefault(column.model, []).append(column)
    return {model: classes(outcome.works, outcome.rows, columns) for model, columns in found.items()}


def system_name(column: Column) -> str:
    """Return what a column is called among those of one model."""
    return f"{column.system} ({column.source})" if column.source else column.system


def columns_of(outcome: StudyOutcome, model: str, left: str, right: str) -> tuple[str, str] | None:
    """Return the names of the columns of two systems of one model, by what :func:`system_name` calls them; None where one is gone."""
    names = {system_name(one): one.name for one in outcome.columns if one.model == model}
    return (names[left], names[right]) if left in names and right in names else None


def common_items(outcome: StudyOutcome, columns: Iterable[Column], measure: str, without: str = "") -> list[Measured]:
    """Return the items of which every one of some columns has a value; a column without any result is left out."""
    return [_measured(*item) for item in _common(outcome, columns, measure, without)]


def _measured(row: str, file: str, sides: Mapping[str, SideItem]) -> Measured:
    values = {name: side.value or 0.0 for name, side in sides.items()}
    return Measured(row, file, values, next(iter(sides.values())).tests)


def _common(
    outcome: StudyOutcome, columns: Iterable[Column], measure: str, without: str
) -> Iterator[tuple[str, str, dict[str, SideItem]]]:
    """Yield the items of which every column has a value: row, file, and the item under each by the name of its system."""
    having = [one for one in columns if any(outcome.cell(row, one).means[measure].items for row in outcome.rows)]
    comparable = comparable_rows(outcome.works, outcome.rows, having) if len(having) > 1 else set()
    for row in outcome.rows:
        if row not in comparable:
            continue
        sides = {system_name(one): items_of(outcome, outcome.cell(row, one).work, measure, without) for one in having}
        for key in next(iter(sides.values())):
            found = {name: item for name, mine in sides.items() if (item := mine.get(key)) and item.value is not None}
            if len(found) == len(sides):
                yield row, key[0], found


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
