"""From a study to what is behind it: a trial, the tasks of a run, two items side by side; escape leads back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.location import Location, Place, ResultList
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.latest import Latest
from workbench.errors import WorkbenchError
from workbench.results.samples import samples_of
from workbench.session.groups import Group
from workbench.studies.declaration import AGENTS
from workbench.studies.reading import TaskTally, TrialTally
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.study.screen import StudyScreen
    from workbench.session.reader import SessionReader
    from workbench.studies.cells import Cell
    from workbench.studies.comparing import Comparison, ItemPair, SideItem
    from workbench.studies.outcome import StudyOutcome
    from workbench.studies.reading import CellWork


class Going:
    """Shows what is behind cells and items.

    Args:
        host: The app.
        node: Whose message queue brings results back.
    """

    def __init__(self, host: WorkbenchApp, node: StudyScreen) -> None:
        self._host = host
        self._pairing = Latest(node, "pair")

    def to_cell(self, study: str, cell: Cell) -> None:
        """Show the run of a docs cell, by its evaluator, or the only trial of an agents cell."""
        if cell.work.trials:
            self._go(study, [self._item(cell, cell.work.trials[0])], 0)
        elif cell.run:
            self._go(study, [self._in(cell, "regeneration", cell.run)], 0)

    def to_item(self, study: str, cell: Cell, items: Sequence[TrialTally | TaskTally], at: int) -> None:
        """Show one of the trials or tasks of a cell, in the order in which they are listed."""
        self._go(study, [self._item(cell, item) for item in items], at)

    def _item(self, cell: Cell, item: TrialTally | TaskTally) -> Location:
        if isinstance(item, TrialTally):
            return self._in(cell, "trajectory", item.trial)
        return self._in(cell, "regeneration", cell.run, Place(item=item.task))

    def _in(self, cell: Cell, mode: str, item: str, place: Place | None = None) -> Location:
        # Another session is opened for what others did; going back opens this one again.
        session = Path(cell.work.session) if cell.work.session else self._host.session_path
        return Location(session, mode, item, place, cell.work.group[0] if mode == "regeneration" else "")

    def to_pair(self, outcome: StudyOutcome, comparison: Comparison, pair: ItemPair) -> None:
        """Show both items of a pair side by side."""
        reader = self._host.reader
        sides = sides_of(outcome, comparison, pair, reader.path) if reader is not None else None
        if reader is not None and sides is not None:
            self._pairing.ask(lambda: pair_of(reader, outcome, sides, pair.difference), self._host.show_pair)

    def _go(self, study: str, locations: Sequence[Location], at: int) -> None:
        host, own = self._host, self._host.session_path
        if own is not None:
            back = partial(host.open_session, own, then=partial(host.show_study, study))
            host.follow(ResultList(lambda at: back(), locations, row="item"), at)


@dataclass(frozen=True, slots=True)
class _Side:
    session: Path
    title: str
    item: SideItem
    work: CellWork


def sides_of(
    outcome: StudyOutcome, comparison: Comparison, pair: ItemPair, session: Path
) -> tuple[_Side, _Side] | None:
    """Return both sides of a pair with where they are, None where one is missing."""
    if pair.left is None or pair.right is None:
        return None
    titles = {one.column.name: one.title for one in outcome.by_column}
    sides = []
    for column, item in ((comparison.left, pair.left), (comparison.right, pair.right)):
        title = one_line(f"{titles[column.name]} · {pair.row} · {pair.name}", 100)
        work = outcome.cell(pair.row, column).work
        sides.append(_Side(Path(item.session) if item.session else session, title, item, work))
    return sides[0], sides[1]


def pair_of(reader: SessionReader, outcome: StudyOutcome, sides: tuple[_Side, _Side], gap: float | None) -> Pair:
    """Return what is to be shown side by side: two trials, or of two tasks a sample each; called in a thread.

    Of tasks that differ, the samples are those that show it: one that passed on the better side, one that did not on the other.

    Raises:
        WorkbenchError: A task has no sample yet, or its session cannot be read.
    """
    if outcome.study.kind == AGENTS:
        left, right = (Marked(one.session, "trial", one.item.id, one.title) for one in sides)
        return Pair(left, right, *outcome.scale)
    passed = (None, None) if not gap else (gap < 0, gap > 0)
    found = [_sample(reader, one, wanted) for one, wanted in zip(sides, passed, strict=True)]
    return Pair(found[0], found[1])


def _sample(reader: SessionReader, side: _Side, passed: bool | None) -> Marked:
    from workbench.session.reader import SessionReader

    group = Group("", *side.work.group, side.work.settings)
    if side.session == reader.path:
        rows = samples_of(reader, side.item.id, group)
    else:
        with SessionReader(side.session, surveyed=False) as other:
            rows = samples_of(other, side.item.id, group)
    done = [(row.id, row.verdict) for row in rows if row.verdict]
    if not done:
        raise WorkbenchError(f"{side.title} has no tested sample yet.")
    fitting = [key for key, verdict in done if passed is None or (verdict == "passed") is passed]
    return Marked(side.session, "candidate", (fitting or [done[0][0]])[0], side.title, side.item.run)
