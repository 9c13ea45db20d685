"""What a comparison shows, whatever is compared: a head with figures of A and B, tables of differences, and pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from workbench.errors import UsageError
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison.texts import TextPair
    from workbench.session.reader import SessionReader

Row = TypeVar("Row")
Side = TypeVar("Side")
Cell = str | tuple[str, str]
"""A text, or a text with the name of its style."""
MOST_KS = 3
"""So many k of pass@k are compared, the smallest ones."""
NOTHING = "–"
SAME, ONLY_A, ONLY_B, CHANGED = ("=", "dim"), ("A", "only-a"), ("B", "only-b"), ("~", "strong")
"""The sign before a row, with its style: on both sides, only on one, on both but not the same."""
MORE, LESS = ("▲", "good"), ("▼", "poor")
"""The sign of what B has more, or less, of than A."""


def difference(left: float | None, right: float | None) -> float | None:
    """Return ``right`` minus ``left`` without the binary tail (0.1, not 0.09999999999999964), None unless both are known."""
    return None if left is None or right is None else round(right - left, 6) + 0.0


def figure(value: float | None, digits: int) -> str:
    """Return a figure with so many decimals, ``0`` for none, a dash for one that is not known."""
    return NOTHING if value is None else f"{value:,.{digits}f}" if value else "0"


def change(value: float | None, digits: int) -> str:
    """Return a difference with its sign: ``+3.5``, ``−16.0``, ``0`` for none, "" where it is not known."""
    if value is None:
        return ""
    shown = f"{abs(value):,.{digits}f}"
    return "0" if not float(shown.replace(",", "")) else f"{'+' if value > 0 else '−'}{shown}"


def change_cell(value: float | None, digits: int, unknown: str = NOTHING, none: str = "dim") -> tuple[str, str]:
    """Return a difference in the style of points that B won or lost."""
    return change(value, digits) or unknown, none if not value else "good" if value > 0 else "poor"


def interval_words(bounds: tuple[float | None, float | None], digits: int) -> str:
    low, high = bounds
    return "" if low is None or high is None else f"[{change(low, digits)}, {change(high, digits)}]"


def sided(left: object, right: object) -> tuple[str, str] | None:
    """Return the sign of a row that only one side has, None where both have it."""
    return ONLY_A if right is None else ONLY_B if left is None else None


def signed(value: float | None) -> tuple[str, str]:
    """Return the sign of a difference; ``?`` where it is not known."""
    if value is None:
        return "?", "dim"
    return MORE if value > 0 else LESS if value < 0 else SAME


@dataclass(frozen=True, slots=True)
class Pair(Generic[Side]):
    """What both sides have of one thing, None for nothing."""

    left: Side | None
    right: Side | None

    @property
    def both(self) -> bool:
        return self.left is not None and self.right is not None

    @property
    def either(self) -> Side:
        found = self.right if self.left is None else self.left
        assert found is not None
        return found


def joined(left: Mapping[Any, Side], right: Mapping[Any, Side]) -> list[tuple[Any, Side | None, Side | None]]:
    """Return each key with what both have of it, in the order of the left side; what only the right one has follows."""
    return [(key, left.get(key), right.get(key)) for key in {**left, **right}]


def in_each(pairs: Iterable[Pair[Any]]) -> tuple[int, int, int]:
    """Return how many pairs both sides have, only the left one, and only the right one."""
    found = [sided(pair.left, pair.right) for pair in pairs]
    return found.count(None), found.count(ONLY_A), found.count(ONLY_B)


# -- the head

Names = tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A column of the head: what it is of A, of B and of B − A; ``brief`` is the same in fewer cells, ``style`` that of A and B."""

    title: str
    of: tuple[Cell, Cell, Cell]
    width: int
    priority: int = 0
    brief: tuple[str, str, str] | None = None
    widest: int = 0
    text: bool = False
    style: str = ""


def counted(title: str, left: int, right: int) -> Figure:
    return Figure(title, (f"{left:,}", f"{right:,}", change(float(right - left), 0)), max(6, len(title)))


def plain(title: str, left: int, right: int, width: int, priority: int = 0) -> Figure:
    """Return counts of which the difference says nothing."""
    return Figure(title, (f"{left:,}", f"{right:,}", ""), width, priority)


@dataclass(frozen=True, slots=True)
class Effort:
    """What both took or got, None where it is not known; ``comparable`` is False for points out of different sums."""

    name: str
    left: float | None
    right: float | None
    comparable: bool = True

    @property
    def difference(self) -> float | None:
        return difference(self.left, self.right) if self.comparable else None

    def figure(self, title: str, width: int, digits: int, priority: int) -> Figure:
        of = figure(self.left, digits), figure(self.right, digits), change(self.difference, digits)
        return Figure(title, of, width, priority)


def efforts_json(efforts: Iterable[Effort]) -> dict[str, Any]:
    return {one.name: {"a": one.left, "b": one.right, "difference": one.difference} for one in efforts}


def pair_json(pair: Pair[Side], of: Callable[[Side], Any]) -> dict[str, Any]:
    """Return what a pair has of each side, None for nothing."""
    left, right = pair.left, pair.right
    return {"a": None if left is None else of(left), "b": None if right is None else of(right)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands over the panes.

    Attributes:
        names: What A and B are called, and the same with all that identifies them, for a page.
        shared: What both have in common.
        alike: What is to be said of the differences.
        note: What else, in a line of its own.
        status: By whose points they are compared.
    """

    names: Names
    figures: Sequence[Figure]
    shared: str = ""
    alike: str = ""
    note: str = ""
    status: str = ""


def names_apart(left: Sequence[str], right: Sequence[str], always: int, whole: int) -> Names:
    """Return the names of both for a :class:`Head`: the first parts, and of the others those that differ; ``whole`` parts identify one."""
    told = [
        one_line(" · ".join(part for at, part in enumerate(mine) if at < always or part != theirs[at]), 200)
        for mine, theirs in ((left, right), (right, left))
    ]
    a, b = (one_line(" · ".join(parts[:whole]), 300) for parts in (left, right))
    return (told[0], told[1]), (a, b)


# -- the panes


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table, laid out as :class:`workbench.app.toolkit.columns.Column` says; where it is ``cut``, at the end or middle.

    ``page`` is its title on a page where that is another one; "-" for a column that only the screen has, "+" before one
    that only a page has.
    """

    title: str
    cell: Callable[[Row], Cell]
    width: int = 8
    widest: int = 0
    text: bool = False
    priority: int = 0
    cut: str = "end"
    page: str = ""


def texts(title: str, cell: Callable[[Row], Cell], width: int = 8, widest: int = 300, **more: Any) -> Column[Row]:
    return Column(title, cell, width, widest, text=True, **{"cut": "middle", **more})


def changes(ks: Sequence[int], read: Callable[[Row], Sequence[float | None]]) -> list[Column[Row]]:
    """Return a column for the difference of each pass@k."""

    def cell(at: int) -> Callable[[Row], Cell]:
        return lambda row: change_cell(read(row)[at], 2)

    return [Column(f"@{k}", cell(at), 6, priority=2 * at, page=f"@{k} B − A") for at, k in enumerate(ks)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[Row]):
    """A row for each difference, and for what is the same.

    Attributes:
        said: What its title says beside the name.
        nothing: What to say where there is no row.
        by_stretch: Whether adjoining differences are one.
        below: What is said below the list of the row under the cursor: texts, each with its share of the lines.
        page: The rows of a page: ``all``, ``differences``, or "" for none but what the title says.
    """

    said: str = ""
    rows: Sequence[Row]
    columns: Sequence[Column[Row]]
    sign: Callable[[Row], tuple[str, str]]
    nothing: str
    heading: Callable[[Row], bool] = lambda row: False
    by_stretch: bool = False
    below: Callable[[Row], Sequence[tuple[str, int]]] | None = None
    page: str = "differences"


@dataclass(frozen=True, slots=True)
class Texts:
    """Two texts side by side, or with ``under`` the one and what stands in its place; ``page`` is whether a page has their differences.

    An ``optional`` pane takes no room where both are the same, unless it was asked for.
    """

    pair: TextPair
    said: str
    under: bool = False
    page: bool = True
    optional: bool = False


Pane = Table[Any] | Texts


@dataclass(frozen=True, slots=True)
class Lead:
    """Where a row leads: to an item of A or of B, there to a step or sample; ``item`` is the task of a sample."""

    kind: str
    key: str
    of_b: bool = False
    run: str = ""
    number: int | None = None
    item: str = ""
    evaluator: str = ""


Leads = tuple[Lead, ...]
"""One to go to, or one of each side to show side by side."""
Named = tuple["SessionReader", Any]
"""A side as it was asked for: its session, and its key there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two things and how they differ; every difference is right minus left.

    Attributes:
        left: A, as its kind has read it.
        right: B.
        head: What stands over the panes, for so many cells.
        panes: What the panes show, by their ids; those that are about a row of the first one come from ``detail``.
        leads: Where one goes from a pane, by the rows under the cursors of all panes.
        scale: By whose points A has its points.
        values: What it says as JSON.
        notes: Sentences that only a page has.
        of: Of how many pairs this is one.
        detail: What other panes show of a row of the first one, read from both sessions.
        choose: The samples to which such a row leads, likewise; raises UsageError where there are none.
    """

    left: Any
    right: Any
    head: Callable[[int], Head]
    panes: Mapping[str, Pane]
    leads: Callable[[str, Mapping[str, Any]], Leads]
    values: Callable[[], dict[str, Any]]
    scale: tuple[str, str] = ("", "")
    notes: Callable[[], Sequence[str]] = tuple
    of: int = 1
    detail: Callable[[SessionReader, SessionReader, Any], Mapping[str, Pane]] | None = None
    choose: Callable[[SessionReader, SessionReader, Any], Leads] | None = None

    def to_json(self) -> dict[str, Any]:
        return self.values()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of comparison.

    Attributes:
        name: What two of it are called in JSON.
        what: What is compared: ``two tasks``.
        titles: Its panes by their ids.
        read: Reads two and compares them, by a rubric and judge or the pair of that number; raises UsageError where it cannot.
        head_lines: Lines of the head.
    """

    name: str
    what: str
    titles: Mapping[str, str]
    read: Callable[..., Comparison]
    head_lines: int = 4


def both(left: Named, right: Named, read: Callable[..., Side | None], noun: str) -> tuple[Side, Side]:
    """Read both sides.

    Raises:
        UsageError: One is not in its session.
    """
    sides = []
    for name, (reader, key) in (("A", left), ("B", right)):
        side = read(reader, key)
        if side is None:
            raise UsageError(f"{noun} {name} is not in {one_line(reader.path.name, 80)}.")
        sides.append(side)
    return sides[0], sides[1]
