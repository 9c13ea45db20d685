"""A study's own figures next to the published ones, for doc systems or repositories that the paper also covers.

As in the paper's rankings, doc systems are grouped by family and averaged over their models, because the study and the
paper share families but not models. All published figures here are from Table 3
(:mod:`workbench.catalog.repositories`).
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.catalog.repositories import published_counts, published_name, published_scores
from workbench.statistics.intervals import Value
from workbench.statistics.paired import Difference, paired_difference
from workbench.statistics.rankings import by_repository_of, kendall_tau, ranking, ranking_words
from workbench.studies.comparing import common_items, ranked_columns, system_name
from workbench.studies.declaration import InJson, StudyColumn
from workbench.studies.outcome import StudyOutcome

FAMILIES = {"repoagent": "RepoAgent", "osa": "OSA", "original": "default"}
"""The paper's names for the Workbench's doc systems."""
FEWEST_ROWS = 4
"""Minimum number of rows for quartiles to be meaningful."""
Setting = tuple[str, int]
"""An evaluator and k."""
Values = dict[str, dict[str, list[float]]]
"""Values by row and family."""


@dataclass(frozen=True, slots=True)
class Series:
    """Doc systems under one evaluator and k, either published or from this study (``own``).

    ``over`` is the number of repositories; ``means`` are unweighted over these. ``differences`` are the second family
    minus the first, ``quartiles`` the distances between their quartiles.
    """

    evaluator: str
    k: int
    own: bool
    over: int
    means: Mapping[str, float]
    differences: Mapping[tuple[str, str], Difference]
    quartiles: Mapping[str, float]

    @property
    def ranking(self) -> str:
        return ranking_words(ranking(self.means))

    def tau(self, other: Series) -> float | None:
        names = [name for name in self.means if name in other.means]
        return kendall_tau([self.means[one] for one in names], [other.means[one] for one in names])

    def to_json(self) -> dict[str, Any]:
        return {
            "evaluator": self.evaluator,
            "k": self.k,
            "own": self.own,
            "repositories": self.over,
            "means": dict(self.means),
            "ranking": self.ranking,
            "differences": [
                {"better": right, "than": left, **one.to_json()} for (left, right), one in self.differences.items()
            ],
            "quartiles_apart": dict(self.quartiles),
        }


@dataclass(frozen=True, slots=True)
class PublishedComparison(InJson):
    """Published figures over all 28 repositories and over the ``shared`` ones, and the study's own over its rows."""

    JSON = "families shared published published_here:published_on_shared own"

    families: tuple[str, ...]
    shared: tuple[str, ...]
    published: tuple[Series, ...]
    published_here: tuple[Series, ...]
    own: tuple[Series, ...]


def published_comparison(outcome: StudyOutcome) -> PublishedComparison | None:
    """Return the comparison, or None if the study has results for fewer than two families of the paper."""
    columns = {column.name: name for column in outcome.columns if (name := family_of(column))}
    families = tuple(one for one in FAMILIES.values() if one in columns.values())
    own = tuple(_own(outcome, columns))
    if len(families) < 2 or not own:
        return None
    names = {row: name for row in outcome.rows if (name := published_name(row))}
    ks = {one.k for one in own}
    return PublishedComparison(
        families,
        tuple(names),
        tuple(_published(published_counts(), families, ks)),
        tuple(_published(names.values(), families, ks)) if names else (),
        own,
    )


def family_of(column: StudyColumn) -> str:
    kind = column.system.partition(":")[0]
    # The name of an external doc system contains the version of its program.
    return FAMILIES.get(kind.partition("-")[0], "")


def _own(outcome: StudyOutcome, columns: Mapping[str, str]) -> Iterable[Series]:
    for one, k in itertools.product(ranked_columns(outcome), outcome.study.k):
        mine = {system_name(column): columns[column.name] for column in one.columns if column.name in columns}
        if one.apart or len(set(mine.values())) < 2:
            continue
        # Only tasks that all families have are averaged.
        measured = common_items(outcome, [column for column in one.columns if column.name in columns], f"pass@{k}")
        table: Values = {}
        for row, tasks in by_repository_of(measured).items():
            for system in tasks[0].values:
                mean = statistics.fmean(task.values[system] for task in tasks)
                table.setdefault(row, {}).setdefault(mine[system], []).append(mean)
        having = [name for name in FAMILIES.values() if any(name in of_row for of_row in table.values())]
        if len(having) > 1:
            yield _series(one.model, k, table, having, own=True)


def _published(repositories: Iterable[str], families: Sequence[str], ks: set[int]) -> Iterable[Series]:
    tables: dict[Setting, Values] = {}
    for name in repositories:
        for one in published_scores(name):
            if one.documenter in families and one.k in ks:
                of_row = tables.setdefault((one.evaluator, one.k), {}).setdefault(name, {})
                of_row.setdefault(one.documenter, []).append(one.value)
    for (evaluator, k), table in sorted(tables.items()):
        yield _series(evaluator, k, table, families, own=False)


def _series(evaluator: str, k: int, every: Values, families: Sequence[str], *, own: bool) -> Series:
    table = {row: {name: statistics.fmean(values) for name, values in mine.items()} for row, mine in every.items()}
    # The system that is weaker in the paper comes first, so that the paper's findings are positive differences.
    pairs = [(later, earlier) for earlier, later in itertools.combinations(families, 2)]
    return Series(
        evaluator,
        k,
        own,
        len(table),
        {name: math.fsum(values[name] for values in table.values()) / len(table) for name in families},
        {
            (left, right): paired_difference(
                Value(row, "", values[right] - values[left]) for row, values in table.items()
            )
            for left, right in pairs
        },
        {name: _quartiles_apart([values[name] for values in table.values()]) for name in families}
        if len(table) >= FEWEST_ROWS
        else {},
    )


def _quartiles_apart(values: Sequence[float]) -> float:
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return third - first
