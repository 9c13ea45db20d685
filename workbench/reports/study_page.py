"""A study as a Markdown page and as JSON values: the matrix with intervals, comparisons with tests, rankings, the leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.statistics.permutation import RESAMPLES
from workbench.statistics.rankings import EQUAL
from workbench.studies.agreement import judge_agreement
from workbench.studies.chances import Chance, chances, every_pair, resampled_orders
from workbench.studies.declaration import AGENTS
from workbench.studies.leaderboard import GOOD, leaderboard
from workbench.studies.outcome import Cell, Mean, StudyOutcome
from workbench.studies.ranked import rankings, system_name, taus

MOST_PAIRS = 15
"""So many comparisons stand on the page, those with the smallest p-values; JSON has all of them."""


def study_json(outcome: StudyOutcome, *, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return a study with its comparisons and rankings as JSON values."""
    found = rankings(outcome)
    orders = resampled_orders(outcome, resamples=resamples)
    return {
        **outcome.to_json(),
        "declaration": outcome.study.to_json(),
        "comparisons": [
            one.to_json()
            for measure in outcome.study.measures
            for one in chances(outcome, every_pair(outcome), measure, resamples=resamples)
        ],
        "rankings": [one.to_json() for one in found],
        "taus": [
            {"left": left.words, "right": right.words, "tau": tau} for (left, right), tau in taus(found).items()
        ],
        "orders": [
            {
                "model": model, "measure": measure, "better": one.better, "worse": one.worse, "rows": one.repositories,
                "ties": one.ties, "of": one.of, "resampled": one.resampled,
            }
            for (model, measure), pairs in orders.items()
            for one in pairs
        ],
        **(
            {
                "leaderboard": [one.to_json() for one in leaderboard(outcome)],
                "judges": [one.to_json() for one in judge_agreement(outcome)],
            }
            if outcome.study.kind == AGENTS
            else {}
        ),
    }  # fmt: skip


def study_page(outcome: StudyOutcome, *, resamples: int = RESAMPLES) -> str:
    """Return the page."""
    return "\n".join(_lines(outcome, resamples)) + "\n"


def _lines(outcome: StudyOutcome, resamples: int) -> Iterator[str]:
    study = outcome.study
    yield f"# Study {_plain(study.name)}"
    yield ""
    if study.title:
        yield _plain(study.title)
        yield ""
    yield _stand(outcome)
    for problem in outcome.problems:
        yield ""
        yield _plain(problem)
    for measure in study.measures:
        yield ""
        yield f"## {_heading(outcome, measure)}"
        yield ""
        yield from _matrix(outcome, measure)
    broken: dict[str, list[str]] = {}
    for cell in outcome.cells.values():
        if cell.problem:
            broken.setdefault(cell.problem, []).append(f"{cell.row} × {cell.column.name}")
    if broken:
        yield ""
        yield "## Cells that did not come to their end"
        yield ""
        yield from (f"- {_plain(problem)} ({_plain(', '.join(cells))})" for problem, cells in broken.items())
    if study.kind == AGENTS:
        yield from _leaders(outcome)
    yield from _comparisons(outcome, resamples)
    yield from _rankings(outcome, resamples)


def _stand(outcome: StudyOutcome) -> str:
    study = outcome.study
    noun = "case" if study.kind == AGENTS else "repository"
    rows = f"{len(outcome.rows)} {noun if len(outcome.rows) == 1 else {'case': 'cases', 'repository': 'repositories'}[noun]}"
    each = (
        f"{study.repeats} repeat{'' if study.repeats == 1 else 's'}"
        if study.kind == AGENTS
        else f"{study.samples} sample{'' if study.samples == 1 else 's'} a task"
    )
    items = "trials" if study.kind == AGENTS else "candidates"
    planned = "?" if outcome.planned is None else f"{outcome.planned:,}"
    cost = "" if outcome.cost_usd is None else f" · {_dollars(outcome.cost_usd)}"
    scale = f" · {_plain(' by '.join(outcome.scale))}, in points of 100" if study.kind == AGENTS else ""
    return f"{rows} × {len(outcome.columns)} columns · {each} · {outcome.done:,} of {planned} {items}{cost}" + scale


def _heading(outcome: StudyOutcome, measure: str) -> str:
    return "Score" if measure == "score" else measure


def _matrix(outcome: StudyOutcome, measure: str) -> Iterator[str]:
    heads = [one.title for one in outcome.by_column]
    rows = [[row, *(_cell(outcome.cell(row, column), measure) for column in outcome.columns)] for row in outcome.rows]
    having = [one.means[measure].rows if one.means[measure].items else 0 for one in outcome.by_column]
    uneven = len({count for count in having if count}) > 1
    rows.append(
        [
            "**mean**",
            *(
                _mean(one.means[measure]) + (f" of {count}" if uneven and count else "")
                for one, count in zip(outcome.by_column, having, strict=True)
            ),
        ]
    )
    if outcome.study.kind != AGENTS:
        shares = ["–" if one.documented is None else f"{one.documented:.0%}" for one in outcome.by_column]
        rows.append(["documented", *shares])
    rows.append(["tokens", *(f"{one.tokens:,}" for one in outcome.by_column)])
    rows.append(["cost", *("–" if one.cost_usd is None else _dollars(one.cost_usd) for one in outcome.by_column)])
    yield from _table([outcome.study.row_noun, *heads], rows)
    words = dict.fromkeys(one.means[measure].interval.words for one in outcome.by_column if one.means[measure].rows)
    yield ""
    yield "Means of columns: unweighted over rows. " + " ".join(words)
    if uneven:
        yield ""
        yield "Columns have results on different rows, so their means do not compare; differences and rankings are on common items."


def _cell(cell: Cell, measure: str) -> str:
    shown = _mean(cell.means[measure])
    if cell.state == "done":
        return shown
    planned = "?" if cell.planned is None else f"{cell.planned:,}"
    return f"{shown} ({cell.state}, {cell.done:,} of {planned})" if cell.done else cell.state


def _mean(mean: Mean) -> str:
    if mean.value is None:
        return "–"
    digits = 1 if mean.value > 1 or (mean.interval.high or 0) > 1 else 2
    bounds = ""
    if mean.interval.low is not None and mean.interval.high is not None:
        bounds = f" [{mean.interval.low:.{digits}f}, {mean.interval.high:.{digits}f}]"
    return f"{mean.value:.{digits}f}{bounds}"


def _leaders(outcome: StudyOutcome) -> Iterator[str]:
    yield ""
    yield "## Leaderboard"
    yield ""
    lines = leaderboard(outcome)
    yield from _table(
        [
            "",
            "agent",
            "score",
            "tier 1",
            "2",
            "3",
            "4",
            f"above {GOOD:.0f}",
            "between repeats",
            "steps",
            "tokens",
            "$",
            "s",
            "trials",
        ],
        (
            [
                "–" if one.place is None else str(one.place),
                one.summary.title,
                _mean(one.mean),
                *(_figure(tier, 1) for tier in one.tiers),
                "–" if one.above is None else f"{one.above:.0%}",
                "–" if one.spread is None else f"± {one.spread:.1f}",
                _figure(one.steps, 1),
                "–" if one.tokens is None else f"{one.tokens:,.0f}",
                _figure(one.cost_usd, 4),
                _figure(one.seconds, 1),
                str(one.trials),
            ]
            for one in lines
        ),
    )
    agreement = judge_agreement(outcome)
    if agreement:
        yield ""
        yield from _table(
            ["judges", "trials", "Kendall's tau", "of columns", "difference"],
            (
                [
                    f"{one.left}, {one.right}",
                    str(one.trials),
                    _figure(one.tau, 2),
                    _figure(one.columns_tau, 2),
                    _signed(one.difference, 1),
                ]
                for one in agreement
            ),
        )


def _comparisons(outcome: StudyOutcome, resamples: int) -> Iterator[str]:
    pairs = every_pair(outcome)
    if not pairs:
        return
    for measure in outcome.study.measures:
        found = [one for one in chances(outcome, pairs, measure, resamples=resamples) if one.comparison.values]
        if not found:
            continue
        found.sort(key=lambda one: (one.test.p is None, one.test.p or 0.0))
        yield ""
        yield f"## Differences in {_heading(outcome, measure).lower()}, paired"
        yield ""
        yield from _table(
            [
                "better − worse",
                "difference",
                "p",
                f"Holm, {len(found)} test{'' if len(found) == 1 else 's'}",
                "items won / tied / lost",
                f"{outcome.study.row_noun}: won / tied / lost",
            ],
            (_difference(outcome, one, measure) for one in found[:MOST_PAIRS]),
        )
        if len(found) > MOST_PAIRS:
            yield ""
            yield f"{len(found) - MOST_PAIRS} further pairs, with larger p-values, are in `--format json`."
        yield ""
        yield " ".join(dict.fromkeys(one.comparison.difference.interval.words for one in found[:MOST_PAIRS]))


def _difference(outcome: StudyOutcome, one: Chance, measure: str) -> list[str]:
    found, digits = one.comparison, 1 if measure == "score" else 3
    value = found.difference.value or 0.0
    swapped = value < 0
    left, right = (system_name(column) for column in (found.left, found.right))
    model = f" ({found.left.model})" if len({column.model for column in outcome.columns}) > 1 else ""
    low, high = found.difference.interval.low, found.difference.interval.high
    bounds = ""
    if low is not None and high is not None:
        low, high = (-high, -low) if swapped else (low, high)
        bounds = f" [{_signed(low, digits)}, {_signed(high, digits)}]"
    tallies = [
        (tally.losses, tally.ties, tally.wins) if swapped else (tally.wins, tally.ties, tally.losses)
        for tally in (found.difference.tasks, found.difference.repositories)
    ]
    return [
        (f"{left} − {right}" if swapped else f"{right} − {left}") + model,
        _signed(abs(value), digits) + bounds,
        _figure(one.test.p, 4),
        _figure(one.adjusted, 4),
        *(" / ".join(f"{count:,}" for count in tally) for tally in tallies),
    ]


def _rankings(outcome: StudyOutcome, resamples: int) -> Iterator[str]:
    found = [one for one in rankings(outcome) if one.items]
    if not found:
        return
    yield ""
    yield "## Rankings"
    yield ""
    yield from _table(
        ["model", "measure", "counted alike", "ranking", "items"],
        (
            [
                one.setting.model,
                one.setting.measure,
                _alike(outcome, one.setting.weighting),
                one.words,
                f"{one.items:,}",
            ]
            for one in found
        ),
    )
    known = [tau for tau in taus(found).values() if tau is not None]
    if known:
        yield ""
        yield f"Kendall's tau between these rankings: {min(known):.2f} to {max(known):.2f}."
    orders = resampled_orders(outcome, resamples=resamples)
    rows = [
        [
            f"{one.better} {'>' if one.difference > EQUAL else '='} {one.worse}", model, measure, _signed(one.difference, 1 if measure == "score" else 3),
            f"{one.repositories} ({one.ties}) of {one.of}", _figure(one.resampled, 3),
        ]
        for (model, measure), pairs in orders.items()
        for one in pairs
    ]  # fmt: skip
    if rows:
        yield ""
        yield f"How often two systems keep their overall order: in rows (with ties), and in {resamples:,} resamples."
        yield ""
        yield from _table(["better > worse", "model", "measure", "difference", "rows", "resamples"], rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(_plain(head) for head in heads) + " |"
    yield "| --- |" + " ---: |" * (len(heads) - 1)
    for row in rows:
        yield "| " + " | ".join(_plain(one) for one in row) + " |"


def _plain(text: str) -> str:
    """Return a text that is no markup of a table: it may come from a file of others."""
    from workbench.text import one_line

    return one_line(text, 400).replace("|", "\\|").replace("<", "&lt;")


def _figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _alike(outcome: StudyOutcome, weighting: str) -> str:
    """Return what counts alike; of agents rows are cases, and items trials."""
    named = {"repositories": "cases", "tasks": "trials"} if outcome.study.kind == AGENTS else {}
    return named.get(weighting, weighting)


def _dollars(usd: float) -> str:
    return f"${usd:,.4f}" if usd else "$0"


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")
