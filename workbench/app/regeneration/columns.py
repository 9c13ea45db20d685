"""Which columns of the table of tasks have room: the least important ones go first, what is left grows into the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``rank`` 0 always stays, of the others the highest goes first.

    ``least`` cells are taken at least, ``most`` where there is room; numbers are written to the ``right``.
    """

    key: str
    title: str
    least: int
    most: int
    rank: int = 0
    right: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """What the tasks of a run have to show; widths in cells, 0 where a column would say nothing."""

    path: int = 0
    name: int = 8
    samples: int = 7
    ks: tuple[int, ...] = ()
    branches: bool = False
    unstable: bool = False
    routes: int = 0
    sandbox: int = 0


def wanted(needs: Needs) -> tuple[Column, ...]:
    """Return the columns that tell something, from left to right."""
    columns = [
        Column("file", "file", max(4, min(12, needs.path)), max(4, min(26, needs.path)), 7) if needs.path else None,
        Column("name", "function", max(12, min(18, needs.name)), max(12, min(34, needs.name))),
        Column("tests", "tests", 5, 5, 2, right=True),
        Column("cover", "cover", 5, 5, 1, right=True),
        Column("branch", "branch", 6, 6, 6, right=True) if needs.branches else None,
        Column("unstable", "flaky", 5, 5, 4, right=True) if needs.unstable else None,
        Column("samples", "samples", needs.samples, needs.samples),
        *(Column(f"at{k}", f"pass@{k}", 6, 6, right=True) for k in needs.ks),
        Column("route", "route", max(5, needs.routes), max(5, needs.routes), 5) if needs.routes else None,
        Column("sandbox", "sandbox", needs.sandbox, needs.sandbox, 8) if needs.sandbox else None,
        Column("failing", "failing", 12, 1000, 3),
    ]
    return tuple(column for column in columns if column is not None)


def chosen(columns: Sequence[Column], width: int) -> tuple[tuple[Column, int], ...]:
    """Return the columns that fit into ``width`` cells with the cells that each gets; those of rank 0 always."""
    kept = list(columns)
    while sum(column.least for column in kept) + GAP * (len(kept) - 1) > width:
        last = max(kept, key=lambda column: column.rank)
        if not last.rank:
            break
        kept.remove(last)
    room = width - sum(column.least for column in kept) - GAP * (len(kept) - 1)
    widths: dict[str, int] = {column.key: column.least for column in kept}
    # The name of a function says more than the folder that it is in.
    for key in ("name", "file", "failing"):
        room = _grow(widths, {column.key: column for column in kept}, key, room)
    return tuple((column, widths[column.key]) for column in kept)


def _grow(widths: dict[str, int], columns: Mapping[str, Column], key: str, room: int) -> int:
    if key not in columns or room <= 0:
        return room
    more = min(room, columns[key].most - widths[key])
    widths[key] += more
    return room - more
