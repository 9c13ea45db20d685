"""What the Study mode shows of a session, read and computed in a thread: its studies, the one that is shown, and what is looked at of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.study.wording import CELL, LEADERBOARD, RANKINGS
from workbench.base.errors import WorkbenchError
from workbench.studies.comparing import ColumnComparison, compare, not_ranked, rankings, taus
from workbench.studies.declaration import AGENTS, BadStudy, Study
from workbench.studies.following import StudyReader
from workbench.studies.leaderboard import judge_agreement, leaderboard

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.studies.grouping import RowFacts, RowGroup
    from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study of the session; ``study`` is None where its declaration is damaged, ``problem`` says so or why it stopped."""

    name: str
    study: Study | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked at: of all else no figure is computed.

    Attributes:
        name: The study, "" for the newest of the session.
        by: What rows are grouped by; ``step`` 1 asks for the next thing that makes more than one group, after the last for none.
        pair: The names of the columns that are compared.
    """

    name: str = ""
    measure: str = ""
    tab: str = CELL
    by: str = ""
    step: int = 0
    pair: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class StudyView:
    """The studies of a session, oldest first, and what is looked at of one; ``problem`` says why it has no outcome.

    ``wanted`` is what there was of what was ``asked`` for; ``alike`` says that rows cannot be grouped by anything.
    """

    session: Path
    asked: Wanted
    wanted: Wanted
    lines: tuple[StudyLine, ...]
    outcome: StudyOutcome | None = None
    problem: str = ""
    groups: Sequence[RowGroup] = ()
    alike: bool = False
    comparison: ColumnComparison | None = None
    ranked: tuple[Any, ...] = ((), {}, ())
    leaders: tuple[Any, ...] = ((), ())


NO_VIEW = StudyView(Path(), Wanted(), Wanted(), ())


class StudyLoader:
    """Reads one study again and again, and computes what is looked at once for each of its states; one thread at a time may call it."""

    def __init__(self) -> None:
        self._of: tuple[SessionReader | None, str] = None, ""
        self._study: StudyReader | None = None
        self._outcome: StudyOutcome | None = None
        self._known: dict[Any, Any] = {}

    def look(self, reader: SessionReader, asked: Wanted) -> StudyView:
        """Return a study as it is now; raises a ``SessionError`` where the session cannot be read."""
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
        return self._looked_at(reader, outcome, view)

    def _looked_at(self, reader: SessionReader, outcome: StudyOutcome, view: StudyView) -> StudyView:
        asked, measures = view.wanted, outcome.study.measures
        columns = {column.name: column for column in outcome.columns}
        measure = asked.measure if asked.measure in measures else measures[0]
        pair = asked.pair if asked.pair is not None and set(asked.pair) <= columns.keys() else None
        view = replace(view, outcome=outcome)
        by = asked.by
        if by or view.asked.step:
            from workbench.studies import grouping

            facts: RowFacts = self._once("facts", lambda: grouping.facts_of(reader, outcome))
            ways = ("", *self._once("ways", lambda: grouping.groupings(outcome, facts)))
            by = ways[(ways.index(by) + view.asked.step) % len(ways)] if by in ways else ""
            groups = self._once(("groups", by), lambda: grouping.grouped(outcome, by, facts)) if by else ()
            view = replace(view, groups=groups, alike=len(ways) == 1)
        if pair is not None:
            left, right = (columns[one] for one in pair)
            compared = self._once((pair, measure), lambda: compare(outcome, left, right, measure))
            view = replace(view, comparison=compared)
        if asked.tab == RANKINGS:
            view = replace(view, ranked=self._once(RANKINGS, lambda: _ranked(outcome)))
        elif asked.tab == LEADERBOARD and outcome.study.kind == AGENTS:
            leaders = self._once(LEADERBOARD, lambda: (leaderboard(outcome), judge_agreement(outcome)))
            view = replace(view, leaders=leaders)
        return replace(view, wanted=replace(asked, measure=measure, by=by, pair=pair))

    def _once(self, what: object, compute: Callable[[], Any]) -> Any:
        """Return a figure of the present state of the study."""
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
