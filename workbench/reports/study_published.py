"""The paper's figures beside one's own, where a row of a study is one of its repositories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.catalog.published import QUARTILES_APART, Score, published_counts, published_name, published_scores
from workbench.reports.page import Grid, Note, Part, Section
from workbench.reports.study_figures import NOTHING, cell_words, difference_words, figure
from workbench.statistics.paired import Difference
from workbench.studies.analysis import Analysis
from workbench.studies.beside_paper import BesidePaper, Series
from workbench.studies.declaration import DOCS
from workbench.studies.outcome import StudyOutcome

_SAME = {"original": "default"}
"""What the paper calls a doc system of ours by another name."""


def published_section(outcome: StudyOutcome, analysis: Analysis | None = None) -> Iterator[Section]:
    """Yield a section with what both have: the same doc systems, and a table for each k where a row is a repository of the paper."""
    if outcome.study.kind != DOCS:
        return
    parts: list[Part] = []
    if analysis is not None and analysis.beside is not None:
        parts += _series(analysis.beside)
    rows = {row: name for row in outcome.rows if (name := published_name(row))}
    ks = [k for k in outcome.study.k if any(one.k == k for one in published_scores())]
    if rows and ks:
        parts += _by_repository(outcome, rows, ks)
    if parts:
        yield Section("The paper's figures beside these", tuple(parts))


def _series(beside: BesidePaper) -> Iterator[Part]:
    """Yield means, rankings and differences by family of doc systems, the published ones first."""
    every = (*beside.published, *beside.published_here, *beside.own)
    first = {(one.evaluator, one.k): one for one in beside.published}
    heads = ("evaluator", "k", "of", *beside.families, "ranking", "tau")
    yield Grid(
        "Means of doc systems, their models averaged: published, and this study's.",
        heads,
        tuple(
            (
                one.evaluator,
                str(one.k),
                _of(one, beside),
                *(figure(one.means.get(name), 3) for name in beside.families),
                one.ranking,
                _taus_with(one, first.values()),
            )
            for one in every
        ),
        frozenset({0, 1, 2}),
    )
    pairs = list(dict.fromkeys(pair for one in every for pair in one.differences))
    yield Grid(
        "Differences paired over repositories, with won / tied / lost.",
        ("evaluator", "k", "of", *(f"{right} − {left}" for left, right in pairs)),
        tuple(
            (one.evaluator, str(one.k), _of(one, beside), *(_difference(one.differences.get(pair)) for pair in pairs))
            for one in every
        ),
        frozenset({0, 1, 2}),
    )
    if spread := [one for one in every if one.quartiles]:
        low, high = QUARTILES_APART
        yield Grid(
            f"Distance of the quartiles over repositories; the paper's text says {low} to {high}.",
            ("evaluator", "k", "of", *beside.families),
            tuple(
                (
                    one.evaluator,
                    str(one.k),
                    _of(one, beside),
                    *(figure(one.quartiles.get(name), 2) for name in beside.families),
                )
                for one in spread
            ),
            frozenset({0, 1, 2}),
        )
    yield Note(
        "Published: computed from Table 3, two digits a repository. tau: Kendall's of the published rankings with the same k, the lowest to the "
        "highest, over the systems of both. Fewer than three repositories give no interval; this study's rest on rows that all of its systems have."
    )


def _of(one: Series, beside: BesidePaper) -> str:
    count = f"{one.over} {'repository' if one.over == 1 else 'repositories'}"
    if one.own:
        return f"this study, {count}"
    return f"published, {count}" + (" of this study" if one in beside.published_here else "")


def _taus_with(one: Series, published: Iterable[Series]) -> str:
    if not one.own:
        return NOTHING
    found = sorted(tau for other in published if other.k == one.k and (tau := one.tau(other)) is not None)
    if not found:
        return NOTHING
    return figure(found[0], 2) if found[0] == found[-1] else f"{found[0]:.2f} to {found[-1]:.2f}".replace("-", "−")


def _difference(one: Difference | None) -> str:
    if one is None or one.value is None:
        return NOTHING
    tally = one.repositories
    words = difference_words(one.value, one.interval.low, one.interval.high, "pass@1")
    return f"{words} ({tally.wins} / {tally.ties} / {tally.losses})"


def _by_repository(outcome: StudyOutcome, rows: dict[str, str], ks: list[int]) -> Iterator[Part]:
    yield from (_grid(outcome, rows, k) for k in ks)
    counts = published_counts()
    tasks = "; ".join(
        f"{row}: {counts[name].tasks} published tasks, {_tasks(outcome, row)} of this study"
        for row, name in rows.items()
    )
    yield Note(
        f"As printed in Table 3 of the paper, beside this study's. Tasks: {tasks}. Tasks, prompts, evaluators and versions of the "
        "repositories are not the same, so only the direction of a difference can be set beside the paper's, not its size."
    )


def _grid(outcome: StudyOutcome, rows: dict[str, str], k: int) -> Grid:
    evaluators = list(dict.fromkeys(one.evaluator for one in published_scores() if one.k == k))
    systems = list(dict.fromkeys(column.system for column in outcome.columns))
    models = list(dict.fromkeys(column.model for column in outcome.columns))
    lines = []
    for row, name in rows.items():
        printed = [one for one in published_scores(name) if one.k == k]
        known: dict[str, dict[str, str]] = {}
        for one in printed:
            known.setdefault(_published_system(one), {})[one.evaluator] = f"{one.value:.2f}"
        for system in systems:
            theirs = known.pop(_SAME.get(system, ""), {})
            label = f"{system} (the paper's {_SAME[system]})" if theirs else system
            lines.append(
                (row, label, *(theirs.get(one, NOTHING) for one in evaluators), *_own(outcome, row, system, models, k))
            )
        for system, values in known.items():
            own = (NOTHING,) * len(models)
            lines.append((row, f"{system}, published", *(values.get(one, NOTHING) for one in evaluators), *own))
    heads = (
        "repository",
        "docs",
        *(f"{one} (paper)" for one in evaluators),
        *(model or "default model" for model in models),
    )
    return Grid(f"pass@{k}: published figures beside this study's.", heads, tuple(lines), frozenset({0, 1}))


def _published_system(score: Score) -> str:
    return f"{score.documenter} by {score.documenter_model}" if score.documenter_model else score.documenter


def _own(outcome: StudyOutcome, row: str, system: str, models: list[str], k: int) -> list[str]:
    found = []
    for model in models:
        mine = [one for one in outcome.columns if (one.system, one.model, one.source) == (system, model, "")]
        found.append(cell_words(outcome.cell(row, mine[0]), f"pass@{k}") if mine else NOTHING)
    return found


def _tasks(outcome: StudyOutcome, row: str) -> int:
    return max((len(outcome.cell(row, column).work.tasks) for column in outcome.columns), default=0)
