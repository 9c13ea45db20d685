"""Sections of a study's page that compare columns: paired differences with tests, rankings, and published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from workbench.base.text import NOTHING, plural
from workbench.catalog.repositories import QUARTILES_APART, published_counts, published_name, published_scores
from workbench.pages.page import Bar, BulletList, Forest, MarkedText, Note, PageTable, Part, Section, grid, grid_of
from workbench.statistics.paired import Difference, WinTally
from workbench.statistics.rankings import EQUAL
from workbench.studies.analysis import Analysis
from workbench.studies.cells import JUDGED
from workbench.studies.comparing import Ranking, Setting, not_ranked, rankings, system_name, taus
from workbench.studies.declaration import DOCS, in_points, row_titles
from workbench.studies.outcome import StudyOutcome
from workbench.studies.published_comparison import PublishedComparison, Series
from workbench.studies.significance import AdjustedComparison, adjusted_comparisons, all_pairs, resampled_orders
from workbench.studies.wording import cell_words, chance_words, difference_words, figure, left_out_words

MOST_PAIRS = 15
"""The maximum number of comparisons on the page, smallest p-values first; JSON has all of them."""
MOST_OPENED = 6
"""The maximum number of comparisons with a forest plot of their rows."""
MOST_SETTINGS = 12
"""The maximum number of rankings in a table of Kendall's tau; if there are more, only the range is shown."""


def difference_sections(outcome: StudyOutcome, _: Analysis | None, resamples: int) -> Iterator[Section]:
    pairs = all_pairs(outcome)
    if refused := not_ranked(outcome):
        differences = tuple(
            f"{left.name} and {right.name}: {'; '.join(differing)}" for left, right, differing in refused
        )
        yield Section("Not comparable, because of different conditions", (BulletList(differences),))
    for measure in outcome.study.measures if pairs else ():
        found = [
            one for one in adjusted_comparisons(outcome, pairs, measure, resamples=resamples) if one.comparison.values
        ]
        if found:
            # Sort by p-value, then by the size of the difference; those without a p-value come last.
            found.sort(
                key=lambda one: (one.test.p is None, one.test.p or 0.0, -abs(one.comparison.difference.value or 0.0))
            )
            yield Section(f"Differences in {measure}, paired", tuple(_differences(outcome, found, measure)))


def _differences(outcome: StudyOutcome, found: list[AdjustedComparison], measure: str) -> Iterator[Part]:
    shown = [_Sided(outcome, one, measure) for one in found[:MOST_PAIRS]]
    axis = "difference in points out of 100" if in_points(measure) else f"difference in {measure}"
    yield Forest(
        f"Paired differences in {measure}, the better system first, with 95 % intervals; coloured where the interval excludes 0.",
        tuple(one.bar() for one in shown),
        axis,
    )
    columns: dict[str, Callable[[_Sided], str]] = {
        "better − worse": lambda one: one.name,
        "difference": lambda one: one.bar().text,
        "p": lambda one: chance_words(one.chance.test.p),
        f"Holm, {plural(len(found), 'test')}": lambda one: chance_words(one.chance.adjusted),
        "items won / tied / lost": lambda one: one.tally(one.chance.comparison.difference.tasks),
        f"{outcome.study.row_noun}: won / tied / lost": lambda one: one.tally(
            one.chance.comparison.difference.repositories
        ),
    }
    yield grid_of(f"Paired differences in {measure}.", shown, columns)
    if len(found) > MOST_PAIRS:
        yield Note(
            MarkedText(f"{len(found) - MOST_PAIRS} further pairs, with larger p-values, are in `--format json`.")
        )
    rules = dict.fromkeys(one.test.rule for one in found[:MOST_PAIRS] if one.test.rule)
    words = [f"p: {'; '.join(rules)}; Holm: adjusted for all pairs of this measure."] if rules else []
    words += [one.comparison.difference.interval.words for one in found[:MOST_PAIRS]]
    yield Note(" ".join(dict.fromkeys(words)))
    left_out = tuple(text for one in shown if (text := one.left_out(outcome.study.row_noun)))
    if left_out:
        yield BulletList(left_out)
    if judged := tuple(text for one in shown if (text := one.judged())):
        yield BulletList(judged)
    for one in shown[:MOST_OPENED]:
        if (rows := one.by_row()) and len(rows) > 1:
            yield Forest(f"{one.name}, by {outcome.study.row_noun}", rows, axis, folded=True)


class _Sided:
    """A comparison with the better side first."""

    def __init__(self, outcome: StudyOutcome, chance: AdjustedComparison, measure: str) -> None:
        self.chance, self._measure = chance, measure
        found = chance.comparison
        self._turn = -1.0 if (found.difference.value or 0.0) < 0 else 1.0
        left, right = system_name(found.left), system_name(found.right)
        model = f" ({found.left.model})" if len({column.model for column in outcome.columns}) > 1 else ""
        self.name = (f"{left} − {right}" if self._turn < 0 else f"{right} − {left}") + model

    def _bar(self, label: str, value: float, low: float | None, high: float | None) -> Bar:
        if self._turn < 0:
            low, high = (None if high is None else -high), (None if low is None else -low)
        value *= self._turn
        return Bar(label, value, low, high, difference_words(value, low, high, self._measure))

    def bar(self) -> Bar:
        found = self.chance.comparison.difference
        return self._bar(self.name, found.value or 0.0, found.interval.low, found.interval.high)

    def by_row(self) -> tuple[Bar, ...]:
        found = self.chance.comparison.by_row
        return tuple(
            self._bar(title, one.value or 0.0, one.interval.low, one.interval.high)
            for title, one in zip(row_titles(list(found)), found.values(), strict=True)
        )

    def left_out(self, row: str) -> str:
        found = self.chance.comparison
        reasons = left_out_words(found, system_name(found.left), system_name(found.right), row)
        return f"Left out of {self.name}: {reasons}." if reasons else ""

    def judged(self) -> str:
        """Return the denominators of both shares, or "" for other measures."""
        found = self.chance.comparison
        sides = zip((found.left, found.right), found.judged or (), strict=False)
        counts = ", ".join(f"{system_name(side)} {good:,} of {of:,}" for side, (good, of) in sides)
        return f"{self.name}: {counts} {JUDGED[self._measure][0]}s." if counts else ""

    def tally(self, counts: WinTally) -> str:
        sides = (counts.wins, counts.ties, counts.losses)
        return " / ".join(f"{count:,}" for count in (reversed(sides) if self._turn < 0 else sides))


def ranking_section(outcome: StudyOutcome, _: Analysis | None, resamples: int) -> Iterator[Section]:
    found = [one for one in rankings(outcome) if one.items]
    if not found:
        return
    columns: dict[str, Callable[[Ranking], str]] = {
        "model": lambda one: " · ".join(filter(None, (one.setting.model, one.setting.apart))),
        "measure": lambda one: one.setting.measure,
        "counted alike": lambda one: (
            one.setting.weighting + (f", without {one.setting.without}" if one.setting.without else "")
        ),
        "ranking": lambda one: one.words,
        "items": lambda one: f"{one.items:,}",
    }
    parts: list[Part] = [grid_of("Rankings on the items that all systems of a model have.", found, columns, 4)]
    between = taus(found)
    known = [tau for tau in between.values() if tau is not None]
    if known and 2 < len(found) <= MOST_SETTINGS:
        parts.append(_taus([one.setting for one in found], between))
    elif known:
        parts.append(Note(f"Kendall's tau between these rankings: {min(known):.2f} to {max(known):.2f}."))
    rows = tuple(
        (
            f"{one.better} {'>' if one.difference > EQUAL else '='} {one.worse}", model, measure,
            f"{one.difference:.{1 if in_points(measure) else 3}f}", f"{one.repositories} ({one.ties}) of {one.of}", figure(one.resampled, 3),
        )
        for (model, measure), pairs in resampled_orders(outcome, resamples=resamples).items()
        for one in pairs
    )  # fmt: skip
    if rows:
        heads = ("better > worse", "model", "measure", "difference", "rows (ties)", "resamples")
        caption = f"How often two systems keep their overall order: in rows, with ties, and in {resamples:,} resamples of rows."
        parts.append(grid(caption, heads, rows, 3))
    yield Section("Rankings", tuple(parts))


def _taus(settings: list[Setting], between: dict[tuple[Setting, Setting], float | None]) -> PageTable:
    numbered = [f"{number}. {setting.words}" for number, setting in enumerate(settings, 1)]
    rows = []
    for place, (name, left) in enumerate(zip(numbered, settings, strict=True)):
        cells = [
            "1" if other == place else figure(between.get((left, right), between.get((right, left))), 2)
            for other, right in enumerate(settings)
        ]
        rows.append((name, *cells))
    return grid("Kendall's tau between rankings.", ("ranking", *map(str, range(1, len(settings) + 1))), tuple(rows))


_SAME = {"original": "default"}
"""The paper's names for doc systems of the workbench."""


def published_section(outcome: StudyOutcome, analysis: Analysis | None, _: int) -> Iterator[Section]:
    """Yield a comparison of doc systems in the study and in the paper, and a table for each k.

    The tables have the rows of the study that are repositories of the paper.
    """
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
        yield Section("Comparison with the paper's figures", tuple(parts))


def _series(beside: PublishedComparison) -> Iterator[Part]:
    every = (*beside.published, *beside.published_here, *beside.own)
    first = {(one.evaluator, one.k): one for one in beside.published}

    def table(
        caption: str, series: Iterable[Series], heads: Iterable[str], cells: Callable[[Series], Iterable[str]]
    ) -> PageTable:
        rows = ((one.evaluator, str(one.k), _of(one, beside), *cells(one)) for one in series)
        return grid(caption, ("evaluator", "k", "of", *heads), rows, 3)

    def means(one: Series) -> tuple[str, ...]:
        values = (figure(one.means.get(name), 3) for name in beside.families)
        return *values, one.ranking, _taus_with(one, first.values())

    caption = "Means of doc systems, their models averaged: published, and this study's."
    yield table(caption, every, (*beside.families, "ranking", "tau"), means)
    pairs = list(dict.fromkeys(pair for one in every for pair in one.differences))
    yield table(
        "Differences paired over repositories, with won / tied / lost.",
        every,
        (f"{right} − {left}" for left, right in pairs),
        lambda one: (_difference(one.differences.get(pair)) for pair in pairs),
    )
    if spread := [one for one in every if one.quartiles]:
        low, high = QUARTILES_APART
        caption = f"Interquartile ranges over repositories; the paper's text says {low} to {high}."
        yield table(
            caption,
            spread,
            beside.families,
            lambda one: (figure(one.quartiles.get(name), 2) for name in beside.families),
        )
    yield Note(
        "Published: computed from Table 3, which has two digits. tau: the range of Kendall's with the published rankings of the same k, over "
        "the systems of both. Fewer than three repositories give no interval; this study's figures are over rows that all of its systems have."
    )


def _of(one: Series, beside: PublishedComparison) -> str:
    count = plural(one.over, "repository")
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
    own = {one.row: [len(cell.work.counts) for cell in one.cells.values()] for one in outcome.by_row}
    tasks = "; ".join(
        f"{row}: {counts[name].tasks} published tasks, {max(own[row], default=0)} of this study"
        for row, name in rows.items()
    )
    yield Note(
        f"As printed in Table 3 of the paper, with this study's. Tasks: {tasks}. Tasks, prompts, evaluators and versions of the "
        "repositories differ, so only the direction of a difference is comparable, not its size."
    )


def _grid(outcome: StudyOutcome, rows: dict[str, str], k: int) -> PageTable:
    evaluators = list(dict.fromkeys(one.evaluator for one in published_scores() if one.k == k))
    systems = list(dict.fromkeys(column.system for column in outcome.columns))
    models = list(dict.fromkeys(column.model for column in outcome.columns))
    ours = {(one.system, one.model): one for one in outcome.columns if not one.source}
    lines = []
    for row, name in rows.items():
        known: dict[str, dict[str, str]] = {}
        for one in published_scores(name):
            if one.k == k:
                by = f"{one.documenter} by {one.documenter_model}" if one.documenter_model else one.documenter
                known.setdefault(by, {})[one.evaluator] = f"{one.value:.2f}"
        for system in systems:
            theirs = known.pop(_SAME.get(system, ""), {})
            label = f"{system} (the paper's {_SAME[system]})" if theirs else system
            mine = (
                cell_words(outcome.cell(row, column), f"pass@{k}") if (column := ours.get((system, model))) else NOTHING
                for model in models
            )
            lines.append((row, label, *(theirs.get(one, NOTHING) for one in evaluators), *mine))
        for system, values in known.items():
            own = (NOTHING,) * len(models)
            lines.append((row, f"{system}, published", *(values.get(one, NOTHING) for one in evaluators), *own))
    heads = (
        "repository",
        "docs",
        *(f"{one} (paper)" for one in evaluators),
        *(model or "default model" for model in models),
    )
    return grid(f"pass@{k}: published figures and this study's.", heads, tuple(lines), 2)
