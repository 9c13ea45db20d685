"""Which columns of the table of tasks have room: the least important ones go first, what is left grows into the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.app.regeneration.wording import NOTHING, percent
from workbench.app.toolkit.virtual_view import Part
from workbench.results.kinds import Kind
from workbench.results.tasks import TaskLine

GAP: Final = 2
FLAKY: Final = "~"
OTHER: Final = "other-"
"""Begins the key of a column with the samples of another evaluator or doc variant; its number follows."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``rank`` 0 always stays, of the others the highest goes first.

    ``least`` cells are taken at least, ``most`` where there is room; numbers are written to the ``right``. ``cell`` gives the
    text and the style of a task's cell; None for the columns that the table draws itself, because they depend on more.
    """

    key: str
    title: str
    least: int
    most: int
    rank: int = 0
    right: bool = False
    cell: Callable[[TaskLine], Part] | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """What the tasks of a run have to show; widths in cells, 0 where a column would say nothing.

    ``shown`` names the column of samples, ``others`` have the names and widths of those of other evaluators and docs beside it.
    """

    path: int = 0
    name: int = 8
    samples: int = 7
    ks: tuple[int, ...] = ()
    branches: bool = False
    unstable: bool = False
    documented: bool = False
    routes: int = 0
    sandbox: int = 0
    tags: int = 0
    shown: str = "samples"
    others: tuple[tuple[str, int], ...] = ()


def wanted(needs: Needs) -> tuple[Column, ...]:
    """Return the columns that tell something, from left to right; a new one is an entry here (docs/extending/column.md)."""
    routes, branches, samples = max(5, needs.routes), needs.branches, max(needs.samples, len(needs.shown))
    columns = [
        Column("file", "file", max(4, min(12, needs.path)), max(4, min(26, needs.path)), 7) if needs.path else None,
        Column("name", "function", max(12, min(18, needs.name)), max(12, min(34, needs.name))),
        Column("tests", "tests", 5, 5, 2, right=True, cell=lambda line: (f"{line.tests:,}", "")),
        Column("cover", "cover", 5, 5, 1, right=True, cell=lambda line: (percent(line.coverage), "")),
        Column("branch", "branch", 6, 6, 6, right=True, cell=_branches) if branches else None,
        Column("unstable", "flaky", 5, 5, 4, right=True, cell=_unstable) if needs.unstable else None,
        Column("samples", needs.shown, samples, samples),
        *(Column(f"{OTHER}{place}", title, width, width, 2) for place, (title, width) in enumerate(needs.others)),
        *(Column(f"at{k}", f"pass@{k}", 6, 6, right=True) for k in needs.ks),
        Column("documented", "documented", 10, 10, 7, cell=_documented) if needs.documented else None,
        Column("route", "route", routes, routes, 5, cell=_route) if needs.routes else None,
        Column("sandbox", "sandbox", needs.sandbox, needs.sandbox, 8, cell=_sandbox) if needs.sandbox else None,
        Column("tags", "tags", 4, max(4, needs.tags), 9, cell=lambda line: (line.labels, "marked"))
        if needs.tags
        else None,
        Column("failing", "failing", 12, 1000, 3),
    ]
    return tuple(column for column in columns if column is not None)


def _documented(line: TaskLine) -> Part:
    kind = line.documented_as
    if kind is None:
        return NOTHING, "dim"
    return kind.value, {Kind.BADLY: "bad", Kind.UNTESTABLE: "dim"}.get(kind, "")


def _branches(line: TaskLine) -> Part:
    return percent(line.branch_coverage), ""


def _unstable(line: TaskLine) -> Part:
    return (f"{FLAKY}{line.unstable:,}", "paused") if line.unstable else (NOTHING, "dim")


def _route(line: TaskLine) -> Part:
    return route_of(line) or NOTHING, "dim"


def _sandbox(line: TaskLine) -> Part:
    return "+".join(line.sandboxes) or NOTHING, "dim"


def route_of(line: TaskLine) -> str:
    """Return the paths that gave the verdicts of a task, fastest first: ``hot``, or ``h+w`` where there were several."""
    taken = line.routes
    return taken[0] if len(taken) == 1 else "+".join(route[0] for route in taken)


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
