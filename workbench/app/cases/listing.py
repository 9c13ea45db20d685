"""What the Cases mode lists: test cases with whether they are fetched, and the last scores of each agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import paths
from workbench.catalog import TestCase, load_cases
from workbench.errors import WorkbenchError
from workbench.repository import parse_source
from workbench.repository.store import Store
from workbench.results.scores import totals_of
from workbench.rubric.spread import Total

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

GROUPS = ("synthetic", "real", "own")
TITLES = {"synthetic": "Synthetic", "real": "Real projects", "own": "Your own"}


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case as listed.

    Attributes:
        case: The case.
        key: What a plan calls it: its id, or the source's text for one that was opened on the fly.
        fetched: Whether its files are here, so that browsing needs no network.
    """

    case: TestCase
    key: str
    fetched: bool


@dataclass(frozen=True, slots=True)
class AgentScore:
    """The newest score of an agent on a case."""

    agent: str
    total: Total
    state: str

    @property
    def share(self) -> float | None:
        """Points over possible points, 0 to 1; None while tiers are unscored."""
        return None if self.total.share is None else self.total.share / 100


def sources_of(case: TestCase) -> tuple[str, ...]:
    """Return the sources of a case in the order in which they are tried."""
    return tuple(text for text in (case.source or f"folder:{case.repository}", *case.alternatives) if text)


def is_here(case: TestCase) -> bool:
    """Return whether a case's files can be had without the network."""
    store = Store(paths.cache_dir().absolute())
    for text in sources_of(case):
        try:
            source = parse_source(text)
        except WorkbenchError:
            continue
        if source.kind == "folder" or store.recall(str(source)) is not None:
            return True
    return False


def entry_of(case: TestCase, key: str = "") -> CaseEntry:
    """Return a case as it is listed."""
    return CaseEntry(case, key or case.id, is_here(case))


def list_cases() -> tuple[tuple[CaseEntry, ...], tuple[str, ...]]:
    """Return all cases of the catalog in the order of the screen, and a sentence for each broken one."""
    cases, problems = load_cases()
    return in_order(entry_of(case) for case in cases), problems


def in_order(entries: Iterable[CaseEntry]) -> tuple[CaseEntry, ...]:
    """Return entries by kind, then name; a kind that is not known comes last."""

    def place(entry: CaseEntry) -> tuple[int, str]:
        kind = entry.case.kind
        return (GROUPS.index(kind) if kind in GROUPS else len(GROUPS), entry.case.name.lower())

    return tuple(sorted(entries, key=place))


def last_scores(reader: SessionReader, rubric: str = "aeo-bench") -> dict[str, tuple[AgentScore, ...]]:
    """Return the newest score of each agent by case, in the order in which the agents were first used."""
    totals: dict[str, Total] = {}
    for (trial_id, _, _), total in totals_of(reader, [row for row in reader.scores() if row.rubric == rubric]).items():
        # Of several judges the one that stands first everywhere.
        totals.setdefault(trial_id, total)
    runs = {run.id: reader.run_state(run) for run in reader.runs()}
    newest: dict[str, dict[str, AgentScore]] = {}
    for trial in reader.trials():
        if trial.parent:  # a fork says nothing of what the agent does by itself
            continue
        by_agent = newest.setdefault(trial.case_id, {})
        # A trial whose engine is gone still says that it runs; what its run says is what a person should see.
        going = trial.state in {"queued", "running"}
        run = runs.get(trial.run_id, trial.state)
        state = run if going and run not in {"queued", "running"} else trial.state
        score = AgentScore(trial.agent, totals.get(trial.id, Total()), state)
        before = by_agent.get(trial.agent)
        # A trial that only waits does not hide the score that is there.
        if before is None or score.total.points is not None or before.total.points is None:
            by_agent[trial.agent] = score
    return {case: tuple(scores.values()) for case, scores in newest.items()}
