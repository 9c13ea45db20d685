"""All evaluators and doc variants side by side: pass@k of each group and run, and the cells of the groups not in front."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.app.regeneration.evaluators import short_names
from workbench.app.toolkit.latest import Latest
from workbench.results.samples import results_by_group, states_by_group
from workbench.results.tasks import functions_of
from workbench.session.groups import Group, planned_docs
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.comparison.groups import Function
    from workbench.regeneration.passk import Estimate
    from workbench.results.samples import SampleState
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

SECONDS = 0.5
"""Shortest time between two looks at a run that goes on; looks that take longer are rarer."""
MOST_RUNS = 6
"""Runs of the same source whose pass@k is looked up, the newest ones."""
MOST_VARIANTS = 3
"""Doc variants of other runs whose samples stand beside those in front, the newest ones."""
LONGEST_EVALUATOR, LONGEST_DOCS = 12, 20
"""Cells that a name may have above a column of samples."""


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A regeneration run of the session: the docs that it tests, and pass@k of the evaluator that is shown."""

    id: str
    docs: str
    same_source: bool
    estimate: Estimate | None = None


@dataclass(frozen=True, slots=True)
class OtherSamples:
    """The samples of another evaluator or doc variant: its short name, and its samples by task of the run that is shown."""

    name: str
    samples: Mapping[str, tuple[SampleState, ...]]


@dataclass(frozen=True, slots=True)
class Standings:
    """pass@k (for the first k of the run) of each group, the samples of each by task, and the other runs.

    ``variants`` has for each group what was asked the same way of other runs of the source with other docs.
    """

    estimates: Mapping[Group, Estimate] = field(default_factory=dict)
    samples: Mapping[Group, Mapping[str, tuple[SampleState, ...]]] = field(default_factory=dict)
    runs: tuple[OtherRun, ...] = ()
    variants: Mapping[Group, tuple[OtherSamples, ...]] = field(default_factory=dict)


def beside(view: RunView, standings: Standings) -> tuple[str, tuple[OtherSamples, ...]]:
    """Return the short name of the group in front, and the samples of the others; ("", ()) where there are none."""
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
    # Among names of evaluators a bare "none" would not say what it is.
    found += [OtherSamples(shortened(f"docs {one.name}", LONGEST_DOCS), one.samples) for one in variants]
    return names.get(view.group, ""), tuple(found)


def _docs_title(words: str) -> str:
    """Return docs as they fit above a column: ``llm:openai/gpt-5-mini`` is ``llm:gpt-5-mini``."""
    system, colon, model = words.partition(":")
    return shortened(one_line(f"{system}{colon}{model.rpartition('/')[2]}", 100), LONGEST_DOCS)


def load_standings(reader: SessionReader, view: RunView) -> Standings:
    """Read how all groups of a run, and the runs beside it, stand."""
    several, alone = len(view.groups) > 1, len(view.order) < 2
    estimates = _estimates(reader, view.run.id, view.ks[0]) if several else {}
    return Standings(
        {group: estimates[group] for group in view.groups if group in estimates},
        states_by_group(reader, view.run.id) if several else {},
        () if alone else _runs(reader, view),
        {} if alone else load_variants(reader, view),
    )


def _estimates(reader: SessionReader, run_id: str, k: int) -> dict[Group, Estimate]:
    from workbench.regeneration.outcome import pass_figures

    return {group: pass_figures(found, (k,)).pass_at[0] for group, found in results_by_group(reader, run_id).items()}


def load_variants(reader: SessionReader, view: RunView) -> dict[Group, tuple[OtherSamples, ...]]:
    """Read the samples of other docs beside each group of a run, from the newest run of the same source that has them.

    They were asked of the same evaluator with the same prompt, context and settings, so that the docs are all that differs.
    Tasks have other ids there: they are joined as two groups are compared (:func:`workbench.comparison.groups.join_tasks`). At most
    :data:`MOST_RUNS` runs are read, and :data:`MOST_VARIANTS` variants stand beside a group, in the order of their runs.
    """
    from workbench.comparison.groups import join_tasks

    shown = {group.docs_words for group in view.groups}
    found: dict[Group, dict[str, Mapping[str, tuple[SampleState, ...]]]] = {group: {} for group in view.groups}
    mine: dict[str, Function] = {}
    for key, planned in _to_be_read(reader, view, shown).items():
        if all(planned in named or len(named) >= MOST_VARIANTS for named in found.values()):
            continue
        cells = states_by_group(reader, key)
        mine = mine or functions_of(reader, view.run.id)
        same = join_tasks(mine, functions_of(reader, key))
        for group, variant in itertools.product(view.groups, cells):
            named, words = found[group], variant.docs_words
            fits = variant.arguments == group.arguments and words not in shown and words not in named
            if fits and len(named) < MOST_VARIANTS:
                named[words] = {same[task]: said for task, said in cells[variant].items() if task in same}
    return {group: _titled(named) for group, named in found.items() if named}


def _to_be_read(reader: SessionReader, view: RunView, shown: Collection[str]) -> dict[str, str]:
    """Return the other runs of the same source that may have docs that are not shown, with these; the newest first."""
    plans = {run.id: run.plan for run in reader.runs()}
    others = [key for key in reversed(view.order) if key in plans and key != view.run.id]
    same = [key for key in others if _source(plans[key]) == _source(view.plan)]
    docs = {key: planned_docs(plans[key]) for key in same}
    return {key: docs[key] for key in [key for key in same if docs[key] not in shown][:MOST_RUNS]}


def _titled(named: Mapping[str, Mapping[str, tuple[SampleState, ...]]]) -> tuple[OtherSamples, ...]:
    """Return doc variants by their short names, by the whole ones where two would be called alike; oldest run first."""
    brief = [_docs_title(words) for words in named]
    return tuple(
        OtherSamples(title if brief.count(title) == 1 else shortened(one_line(words, 100), LONGEST_DOCS), cells)
        for title, (words, cells) in reversed(list(zip(brief, named.items(), strict=True)))
    )


def _runs(reader: SessionReader, view: RunView) -> tuple[OtherRun, ...]:
    runs = {run.id: run for run in reader.runs()}
    found = []
    same = [key for key in view.order if _source(runs[key].plan) == _source(view.plan) if key in runs]
    for key in view.order:
        if key not in runs:
            continue
        plan = runs[key].plan
        estimate = None
        if key in same[-MOST_RUNS:]:
            estimates = _estimates(reader, key, view.ks[0])
            estimate = next((one for group, one in estimates.items() if group.evaluator == view.evaluator), None)
        found.append(OtherRun(key, one_line(planned_docs(plan) or "?", 30), key in same, estimate))
    return tuple(found)


def _source(plan: Mapping[str, Any]) -> str:
    return str(plan.get("source") or plan.get("name") or "")


class Comparing:
    """Keeps the standings in step with the run, at most as often as they can be read.

    Args:
        screen: The view that shows them.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self._reading = Latest(screen, "standings")
        self._seconds = SECONDS
        self._of: tuple[object, ...] = ()
        self._news = 0  # batches of changes of other runs

    @property
    def idle(self) -> bool:
        """Whether nothing is being read and nothing is about to be."""
        return self._reading.idle and not self._reading.due

    def take(self, changes: Sequence[Change], shown: Callable[[str], bool]) -> None:
        """Look again soon where a candidate of another run changed; ``shown`` tells whether a task is of the one in front."""
        if any(change.kind == "candidate" and change.part and not shown(change.part) for change in changes):
            self._news += 1
            self.refresh()

    def refresh(self) -> None:
        """Look again soon, where something changed."""
        key = self._key(self._screen.view)
        if self._reading.due or key == self._of:
            return
        if not key:
            self._of = key
            self._screen.show_standings(Standings())
            return
        self._reading.soon(self._look, self._seconds if self._of[:1] == key[:1] else 0.001)

    def _key(self, view: RunView | None) -> tuple[object, ...]:
        if view is None or (len(view.groups) < 2 and len(view.order) < 2):
            return ()
        return view.run.id, view.groups, view.group.evaluator, view.order, view.live, _states(view.progress), self._news

    def _look(self) -> None:
        reader, view = self._screen.reader, self._screen.view
        key = self._of = self._key(view)
        if reader is None or view is None or not key:
            self._screen.show_standings(Standings())
            return

        def work() -> tuple[Standings, float]:
            began = time.perf_counter()
            return load_standings(reader, view), time.perf_counter() - began

        def done(found: tuple[Standings, float]) -> None:
            self._seconds = max(SECONDS, 4 * found[1])
            if key == self._of:
                self._screen.show_standings(found[0])

        self._reading.ask(work, done)


def _states(progress: Sequence[Any]) -> tuple[object, ...]:
    return tuple((one.group, one.decided, one.total) for one in progress)
