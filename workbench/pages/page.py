"""A page without any markup: headings, text, tables, figures, before a format says how it looks.

Its renderers (:mod:`.markdown`, :mod:`.html`, :mod:`.latex`, and :mod:`workbench.commands.show` on a terminal) escape every
text in it; whoever makes a page passes texts from outside as they are. A format leaves out what it cannot show.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from workbench.pages.excerpts import Excerpt, Excerpts
    from workbench.rubric.scorecard import Scorecard
    from workbench.statistics.histogram import Bin

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; ``kind`` is "", or what it is apart from the others: ``said``, ``problem``, ``advice``, ``remark``."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Points:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values; empty values are left out by the renderers."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """How a table is written where there is little room: shorter cells, and in ``legend`` all of each column of numbers."""

    caption: str
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[str, ...]
    closing: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``right`` are the columns with numbers.

    ``links`` has the item that each row leads to ("" for none), ``anchor`` what stands before it in the page's ids. With a ``caption``
    it stands by itself, and its last ``closing`` rows (a mean) are about those before, apart from them by a line. ``brief`` is how it
    is written on a narrow terminal, None for as it is.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    links: tuple[str, ...] = ()
    anchor: str = ""
    caption: str = ""
    closing: int = 0
    brief: Brief | None = None

    def with_columns(self, kept: Sequence[int]) -> Table:
        return replace(
            self,
            headings=tuple(self.headings[place] for place in kept),
            rows=tuple(tuple(row[place] for place in kept) for row in self.rows),
            right=frozenset(new for new, place in enumerate(kept) if place in self.right),
        )


def grid(
    caption: str,
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    texts: int = 1,
    closing: int = 0,
    brief: Brief | None = None,
) -> Table:
    """Return a table with a caption; its first ``texts`` columns are words, the others numbers."""
    heads = tuple(headings)
    right = frozenset(range(texts, len(heads)))
    return Table(heads, tuple(map(tuple, rows)), right, caption=caption, closing=closing, brief=brief)


def grid_of(caption: str, items: Iterable[T], columns: Mapping[str, Callable[[T], str]], texts: int = 1) -> Table:
    return grid(caption, columns, ([value(item) for value in columns.values()] for item in items), texts)


def table_of(
    items: Iterable[T],
    columns: Mapping[str, Callable[[T], str]],
    right: Container[str] = (),
    optional: Container[str] = (),
) -> Table:
    """Return a table with a row for each item; ``right`` are numbers, ``optional`` columns are left out where all is empty."""
    rows = tuple(tuple(value(item) for value in columns.values()) for item in items)
    table = Table(tuple(columns), rows, frozenset(place for place, name in enumerate(columns) if name in right))
    kept = [place for place, name in enumerate(columns) if name not in optional or any(row[place] for row in rows)]
    return table.with_columns(kept)


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A value of a matrix: ``share`` of the colour from 0 to 1 (None: none), what is written in it, and more when pointed at.

    A ``tone`` (good, warn, bad) is a colour that says by itself how the value stands, where a page has such colours.
    """

    share: float | None
    text: str
    hint: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """A matrix as colours with their numbers; ``said`` is what it shows in words, for whoever does not see it."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    said: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a forest plot: a value with the bounds of its interval, None where it has none; ``text`` says it in numbers."""

    label: str
    value: float
    low: float | None
    high: float | None
    text: str

    @property
    def is_sure(self) -> bool:
        """Whether 0 is outside its interval."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Forest:
    """A forest plot: differences around 0; ``folded`` ones are opened by whoever wants to see them."""

    caption: str
    bars: tuple[Bar, ...]
    axis: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of columns: each as high as its share of 1, in the colour of its tone; None is a gap at the bottom line."""

    label: str
    columns: tuple[tuple[float, str] | None, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Strips:
    """Rows of the same columns; ``lines`` are shares that a line marks in each row."""

    caption: str
    rows: tuple[Strip, ...]
    lines: tuple[float, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Counted:
    """A row of bins with their tones ("" for none), the mean of all their values, and what stands beside them."""

    label: str
    bins: tuple[tuple[Bin, str], ...]
    mean: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Histograms:
    """Rows of the same bins on one axis from ``low`` to ``high``; each row's highest bar has its full height."""

    caption: str
    rows: tuple[Counted, ...]
    axis: str
    low: float
    high: float
    noun: str
    said: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section; ``small`` is what is less important in it, ``anchor`` the id of the section that it leads to."""

    title: str
    small: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that is shown as it is; ``prose`` has lines that may be broken."""

    text: str
    title: str = ""
    small: str = ""
    prose: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from one text to another of those names; its lines are charged to the allowance of ``excerpts``."""

    title: str
    before: Excerpt
    after: Excerpt
    names: tuple[str, str]
    excerpts: Excerpts


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts behind a summary; ``cells`` of it make it a line of a list. ``kind`` is how it looks in HTML."""

    title: str
    parts: tuple[Part, ...]
    small: str = ""
    kind: str = ""
    unfolded: bool = False
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A score: by which rubric and judge, the points, and its scorecard, None where that cannot be read."""

    rubric: str
    judge: str
    points: str
    scorecard: Scorecard | None
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class Readme:
    """A README, with its scores beside it; ``changed`` says what it was made from, where that is known."""

    text: Excerpt | None
    changed: tuple[Part, ...]
    scores: tuple[Part, ...]


Figure = Heat | Forest | Strips | Histograms
Part = Note | Points | Facts | Table | Figure | Heading | Literal | Changes | Folded | Card | Readme


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading; an ``item`` is one of many alike. ``anchor`` is its id, "" for one of its title."""

    title: str
    parts: Iterable[Part]
    small: str = ""
    anchor: str = ""
    item: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what stands before the first heading, its sections, and by whom it was written from what.

    ``items`` are sections that are made one by one, so that the long texts of one are gone when the next is made; ``index`` has a
    heading for each of them, and ``noun`` says what they are: what a reader searches for.
    """

    title: str
    lead: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()
    over: str = ""
    foot: str = ""
    items: Iterable[Section] = ()
    index: tuple[Heading, ...] = ()
    noun: str = ""

    @property
    def is_short(self) -> bool:
        """Whether its items are listed and, on paper, their steps and bodies printed; of more, what the reader opened."""
        return len(self.index) <= 12
