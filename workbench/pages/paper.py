"""The analysis of the doc-to-code paper's published tables, as a page and as JSON values."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import workbench
from workbench.base.text import bounds, percent, signed
from workbench.pages.page import (
    Bar,
    BulletList,
    FactList,
    Forest,
    Heat,
    HeatCell,
    MarkedText,
    Note,
    PageTable,
    Part,
    ReportPage,
    Section,
    grid,
    grid_of,
)
from workbench.session.json_forms import picked
from workbench.statistics.rankings import ranking_words

if TYPE_CHECKING:
    from workbench.metrics.paper import Cell, PairedCell, Paper, Setting


CANNOT = (
    "pass@k of single tasks, intervals over tasks and files, sampling variance: no verdict of a candidate was published",
    "BLEU, ROUGE, BERTScore and CodeBERTScore and their correlation with pass@k: neither texts nor scores were published; "
    "`workbench metrics SESSION` computes them for your own runs",
    "completeness, helpfulness and truthfulness of the docs: the documentation was not published",
    "the sizes of T_i, and with them a weighting by tests: not in the tables",
    "pass@k without leaking docs: needs docs and bodies of each task",
)
"""Results that cannot be computed from the tables, and the reasons."""


def paper_page(paper: Paper) -> ReportPage:
    count = paper.repositories
    lead = Note(
        f"{count} repositories; two doc systems with two models each, and the original docstrings (default); two evaluators; k = 1 and 3. "
        "Everything is computed from the printed pass@k by repository, which has two digits."
    )
    sections = (
        Section("Table 1 from Table 3", tuple(_table_1(paper))),
        Section("Rankings", tuple(_rankings(paper))),
        Section("RepoAgent − OSA, paired over repositories", tuple(_paired(paper))),
        Section("Popular and other repositories", (_strata(paper),)),
        Section("Where the paper disagrees with itself", (BulletList(tuple(disagreements(paper))),)),
        Section("What cannot be computed", (BulletList(tuple(map(MarkedText, CANNOT))),)),
        Section("Method", tuple(_method(paper))),
    )
    title = "The doc-to-code paper, recomputed from its published tables"
    return ReportPage(
        title, (lead,), sections, over="Workbench study paper", foot=f"Written by Workbench {workbench.__version__}."
    )


def _table_1(paper: Paper) -> Iterator[Part]:
    heads = tuple(_setting(one) for one in paper.settings)
    systems = list(dict.fromkeys(one.system for one in paper.means))
    at = {(one.system, one.setting): one for one in paper.means}
    yield Heat(
        "Table 1 as printed: the stronger the colour, the higher, from 0 to 1.",
        heads,
        tuple(
            (
                _cell(system),
                tuple(HeatCell(at[system, one].printed, f"{at[system, one].printed:.2f}") for one in paper.settings),
            )
            for system in systems
        ),
    )
    rows = [
        (
            _cell(system),
            *(
                f"{one.printed:.2f} / {one.mean:.4f} / {one.by_tasks:.4f}"
                for one in (at[system, each] for each in paper.settings)
            ),
        )
        for system in systems
    ]
    caption = "Printed / unweighted mean over repositories / mean weighted by tasks."
    yield grid(caption, ("doc system", *heads), tuple(rows))
    worst = max(paper.means, key=lambda one: one.off)
    by_tasks = max(abs(one.printed - one.by_tasks) for one in paper.means)
    yield Note(
        f"Table 1 is the unweighted mean of Table 3: largest deviation "
        f"{worst.off:.4f} ({_cell(worst.system)}, {_setting(worst.setting)}), of which 0.005 is rounding. Weighted by tasks it deviates by up "
        f"to {by_tasks:.4f}."
    )


def _rankings(paper: Paper) -> Iterator[Part]:
    count = paper.repositories
    columns: dict[str, Callable[[Setting], str]] = {
        "setting": _setting,
        "ranking, models averaged": lambda one: ranking_words(paper.rankings[one]),
        "repositories that keep it": lambda one: f"{paper.keeping_in[one]} of {count}",
        "keep the order of all five columns": lambda one: (
            f"{paper.whole_order[one]} of {count} ({percent(paper.whole_order[one] / count)})"
        ),
    }
    yield grid_of("Rankings of doc systems by setting.", paper.settings, columns, 2)
    taus = [tau for tau in paper.taus.values() if tau is not None]
    yield Note(
        f"{len(paper.keeping)} of {count} repositories keep RepoAgent > OSA > default in all {len(paper.settings)} settings. Kendall's tau of "
        f"the five columns between settings: {min(taus):.2f} to {max(taus):.2f}."
    )
    pairs = list(dict.fromkeys((one.better, one.worse) for orders in paper.orders.values() for one in orders))
    of = {(setting, one.better, one.worse): one for setting, orders in paper.orders.items() for one in orders}
    yield grid(
        "How often two columns keep their overall order: in repositories (with ties) and in resamples of repositories.",
        ("better > worse", *(_setting(one) for one in paper.settings)),
        tuple(
            (
                f"{better} > {worse}",
                *(
                    "–" if (one := of.get((setting, better, worse))) is None
                    else f"{one.repositories} ({one.ties}) of {one.of}, {one.resampled or 0.0:.3f}"
                    for setting in paper.settings
                ),
            )
            for better, worse in pairs
        ),
    )  # fmt: skip


def _paired(paper: Paper) -> Iterator[Part]:
    bars = []
    for one in paper.paired:
        value, (low, high) = one.difference.value or 0.0, _interval(one)
        words = f"{signed(value, 3)} {bounds(low, high, 3, signed)}"
        bars.append(Bar(f"{one.model} docs, {_setting(one.setting)}", value, low, high, words))
    yield Forest(
        "RepoAgent − OSA, paired over repositories, with 95 % intervals; coloured where 0 is outside.",
        tuple(bars),
        "difference in pass@k",
    )
    columns: dict[str, Callable[[PairedCell], str]] = {
        "model of both": lambda one: one.model,
        "setting": lambda one: _setting(one.setting),
        "difference": lambda one: signed(one.difference.value or 0.0, 3),
        "95 % Student's": lambda one: bounds(*_interval(one), 3, signed),
        "percentile bootstrap": lambda one: bounds(*one.bootstrap, 3, signed),
        "won / tied / lost": lambda one: (
            f"{one.difference.repositories.wins} / {one.difference.repositories.ties} / {one.difference.repositories.losses}"
        ),
        "p": lambda one: f"{one.test.p or 0.0:.4f}",
        "Holm": lambda one: f"{one.adjusted:.4f}",
    }
    yield grid_of("RepoAgent − OSA, paired over repositories.", paper.paired, columns, 2)
    sure = [one for one in paper.paired if (one.difference.interval.low or 0.0) > 0]
    yield Note(
        f"{len(sure)} of {len(paper.paired)} intervals exclude 0. The unit is the repository; p by a paired permutation test of "
        f"{paper.paired[0].test.ways:,} random permutations, Holm over the {len(paper.paired)}. With 28 repositories, the nominal 95 % of the "
        "bootstrap are 93 %."
    )


def _interval(one: PairedCell) -> tuple[float, float]:
    return one.difference.interval.low or 0.0, one.difference.interval.high or 0.0


def _strata(paper: Paper) -> PageTable:
    return grid(
        "Mean pass@k of popular and of other repositories, models averaged.",
        ("repositories", "doc system", *(_setting(one) for one in paper.settings)),
        tuple(
            (
                f"{stratum.name} ({stratum.repositories})",
                system,
                *(f"{stratum.means[one][system]:.3f}" for one in paper.settings),
            )
            for stratum in paper.strata
            for system in stratum.means[paper.settings[0]]
        ),
        2,
    )


def _method(paper: Paper) -> Iterator[Part]:
    yield FactList(
        (
            ("written by", f"Workbench {workbench.__version__}, Python {platform.python_version()}"),
            ("from", "Tables 1, 2 and 3 of the paper, as packaged"),
            ("random permutations and resamples", f"{paper.paired[0].test.ways:,}"),
        )
    )
    yield Note(
        "Differences have Student's interval over repositories, with a cluster-robust variance. The verdicts, tasks and texts of the paper "
        "were not published, so the repository is the smallest unit."
    )


def disagreements(paper: Paper) -> list[str]:
    """Return the contradictions between tables and text, each as a sentence."""
    candidates, everything, tasks = paper.sums
    found = [
        f"Table 2's tasks sum to {tasks:,}, the text says {paper.tasks_in_the_text:,} (candidates {candidates:,}, all tasks {everything:,})."
    ]
    off = [one for one in paper.means if one.off > 0.005]
    found += [
        f"Table 1 prints {one.printed:.2f} for {_cell(one.system)} under {_setting(one.setting)}; Table 3 gives {one.mean:.4f}."
        for one in off
    ]
    unsure = [one for one in paper.paired if (one.difference.interval.low or 0.0) <= 0]
    found += [
        f"A large gap between RepoAgent and OSA does not hold everywhere: {one.model} under {_setting(one.setting)} is "
        f"{signed(one.difference.value or 0.0, 3)} {bounds(*one.bootstrap, 3, signed)}, {one.difference.repositories.words}."
        for one in unsure
    ]
    spreads = paper.spreads.values()
    within = sum(0.15 <= one <= 0.25 for one in spreads)
    found.append(
        f"The text gives interquartile ranges of 0.15 to 0.25; over repositories they are {min(spreads):.2f} to {max(spreads):.2f}, {within} of {len(spreads)} within."
    )
    return found


def _cell(cell: Cell) -> str:
    return " ".join(filter(None, cell))


def _setting(setting: Setting) -> str:
    return f"{setting[0]} @{setting[1]}"


def paper_json(paper: Paper) -> dict[str, Any]:
    return {
        "type": "paper",
        "repositories": paper.repositories,
        "table_1": [
            {**_cell_json(one.system), **_setting_json(one.setting), **picked(one, "printed", "mean", "by_tasks")}
            for one in paper.means
        ],
        "rankings": [
            {
                **_setting_json(setting),
                "ranking": [list(place) for place in places],
                "kept": paper.keeping_in[setting],
                "whole_order_kept": paper.whole_order[setting],
            }
            for setting, places in paper.rankings.items()
        ],
        "kept_in_all_settings": list(paper.keeping),
        "kendall_tau": [
            {"a": _setting_json(a), "b": _setting_json(b), "tau": tau} for (a, b), tau in paper.taus.items()
        ],
        "pair_orders": [
            {
                **_setting_json(setting),
                **picked(one, "better", "worse", "difference", "repositories", "ties", "of", "resampled"),
            }
            for setting, orders in paper.orders.items()
            for one in orders
        ],
        "paired": [
            {
                "doc_model": one.model,
                **_setting_json(one.setting),
                **one.difference.to_json(),
                "bootstrap": list(one.bootstrap),
                "p": one.test.p,
                "p_holm": one.adjusted,
                "test": one.test.words,
            }
            for one in paper.paired
        ],
        "interquartile_ranges": [
            {**_cell_json(cell), **_setting_json(setting), "value": value}
            for (cell, setting), value in paper.spreads.items()
        ],
        "strata": [
            {
                **picked(one, "name", "repositories"),
                "means": [{**_setting_json(setting), **means} for setting, means in one.means.items()],
            }
            for one in paper.strata
        ],
        "disagreements": disagreements(paper),
        "cannot": list(CANNOT),
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {"doc_system": cell[0], "doc_model": cell[1]}


def _setting_json(setting: Setting) -> dict[str, Any]:
    return {"evaluator": setting[0], "k": setting[1]}
