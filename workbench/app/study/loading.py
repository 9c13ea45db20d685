"""The data of the Study mode: the studies of the session, the selected one, and the figures on display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.study.wording import CELL, LEADERBOARD, RANKINGS
from workbench.base.errors import WorkbenchError
from workbench.studies.comparing import Comparison, compare, not_ranked, rankings, taus
from workbench.studies.declaration import AGENTS, BadStudy, Study
from workbench.studies.following import StudyReader
from workbench.studies.leaderboard import judge_agreement, leaderboard

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.studies.grouping import Facts, Group
    from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study of the session; ``study`` is None if its declaration is damaged. ``problem`` says so, or why it stopped."""

    name: str
    study: Study | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StudySelection:
    """What is displayed; nothing else is computed.

    Attributes:
      name: The study, "" for the newest.
      by: What rows are grouped by; ``step`` 1 requests the next grouping with more than one group, after the last
    none.
      pair: The names of the compared columns.
    """

    name: str = ""
    measure: str = ""
    tab: str = CELL
    by: str = ""
    step: int = 0
    pair: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class StudyView:
    """The studies of a session, oldest first, and the displayed data of one; ``problem`` says why there is no outcome.

    ``wanted`` is the part of ``asked`` that exists; ``alike`` says that rows cannot be grouped.
    """

    session: Path
    asked: StudySelection
    wanted: StudySelection
    lines: tuple[StudyLine, ...]
    outcome: StudyOutcome | None = None
    problem: str = ""
    groups: Sequence[Group] = ()
    alike: bool = False
    comparison: Comparison | None = None
    ranked: tuple[Any, ...] = ((), {}, ())
    leaders: tuple[Any, ...] = ((), ())


NO_VIEW = StudyView(Path(), StudySelection(), StudySelection(), ())


class StudyLoader:
    """Reads a study repeatedly, and computes each displayed figure once per state of it; not thread-safe."""

    def __init__(self) -> None:
        self._of: tuple[SessionReader | None, str] = None, ""
        self._study: StudyReader | None = None
        self._outcome: StudyOutcome | None = None
        self._known: dict[Any, Any] = {}

    def load(self, reader: SessionReader, asked: StudySelection) -> StudyView:
        """Return the current state of a study; raises SessionError if the session cannot be read."""
        lines = tuple(_line(row.name, row.declaration, row.problem or "") for row in reader.studies())
        names = [line.name for line in lines]
        wanted = replace(asked, name=asked.name if asked.name in names else names[-1] if names else "", step=0)
        view = StudyView(reader.path, asked, wanted, lines)
        if not lines:
            return view
        try:
            if self._study is None or self._of != (reader, wanted.name):
                self._study, self._of = StudyReader(reader, wanted.name), (reader, wanted.name)
            outcome = self._study.look()
        except BadStudy as problem:
            self._study = None
            return replace(view, problem=str(problem))
        if outcome is not self._outcome:
            self._outcome, self._known = outcome, {}
        return self._with_figures(reader, outcome, view)

    def _with_figures(self, reader: SessionReader, outcome: StudyOutcome, view: StudyView) -> StudyView:
        asked, measures = view.wanted, outcome.study.measures
        columns = {column.name: column for column in outcome.columns}
        measure = asked.measure if asked.measure in measures else measures[0]
        pair = asked.pair if asked.pair is not None and set(asked.pair) <= columns.keys() else None
        view = replace(view, outcome=outcome)
        by = asked.by
        if by or view.asked.step:
            from workbench.studies import grouping

            facts: Facts = self._cached("facts", lambda: grouping.facts_of(reader, outcome))
            ways = ("", *self._cached("ways", lambda: grouping.groupings(outcome, facts)))
            by = ways[(ways.index(by) + view.asked.step) % len(ways)] if by in ways else ""
            groups = self._cached(("groups", by), lambda: grouping.grouped(outcome, by, facts)) if by else ()
            view = replace(view, groups=groups, alike=len(ways) == 1)
        if pair is not None:
            left, right = (columns[one] for one in pair)
            compared = self._cached((pair, measure), lambda: compare(outcome, left, right, measure))
            view = replace(view, comparison=compared)
        if asked.tab == RANKINGS:
            view = replace(view, ranked=self._cached(RANKINGS, lambda: _ranked(outcome)))
        elif asked.tab == LEADERBOARD and outcome.study.kind == AGENTS:
            leaders = self._cached(LEADERBOARD, lambda: (leaderboard(outcome), judge_agreement(outcome)))
            view = replace(view, leaders=leaders)
        return replace(view, wanted=replace(asked, measure=measure, by=by, pair=pair))

    def _cached(self, what: object, compute: Callable[[], Any]) -> Any:
        if what not in self._known:
            self._known[what] = compute()
        return self._known[what]


def _ranked(outcome: StudyOutcome) -> tuple[Any, ...]:
    found = rankings(outcome)
    return found, taus(found), not_ranked(outcome)


def _line(name: str, declaration: str, problem: str) -> StudyLine:
    try:
        return StudyLine(name, Study.from_json(declaration), problem)
    except WorkbenchError as damage:
        return StudyLine(name, None, str(damage))
