"""Rankings of the systems of a study: under each model or evaluator, measure and weighting, on items that all of them have."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
from workbench.studies.comparing import items_of
from workbench.studies.declaration import AGENTS, Column, Study
from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class Setting:
    """Under what systems are ranked.

    Attributes:
        model: The evaluator, or the agents' model.
        measure: ``score`` or ``pass@k``.
        weighting: What counts alike: ``repositories``, ``tasks`` or ``tests``; of agents ``cases`` or ``trials``.
    """

    model: str
    measure: str
    weighting: str

    @property
    def words(self) -> str:
        """Return ``local · pass@1 · by tasks``."""
        return f"{self.model or 'default model'} · {self.measure} · by {self.weighting}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems from the best to the worst under one setting.

    Attributes:
        setting: Under what.
        scores: The mean of each system by the name of its column, over the common items.
        places: Names of columns from the best to the worst; those of equal scores stand together.
        items: Items that all systems have; where there are none, nothing is ranked.
        orders: Each pair, the better first, with how often rows keep that order; for the first weighting, else empty.
    """

    setting: Setting
    scores: dict[str, float]
    places: tuple[tuple[str, ...], ...]
    items: int
    orders: tuple[PairOrder, ...] = ()

    @property
    def words(self) -> str:
        """Return ``RepoAgent > OSA = original``."""
        return ranking_words(self.places)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "model": self.setting.model,
            "measure": self.setting.measure,
            "weighting": self.setting.weighting,
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

    Columns of others take part where they have results on the same items.
    """
    found = []
    for model, columns in by_model(outcome):
        for measure in outcome.study.measures:
            tasks = common_items(outcome, columns, measure)
            orders = pair_orders(tasks)
            for weighting, rule in weightings_of(outcome.study).items():
                mean = scores(tasks, rule)
                found.append(
                    Ranking(
                        Setting(model, measure, weighting),
                        mean,
                        ranking(mean),
                        len(tasks),
                        orders if rule == WEIGHTINGS[0] else (),
                    )
                )
    return tuple(found)


def by_model(outcome: StudyOutcome) -> list[tuple[str, list[Column]]]:
    """Return the columns that can be ranked against one another: those of one model or evaluator, of which there are several."""
    found: dict[str, list[Column]] = {}
    for column in outcome.columns:
        found.setdefault(column.model, []).append(column)
    return [(model, columns) for model, columns in found.items() if len(columns) > 1]


def system_name(column: Column) -> str:
    """Return what a column is called among those of one model."""
    return f"{column.system} ({column.source})" if column.source else column.system


def columns_of(outcome: StudyOutcome, model: str, left: str, right: str) -> tuple[str, str] | None:
    """Return the names of the columns of two systems of one model, by what :func:`system_name` calls them; None where one is gone."""
    names = {system_name(one): one.name for one in outcome.columns if one.model == model}
    return (names[left], names[right]) if left in names and right in names else None


def common_items(outcome: StudyOutcome, columns: Iterable[Column], measure: str) -> list[Measured]:
    """Return the items of which every one of some columns has a value; a column without any result is left out."""
    having = [one for one in columns if any(outcome.cell(row, one).means[measure].items for row in outcome.rows)]
    found: list[Measured] = []
    for row in outcome.rows:
        sides = {system_name(one): items_of(outcome, outcome.cell(row, one).work, measure) for one in having}
        if len(sides) < 2:
            continue
        first = next(iter(sides.values()))
        for key, item in first.items():
            values = {
                name: value for name, mine in sides.items() if key in mine and (value := mine[key].value) is not None
            }
            if len(values) == len(sides):
                found.append(Measured(row, key[0], values, item.tests))
    return found


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
