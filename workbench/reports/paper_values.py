"""The analysis of the doc-to-code paper's published tables as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.reports.paper_page import CANNOT, disagreements

if TYPE_CHECKING:
    from workbench.metrics.paper import Paper, Setting


def paper_json(paper: Paper) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "type": "paper",
        "repositories": paper.repositories,
        "table_1": [
            {
                "doc_system": one.system[0],
                "doc_model": one.system[1],
                **_setting_json(one.setting),
                "printed": one.printed,
                "mean": one.mean,
                "by_tasks": one.by_tasks,
            }
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
                "better": one.better,
                "worse": one.worse,
                "difference": one.difference,
                "repositories": one.repositories,
                "ties": one.ties,
                "of": one.of,
                "resampled": one.resampled,
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
            {"doc_system": cell[0], "doc_model": cell[1], **_setting_json(setting), "value": value}
            for (cell, setting), value in paper.spreads.items()
        ],
        "strata": [
            {
                "name": one.name,
                "repositories": one.repositories,
                "means": [{**_setting_json(setting), **means} for setting, means in one.means.items()],
            }
            for one in paper.strata
        ],
        "disagreements": disagreements(paper),
        "cannot": list(CANNOT),
    }


def _setting_json(setting: Setting) -> dict[str, Any]:
    return {"evaluator": setting[0], "k": setting[1]}
