"""A page of tables, figures and sentences, without any markup: what a study says, before a format says how it looks.

The renderers (:mod:`page_markdown`, :mod:`page_html`, :mod:`page_latex`) escape every text in it; whoever makes a page passes
texts from outside as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph."""

    text: str


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
    """How a table is written where there is little room: shorter cells, and in ``legend`` all of each column of numbers.

    Attributes:
        caption: What it shows then.
        rows: Its cells, as many in each as there are headings.
        legend: Of each column of numbers what it is called, with what the cells leave out.
        closing: As of the table.
    """

    caption: str
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[str, ...]
    closing: int = 0


@dataclass(frozen=True, slots=True)
class Grid:
    """A table.

    Attributes:
        caption: What it shows, for formats in which tables float.
        headings: Of its columns.
        rows: Its cells, as many in each as there are headings.
        texts: Columns with words; all others are numbers and stand to the right.
        closing: So many of the last rows are about those before (a mean), apart from them by a line.
        brief: How it is written on a narrow terminal, None for as it is.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset({0})
    closing: int = 0
    brief: Brief | None = None


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
    """A matrix as colours with their numbers; ``rows`` are named rows of cells, one for each heading.

    ``said`` is what it shows in words, for whoever does not see it.
    """

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


@dataclass(frozen=True, slots=True)
class Forest:
    """A forest plot: differences around 0; ``folded`` ones are opened by whoever wants to see them."""

    caption: str
    bars: tuple[Bar, ...]
    axis: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines in which two texts differ, each with its sign: ``-`` is the first one's, ``+`` the other's."""

    lines: tuple[tuple[str, str], ...]


Part = Note | Points | Facts | Grid | Heat | Forest | Diff


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, what stands before the first heading, its sections, and by whom it was written from what."""

    title: str
    lead: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()
    over: str = ""
    foot: str = field(default="")
