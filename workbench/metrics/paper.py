"""Statistics from the published tables of the doc-to-code paper, including where the tables or the text disagree.

The raw verdicts were not published. The sources are pass@k by repository to two decimals (Table 3), its means (Table 1)
and the counts (Table 2), as in :mod:`workbench.catalog.repositories`.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.catalog.repositories import POPULAR, TASKS_IN_THE_TEXT, published_counts, published_scores
from workbench.statistics.intervals import Value
from workbench.statistics.paired import (
    RESAMPLES,
    Difference,
    PermutationTest,
    holm,
    paired_difference,
    permutation_test,
)
from workbench.statistics.rankings import PairOrder, RankedTask, kendall_tau, pair_orders, ranking
from workbench.statistics.resampling import drawn_orders, resampled_means

SYSTEMS = ("RepoAgent", "OSA", "default")

Cell = tuple[str, str]
"""A doc system and its model."""
Setting = tuple[str, int]
"""An evaluator and a k."""


@dataclass(frozen=True, slots=True)
class MeanCell:
    """A cell of Table 1: its printed value, and the unweighted and the task-weighted mean of Table 3."""

    system: Cell
    setting: Setting
    printed: float
    mean: float
    by_tasks: float

    @property
    def off(self) -> float:
        """The difference between the printed value and the unweighted mean."""
        return abs(self.printed - self.mean)


@dataclass(frozen=True, slots=True)
class PairedCell:
    """RepoAgent minus OSA with the same model, evaluator and k, over all repositories."""

    model: str  # the model of both doc systems
    setting: Setting  # evaluator and k
    difference: Difference  # mean difference with its interval
    bootstrap: tuple[float, float]  # percentile bounds over repositories, which are too narrow
    test: PermutationTest
    adjusted: float  # p-value of the test, Holm-adjusted for eight tests


@dataclass(frozen=True, slots=True)
class RepositoryStratum:
    """A stratum of repositories, with each doc system's mean pass@k (over its models) by setting."""

    name: str
    repositories: int
    means: Mapping[Setting, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Paper:
    """All statistics derived from the published tables."""

    settings: tuple[Setting, ...]  # settings, each an evaluator and k
    means: tuple[MeanCell, ...]  # Table 1 compared with Table 3
    rankings: Mapping[Setting, tuple[tuple[str, ...], ...]]  # doc systems (mean over models) by setting, best first
    # Kendall's tau between the rankings of the five columns in two settings
    taus: Mapping[tuple[Setting, Setting], float | None]
    keeping: tuple[str, ...]  # repositories with RepoAgent > OSA > default, strictly, in every setting
    keeping_in: Mapping[Setting, int]  # the same count by setting
    whole_order: Mapping[Setting, int]  # repositories with the strict overall order of all five columns, by setting
    orders: Mapping[Setting, tuple[PairOrder, ...]]  # how often resamples preserve the overall order of two columns
    paired: tuple[PairedCell, ...]  # RepoAgent minus OSA in eight settings
    spreads: Mapping[tuple[Cell, Setting], float]  # interquartile ranges over repositories, by column and setting
    strata: tuple[RepositoryStratum, ...]  # popular repositories and the others
    sums: tuple[int, int, int]  # totals of Table 2: candidates, all tasks, tasks

    @property
    def repositories(self) -> int:
        return sum(one.repositories for one in self.strata)

    @property
    def tasks_in_the_text(self) -> int:
        return TASKS_IN_THE_TEXT


def published_paper(*, resamples: int = RESAMPLES, seed: int = 0) -> Paper:
    """Compute all statistics, using ``resamples`` draws for bootstraps and permutation tests."""
    counts = published_counts()
    table = {
        name: {
            ((one.documenter, one.documenter_model), (one.evaluator, one.k)): one.value
            for one in published_scores(name)
        }
        for name in counts
    }
    columns = list(dict.fromkeys(cell for cell, _ in table[next(iter(table))]))
    settings = tuple(sorted({setting for _, setting in table[next(iter(table))]}))
    averaged = {
        name: {
            setting: {
                system: statistics.fmean(values[cell, setting] for cell in columns if cell[0] == system)
                for system in SYSTEMS
            }
            for setting in settings
        }
        for name, values in table.items()
    }
    keeping = {
        setting: {name for name, values in averaged.items() if _strict([values[setting][system] for system in SYSTEMS])}
        for setting in settings
    }
    named = {cell: f"{cell[0]} {cell[1]}".strip() for cell in columns}
    overall = {
        setting: [statistics.fmean(values[cell, setting] for values in table.values()) for cell in columns]
        for setting in settings
    }
    return Paper(
        settings=settings,
        means=_means(table, {name: one.tasks for name, one in counts.items()}),
        rankings={
            setting: ranking(
                {system: statistics.fmean(one[setting][system] for one in averaged.values()) for system in SYSTEMS}
            )
            for setting in settings
        },
        taus={(a, b): kendall_tau(overall[a], overall[b]) for a, b in itertools.combinations(settings, 2)},
        keeping=tuple(sorted(set.intersection(*keeping.values()))),
        keeping_in={setting: len(names) for setting, names in keeping.items()},
        whole_order={
            setting: sum(
                _strict([values[cell, setting] for _, cell in _sorted(overall[setting], columns)])
                for values in table.values()
            )
            for setting in settings
        },
        orders={
            setting: pair_orders(mine, drawn=drawn_orders(mine, resamples=resamples, seed=seed))
            for setting in settings
            for mine in [
                [
                    RankedTask(name, "", {named[cell]: values[cell, setting] for cell in columns})
                    for name, values in table.items()
                ]
            ]
        },
        paired=_paired(table, settings, resamples, seed),
        spreads={
            (cell, setting): _interquartile_range([values[cell, setting] for values in table.values()])
            for cell in columns
            for setting in settings
        },
        strata=tuple(
            RepositoryStratum(
                name,
                len(mine),
                {
                    setting: {
                        system: statistics.fmean(averaged[one][setting][system] for one in mine) for system in SYSTEMS
                    }
                    for setting in settings
                },
            )
            for name, mine in (
                (f"more than {POPULAR} stars", [one for one in counts if counts[one].stars > POPULAR]),
                (f"{POPULAR} stars or fewer", [one for one in counts if counts[one].stars <= POPULAR]),
            )
        ),
        sums=(
            sum(one.candidates for one in counts.values()),
            sum(one.all_tasks for one in counts.values()),
            sum(one.tasks for one in counts.values()),
        ),
    )


def _means(table: Mapping[str, Mapping[tuple[Cell, Setting], float]], tasks: Mapping[str, int]) -> tuple[MeanCell, ...]:
    cells = []
    whole = sum(tasks.values())
    for one in published_scores():
        key = (one.documenter, one.documenter_model), (one.evaluator, one.k)
        mean = statistics.fmean(values[key] for values in table.values())
        weighted = sum(tasks[name] * values[key] for name, values in table.items()) / whole
        cells.append(MeanCell(*key, one.value, mean, weighted))
    return tuple(cells)


def _paired(
    table: Mapping[str, Mapping[tuple[Cell, Setting], float]], settings: tuple[Setting, ...], resamples: int, seed: int
) -> tuple[PairedCell, ...]:
    models = sorted({cell[1] for cell, _ in table[next(iter(table))] if cell[0] == "OSA"})
    found: dict[tuple[str, Setting], tuple[Difference, tuple[float, float], PermutationTest]] = {}
    for model, setting in itertools.product(models, settings):
        values = [
            Value(name, "", mine[("RepoAgent", model), setting] - mine[("OSA", model), setting])
            for name, mine in table.items()
        ]
        drawn = sorted(
            float(one)
            for one in resampled_means([[one.value] for one in values], [1.0] * len(values), resamples, seed)[:, 0]
        )
        outside = round(0.025 * (len(drawn) - 1))
        bounds = drawn[outside], drawn[-1 - outside]
        test = permutation_test(values, resamples=resamples, seed=seed)
        found[model, setting] = paired_difference(values), bounds, test
    adjusted = holm({str(key): test.p or 0.0 for key, (_, _, test) in found.items()})
    return tuple(
        PairedCell(model, setting, difference, bounds, test, adjusted[str((model, setting))])
        for (model, setting), (difference, bounds, test) in found.items()
    )


def _sorted(means: list[float], columns: list[Cell]) -> list[tuple[float, Cell]]:
    return sorted(zip(means, columns, strict=True), reverse=True)


def _strict(values: list[float]) -> bool:
    return all(left - right > 1e-9 for left, right in itertools.pairwise(values))


def _interquartile_range(values: list[float]) -> float:
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return third - first
