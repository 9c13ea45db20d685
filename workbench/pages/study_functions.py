"""Sections of a study's page about functions: text metrics and their correlation with pass@k, leaking docs, strata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.base.text import NOTHING, percent
from workbench.catalog.repositories import CODE_DOC_CORRELATION, MOST_LEXICAL_CORRELATION
from workbench.metrics.tasks import PAIRS, MetricColumn
from workbench.pages.page import Bar, Forest, MarkedText, Note, PageTable, Part, Section, grid, grid_of
from workbench.statistics.correlations import FEWEST, Correlation
from workbench.statistics.rankings import EQUAL
from workbench.studies.analysis import Analysis
from workbench.studies.outcome import StudyOutcome
from workbench.studies.text_metrics import LEXICAL, MetricsOf, furthest
from workbench.studies.wording import figure, part_words

_SPEARMAN = 1
"""The index of Spearman's coefficient among the correlations."""


def metrics_section(outcome: StudyOutcome, analysis: Analysis | None, _: int) -> Iterator[Section]:
    if analysis is None:
        return
    found = analysis.metrics
    if found is None:
        yield Section("Text metrics", (Note(f"Text metrics were not computed: {analysis.problem}"),))
        return
    if not found.by_column:
        return
    parts: list[Part] = []
    together = {one.model for one in found.together}
    for one in (*found.together, *(each for each in found.by_column if each.model not in together)):
        parts += _drawn(one, outcome.study.k[0])
        parts += [_with_pass(one, k) for k in outcome.study.k]
    parts += _by_column(outcome, found.by_column)
    parts.append(Note(_rules(outcome, analysis)))
    if found.together:
        parts.append(Note(_beside_the_text(found.together)))
    yield Section("Text metrics and their correlation with pass@k", tuple(parts))


def _whose(one: MetricsOf) -> str:
    return f"{one.model or 'default model'}, {'all doc systems together' if one.column is None else one.column.system}"


def _drawn(one: MetricsOf, k: int) -> Iterator[Part]:
    bars = tuple(
        Bar(f"{each.metric} {each.pair}", found.value, found.low, found.high, _correlation(found))
        for each in one.metrics
        if each.correlations[k] and (found := each.correlations[k][0]).value is not None
    )
    if bars:
        caption = f"Pearson's correlation of metrics with pass@{k}; coloured where its interval excludes 0."
        yield Forest(f"{_whose(one)}: {caption}", bars, f"Pearson's correlation with pass@{k}")


def _with_pass(one: MetricsOf, k: int) -> PageTable:
    def correlation(place: int) -> Callable[[MetricColumn], str]:
        return lambda each: _correlation(each.correlations[k][place] if each.correlations[k] else None)

    columns: dict[str, Callable[[MetricColumn], str]] = {
        "metric": lambda each: each.metric,
        "of": lambda each: each.pair,
        "tasks": lambda each: f"{len(each.values):,}",
        "mean": _mean,
        **{name: correlation(place) for place, name in enumerate(("Pearson", "Spearman", "Kendall"))},
    }
    return grid_of(f"{_whose(one)}: correlations with pass@{k}.", one.metrics, columns, 2)


def _by_column(outcome: StudyOutcome, columns: Sequence[MetricsOf]) -> Iterator[Part]:
    titles = {one.column.name: one.title for one in outcome.by_column}
    named = [
        (titles[one.column.name], {(each.metric, each.pair): each for each in one.metrics})
        for one in columns
        if one.column
    ]
    keys = list(dict.fromkeys(key for _, mine in named for key in mine))
    heads = ("metric", "of", *(title for title, _ in named))
    if len(named) < 2:
        return
    rows = tuple((*key, *(_mean(mine[key]) if key in mine else NOTHING for _, mine in named)) for key in keys)
    yield grid("Means of metrics by column.", heads, rows, 2)
    for k in outcome.study.k[:1]:
        rows = tuple(
            (*key, *(_correlation(_spearman(mine[key], k)) if key in mine else NOTHING for _, mine in named))
            for key in keys
        )
        # If a metric or pass@k is constant, it has no correlation.
        if rows := tuple(row for row in rows if set(row[2:]) != {NOTHING}):
            yield grid(f"Spearman's correlation with pass@{k} by column.", heads, rows, 2)


def _spearman(one: MetricColumn, k: int) -> Correlation | None:
    return one.correlations[k][_SPEARMAN] if one.correlations[k] else None


def _mean(one: MetricColumn) -> str:
    low, high = one.interval.low, one.interval.high
    bounds = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]".replace("-", "−")
    return figure(one.mean, 3) + bounds


def _correlation(one: Correlation | None) -> str:
    return NOTHING if one is None else one.words.partition(" over ")[0]


def _rules(outcome: StudyOutcome, analysis: Analysis) -> str:
    found = analysis.metrics
    assert found is not None
    units = {
        each.words.partition(" over ")[2]: None
        for one in (*found.together, *found.by_column)
        for metric in one.metrics
        for kinds in metric.correlations.values()
        for each in kinds
        if each.low is not None
    }
    rules = [
        "doc-doc: docs and the original docstring; code-code: bodies and the original one; code-doc: the original body and the docs; "
        "doc: the docs alone."
    ]
    if units:
        rules.append(
            f"Intervals of correlations by the jackknife over {', '.join(units)}; there is none over too few of them or for constant values."
        )
    else:
        rules.append("No correlation has an interval: there are fewer than five files, or values are constant.")
    if 1 < len(outcome.rows) < FEWEST:
        rules.append("With fewer than five repositories, the jackknife leaves out files.")
    if found.together:
        rules.append(
            "All systems together: each task counts once for each system, so these correlations include differences between systems."
        )
    if found.tasks < found.of:
        rules.append(
            f"Computed for a sample of {found.tasks:,} of {found.of:,} tasks, the same functions under every system."
        )
    rules += [f"{one[:1].upper()}{one[1:]}." for one in found.notes]
    return " ".join(rules)


def _beside_the_text(together: Sequence[MetricsOf]) -> str:
    sentences = [
        f"According to the paper, no lexical metric's correlation with pass@k exceeds {MOST_LEXICAL_CORRELATION} in absolute value, and that "
        f"of CodeBERTScore of code and docs is below {CODE_DOC_CORRELATION}. The largest of lexical metrics here, by Pearson's:"
    ]
    for one in together:
        picks = [(pair, furthest(one, LEXICAL, pair=pair)) for pair in PAIRS]
        words = [
            f"{pair} {metric.metric} {_correlation(found)} (pass@{k})"
            for pair, pick in picks
            if pick is not None
            for metric, k, found in [pick]
        ]
        sentences.append(f"{one.model or 'default model'}: {'; '.join(words) or 'all are constant'}.")
    return " ".join(sentences)


def leaks_section(outcome: StudyOutcome, analysis: Analysis | None, _: int) -> Iterator[Section]:
    titles = {one.column.name: one.title for one in outcome.by_column}
    measures = outcome.study.measures
    rows = tuple(
        (
            titles[one.column.name],
            f"{one.tasks:,}",
            f"{one.leaking:,}",
            percent(one.leaking / one.tasks if one.tasks else None),
            figure(one.level, 2),
            *(
                part_words(side[measure], measure, of)
                for measure in measures
                for side, of in ((one.whole, one.tasks), (one.without, one.tasks - one.leaking))
            ),
        )
        for one in (analysis.leaks if analysis is not None else ())
        if one.tasks
    )
    if not rows:
        return
    figures = (words for measure in measures for words in (measure, f"{measure} without"))
    heads = ("docs", "tasks", "leaking", "share", "overlap", *figures)
    note = (
        "Leaking: the docstring repeats at least 40 % of the body's 4-grams of tokens, or a 12-gram with an operator (ngram-1). "
        "Overlap: mean share of repeated 4-grams over documented tasks. Rankings without leaking docs are among those on parts."
    )
    table = grid("Leakage check: pass@k with and without docs that contain the code.", heads, rows)
    yield Section("Docs that contain the code", (table, Note(note)))


def strata_section(outcome: StudyOutcome, analysis: Analysis | None, _: int) -> Iterator[Section]:
    if analysis is None or not analysis.strata:
        return
    measure = outcome.study.measures[0]
    heads = ("functions", "which", "count", *(one.title for one in outcome.by_column))
    rows = []
    for one in analysis.strata:
        means = (one.means[column.name][measure] for column in outcome.columns)
        words = (part_words(mean, measure, one.functions) for mean in means)
        rows.append((one.property, one.name, f"{one.functions:,}", *words))
    note = MarkedText(
        "Strata have about equal sizes; equal values are in one stratum. Means are unweighted over rows. Difficulty is the mean over all "
        "columns, so compare the columns of a stratum, not strata. Length of docs is that of each column's own "
        "docs. A mean over fewer functions than its stratum has states their number. Other k are in `--format json`."
    )
    table = grid(f"{measure} by kinds of functions.", heads, tuple(rows), 2)
    yield Section("By kinds of functions", (table, Note(note)))


def stability_section(outcome: StudyOutcome, analysis: Analysis | None, _: int) -> Iterator[Section]:
    if analysis is None or not analysis.stability:
        return
    shown = [one for one in analysis.stability if not one.stratum or (one.tau is not None and one.tau < 1 - EQUAL)]
    rows = tuple(
        (one.model, one.measure, one.part, one.words or "–", f"{one.items:,}", figure(one.tau, 2)) for one in shown
    )
    parts = [one for one in analysis.stability if one.stratum]
    kept = sum(one.tau is not None and one.tau >= 1 - EQUAL for one in parts)
    unordered = sum(one.tau is None for one in parts)
    heads = ("model", "measure", "functions", "ranking", "count", "tau")
    note = (
        f"{kept:,} of {len(parts):,} strata (below) have the ranking of all functions and are omitted here"
        + (f"; {unordered:,} have no ranking" if unordered else "")
        + ". tau: Kendall's, with the ranking on all functions. The parts without leaking docs and with "
        "documentation have this property under every system that writes docs."
    )
    table = grid("Rankings on parts of the functions that all systems have.", heads, rows, 4)
    yield Section("Do rankings hold in parts?", (table, Note(note)))
