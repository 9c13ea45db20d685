"""A page without any markup: headings, text, tables and figures, before a format determines their appearance.

The renderers (:mod:`.markdown`, :mod:`.html`, :mod:`.latex` and, on a terminal, :mod:`workbench.commands.terminal`)
escape all text, so code that builds a page passes external text unchanged. A format leaves out parts that it cannot
show.
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
    """The program's own text, in which `` `code` `` and ``[text](URL)`` are markup; never use it for external text.

    As a string, it has no link targets. ``pieces`` has its parts, each with its kind: "", "code" or the URL of a link.
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
        """Return the pieces in one string, formatted by ``text`` and ``code``; spaces between pieces are preserved.

        ``link`` is the format of links, with the text and the URL.
        """
        found = []
        for words, kind in self.pieces:
            made = code(words) if kind == "code" else link.format(text(words), kind) if kind else text(words)
            found.append(f"{' ' * words.startswith(' ')}{made}{' ' * words.endswith(' ')}" if words.strip() else " ")
        return "".join(found)


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; ``kind`` is its style: ``plain``, ``problem``, ``advice``, ``remark``, or "" for dimmed text."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class BulletList:
    """Sentences with bullets."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactList:
    """Labels with values; renderers leave out those with empty values."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NarrowForm:
    """The form of a table that is used if the table does not fit.

    It has shorter cells, and a ``legend`` with the full text of each number column.
    """

    caption: str
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[str, ...]
    closing: int = 0


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table; ``right`` contains the indices of number columns.

    The last ``closing`` rows (means, sums) are below a line. ``links`` has the item that each row links to ("" for
    none), and ``anchor`` the prefix of that item's id on the page. A table with a ``caption`` can be understood without
    the surrounding text. If there is not enough room, a renderer uses the ``narrow`` form, drops the ``droppable``
    columns in their order, or divides a table that has a caption.
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
    """Return a table with a caption; all columns after the first ``texts`` are numbers."""
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
    """Return a table with a row for each item.

    The columns in ``right`` are numbers; those in ``optional`` are left out if all of their cells are empty.
    """
    rows = tuple(tuple(value(item) for value in columns.values()) for item in items)
    numbers = frozenset(place for place, name in enumerate(columns) if name in right)
    kept = [place for place, name in enumerate(columns) if name not in optional or any(row[place] for row in rows)]
    return PageTable(tuple(columns), rows, numbers, droppable=droppable).with_columns(kept)


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A value of a matrix: the strength of its colour (``share``, 0 to 1, None for none), its text, and a tooltip.

    A ``tone`` (good, warn, bad) replaces the share on pages that have such colours.
    """

    share: float | None
    text: str
    hint: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """A heat map with its numbers; ``description`` is for readers who cannot see it."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a forest plot: a value, the bounds of its interval (None for none), and both as ``text``."""

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
    """A forest plot of differences around 0; a ``folded`` one is initially closed."""

    caption: str
    bars: tuple[Bar, ...]
    axis: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of columns, each with a height from 0 to 1 and a tone; None is a gap."""

    label: str
    columns: tuple[tuple[float, str] | None, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Strips:
    """Rows with the same columns; ``lines`` contains the heights to mark in each row."""

    caption: str
    rows: tuple[Strip, ...]
    lines: tuple[float, ...]
    description: str


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """The bins of a histogram with their tones ("" for none), the mean of all values, and a text beside the bins."""

    label: str
    bins: tuple[tuple[Bin, str], ...]
    mean: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Histograms:
    """Histograms on one axis from ``low`` to ``high``; the highest bar of each row uses the full height of the row."""

    caption: str
    rows: tuple[HistogramRow, ...]
    axis: str
    low: float
    high: float
    noun: str
    description: str


@dataclass(frozen=True, slots=True)
class Subheading:
    """A heading within a section; ``small`` is in smaller type, ``anchor`` is the id of the section it links to."""

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
    """The difference between two texts with these names.

    Its length is subtracted from the allowance of ``excerpts``.
    """

    title: str
    before: Excerpt
    after: Excerpt
    names: tuple[str, str]
    excerpts: Excerpts


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts behind a summary; if it has ``cells``, the summary is a row of a list. ``kind`` is the CSS class."""

    title: str
    parts: tuple[Part, ...]
    small: str = ""
    kind: str = ""
    unfolded: bool = False
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A score with its scorecard, which is None if it cannot be read."""

    rubric: str
    judge: str
    points: str
    scorecard: Scorecard | None
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class Readme:
    """A README beside its scores; ``changed`` is the difference from the README that it was based on, if known."""

    text: Excerpt | None
    changed: tuple[Part, ...]
    scores: tuple[Part, ...]


Figure = Heat | Forest | Strips | Histograms
Part = (
    Note | BulletList | FactList | PageTable | Figure | Subheading | Preformatted | TextChanges | Folded | Card | Readme
)


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading; an ``item`` is one of many of its kind. The default id is derived from the title."""

    title: str
    parts: Iterable[Part]
    small: str = ""
    anchor: str = ""
    item: bool = False


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A title, the parts before the first heading, and sections.

    ``over`` and ``foot`` state the program and the source.

    ``items`` are sections that are built one at a time, so that the long texts of one are freed before the next is
    built. ``index`` lists them, and ``noun`` is the kind of item that a reader can search for.
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
        """Whether the page is short enough to open the index and print all steps and bodies.

        Of a longer page, only the parts that the reader has opened are printed.
        """
        return len(self.index) <= 12
