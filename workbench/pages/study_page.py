"""A study as a page.

It has the matrix with intervals, the leaderboard, differences with tests, rankings, and published figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.base.glyphs import DOUBTFUL, STATES
from workbench.base.text import NOTHING, percent, plural
from workbench.pages.page import BulletList, Heat, HeatCell, NarrowForm, Note, Part, ReportPage, Section, grid, grid_of
from workbench.pages.study_functions import leaks_section, metrics_section, stability_section, strata_section
from workbench.pages.study_pairs import difference_sections, published_section, ranking_section
from workbench.rubric.scorecard import NO_FACTS_POINTS
from workbench.statistics.paired import RESAMPLES
from workbench.studies.analysis import Analysis
from workbench.studies.cells import POINTS, StudyCell, brief
from workbench.studies.declaration import AGENTS, in_points
from workbench.studies.leaderboard import GOOD, JudgeAgreement, LeaderLine, judge_agreement, leaderboard
from workbench.studies.outcome import StudyOutcome
from workbench.studies.wording import cell_words, column_words, dollars, figure, judge_words, mean_words, signed


def study_page(
    outcome: StudyOutcome,
    *,
    analysis: Analysis | None = None,
    method: Section | None = None,
    resamples: int = RESAMPLES,
) -> ReportPage:
    """Return the page; the sections for ``analysis`` and ``method`` are left out if these are None."""
    study = outcome.study
    notes = (*filter(None, (study.title,)), _stand(outcome), *outcome.problems, *outcome.notes)
    sections = [section for make in SECTIONS for section in make(outcome, analysis, resamples)]
    sections += [method] if method is not None else []
    return ReportPage(f"Study {study.name}", tuple(map(Note, notes)), tuple(sections), over="Workbench study")


def _stand(outcome: StudyOutcome) -> str:
    study = outcome.study
    each = plural(study.repeats, "repeat") if study.kind == AGENTS else f"{plural(study.samples, 'sample')} a task"
    cost = "" if outcome.cost_usd is None else f" · {dollars(outcome.cost_usd)}"
    scale = f" · {' by '.join(outcome.scale)}, in points out of 100" if study.kind == AGENTS else ""
    matrix = f"{plural(len(outcome.rows), study.row_noun)} × {plural(len(outcome.columns), 'column')}"
    return f"{matrix} · {each} · {outcome.progress}{cost}{scale}"


def _matrices(outcome: StudyOutcome, _: Analysis | None, __: int) -> Iterator[Section]:
    for measure in outcome.study.measures:
        yield Section(_named(measure), tuple(_matrix(outcome, measure)))


def _broken(outcome: StudyOutcome, _: Analysis | None, __: int) -> Iterator[Section]:
    broken: dict[str, list[str]] = {}
    for cell in outcome.cells.values():
        if cell.problem:
            broken.setdefault(cell.problem, []).append(f"{cell.row} × {cell.column.name}")
    if broken:
        problems = tuple(f"{problem} ({', '.join(cells)})" for problem, cells in broken.items())
        yield Section("Incomplete cells", (BulletList(problems),))


def _leaderboard(outcome: StudyOutcome, _: Analysis | None, __: int) -> Iterator[Section]:
    if outcome.study.kind == AGENTS:
        yield Section("Leaderboard", tuple(_leaders(outcome)))


SECTIONS = (
    _matrices, _broken, _leaderboard, difference_sections, ranking_section, stability_section, strata_section, leaks_section,
    metrics_section, published_section,
)  # fmt: skip
"""All sections in order, as functions of the outcome, the analysis and the number of resamples."""


def _named(measure: str) -> str:
    return measure if measure.startswith("pass@") else measure.capitalize()


def _matrix(outcome: StudyOutcome, measure: str) -> Iterator[Part]:
    heads = tuple(one.title for one in outcome.by_column)
    name = _named(measure)
    if any(cell.means[measure].value is not None for cell in outcome.cells.values()):
        yield _heat(outcome, measure, heads)
    rows = [(one.row, *(cell_words(cell, measure) for cell in one.cells.values())) for one in outcome.by_row]
    closing = [("mean", *(column_words(outcome, one, measure) for one in outcome.by_column))]
    if common := outcome.common.get(measure):
        noun = "case" if in_points(measure) else "task"
        shared = (figure(common.means.get(one.column.name), measure) for one in outcome.by_column)
        closing.append((f"mean of {plural(common.items, f'common {noun}')}", *shared))
    if outcome.study.kind != AGENTS:
        closing.append(("documented", *(percent(one.documented) for one in outcome.by_column)))
    closing.append(("tokens", *(f"{one.tokens:,}" for one in outcome.by_column)))
    closing.append(("cost", *(dollars(one.cost_usd) for one in outcome.by_column)))
    yield grid(
        f"{name} of each {outcome.study.row_noun} under each column, with its 95 % interval.",
        (outcome.study.row_noun, *heads),
        (*rows, *closing),
        closing=len(closing),
        narrow=_narrow(outcome, measure, closing),
    )
    words = dict.fromkeys(one.means[measure].interval.words for one in outcome.by_column if one.means[measure].rows)
    documented = "" if outcome.study.kind == AGENTS else " Documented: share of tasks whose function has a docstring."
    yield Note(f"Means of columns are unweighted over rows. {' '.join(words)}{documented}")
    if common is not None:
        yield Note(
            "The columns have different items, so only their means over common items are comparable. Differences and rankings are on common "
            "items."
        )
    if measure == "score" and any(one.doubts for one in outcome.by_column):
        yield Note(
            f"Cut: trials with an answer that ended at the token limit; credited: trials of cases without facts, which get {NO_FACTS_POINTS:g} "
            "points for tier 3 by rule (and are not in the leaderboard's mean of tier 3); with points from the format: the answer's grammar "
            "guaranteed more than a tenth of the points."
        )
    if any(one.doubts for one in outcome.by_column) and not in_points(measure):
        yield Note(
            "Doubtful: passes of bodies that could have forged them; repaired: passes whose answer had to be adjusted to get a body; cut: "
            "answers that ended at the token limit. Rankings are given with and without them."
        )


def _narrow(outcome: StudyOutcome, measure: str, closing: Sequence[Sequence[str]]) -> NarrowForm:
    """Return the matrix of means; its legend has the interval and the other figures of each column."""

    def short(cell: StudyCell) -> str:
        value = figure(cell.means[measure].value, measure) + (DOUBTFUL if cell.doubts else "")
        return value if cell.state == "done" else f"{value}{STATES.get(cell.state, '')}"

    rows = [(one.title, *map(short, one.cells.values())) for one in outcome.by_row]
    means = ("mean", *(figure(one.means[measure].value, measure) for one in outcome.by_column))
    legend = tuple(
        ", ".join([f"{one.title}: {closing[0][at]}", *(_about(row[0], row[at]) for row in closing[1:])])
        for at, one in enumerate(outcome.by_column, 1)
    )
    caption = f"{_named(measure)} of each {outcome.study.row_noun} under each column; intervals of columns are below."
    return NarrowForm(caption, (*rows, means), legend, closing=1)


def _about(name: str, value: str) -> str:
    """Return a text such as ``39,600 tokens`` or ``documented 41 %``, or a cost."""
    return f"{value} tokens" if name == "tokens" else value if name == "cost" else f"{name} {value}"


def _heat(outcome: StudyOutcome, measure: str, heads: tuple[str, ...]) -> Heat:
    full = POINTS if in_points(measure) else 1.0

    def shown(cell: StudyCell) -> HeatCell:
        value = cell.means[measure].value
        words = cell_words(cell, measure)
        if value is None:
            return HeatCell(None, NOTHING, words)
        return HeatCell(value / full, figure(value, measure), f"{words}, {cell.means[measure].items:,} items")

    return Heat(
        f"{_named(measure)} by mean: the stronger the colour, the higher, from 0 to {full:g}.",
        heads,
        tuple((one.title, tuple(map(shown, one.cells.values()))) for one in outcome.by_row),
    )


def _tier(line: LeaderLine, points: float | None, count: int) -> str:
    return figure(points, 1) + (f" of {count}" if points is not None and count != line.trials else "")


def _leaders(outcome: StudyOutcome) -> Iterator[Part]:
    lines = leaderboard(outcome)
    shares = outcome.study.measures[1:]
    heads = ("", "agent", "score", "tier 1", "2", "3", "4", *shares, f"above {GOOD:.0f}", "between repeats", "steps", "tokens", "USD", "s", "trials")  # fmt: skip
    uneven = "score" in outcome.common

    def place(one: LeaderLine) -> str:
        if one.place is None:
            return NOTHING
        return f"{one.place} (of {plural(one.of, 'case')})" if uneven else str(one.place)

    rows = tuple(
        (
            place(one),
            one.summary.title,
            mean_words(one.mean, "score"),
            *(_tier(one, points, count) for points, count in zip(one.tiers, one.tier_trials, strict=True)),
            *(mean_words(one.summary.means[measure], measure) for measure in shares),
            percent(one.above),
            NOTHING if one.spread is None else f"± {one.spread:.1f}",
            *(figure(one.steps, 1), NOTHING if one.tokens is None else f"{one.tokens:,.0f}"),
            *(figure(one.cost_usd, 4), figure(one.seconds, 1)),
            str(one.trials) + (f"; {brief(one.missing)}" if one.missing else ""),
        )
        for one in lines
    )
    yield grid("Agents from the best to the worst.", heads, rows, 2)
    note = (
        f"Tiers, steps, tokens, USD and s are means of a trial. Above {GOOD:.0f}: share of trials with more points. "
        "Between repeats: standard deviation within a case, pooled over cases."
    )
    if uneven and outcome.common["score"].items:
        ranked = (f"{one.summary.title} {figure(one.over_common, 1)}" for one in lines if one.place is not None)
        note += f" Places are by the mean over cases that all agents have a score for: {'; '.join(ranked)}."
    yield Note(note)
    judges = list(dict.fromkeys(judge for one in lines for judge in one.by_judge))
    for common, which in ((False, "all trials that the judge scored"), (True, "the trials that all judges scored")):
        if len(judges) > 1:
            rows = tuple((one.summary.title, *(judge_words(one, judge, common) for judge in judges)) for one in lines)
            yield grid(f"Mean score by judge, over {which}.", ("agent", *judges), rows)
    if agreement := judge_agreement(outcome):
        columns: dict[str, Callable[[JudgeAgreement], str]] = {
            "judges": lambda one: f"{one.left}, {one.right}",
            "trials": lambda one: f"{one.trials:,}",
            "Kendall's tau": lambda one: figure(one.tau, 2),
            "of columns": lambda one: figure(one.columns_tau, 2),
            "difference": lambda one: signed(one.difference, 1),
        }
        yield grid_of("Agreement of judges on the same trials.", agreement, columns)
