"""The results of all evaluators and doc variants: pass@k by group and by run, and the samples of other groups."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.app.regeneration.wording import short_names
from workbench.base.text import one_line, shortened
from workbench.results.samples import results_by_group, states_by_group
from workbench.results.tasks import functions_of
from workbench.session.groups import Group, planned_docs

if TYPE_CHECKING:
    from workbench.comparison.groups import Function
    from workbench.regeneration.passk import PassEstimate
    from workbench.results.regeneration_runs import RunView
    from workbench.results.samples import SampleState
    from workbench.session.reader import SessionReader

MOST_RUNS = 6
"""The maximum number of runs of the same source to name and to load samples from."""
MOST_VARIANTS = 3
"""The maximum number of doc variants from other runs to show; the newest ones are shown."""
LONGEST_EVALUATOR, LONGEST_DOCS = 12, 20
"""The maximum widths of evaluator and docs names above a column of samples."""
Cells = Mapping[str, "tuple[SampleState, ...]"]
"""Samples by task id; the ids are those of the displayed run."""


@dataclass(frozen=True, slots=True)
class OtherSamples:
    """The samples of another evaluator or doc variant, and its short name."""

    name: str
    samples: Cells


@dataclass(frozen=True, slots=True)
class EvaluatorResults:
    """The pass@k (for the first k of the run) and the samples of each group.

    ``runs`` maps each run of the source to its docs and to pass@k of the displayed evaluator, provided the docs differ
    between runs. ``variants`` maps each group to samples from other runs of the source that have different docs but
    the same arguments.
    """

    estimates: Mapping[Group, PassEstimate] = field(default_factory=dict)
    samples: Mapping[Group, Cells] = field(default_factory=dict)
    runs: Mapping[str, tuple[str, PassEstimate | None]] = field(default_factory=dict)
    variants: Mapping[Group, tuple[OtherSamples, ...]] = field(default_factory=dict)


def other_samples(view: RunView, standings: EvaluatorResults) -> tuple[str, tuple[OtherSamples, ...]]:
    """Return the short name of the displayed group and the samples of all others, or ("", ()) if there are none."""
    others = [group for group in view.groups if group != view.group and group in standings.samples]
    variants = standings.variants.get(view.group, ())
    if not others:
        return (_docs_title(view.group.docs_words), variants) if variants else ("", ())
    named = [one for one in view.progress if one.group is not None]
    names = {one.group: one_line(name, LONGEST_EVALUATOR) for one, name in zip(named, short_names(named), strict=True)}
    found = [
        OtherSamples(names.get(group) or one_line(group.evaluator, LONGEST_EVALUATOR), standings.samples[group])
        for group in others
    ]
    # The prefix "docs" distinguishes a variant called "none" from an evaluator.
    found += [OtherSamples(shortened(f"docs {one.name}", LONGEST_DOCS), one.samples) for one in variants]
    return names.get(view.group, ""), tuple(found)


def _docs_title(words: str) -> str:
    """Return a column title for docs: ``llm:openai/gpt-5-mini`` becomes ``llm:gpt-5-mini``."""
    system, colon, model = words.partition(":")
    return shortened(one_line(f"{system}{colon}{model.rpartition('/')[2]}", 100), LONGEST_DOCS)


def load_evaluator_results(reader: SessionReader, view: RunView) -> EvaluatorResults:
    several, alone = len(view.groups) > 1, len(view.order) < 2
    estimates = _estimates(reader, view.run.id, view.ks[0]) if several else {}
    return EvaluatorResults(
        {group: estimates[group] for group in view.groups if group in estimates},
        states_by_group(reader, view.run.id) if several else {},
        {} if alone else _runs(reader, view),
        {} if alone else load_variants(reader, view),
    )


def _estimates(reader: SessionReader, run_id: str, k: int) -> dict[Group, PassEstimate]:
    from workbench.regeneration.outcome import pass_figures

    return {group: pass_figures(found, (k,)).pass_at[0] for group, found in results_by_group(reader, run_id).items()}


def load_variants(reader: SessionReader, view: RunView) -> dict[Group, tuple[OtherSamples, ...]]:
    """Load the samples of other docs for each group of a run.

    The samples of each variant come from the newest run of the same source that has them. Evaluator, prompt, context
    and settings are the same, so only the docs differ. Tasks have different ids in those runs and are matched by
    :func:`workbench.comparison.groups.join_tasks`. At most :data:`MOST_RUNS` runs are read, and at most
    :data:`MOST_VARIANTS` variants are returned per group, oldest run first.
    """
    from workbench.comparison.groups import join_tasks

    shown = {group.docs_words for group in view.groups}
    found: dict[Group, dict[str, Cells]] = {group: {} for group in view.groups}
    mine: dict[str, Function] = {}
    docs = {key: planned_docs(plan) for key, plan in reversed(_of_source(reader, view).items()) if key != view.run.id}
    for key, planned in [(key, words) for key, words in docs.items() if words not in shown][:MOST_RUNS]:
        if all(planned in named or len(named) >= MOST_VARIANTS for named in found.values()):
            continue
        cells = states_by_group(reader, key)
        mine = mine or functions_of(reader, view.run.id)
        same = join_tasks(mine, functions_of(reader, key))
        for group, variant in itertools.product(view.groups, cells):
            named, words = found[group], variant.docs_words
            fits = variant.arguments == group.arguments and words not in shown and words not in named
            if fits and len(named) < MOST_VARIANTS:
                named[words] = {same[task]: text for task, text in cells[variant].items() if task in same}
    return {group: _titled(named) for group, named in found.items() if named}


def _titled(named: Mapping[str, Cells]) -> tuple[OtherSamples, ...]:
    """Return doc variants with short names, or full names where the short ones would clash; oldest run first."""
    brief = [_docs_title(words) for words in named]
    return tuple(
        OtherSamples(title if brief.count(title) == 1 else shortened(one_line(words, 100), LONGEST_DOCS), cells)
        for title, (words, cells) in reversed(list(zip(brief, named.items(), strict=True)))
    )


def _runs(reader: SessionReader, view: RunView) -> dict[str, tuple[str, PassEstimate | None]]:
    docs = {key: one_line(planned_docs(plan) or "?", 30) for key, plan in _of_source(reader, view).items()}
    if not 1 < len(docs) == len(set(docs.values())) <= MOST_RUNS:
        return {}
    found = {key: _estimates(reader, key, view.ks[0]) for key in docs}
    mine = {key: [one for group, one in of.items() if group.evaluator == view.evaluator] for key, of in found.items()}
    return {key: (text, next(iter(mine[key]), None)) for key, text in docs.items()}


def _of_source(reader: SessionReader, view: RunView) -> dict[str, Mapping[str, Any]]:
    """Return the plans of all runs of the same source by run id, oldest first."""

    def source(plan: Mapping[str, Any]) -> str:
        return str(plan.get("source") or plan.get("name") or "")

    plans = {run.id: run.plan for run in reader.runs() if run.kind == view.run.kind}
    return {key: plans[key] for key in view.order if key in plans and source(plans[key]) == source(view.plan)}
