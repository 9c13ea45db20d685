"""The model of every kind of comparison: figures of A and B, tables of differences, and pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from workbench.base.errors import UsageError
from workbench.base.text import NOTHING, bounds, one_line, signed
from workbench.comparison.texts import Texts
from workbench.statistics.paired import WinTally, difference

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow

Row = TypeVar("Row")
Side = TypeVar("Side")
Cell = str | tuple[str, str]  # a text, or a text and the name of its style
MOST_KS = 3  # the maximum number of values of k to compare, smallest first
SAME, ONLY_A, ONLY_B, CHANGED = ("=", "dim"), ("A", "only-a"), ("B", "only-b"), ("~", "strong")
"""The sign and style of a row: equal, only in A, only in B, or different."""
MORE, LESS, UNKNOWN = ("▲", "good"), ("▼", "poor"), ("?", "dim")
"""The sign and style of a row if B is higher or lower than A, or if the difference is unknown."""


def figure(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}" if value else "0"


def points(value: float | None, out_of: float) -> str:
    """Return a text such as ``79.0``, or ``58.0/70`` if unscored tiers reduce the maximum."""
    return figure(value, 1) + (f"/{out_of:.0f}" if value is not None and out_of != 100 else "")


def change(value: float | None, digits: int) -> str:
    """Return a difference with its sign, ``0`` if there is none, or "" if it is unknown."""
    shown = signed(value, digits)
    return "" if value is None else shown if shown[0] in "+−" else "0"


def change_cell(value: float | None, digits: int, unknown: str = NOTHING, none: str = "dim") -> tuple[str, str]:
    return change(value, digits) or unknown, none if not value else "good" if value > 0 else "poor"


def interval_words(of: tuple[float | None, float | None], digits: int) -> str:
    return bounds(*of, digits, change)


def wins(count: WinTally) -> str:
    return f"B wins {count.wins:,}, ties {count.ties:,}, loses {count.losses:,}"


@dataclass(frozen=True, slots=True)
class PairedRow(Generic[Side]):
    """A row with the values of both sides, each None if the side has none.

    ``gaps`` has the differences, None for unknown ones; ``same`` says whether the sides are equal if no gap is known.
    """

    left: Side | None
    right: Side | None
    name: str = ""
    gaps: tuple[float | None, ...] = ()
    same: bool = False
    heading: bool = False

    @property
    def both(self) -> bool:
        return self.left is not None and self.right is not None

    @property
    def either(self) -> Side:
        found = self.right if self.left is None else self.left
        assert found is not None
        return found

    @property
    def gap(self) -> float | None:
        """The first nonzero difference, or else the first known one."""
        known = [one for one in self.gaps if one is not None]
        return next(filter(None, known), known[0] if known else None)

    @property
    def sign(self) -> tuple[str, str]:
        if not self.both:
            return ONLY_A if self.right is None else ONLY_B
        if (gap := self.gap) is None:
            return SAME if self.same else UNKNOWN if self.gaps else CHANGED
        return MORE if gap > 0 else LESS if gap < 0 else SAME

    @property
    def order(self) -> tuple[Any, ...]:
        """Return the sort key: largest differences first, losses of B before gains.

        Then rows only in A, then only in B.
        """
        alone, gap = 0 if self.both else 1 if self.right is None else 2, self.gap
        return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0

    def to_json(self, of: Callable[[Side], Any]) -> dict[str, Any]:
        return {name: None if side is None else of(side) for name, side in (("a", self.left), ("b", self.right))}


def joined(left: Mapping[Any, Side], right: Mapping[Any, Side]) -> list[tuple[Any, Side | None, Side | None]]:
    """Return the outer join: each key with both values, in the order of A, followed by keys that only B has."""
    return [(key, left.get(key), right.get(key)) for key in {**left, **right}]


def in_each(pairs: Sequence[PairedRow[Any]]) -> tuple[int, int, int]:
    only_a, only_b = (sum(getattr(one, side) is None for one in pairs) for side in ("right", "left"))
    return len(pairs) - only_a - only_b, only_a, only_b


def in_each_words(pairs: Sequence[PairedRow[Any]]) -> str:
    both, only_a, only_b = in_each(pairs)
    return f"{both:,} in both · only A {only_a:,} · only B {only_b:,}"


def differing_words(pairs: Sequence[PairedRow[Any]]) -> str:
    return f"{sum(one.sign != SAME for one in pairs):,} of {len(pairs):,} differ"


@dataclass(frozen=True, slots=True)
class PaneColumn(Generic[Row]):
    """A column with the same fields as :class:`workbench.app.toolkit.columns.Column`.

    ``cut`` is the part of a long text that is cut off: end, middle or start. ``page`` says whether pages include the
    column.
    """

    title: str
    cell: Callable[[Row], Cell]
    width: int = 8
    widest: int = 0
    text: bool = False
    priority: int = 0
    cut: str = "end"
    page: bool = True


def texts(title: str, cell: Callable[[Row], Cell], width: int = 8, widest: int = 300, **more: Any) -> PaneColumn[Row]:
    return PaneColumn(title, cell, width, widest, text=True, **{"cut": "middle", **more})


def sided(
    title: str, cell: Callable[[Any], Cell], width: int = 8, widest: int = 0, **more: Any
) -> Iterator[PaneColumn[Any]]:
    """Yield a column for each side; ``{}`` in the title is replaced by A or B."""
    yield PaneColumn(title.format("A"), lambda row: cell(row.left), width, widest, **more)
    yield PaneColumn(title.format("B"), lambda row: cell(row.right), width, widest, **more)


def gap_column(title: str, at: int, width: int, digits: int, priority: int = 0) -> PaneColumn[Any]:
    return PaneColumn(title, lambda row: change_cell(row.gaps[at], digits), width, priority=priority)


def head_column(title: str, of: Sequence[Cell], width: int, priority: int = 0, style: str = "", **more: Any) -> PaneColumn[int]:  # fmt: skip
    cells = [(one, style if at < 2 else "strong") if isinstance(one, str) else one for at, one in enumerate(of)]
    return PaneColumn(title, cells.__getitem__, width, priority=priority, **more)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount on both sides, None if unknown. The difference is only defined if the amount is ``comparable``."""

    title: str
    left: float | None
    right: float | None
    width: int
    digits: int = 0
    priority: int = 0
    comparable: bool = True

    @property
    def difference(self) -> float | None:
        return difference(self.left, self.right) if self.comparable else None

    @property
    def column(self) -> PaneColumn[int]:
        of = figure(self.left, self.digits), figure(self.right, self.digits), change(self.difference, self.digits)
        return head_column(self.title, of, self.width, self.priority)

    def to_json(self) -> dict[str, float | None]:
        return {"a": self.left, "b": self.right, "difference": self.difference}


Names = tuple[tuple[str, ...], tuple[str, ...]]  # short names of A and B, and full names that identify them, for a page


def names_apart(left: Sequence[str], right: Sequence[str], always: int, whole: int) -> Names:
    """Return short and full names of both sides.

    A short name has the first ``always`` parts and the further parts that differ. A full name has the first ``whole``
    parts, which identify a side.
    """
    short, long = [], []
    for mine, theirs in ((left, right), (right, left)):
        apart = (part for at, part in enumerate(mine) if part and (at < always or part != theirs[at]))
        long.append(one_line(" · ".join(filter(None, mine[:whole])), 300))
        short.append(one_line(" · ".join(apart), 200) or long[-1])
    return tuple(short), tuple(long)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneTable(Generic[Row]):
    """A table of equal and different rows.

    ``page`` says which rows a page includes: ``all``, the ``differences``, or none ("", only the summary). ``says``
    returns the message of one side of a row. ``number`` returns the step that a row links to; in such a table, adjacent
    differences count as one.
    """

    summary: str = ""
    rows: Sequence[PairedRow[Any]]
    columns: Sequence[PaneColumn[Row]]
    nothing: str
    says: Callable[[Any], str] | None = None
    number: Callable[[Row], int] | None = None
    page: str = "differences"


Pane = PaneTable[Any] | Texts


@dataclass(frozen=True, slots=True)
class Lead:
    """The target of a row's link: an item of A or B, and one of its steps or samples.

    ``item`` is the task of a sample.
    """

    kind: str
    key: str
    of_b: bool = False
    run: str = ""
    number: int | None = None
    item: str = ""
    evaluator: str = ""


Leads = tuple[Lead, ...]  # the item to open, or the item of each side to compare
Named = tuple["SessionReader", Any]  # the session of a side, and the key of the item in it


@dataclass(frozen=True, slots=True, kw_only=True)
class PairComparison:
    """Two items and their differences, always B − A.

    ``columns`` has the figures above the panes, in rows A, B and B − A; ``shared`` is shown beside A and B, ``alike``
    beside B − A. ``status`` names the judge, and ``scale`` the rubric and judge of A. ``notes`` are only shown on a
    page; ``of`` is the number of pairs. ``detail`` reads the other panes for a row of the first pane. Rows link to
    ``leads``, unless ``choose`` is set: it reads the targets of the rows under the cursors, and raises UsageError if
    there are none.
    """

    names: Names
    columns: Sequence[PaneColumn[int]]
    panes: Mapping[str, Pane]
    leads: Leads
    to_json: Callable[[], dict[str, Any]]
    shared: str = ""
    alike: str = ""
    note: str = ""
    status: str = ""
    scale: tuple[str, str] = ("", "")
    notes: Callable[[], Sequence[str]] = tuple
    of: int = 1
    detail: Callable[[SessionReader, SessionReader, Any], Mapping[str, Pane]] | None = None
    choose: Callable[[SessionReader, SessionReader, Mapping[str, Any]], Leads] | None = None


@dataclass(frozen=True, slots=True)
class ComparisonKind:
    """A kind of comparison: its name in JSON, the items it compares (``two tasks``), and the titles of its panes.

    ``read`` reads and compares two sides, by a rubric and judge or with the index of a pair. It raises UsageError if
    they cannot be compared.
    """

    name: str
    what: str
    titles: Sequence[str]
    read: Callable[..., PairComparison]


def check_same_kind(left: RunRow, right: RunRow) -> None:
    """Raise UsageError if one run measures docstrings and the other one pages."""
    if left.kind != right.kind:
        a, b = ("usage" if run.kind == "usage" else "regeneration" for run in (left, right))
        raise UsageError(f"A belongs to a {a} run, B to a {b} run, and these measure different things.")


def both(left: Named, right: Named, read: Callable[..., Side | None], noun: str) -> tuple[Side, Side]:
    """Read both sides. Raises UsageError if a side is not in its session."""
    sides = []
    for name, (reader, key) in (("A", left), ("B", right)):
        side = read(reader, key)
        if side is None:
            raise UsageError(f"{noun} {name} is not in {one_line(reader.path.name, 80)}.")
        sides.append(side)
    return sides[0], sides[1]
