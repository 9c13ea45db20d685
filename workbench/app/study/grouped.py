"""By what the rows of the matrix stand in groups; what that takes is read and computed in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.app.toolkit.latest import Latest

if TYPE_CHECKING:
    from workbench.app.study.screen import StudyScreen
    from workbench.session.reader import SessionReader
    from workbench.studies.grouping import Group
    from workbench.studies.outcome import StudyOutcome

Groups = tuple["Group", ...]


class Grouped:
    """Remembers by what rows are grouped.

    Args:
        node: Whose message queue brings results back.
        show: Called with the groups, None for none.
        say: Called with a sentence where there is nothing to group by.

    Attributes:
        by: By what, "" for nothing.
    """

    def __init__(self, node: StudyScreen, show: Callable[[Groups | None], None], say: Callable[[str], None]) -> None:
        self._latest = Latest(node, "study-groups")
        self._show, self._say = show, say
        self.by = ""

    def forget(self) -> None:
        self.by = ""
        self._latest.drop_waiting()

    def following(self, reader: SessionReader, outcome: StudyOutcome) -> None:
        """Group by the next thing that makes more than one group, after the last by nothing."""
        self._ask(reader, outcome, self.by, 1)

    def again(self, reader: SessionReader, outcome: StudyOutcome) -> None:
        """Group anew: the study changed."""
        if self.by:
            self._ask(reader, outcome, self.by, 0)

    def _ask(self, reader: SessionReader, outcome: StudyOutcome, by: str, step: int) -> None:
        def work() -> tuple[str, Groups | None, bool]:
            from workbench.studies.grouping import facts_of, grouped, groupings

            facts = facts_of(reader, outcome)
            ways = ("", *groupings(outcome, facts))
            now = ways[(ways.index(by) + step) % len(ways)] if by in ways else ""
            return now, grouped(outcome, now, facts) if now else None, len(ways) > 1

        def done(found: tuple[str, Groups | None, bool]) -> None:
            self.by, groups, several = found
            if not several:
                self._say("There is nothing to group these rows by: they are alike in all that is known of them.")
            self._show(groups)

        self._latest.ask(work, done)
