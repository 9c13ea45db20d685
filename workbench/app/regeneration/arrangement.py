"""In which order the tasks stand, and in which groups with which pass@k: plain functions for threads, no widget in sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.regeneration.breakdown import TaskGroup
    from workbench.regeneration.outcome import TaskResult


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the tasks; ``columns`` are the columns whose headings sort by it. What has no value comes last."""

    key: str
    title: str
    columns: tuple[str, ...]
    value: Callable[[TaskLine], Any]
    descending: bool = False


AS_BUILT: Final = "built"
ORDERS: Final = (
    Order(AS_BUILT, "as they were built", (), lambda line: 0),
    Order("pass", "pass@k, the lowest first", ("at1", "at2", "at3", "samples"), lambda line: line.at or None),
    Order("name", "function", ("name",), lambda line: line.name.lower()),
    Order("file", "file", ("file",), lambda line: (line.path.lower(), line.name.lower())),
    Order("tests", "tests", ("tests",), lambda line: line.tests, descending=True),
    Order("cover", "cover, the lowest first", ("cover", "branch"), lambda line: line.coverage),
    Order("failing", "the test that fails most", ("failing",), lambda line: line.failing or None),
    Order("tags", "tags", ("tags",), lambda line: line.labels or None),
)
_BY_KEY = {order.key: order for order in ORDERS}
GROUPINGS: Final = ("", "file", "class", "verdict", "tag")
"""By what tasks are put together; "" is not at all."""
NO_TAG: Final = "(no tag)"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How tasks stand.

    Attributes:
        order: Key of one of :data:`ORDERS`; ``reverse`` turns it round.
        reverse: The other way round.
        grouping: One of :data:`GROUPINGS`.
        places: The places of all lines, group after group, in order within each.
        group_of: Number of the group of each line, by its place; empty without groups.
        sizes: How many lines each group has, those that count in no figure too.
        groups: The groups with their pass@k over all their tasks, in the order in which they are shown.
    """

    order: str = AS_BUILT
    reverse: bool = False
    grouping: str = ""
    places: tuple[int, ...] = ()
    group_of: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    groups: tuple[TaskGroup, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether the lines stand as they were read."""
        return self.order == AS_BUILT and not self.reverse and not self.grouping

    def sentence(self) -> str:
        """Return how tasks stand, in words; "" as they were read."""
        parts = [f"by {self.grouping}"] if self.grouping else []
        if self.order != AS_BUILT or self.reverse:
            parts.append(f"sorted by {_BY_KEY[self.order].title}{', reversed' if self.reverse else ''}")
        return " · ".join(parts)


def arranged(
    lines: Sequence[TaskLine], ks: Sequence[int], order: str, *, reverse: bool = False, grouping: str = ""
) -> Arrangement:
    """Return how some tasks stand in an order and in groups."""
    places = _in_order(lines, _BY_KEY[order], reverse)
    if not grouping:
        return Arrangement(order, reverse, grouping, places)
    from workbench.regeneration.breakdown import TaskGroup, pass_by

    name_of = _names(grouping)
    results: dict[int, TaskResult] = {place: line.result for place, line in enumerate(lines)}
    names = [name_of(line, results[place]) for place, line in enumerate(lines)]
    # As above the table: what was taken out or has no sample counts in no figure.
    named = [(names[place], results[place]) for place in places if not lines[place].excluded and lines[place].samples]
    figures = {group.name: group for group in pass_by(named, ks)}
    order_of_groups = _sorted_groups(dict.fromkeys(names[place] for place in places), grouping)
    number = {name: at for at, name in enumerate(order_of_groups)}
    sizes = Counter(names)
    return Arrangement(
        order,
        reverse,
        grouping,
        tuple(sorted(places, key=lambda place: number[names[place]])),
        tuple(number[name] for name in names),
        tuple(sizes[name] for name in order_of_groups),
        tuple(figures.get(name) or TaskGroup(name, 0, ()) for name in order_of_groups),
    )


def next_order(key: str) -> str:
    """Return the order after this one, round and round."""
    keys = [order.key for order in ORDERS]
    return keys[(keys.index(key) + 1) % len(keys)]


def order_of_column(column: str) -> str | None:
    """Return the order that a click on a column's heading asks for, None where it is none."""
    named = "at1" if column.startswith("at") and column != "at" else column
    return next((order.key for order in ORDERS if named in order.columns), None)


def _in_order(lines: Sequence[TaskLine], order: Order, reverse: bool) -> tuple[int, ...]:
    if order.key == AS_BUILT:
        return tuple(reversed(range(len(lines)))) if reverse else tuple(range(len(lines)))
    known: list[tuple[Any, int]] = []
    unknown: list[tuple[Any, int]] = []
    for place, line in enumerate(lines):
        value = order.value(line)
        if isinstance(value, tuple) and None in value:
            value = tuple(-1.0 if one is None else one for one in value) if value[0] is not None else None
        (unknown if value is None else known).append((value, place))
    known.sort(key=lambda pair: pair[0], reverse=order.descending != reverse)
    return tuple(place for _, place in (*known, *unknown))


def _names(grouping: str) -> Callable[[TaskLine, TaskResult], str]:
    from workbench.regeneration.breakdown import class_of, verdict_of

    return {
        "file": lambda line, result: line.path,
        "class": lambda line, result: class_of(line.name),
        "verdict": lambda line, result: "taken out" if line.excluded else verdict_of(result),
        "tag": lambda line, result: line.labels or NO_TAG,
    }[grouping]


def _sorted_groups(names: Iterable[str], grouping: str) -> list[str]:
    if grouping == "verdict":
        from workbench.regeneration.breakdown import VERDICTS_OF_TASKS

        return sorted(names, key=VERDICTS_OF_TASKS.index)
    return sorted(names, key=str.lower)
