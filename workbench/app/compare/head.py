"""The head of a comparison: what A and B are, their figures, and how they differ, under the titles of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.app.compare.wording import change, figure
from workbench.app.toolkit.columns import Column, Columns
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.comparison import Effort
from workbench.text import shortened

_SIGNS: tuple[Part, ...] = ((" A ", "only-a"), (" B ", "only-b"), ("   ", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A column of the head: what it is of A, of B, and of B − A.

    Attributes:
        title: Its heading.
        of: What it is of the three; the first two in the style ``style``.
        width: Cells that it needs.
        brief: The same in fewer cells.
        widest: Cells that it takes where there is room for more than ``brief``.
        priority: 0 always stays; of the others the highest go first.
        text: Whether it begins at the left.
    """

    title: str
    of: tuple[str | Part, str | Part, str | Part]
    width: int
    brief: tuple[str, str, str] | None = None
    widest: int = 0
    priority: int = 0
    text: bool = False
    style: str = ""

    def column(self) -> Column[int]:
        """Return it as a column over the rows 0, 1 and 2."""

        def styled(at: int, said: str | Part) -> Part:
            return said if isinstance(said, tuple) else (said, "strong" if at == 2 else self.style)

        brief = self.brief
        return Column(
            title=self.title,
            cell=lambda at: styled(at, self.of[at]),
            width=self.width,
            widest=self.widest,
            priority=self.priority,
            text=self.text,
            brief=(lambda at: styled(at, brief[at])) if brief is not None else None,
        )


def counted(title: str, left: int, right: int) -> Figure:
    """Return a column of counts."""
    gap = change(float(right - left), 0)
    return Figure(title=title, of=(f"{left:,}", f"{right:,}", gap), width=max(6, len(title)))


def took(effort: Effort, title: str, width: int, digits: int, priority: int) -> Figure:
    """Return a column of what each took."""
    gap = change(effort.difference, digits)
    of = figure(effort.left, digits), figure(effort.right, digits), gap
    return Figure(title=title, of=of, width=width, priority=priority)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTable:
    """What the head says.

    Attributes:
        names: What A and B are called.
        figures: Their figures.
        shared: What both have in common.
        alike: What is to be said of the differences.
        note: What else, in a line of its own.
    """

    names: tuple[str, str]
    figures: Sequence[Figure]
    shared: str = ""
    alike: str = ""
    note: str = ""


class Head(RowList, can_focus=False):
    """Four lines, or five with a note; or a sentence where nothing can be compared."""

    ALLOW_SELECT = False

    def __init__(self, height: int, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._height = height
        self.styles.height = height
        self.head: HeadTable | None = None
        self._sentence = ""
        self._columns: Columns[int] = Columns(())

    def show(self, head: HeadTable | None, sentence: str = "") -> None:
        self.head, self._sentence = head, sentence
        if head is not None:
            names: list[Part] = [(name, "strong") for name in head.names]
            names.append((" · ".join(filter(None, ("B − A", head.alike))), "dim"))
            first: Column[int] = Column(
                title=head.shared, cell=lambda at: names[at], width=20, widest=200, text=True, shorten=shortened
            )
            self._columns = Columns((first, *(one.column() for one in head.figures)), range(3))
        self.rows_changed()

    def row_count(self) -> int:
        return self._height

    def selectable(self, index: int) -> bool:
        return False

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if self.head is None:
            return [(f" {self._sentence}", "dim")] if not index else []
        width -= 4
        if index == 0:
            return [("   ", ""), *self._columns.heading(width)]
        if index < 4:
            return [_SIGNS[index - 1], *self._columns.cells(index - 1, width)]
        return [(fit(f"   {self.head.note}", width), "")]
