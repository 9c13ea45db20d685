"""Find a work item by the first characters of its id, and the shortest unique prefix of an id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.session.reader import SessionReader

_SHORTEST = 4
_NAMED = 4
Kind = Literal["trial", "task", "candidate"]
_TABLES: tuple[tuple[Kind, str], ...] = (("trial", "trials"), ("task", "tasks"), ("candidate", "candidates"))


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A work item of a session; ``step`` is set if a single step of a trial was requested."""

    kind: Kind
    id: str
    step: int | None = None


def all_items(reader: SessionReader) -> dict[str, Kind]:
    return {row[0]: kind for kind, table in _TABLES for row in reader.query(f"SELECT id FROM {table}")}


def short_ids(ids: Iterable[str]) -> Mapping[str, str]:
    """Return each id with its shortest unique prefix of at least four characters."""
    ordered = sorted(set(ids))
    shortened = {}
    for place, name in enumerate(ordered):
        near = [ordered[other] for other in (place - 1, place + 1) if 0 <= other < len(ordered)]
        length = _SHORTEST
        while length < len(name) and any(other.startswith(name[:length]) for other in near):
            length += 1
        shortened[name] = name[:length]
    return shortened


def find_item(reader: SessionReader, text: str) -> WorkItem:
    """Return the item with an id that begins with ``text``, or ``TRIAL:STEP`` for a step.

    Raises UsageError if there is no such item or there are several.
    """
    name, colon, number = text.strip().partition(":")
    ids = all_items(reader)
    found = [name] if name in ids else sorted(key for key in ids if name and key.startswith(name.lower()))
    shown = one_line(text, 60)
    session = reader.path.name
    if not found:
        raise UsageError(f"{session} has no item {shown!r}; `workbench show {session}` lists its contents.")
    if len(found) > 1:
        few = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise UsageError(f"{shown!r} matches {len(found)} items ({few}); give more characters.")
    kind = ids[found[0]]
    if not colon:
        return WorkItem(kind, found[0])
    if kind != "trial":
        raise UsageError(f"{shown!r} names a step, but {found[0]} is a {kind}; only trials have steps.")
    numbers = [step.number for step in reader.steps(found[0])]
    if not number.isdecimal() or int(number) not in numbers:
        has = f"its steps are {numbers[0]} to {numbers[-1]}" if numbers else "it has no steps yet"
        raise UsageError(f"Trial {found[0]} has no step {one_line(number, 20)!r}; {has}.")
    return WorkItem("trial", found[0], int(number))
