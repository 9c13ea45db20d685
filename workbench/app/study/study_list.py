"""The studies of a session; enter shows one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from workbench.app.study.loading import StudyLine
from workbench.app.study.wording import shape
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.text import one_line, shortened


class StudyList(HeadedList):
    """Row 0 is the heading; below it the studies, the newest first."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "show it", id="study.open-study")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[StudyLine, ...] = ()
        self._current = ""

    def put(self, lines: Sequence[StudyLine], current: str) -> None:
        """Show studies, oldest first; ``current`` is the one that is shown."""
        kept = self.selected
        self.lines, self._current = tuple(reversed(lines)), current
        name = kept.name if kept is not None else current
        self.rows_changed(cursor=next((at for at, line in enumerate(self.lines, 1) if line.name == name), 1))

    @property
    def selected(self) -> StudyLine | None:
        """The study under the cursor."""
        return self.lines[self.cursor - 1] if 0 < self.cursor <= len(self.lines) else None

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self.lines) + 1

    def words_of(self, index: int) -> str:
        """Return its name and title."""
        line = self.lines[index - 1]
        return f"{line.name} {line.study.title if line.study is not None else ''}"

    def _names(self, width: int) -> int:
        longest = max((len(line.name) for line in self.lines), default=8)
        return min(longest + 4, max(12, width // 2))

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        return [(fit(f"{fit('  study', self._names(width))}what is compared", width), "group")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a study: its name, how large it is, what is wrong with it or what it is for."""
        line, names = self.lines[index - 1], self._names(width)
        mark = "› " if line.name == self._current else "  "
        parts: list[Part] = [(mark, "marked"), (fit(shortened(one_line(line.name, 200), names - 3), names - 2), "")]
        if line.study is not None:
            parts.append((shape(line.study, len(line.study.columns)), "dim"))
        said = f"{STATES['failed']} {line.problem}" if line.problem else line.study.title if line.study else ""
        return [*parts, (f"  {one_line(said, 400)}" if said else "", "failed" if line.problem else "dim")]
