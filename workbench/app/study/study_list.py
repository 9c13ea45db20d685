"""The studies of a session; enter shows one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.study.loading import StudyLine
from workbench.app.study.wording import shape
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.text import one_line, shortened


def _about(line: StudyLine) -> Part:
    """Return what is wrong with a study, or what it is for."""
    if line.problem:
        return one_line(f"{STATES['failed']} {line.problem}", 400), "failed"
    return one_line(line.study.title, 400) if line.study is not None else "", "dim"


def _shape(line: StudyLine) -> Part:
    return shape(line.study, len(line.study.columns)) if line.study is not None else "", "dim"


COLUMNS: tuple[Column[StudyLine], ...] = (
    Column(title="study", cell=lambda line: one_line(line.name, 200), width=12, widest=60, text=True, shorten=shortened),
    Column(title="what is compared", cell=_shape, width=20, widest=120, text=True),
    Column(title="", cell=_about, width=12, widest=400, text=True, priority=1),
)  # fmt: skip


class StudyList(Table[StudyLine]):
    """Studies, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("study.open-study", "choose", "show it")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line.name, id=id)
        self._current = ""

    def show(self, lines: Sequence[StudyLine], current: str) -> None:
        """Show studies, oldest first; ``current`` is the one that is shown."""
        self._current = current
        self.rows = tuple(reversed(lines))
        self.rearrange(to=self.selected.name if self.selected is not None else current)

    def lead_of(self, row: StudyLine) -> str:
        """Mark the study that is shown."""
        return "›" if row.name == self._current else ""

    def words_of_row(self, row: StudyLine) -> str:
        """Return its name and title."""
        return f"{row.name} {row.study.title if row.study is not None else ''}"
