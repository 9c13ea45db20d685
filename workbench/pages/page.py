"""A page without any markup: headings, text, tables and figures, before a format decides how they look.

The renderers (:mod:`.markdown`, :mod:`.html`, :mod:`.latex` and, on a terminal, :mod:`workbench.commands.terminal`) escape every
text; whoever builds a page passes texts from outside unchanged. A format leaves out what it cannot show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from workbench.pages.excerpts import Excerpt, Excerpts
    from workbench.rubric.scorecard import Scorecard
    from workbench.statistics.histogram import Bin

T = TypeVar("T")
_MARK = re.compile(r"`([^`]+)`|\[([^]]+)\]\(([^)\s]+)\)")


class MarkedText(str):
    """A text of the program's own in which `` `code` `` and ``[text](URL)`` keep their meaning; never for a text from outside.

    As a string it has no link targets; ``pieces`` are its texts, each with its kind: "", "code" or the URL of a link.
    """

    pieces: tuple[tuple[str, str], ...]

    def __new__(cls, source: str) -> MarkedText:
        pieces, end = [], 0
        for found in _MARK.finditer(source):
            pieces += [(source[end : found.start()], ""), (found[1], "code") if found[1] else (found[2], found[3])]
            end = found.end()
        pieces = [one for one in (*pieces, (source[end:], "")) if one[0]]
        made = super().__new__(cls, "".join(f"`{text}`" if kind == "code" else text for text, kind in pieces))
        made.pieces = tuple(pieces)
        return made

    def joined(self, text: Callable[[str], str], code: Callable[[str], str], link: str) -> str:
        """Return the pieces as ``text`` and ``code`` write them, links in a format with text and URL; blanks between them stay."""
        found = []
        for words, kind in self.pieces:
            made = code(words) if kind == "code" else link.format(text(words), kind) if kind else text(words)
            found.append(f"{' ' * words.startswith(' ')}{made}{' ' * words.endswith(' ')}" if words.strip() else " ")
        return "".join(found)


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; ``kind`` names its style: ``plain``, ``problem``, ``advice``, ``remark``; "" is dimmed."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class BulletList:
    """Sentences, each with a bullet."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactList:
    """Labels with their values; renderers leave out empty values."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NarrowForm:
    """What replaces a table that does not fit: shorter cells, and a ``legend`` with the full text of each number column."""

    caption: str
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[str, ...]
    closing: int = 0


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table; ``right`` are the places of number columns, the last ``closing`` rows (means, sums) stand below a line.

    ``links`` has the item that each row leads to ("" for none), ``anchor`` the prefix of its id on the page. A table with a
    ``caption`` stands by itself. Where room is short, a renderer takes the ``narrow`` form, drops the ``droppable`` columns in
    their order, or divides a table with a caption.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    links: tuple[str, ...] = ()
    anchor: str = ""
    caption: str = ""
    closing: int = 0
    narrow: NarrowForm | None = None
    droppable: tuple[str, ...] = ()

    def with_columns(self, kept: Sequence[int]) -> PageTable:
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
    narrow: NarrowForm | None = None,
) -> PageTable:
    """Return a table with a caption; all but its first ``texts`` columns are numbers."""
    heads = tuple(headings)
    right = frozenset(range(texts, len(heads)))
    return PageTable(heads, tuple(map(tuple, rows)), right, caption=caption, closing=closing, narrow=narrow)


def grid_of(caption: str, items: Iterable[T], columns: Mapping[str, Callable[[T], str]], texts: int = 1) -> PageTable:
    return grid(caption, columns, ([value(item) for value in columns.values()] for item in items), texts)


def table_of(
    items: Iterable[T],
    columns: Mapping[str, Callable[[T], str]],
    right: Container[str] = (),
    optional: Container[str] = (),
    droppable: tuple[str, ...] = (),
) -> PageTable:
    """Return a table with a row for each item; ``right`` are numbers, ``optional`` columns are left out where all is empty."""
    rows = tuple(tuple(value(item) for value in columns.values()) for item in items)
    numbers = frozenset(place for place, name in enumerate(columns) if name in right)
    kept = [place for place, name in enumerate(columns) if name not in optional or any(row[place] for row in rows)]
    return PageTable(tuple(columns), rows, numbers, droppable=droppable).with_columns(kept)


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A value of a matrix: its ``share`` of the colour from 0 to 1 (None for none), its text, and a tooltip.

    A ``tone`` (good, warn, bad) replaces the share where a page has such colours.
    """

    share: float | None
    text: str
    hint: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """A heat map with its numbers; ``description`` describes it for readers who cannot see it."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a forest plot: a value with the bounds of its interval (None for none), and both as ``text``."""

    label: str
    value: float
    low: float | None
    high: float | None
    text: str

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Forest:
    """A forest plot of differences around 0; a ``folded`` one is closed at first."""

    caption: str
    bars: tuple[Bar, ...]
    axis: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of columns, each with its height from 0 to 1 and its tone; None is a gap."""

    label: str
    columns: tuple[tuple[float, str] | None, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Strips:
    """Rows of the same columns; ``lines`` are heights that are marked in each row."""

    caption: str
    rows: tuple[Strip, ...]
    lines: tuple[float, ...]
    description: str


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """A histogram's bins with their tones ("" for none), the mean of all values, and a text beside them."""

    label: str
    bins: tuple[tuple[Bin, str], ...]
    mean: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Histograms:
    """Histograms on one axis from ``low`` to ``high``; the highest bar of each row has its full height."""

    caption: str
    rows: tuple[HistogramRow, ...]
    axis: str
    low: float
    high: float
    noun: str
    description: str


@dataclass(frozen=True, slots=True)
class Subheading:
    """A heading within a section; ``small`` is set in smaller type, ``anchor`` is the id of the section it links to."""

    title: str
    small: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Preformatted:
    """A text that is shown verbatim; lines of ``prose`` may be wrapped."""

    text: str
    title: str = ""
    small: str = ""
    prose: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class TextChanges:
    """The difference between two texts with these names; its lines are charged to the allowance of ``excerpts``."""

    title: str
    before: Excerpt
    after: Excerpt
    names: tuple[str, str]
    excerpts: Excerpts


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts behind a summary, which is a line of a list where it has ``cells``; ``kind`` is the CSS class."""

    title: str
    parts: tuple[Part, ...]
    small: str = ""
    kind: str = ""
    unfolded: bool = False
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A score with its scorecard, None where that cannot be read."""

    rubric: str
    judge: str
    points: str
    scorecard: Scorecard | None
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class Readme:
    """A README beside its scores; ``changed`` is its difference from the README it was made from, if that is known."""

    text: Excerpt | None
    changed: tuple[Part, ...]
    scores: tuple[Part, ...]


Figure = Heat | Forest | Strips | Histograms
Part = (
    Note | BulletList | FactList | PageTable | Figure | Subheading | Preformatted | TextChanges | Folded | Card | Readme
)


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading; an ``item`` is one of many of a kind. Without an ``anchor`` its id is made of the title."""

    title: str
    parts: Iterable[Part]
    small: str = ""
    anchor: str = ""
    item: bool = False


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A title, the parts before the first heading, and sections; ``over`` and ``foot`` name the program and its source.

    ``items`` are sections that are built one by one, so that the long texts of one are gone when the next is built; ``index``
    lists them, and ``noun`` is what a reader searches for among them.
    """

    title: str
    lead: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()
    over: str = ""
    foot: str = ""
    items: Iterable[Section] = ()
    index: tuple[Subheading, ...] = ()
    noun: str = ""

    @property
    def is_short(self) -> bool:
        """Whether the index is open and all steps and bodies are printed; of a longer page only what the reader opened."""
        return len(self.index) <= 12
