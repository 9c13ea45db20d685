"""What a comparison shows, whatever is compared: a head with figures of A and B, tables of differences, and pairs of texts."""

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

Row = TypeVar("Row")
Side = TypeVar("Side")
Cell = str | tuple[str, str]  # a text, or a text with the name of its style
MOST_KS = 3  # so many k of pass@k are compared, the smallest ones
SAME, ONLY_A, ONLY_B, CHANGED = ("=", "dim"), ("A", "only-a"), ("B", "only-b"), ("~", "strong")
"""The sign before a row, with its style: on both sides, only on one, on both but not the same."""
MORE, LESS, UNKNOWN = ("▲", "good"), ("▼", "poor"), ("?", "dim")
"""The sign of what B has more, or less, of than A, and of a difference that is not known."""


def figure(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}" if value else "0"


def points(value: float | None, out_of: float) -> str:
    """Return ``79.0``, or ``58.0/70``: points of a card with unscored tiers are out of less than 100."""
    return figure(value, 1) + (f"/{out_of:.0f}" if value is not None and out_of != 100 else "")


def change(value: float | None, digits: int) -> str:
    """Return a difference with its sign, ``0`` for none, "" where it is not known."""
    shown = signed(value, digits)
    return "" if value is None else shown if shown[0] in "+−" else "0"


def change_cell(value: float | None, digits: int, unknown: str = NOTHING, none: str = "dim") -> tuple[str, str]:
    return change(value, digits) or unknown, none if not value else "good" if value > 0 else "poor"


def interval_words(of: tuple[float | None, float | None], digits: int) -> str:
    return bounds(*of, digits, change)


def wins(count: WinTally) -> str:
    return f"B wins {count.wins:,}, ties {count.ties:,}, loses {count.losses:,}"


@dataclass(frozen=True, slots=True)
class Pair(Generic[Side]):
    """A row: what both sides have of one thing, None for nothing.

    ``gaps`` are its differences, None where one is not known; ``same`` says whether both are alike where no gap does. A ``heading``
    stands over other rows.
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
        """The first difference that is not zero, else the first that is known."""
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
        """The largest differences first, B's losses before its wins; then what only A has, then what only B has."""
        alone, gap = 0 if self.both else 1 if self.right is None else 2, self.gap
        return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0

    def to_json(self, of: Callable[[Side], Any]) -> dict[str, Any]:
        return {name: None if side is None else of(side) for name, side in (("a", self.left), ("b", self.right))}


def joined(left: Mapping[Any, Side], right: Mapping[Any, Side]) -> list[tuple[Any, Side | None, Side | None]]:
    """Return each key with what both have of it, in the order of A; what only B has follows."""
    return [(key, left.get(key), right.get(key)) for key in {**left, **right}]


def in_each(pairs: Sequence[Pair[Any]]) -> tuple[int, int, int]:
    only_a, only_b = (sum(getattr(one, side) is None for one in pairs) for side in ("right", "left"))
    return len(pairs) - only_a - only_b, only_a, only_b


def in_each_words(pairs: Sequence[Pair[Any]]) -> str:
    both, only_a, only_b = in_each(pairs)
    return f"{both:,} in both · only A {only_a:,} · only B {only_b:,}"


def differing_words(pairs: Sequence[Pair[Any]]) -> str:
    return f"{sum(one.sign != SAME for one in pairs):,} of {len(pairs):,} differ"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column as :class:`workbench.app.toolkit.columns.Column` is one; of a text its end, middle or start is ``cut``; ``page`` is whether a page has it."""

    title: str
    cell: Callable[[Row], Cell]
    width: int = 8
    widest: int = 0
    text: bool = False
    priority: int = 0
    cut: str = "end"
    page: bool = True


def texts(title: str, cell: Callable[[Row], Cell], width: int = 8, widest: int = 300, **more: Any) -> Column[Row]:
    return Column(title, cell, width, widest, text=True, **{"cut": "middle", **more})


def sided(
    title: str, cell: Callable[[Any], Cell], width: int = 8, widest: int = 0, **more: Any
) -> Iterator[Column[Any]]:
    """Yield the columns of what A and what B has; ``{}`` in the title is which."""
    yield Column(title.format("A"), lambda row: cell(row.left), width, widest, **more)
    yield Column(title.format("B"), lambda row: cell(row.right), width, widest, **more)


def gap_column(title: str, at: int, width: int, digits: int, priority: int = 0) -> Column[Any]:
    return Column(title, lambda row: change_cell(row.gaps[at], digits), width, priority=priority)


def head_column(title: str, of: Sequence[Cell], width: int, priority: int = 0, style: str = "", **more: Any) -> Column[int]:  # fmt: skip
    cells = [(one, style if at < 2 else "strong") if isinstance(one, str) else one for at, one in enumerate(of)]
    return Column(title, cells.__getitem__, width, priority=priority, **more)


@dataclass(frozen=True, slots=True)
class Amount:
    """What both took or have, None where it is not known; the difference of what is not ``comparable`` says nothing."""

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
    def column(self) -> Column[int]:
        of = figure(self.left, self.digits), figure(self.right, self.digits), change(self.difference, self.digits)
        return head_column(self.title, of, self.width, self.priority)

    def to_json(self) -> dict[str, float | None]:
        return {"a": self.left, "b": self.right, "difference": self.difference}


Names = tuple[
    tuple[str, ...], tuple[str, ...]
]  # what A and B are called, and with all that identifies them, for a page


def names_apart(left: Sequence[str], right: Sequence[str], always: int, whole: int) -> Names:
    """Name both by the first parts, and of the others by those that differ; ``whole`` parts identify one."""
    short, long = [], []
    for mine, theirs in ((left, right), (right, left)):
        apart = (part for at, part in enumerate(mine) if part and (at < always or part != theirs[at]))
        long.append(one_line(" · ".join(filter(None, mine[:whole])), 300))
        short.append(one_line(" · ".join(apart), 200) or long[-1])
    return tuple(short), tuple(long)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[Row]):
    """A row for each difference, and for what is the same; a page has ``all``, the ``differences``, or "" for none but the summary.

    ``says`` returns what a side says of its part of a row, ``number`` the step of a trial to which a row leads: there adjoining
    differences are one.
    """

    summary: str = ""
    rows: Sequence[Pair[Any]]
    columns: Sequence[Column[Row]]
    nothing: str
    says: Callable[[Any], str] | None = None
    number: Callable[[Row], int] | None = None
    page: str = "differences"


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


Leads = tuple[Lead, ...]  # one to go to, or one of each side to show side by side
Named = tuple["SessionReader", Any]  # a side as it was asked for: its session, and its key there


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two things and how they differ; every difference is right minus left.

    The rows of ``columns``, figures over the panes, are A, B and B − A; ``shared`` stands beside A and B, ``alike`` beside B − A.
    ``status`` says by whose points they are compared, of which A has those of ``scale``; ``notes`` are for a page alone, which is one
    ``of`` so many pairs. ``detail`` reads what other panes show of a row of the first one. Rows lead to ``leads``, A or B, unless
    ``choose`` reads where those under the cursors of all panes lead; it raises UsageError where there is nothing.
    """

    names: Names
    columns: Sequence[Column[int]]
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
class Kind:
    """A kind of comparison: what it is called in JSON, what is compared (``two tasks``), and the titles of its panes.

    ``read`` reads two and compares them, by a rubric and judge or the pair of that number; raises UsageError where it cannot.
    """

    name: str
    what: str
    titles: Sequence[str]
    read: Callable[..., Comparison]


def both(left: Named, right: Named, read: Callable[..., Side | None], noun: str) -> tuple[Side, Side]:
    """Read both sides; raises UsageError where one is not in its session."""
    sides = []
    for name, (reader, key) in (("A", left), ("B", right)):
        side = read(reader, key)
        if side is None:
            raise UsageError(f"{noun} {name} is not in {one_line(reader.path.name, 80)}.")
        sides.append(side)
    return sides[0], sides[1]
