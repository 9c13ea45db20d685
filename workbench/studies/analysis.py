"""The doc-to-code paper's analysis for any study of docs: metrics, correlations, leaking docs, strata, rank stability.

A stratum is a subset of a study's functions. Its means follow the usual rule: unweighted over rows, or over tasks if
there is only one row. Imports numpy and scipy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.catalog.repositories import POPULAR, published_counts, published_name
from workbench.metrics.texts import MetricUnavailable, needed
from workbench.regeneration.outcome import is_leaking
from workbench.session.reader import SessionReader
from workbench.statistics.intervals import Value, clusters_of, share_interval_of
from workbench.statistics.rankings import RankedTask, kendall_tau, ranking, ranking_words, scores
from workbench.studies.cells import Mean, counted_missing
from workbench.studies.comparing import ranked_columns, system_name
from workbench.studies.conditions import comparable_rows
from workbench.studies.declaration import DOCS, InJson, StudyColumn
from workbench.studies.outcome import FunctionFacts, StudyOutcome, function_facts
from workbench.studies.published_comparison import PublishedComparison, published_comparison
from workbench.studies.text_metrics import TextMetrics, text_metrics

NO_TEXTS = "Text metrics need a study of docs; this study is of another kind."
PARTS = 3
"""Number of parts of about equal size into which a numeric property divides functions."""
WHOLE = "all functions"


@dataclass(frozen=True, slots=True)
class Stratum(InJson):
    """Functions of one kind, with pass@k by column and measure.

    For length of docs, of one kind under any doc system.
    """

    property: str
    name: str
    functions: int
    means: Mapping[str, Mapping[str, Mean]]


@dataclass(frozen=True, slots=True)
class LeakLine(InJson):
    """Docs that contain the code, in one column, and pass@k without them.

    ``level`` is the mean share of a body that its docs repeat.
    """

    column: StudyColumn
    tasks: int
    leaking: int
    level: float | None
    whole: Mapping[str, Mean]
    without: Mapping[str, Mean]


@dataclass(frozen=True, slots=True)
class RankedPart(InJson):
    """Systems ranked on a subset of their common functions; ``tau`` is Kendall's, with the ranking on all functions."""

    JSON = "model measure part places:ranking scores items tau stratum"

    model: str
    measure: str
    part: str
    places: tuple[tuple[str, ...], ...]
    scores: Mapping[str, float]
    items: int
    tau: float | None
    stratum: bool = False

    @property
    def words(self) -> str:
        return ranking_words(self.places)


@dataclass(frozen=True, slots=True)
class Analysis(InJson):
    """The analysis of a study of docs.

    Without ``metrics`` there is a ``problem``; ``beside`` requires at least two doc systems of the paper.
    """

    JSON = "leaks strata stability metrics problem beside:beside_the_paper"

    leaks: tuple[LeakLine, ...]
    strata: tuple[Stratum, ...]
    stability: tuple[RankedPart, ...]
    metrics: TextMetrics | None
    problem: str = ""
    beside: PublishedComparison | None = None


def analyse(
    reader: SessionReader, outcome: StudyOutcome, metrics: Sequence[str] = (), *, model: Path | None = None
) -> Analysis | None:
    """Return the analysis of a study, or None for a study of agents or one without tasks.

    Without ``metrics``, the usual ones are computed if their packages are installed; MetricUnavailable is raised if the
    package of a requested metric is missing. ``model`` is the folder with the weights of ``codebertscore``.
    """
    if outcome.study.kind != DOCS:
        if metrics:
            raise UsageError(NO_TEXTS)
        return None
    functions = function_facts(reader, outcome)
    if not functions:
        return None
    problem, found = "", None
    try:
        needed("scipy", "correlating metrics with pass@k")
    except MetricUnavailable as error:
        if metrics:
            raise
        problem = str(error)
    else:
        found = text_metrics(reader, outcome, functions, metrics, model=model)
    return Analysis(
        leaks(outcome, functions),
        strata(outcome, functions),
        stability(outcome, functions),
        found,
        problem,
        published_comparison(outcome),
    )


Part = tuple[str, str, Callable[[FunctionFacts, str], bool]]
"""A property, one part of it, and a test of whether a function in a column (by name) belongs to that part."""


def strata(outcome: StudyOutcome, functions: Sequence[FunctionFacts]) -> tuple[Stratum, ...]:
    """Return the means of each column by popularity, size, T_i, its coverage, difficulty, and length of docs."""
    found = []
    for property, name, inside in parts_of(outcome, functions):
        chosen = [one for one in functions if any(inside(one, column) for column in one.facts)]
        means = {
            column.name: _means(outcome, column.name, [one for one in chosen if inside(one, column.name)])
            for column in outcome.columns
        }
        found.append(Stratum(property, name, len(chosen), means))
    return tuple(found)


def leaks(outcome: StudyOutcome, functions: Sequence[FunctionFacts]) -> tuple[LeakLine, ...]:
    found = []
    for column in outcome.columns:
        mine = [one for one in functions if column.name in one.facts]
        clean = [one for one in mine if not is_leaking(one.facts[column.name].leak)]
        levels = [facts.leak for one in mine if (facts := one.facts[column.name]).documented and facts.leak is not None]
        found.append(
            LeakLine(
                column,
                len(mine),
                len(mine) - len(clean),
                math.fsum(levels) / len(levels) if levels else None,
                _means(outcome, column.name, mine),
                _means(outcome, column.name, clean),
            )
        )
    return tuple(found)


def stability(outcome: StudyOutcome, functions: Sequence[FunctionFacts]) -> tuple[RankedPart, ...]:
    """Return rankings on all functions, without leaking docs, on documented functions only, and within each stratum.

    A function counts if all systems of a model have a value for it. It is excluded as leaking if the docs of any of
    these systems contain the code, and as undocumented if any of these systems except ``none`` has no docs. Strata by
    length of docs contain different functions for each system, so they have no ranking.
    """
    parts: list[Part] = [
        ("", "without leaking docs", lambda one, column: not is_leaking(one.facts[column].leak)),
        ("", "documented everywhere", lambda one, column: one.facts[column].documented),
    ]
    parts += [part for part in parts_of(outcome, functions) if part[0] != DOCS_LENGTH]
    found = []
    for several in ranked_columns(outcome):
        model, columns = " · ".join(filter(None, (several.model, several.apart))), several.columns
        having = [one for one in columns if any(one.name in each.facts for each in functions)]
        if len(having) < 2:
            continue
        documented = [one.name for one in having if one.system != "none"]
        rows = comparable_rows(outcome.works, outcome.rows, having)
        for measure in outcome.study.measures:
            common = [one for one in functions if one.row in rows and _common(one, having, measure)]
            whole = _ranked(model, measure, WHOLE, common, having, {})
            found.append(whole)
            for property, name, inside in parts:
                mine = [one for one in common if all(inside(one, column) for column in documented)]
                part = f"{property}: {name}" if property else name
                ranked = _ranked(model, measure, part, mine, having, whole.scores)
                found.append(replace(ranked, stratum=bool(property)))
    return tuple(found)


# -- the properties that divide functions

DOCS_LENGTH = "length of docs"


def parts_of(outcome: StudyOutcome, functions: Sequence[FunctionFacts]) -> list[Part]:
    """Return the properties that divide functions; a property with a single non-empty part is omitted."""
    first = outcome.study.measures[0] if outcome.study.measures else ""
    compared = {one.column.name for one in outcome.by_column if not one.apart}
    stars = {row: published_counts()[name].stars for row in outcome.rows if (name := published_name(row))}
    found: list[Part] = []
    if len({one > POPULAR for one in stars.values()}) > 1:
        found.append(("popularity", f"more than {POPULAR} stars", lambda one, _: stars.get(one.row, 0) > POPULAR))
        found.append(
            ("popularity", f"{POPULAR} stars or fewer", lambda one, _: one.row in stars and stars[one.row] <= POPULAR)
        )
    numbers: list[tuple[str, Callable[[FunctionFacts], float | None], str]] = [
        ("size of the body", lambda one: one.first("body"), "{:,.0f} bytes"),
        ("tests in T_i", lambda one: float(one.tests), "{:,.0f}"),
        ("coverage of T_i", lambda one: _per_cent(one.first("coverage")), "{:.0f} %"),
        (f"difficulty, mean {first}", lambda one: _mean_passed(one, first, compared), "{:.2f}"),
    ]
    for property, value_of, form in numbers:
        values = {id(one): value for one in functions if (value := value_of(one)) is not None}
        found += _cuts(property, values, lambda one, _: id(one), form)
    docs = {(id(one), column): facts for one in functions for column, facts in one.facts.items()}
    lengths = {key: float(facts.docs) for key, facts in docs.items() if facts.documented and facts.docs}
    if lengths and any(not facts.documented for facts in docs.values()):
        found.append(
            (DOCS_LENGTH, "none", lambda one, column: column in one.facts and not one.facts[column].documented)
        )
    return [*found, *_cuts(DOCS_LENGTH, lengths, lambda one, column: (id(one), column), "{:,.0f} bytes")]


def _cuts(
    property: str, values: Mapping[Any, float], key: Callable[[FunctionFacts, str], object], form: str
) -> Iterator[Part]:
    """Yield parts of about equal size, labelled "up to" and "above" a value; nothing if all values are equal.

    Equal values belong to the same part.
    """
    ordered = sorted(values.values())
    ends = [ordered[math.ceil(len(ordered) * part / PARTS) - 1] for part in range(1, PARTS)] if ordered else []
    bounds = sorted({one for one in ends if one < ordered[-1]})
    for low, high in itertools.pairwise([-math.inf, *bounds, math.inf]) if bounds else ():
        above = f"above {form.format(low)}" if low > -math.inf else ""
        upto = f"up to {form.format(high)}" if high < math.inf else ""

        def inside(one: FunctionFacts, column: str, low: float = low, high: float = high) -> bool:
            return low < values.get(key(one, column), -math.inf) <= high

        yield property, ", ".join(filter(None, (above, upto))), inside


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _mean_passed(one: FunctionFacts, measure: str, columns: set[str]) -> float | None:
    known = [value for name, mine in one.passed.items() if name in columns and (value := mine.get(measure)) is not None]
    return math.fsum(known) / len(known) if known else None


# -- figures of the parts


def _means(outcome: StudyOutcome, column: str, functions: Iterable[FunctionFacts]) -> dict[str, Mean]:
    mine = [one for one in functions if column in one.passed]
    found = {}
    for measure in outcome.study.measures:
        values = [
            Value(one.row, one.file, value) for one in mine if (value := one.passed[column].get(measure)) is not None
        ]
        clusters = clusters_of(values)
        found[measure] = Mean(
            clusters.mean if values else None,
            share_interval_of(clusters),
            len(values),
            counted_missing([("without a value", "")] * (len(mine) - len(values))),
            len({one.repository for one in values}),
        )
    return found


def _common(one: FunctionFacts, columns: Iterable[StudyColumn], measure: str) -> bool:
    return all(one.passed.get(column.name, {}).get(measure) is not None for column in columns)


def _ranked(
    model: str,
    measure: str,
    part: str,
    functions: Sequence[FunctionFacts],
    columns: Sequence[StudyColumn],
    whole: Mapping[str, float],
) -> RankedPart:
    measured = [
        RankedTask(
            one.row, one.file, {system_name(each): one.passed[each.name][measure] or 0.0 for each in columns}, one.tests
        )
        for one in functions
    ]
    means = scores(measured)
    tau = kendall_tau([means[name] for name in means], [whole[name] for name in means]) if whole and means else None
    return RankedPart(model, measure, part, ranking(means), means, len(measured), tau)
