"""What the Study mode reads and has computed, in threads: the study, its rows in groups, and the figures beside the matrix.

Each is computed only while it is looked at, and later ones take the place of earlier ones. What is drawn at random is asked of a
process of its own once the study is at rest: of a live study each such figure would be stale when it comes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.app.study.actions import going
from workbench.app.study.wording import ITEMS, LEADERBOARD, RANKINGS
from workbench.app.toolkit.latest import Latest
from workbench.errors import WorkbenchError
from workbench.studies.comparing import Comparison, compare, not_ranked, rankings, taus
from workbench.studies.declaration import AGENTS, BadStudy, Study
from workbench.studies.following import StudyReader
from workbench.studies.leaderboard import judge_agreement, leaderboard

if TYPE_CHECKING:
    from pathlib import Path

    from textual.timer import Timer

    from workbench.app.study.screen import StudyScreen
    from workbench.session.reader import SessionReader
    from workbench.studies.grouping import Group
    from workbench.studies.outcome import StudyOutcome

REST_SECONDS = 1.0
"""For so long nothing must change before anything is drawn."""
LEFT_SECONDS = 10.0
"""Time between two looks at how long a study will still take."""
_NO_GROUPS = "There is nothing to group these rows by: they are alike in all that is known of them."


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study of the session; ``study`` is None where its declaration is damaged, ``problem`` says so or why it stopped."""

    name: str
    study: Study | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StudyView:
    """The studies of a session, oldest first, and the one that is shown; ``problem`` says why it has no outcome."""

    session: Path
    lines: tuple[StudyLine, ...]
    name: str = ""
    outcome: StudyOutcome | None = None
    problem: str = ""


class StudyLoader:
    """Reads one study again and again; one thread at a time may call it."""

    def __init__(self) -> None:
        self._reader: SessionReader | None = None
        self._name = ""
        self._study: StudyReader | None = None

    def look(self, reader: SessionReader, name: str = "") -> StudyView:
        """Return a study as it is now, the newest of the session where ``name`` is none of it.

        Raises:
            SessionError: The session cannot be read.
        """
        lines = tuple(_line(row.name, row.declaration, row.problem or "") for row in reader.studies())
        if not lines:
            return StudyView(reader.path, ())
        if name not in {line.name for line in lines}:
            name = lines[-1].name
        try:
            if self._study is None or (self._reader, self._name) != (reader, name):
                self._study, self._reader, self._name = StudyReader(reader, name), reader, name
            return StudyView(reader.path, lines, name, self._study.look())
        except BadStudy as problem:
            self._study = None
            return StudyView(reader.path, lines, name, problem=str(problem))


def _line(name: str, declaration: str, problem: str) -> StudyLine:
    try:
        return StudyLine(name, Study.from_json(declaration), problem)
    except WorkbenchError as damage:
        return StudyLine(name, None, str(damage))


class StudyPresenter:
    """Knows of which state of the study each part of the screen shows the figures.

    Attributes:
        by: What rows are grouped by, "" for nothing.
        pair: The names of the two columns that are compared, None for none.
        pairs: All that were compared since the study is shown: their tests are adjusted for their number.
        seconds_left: How long the study will still take; None where nothing like it was measured, or nothing works on it.
    """

    def __init__(self, screen: StudyScreen) -> None:
        self._screen = screen
        self._grouping = Latest(screen, "study-groups")
        self._comparing, self._ranking = Latest(screen, "comparison"), Latest(screen, "rankings")
        self._leading, self._drawing = Latest(screen, "leaderboard"), Latest(screen, "draws")
        self._estimating = Latest(screen, "study-left")
        self.by = ""
        self.pair: tuple[str, str] | None = None
        self.pairs: list[tuple[str, str]] = []
        self._ranked: StudyOutcome | None = None
        self._led: StudyOutcome | None = None
        self._of: tuple[StudyOutcome | None, str] = None, ""  # what is drawn of
        self._orders = False
        self._asked: tuple[frozenset[tuple[str, str]], bool] | None = None
        self._resting: Timer | None = None
        self._estimated = -LEFT_SECONDS
        self.seconds_left: float | None = None

    # -- the study

    def forget(self) -> None:
        """Another study is shown: nothing of the last one is compared or grouped any more."""
        self.by, self.pair = "", None
        self._grouping.drop_waiting()

    def group(self, step: int) -> None:
        """Group by the next thing that makes more than one group (1), after the last by nothing; or anew (0)."""
        screen, by = self._screen, self.by
        reader, outcome = screen.workbench.reader, screen.outcome
        if reader is None or outcome is None or not (step or by):
            return

        def work() -> tuple[str, tuple[Group, ...] | None, bool]:
            from workbench.studies.grouping import facts_of, grouped, groupings

            facts = facts_of(reader, outcome)
            ways = ("", *groupings(outcome, facts))
            now = ways[(ways.index(by) + step) % len(ways)] if by in ways else ""
            return now, grouped(outcome, now, facts) if now else None, len(ways) > 1

        def done(found: tuple[str, tuple[Group, ...] | None, bool]) -> None:
            if screen.outcome is None or screen.outcome.study.name != outcome.study.name:
                return
            self.by, groups, several = found
            if not several:
                screen.notify(_NO_GROUPS)
            screen.show_groups(groups)

        self._grouping.ask(work, done)

    def estimate(self) -> None:
        """Have it said how long the study will still take, unless that was done a moment ago."""
        screen, now = self._screen, time.monotonic()
        outcome, session = screen.outcome, screen.session
        if outcome is None or session is None or not going(outcome):
            self.seconds_left, self._estimated = None, -LEFT_SECONDS
        elif now - self._estimated >= LEFT_SECONDS:
            self._estimated = now
            name, at_once = outcome.study.name, screen.workbench.settings.trials_at_once

            def work() -> float | None:
                from workbench.engine.study_estimate import seconds_left

                return seconds_left(session, name, at_once)

            def done(seconds: float | None) -> None:
                self.seconds_left = seconds
                screen.show_status()

            self._estimating.ask(work, done, lambda _: done(None))

    # -- beside the matrix

    def fill(self) -> None:
        """Have the rankings or the leaderboard computed, where that is the tab that is shown."""
        outcome, detail = self._screen.outcome, self._screen.detail
        if outcome is None:
            return
        if detail.current == RANKINGS:
            self._orders = True
            if self._ranked is not outcome:
                self._ranked = outcome
                noun = ITEMS[outcome.study.kind == AGENTS][3]
                ranked = lambda: (found := rankings(outcome), taus(found), not_ranked(outcome))  # noqa: E731
                self._ranking.ask(ranked, lambda every: detail.rankings.put(noun, *every))
        elif detail.current == LEADERBOARD and self._led is not outcome:
            self._led = outcome
            if outcome.study.kind == AGENTS:
                led = lambda: (leaderboard(outcome), judge_agreement(outcome))  # noqa: E731
                self._leading.ask(led, lambda both: detail.leaders.show(*both))
            else:
                self._leading.drop_waiting()
                detail.leaders.show((), ())

    def compare(self, pair: tuple[str, str] | None = None) -> None:
        """Have a pair of columns compared, or that of before as the study stands now; a study may lack its columns."""
        screen = self._screen
        outcome, shown, measure = screen.outcome, screen.detail.comparison, screen.measure
        if pair is not None:
            self.pair = pair
            self.pairs += [] if pair in self.pairs else [pair]
            shown.put_test(None, len(self.pairs))
        names = {column.name: column for column in outcome.columns} if outcome is not None else {}
        if outcome is not None and self.pair is not None and not set(self.pair) <= set(names):
            self.pair = None
        if outcome is None or self.pair is None:
            shown.put(None, ITEMS[True])
            return
        wanted = self.pair
        left, right = (names[one] for one in wanted)

        def done(found: Comparison) -> None:
            if self.pair == wanted and screen.outcome is not None:
                shown.put(found, ITEMS[outcome.study.kind == AGENTS])
                screen.title_detail()

        self._comparing.ask(lambda: compare(outcome, left, right, measure), done)

    # -- what is drawn at random

    def begin_anew(self) -> None:
        """Another state of a study, another study or another measure is shown: what was drawn is of no use."""
        outcome, measure = self._screen.outcome, self._screen.measure
        before = self._of[0]
        if outcome is None or before is None or outcome.study.name != before.study.name:
            self.pairs, self._orders = [], False
        if outcome is None or before is not outcome or self._of[1] != measure:
            self._of, self._asked = (outcome, measure), None
            self._show_drawn()
        if self._resting is not None:
            self._resting.stop()
        self._resting = self._screen.set_timer(REST_SECONDS, self.draw)

    def draw(self) -> None:
        """Draw what is wanted and not there yet, in a thread that waits for the process."""
        outcome, measure = self._of
        session, wanted = self._screen.session, (frozenset(self.pairs), self._orders)
        if (
            session is None
            or outcome is None
            or outcome is not self._screen.outcome
            or not any(wanted)
            or self._asked == wanted
        ):
            return
        self._asked = wanted
        self._show_drawn()
        by_name = {column.name: column for column in outcome.columns}
        pairs = [pair for pair in self.pairs if set(pair) <= by_name.keys()]
        columns = [(by_name[left], by_name[right]) for left, right in pairs]
        orders, name = self._orders, outcome.study.name

        def work() -> Mapping[str, Any]:
            from workbench.studies import drawing

            return drawing.drawn(session, name, columns, measure, orders=orders)

        def is_wanted() -> bool:
            return self._of[0] is outcome and self._of[1] == measure and self._asked == wanted

        def done(found: Mapping[str, Any]) -> None:
            if is_wanted():
                resampled = {
                    (model, by, one["better"], one["worse"]): one["resampled"]
                    for model, by_measure in found["orders"].items()
                    for by, every in by_measure.items()
                    for one in every
                    if one["resampled"] is not None
                }
                self._show_drawn(dict(zip(pairs, found["tests"], strict=True)), resampled if orders else None)

        self._drawing.ask(work, done, lambda sentence: self._show_drawn(problem=sentence) if is_wanted() else None)

    def _show_drawn(
        self, tests: Mapping[tuple[str, str], Mapping[str, Any]] | None = None, resampled: Any = None, problem: str = ""
    ) -> None:
        test = (tests or {}).get(self.pair) if self.pair is not None else None
        self._screen.detail.comparison.put_test(test, max(1, len(self.pairs)), problem)
        self._screen.detail.rankings.put_resampled(resampled, problem)
