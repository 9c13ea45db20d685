"""What of a study's page is about parts of its functions: means by stratum, and whether rankings hold in them."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.reports.page import Grid, Note, Part, Section
from workbench.reports.study_figures import figure, part_words
from workbench.statistics.rankings import EQUAL
from workbench.studies.analysis import Analysis
from workbench.studies.outcome import StudyOutcome


def strata_section(outcome: StudyOutcome, analysis: Analysis) -> Iterator[Section]:
    """Yield the section on kinds of functions, where they differ in anything."""
    if not analysis.strata:
        return
    heads = ("functions", "which", "count", *(one.title for one in outcome.by_column))
    parts: list[Part] = [
        Grid(
            f"{measure} by kinds of functions.",
            heads,
            tuple(
                (
                    one.property,
                    one.name,
                    f"{one.functions:,}",
                    *(
                        part_words(one.means[column.name][measure], measure, one.functions)
                        for column in outcome.columns
                    ),
                )
                for one in analysis.strata
            ),
            frozenset({0, 1}),
        )
        for measure in outcome.study.measures[:1]
    ]
    parts.append(
        Note(
            "Parts of about equal size; equal values are in one part. Means are unweighted over rows, as those of the whole. Difficulty is "
            "the mean over all columns, so a stratum's means are near it: what it shows is how columns differ there. Length of docs "
            "divides each column's own docs. A mean of fewer functions than the part has says of how many; columns that are not comparable "
            "are in no mean over all. Other k are in --format json."
        )
    )
    yield Section("By kinds of functions", tuple(parts))


def stability_section(analysis: Analysis) -> Iterator[Section]:
    """Yield the section on rankings of parts, where there are any."""
    if not analysis.stability:
        return
    shown = [one for one in analysis.stability if not one.stratum or (one.tau is not None and one.tau < 1 - EQUAL)]
    rows = tuple(
        (one.model, one.measure, one.part, one.words or "–", f"{one.items:,}", figure(one.tau, 2)) for one in shown
    )
    parts = [one for one in analysis.stability if one.stratum]
    kept = sum(one.tau is not None and one.tau >= 1 - EQUAL for one in parts)
    unordered = sum(one.tau is None for one in parts)
    heads = ("model", "measure", "functions", "ranking", "count", "tau")
    yield Section(
        "Do rankings hold in parts?",
        (
            Grid("Rankings on parts of the functions that all systems have.", heads, rows, frozenset({0, 1, 2, 3})),
            Note(
                f"{kept:,} of {len(parts):,} strata (below) have the ranking of all functions and are left out here"
                + (f"; {unordered:,} have no order" if unordered else "")
                + ". tau: Kendall's, with the ranking on all functions. Without leaking docs, and documented everywhere: under each of "
                "the systems that write docs."
            ),
        ),
    )
