"""``workbench compare A B``: two items side by side, from one session or from two.

An item is a trial, agent, task, sample, evaluator or run.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.files import expanded
from workbench.base.text import one_line
from workbench.commands.output import print_json, tell
from workbench.commands.terminal import Terminal
from workbench.comparison import kind_of
from workbench.comparison.groups import GroupSide, compare_groups, groups_of, join_groups
from workbench.pages.comparison import comparison_page
from workbench.pages.writing import check_place, write_page
from workbench.results.items import all_items, find_item
from workbench.session import SessionReader
from workbench.session.session_names import resolve_session

ARGUMENTS = {
    "a A": "SESSION/ITEM: a trial, task, candidate, regeneration or usage run by the first characters of its id; a run of trials by its "
    "whole id or name; an agent, model, evaluator or page by its name, or RUN/NAME for that of one run; SESSION alone is its newest "
    "regeneration or usage run",
    "b B": "the other item; every difference is B minus A",
    "--rubric RUBRIC": "rubric by which trials are compared (default: aeo-bench)",
    "--judge JUDGE": "judge whose scores are compared (default: the first that scored both)",
    "--json": "print the comparison as one JSON object",
    "-o --output FILE": "write the comparison to a file; its suffix is the format: .md, .html, .tex, .csv or .json",
}


@dataclass(frozen=True, slots=True)
class _Named:
    reader: SessionReader
    kind: str
    key: Any
    groups: tuple[GroupSide, ...] = ()


def run(arguments: argparse.Namespace) -> int:
    paths = [_split(text) for text in (arguments.a, arguments.b)]
    out = expanded(arguments.output) if arguments.output else None
    if out is not None:
        for path, _ in paths:
            check_place(out, path)
    with ExitStack() as stack:
        readers = {path: stack.enter_context(SessionReader(path)) for path in {path for path, _ in paths}}
        left, right = (_named(readers[path], item) for path, item in paths)
        if left.kind != right.kind:
            a, b = ("group of trials" if one.kind == "trials" else one.kind for one in (left, right))
            raise UsageError(f"A is a {a}, B is a {b}; name two items of the same kind.")
        kind = kind_of(left.kind)
        alone: list[str] = []
        if left.kind == "run":
            # Two groups that are named explicitly are always compared, even if they are controls.
            pairs = list(zip(left.groups, right.groups, strict=False))
            if not len(left.groups) == len(right.groups) == 1:
                pairs, alone = join_groups(left.groups, right.groups)
            if not pairs:
                raise UsageError("These runs have no samples in common to compare.")
            found = compare_groups(pairs)
        else:
            sides = (left.reader, left.key), (right.reader, right.key)
            found = [kind.read(*sides, arguments.rubric, arguments.judge)]
        page = comparison_page(found, alone)
        if arguments.json:
            for one in found:
                print_json({"type": "comparison", "kind": kind.name, **one.to_json()})
    if out is not None:
        write_page(page, out)
        tell(f"Written: {out}")
    elif not arguments.json:
        Terminal().print_page(replace(page, title=""))
    return 0


def _split(text: str) -> tuple[Path, str]:
    """Return the session and the item of ``SESSION/ITEM``; the longest prefix that names a session is used."""
    parts = text.split("/")
    for end in range(len(parts), 0, -1):
        name = "/".join(parts[:end])
        try:
            return resolve_session(name), "/".join(parts[end:])
        except UsageError:
            continue
    return resolve_session(text), ""


def _named(reader: SessionReader, item: str) -> _Named:
    """Return the item with this name. Raises UsageError if no item or more than one has it."""
    runs = [run for run in reader.runs() if run.has_candidates]
    if not item:
        if not runs:
            raise UsageError(
                f"{reader.path.name} has no regeneration or usage run; name a trial: {reader.path.name}/TRIAL."
            )
        return _of_run(reader, runs[-1].id)
    trials = _trials_of(reader, item)
    if trials is not None:
        return _Named(reader, "trials", trials)
    first, _, rest = item.partition("/")
    matching = [run for run in runs if run.id.startswith(first.lower()) or run.name == first]
    if len(matching) == 1:
        return _of_run(reader, matching[0].id, rest)
    if not any(key.startswith(item.lower()) for key in all_items(reader)):
        for run in reversed(runs):
            if any(item in _names(side) for side in groups_of(reader, run.id)):
                return _of_run(reader, run.id, item)
        names = [side.name for run in runs for side in _of_run(reader, run.id).groups]
        known = ", ".join(dict.fromkeys([*names, *(row.agent for row in reader.trials())]))
        raise UsageError(
            f"{reader.path.name} has no item, run, agent or evaluator {one_line(item, 60)!r}"
            + (f"; it has {one_line(known, 300)}." if known else ".")
        )
    one = find_item(reader, item)
    return _Named(reader, one.kind, one.id)


def _trials_of(reader: SessionReader, item: str) -> str | tuple[frozenset[str], str] | None:
    """Return the id of a run of trials, or the trials of an agent or model, or None if the name is none of these.

    ``RUN/NAME`` selects the trials of an agent or model within one run.
    """
    runs = {name: run for run in reader.runs() if run.kind == "document" for name in (run.id, run.name) if name}
    if item in runs:
        return runs[item].id
    first, _, rest = item.partition("/")
    rows = reader.trials(runs[first].id) if first in runs and rest else reader.trials()
    name = rest if first in runs and rest else item
    mine = frozenset(row.id for row in rows if name in (row.agent, row.model, row.model.rpartition("/")[2]))
    return (mine, item) if mine else None


def _names(side: GroupSide) -> set[str]:
    pages = {side.group.context, side.group.context.partition("@")[0]} if side.run.kind == "usage" else set()
    return {side.name, side.group.evaluator, side.group.evaluator.rpartition("/")[2], *pages} - {""}


def _of_run(reader: SessionReader, run: str, evaluator: str = "") -> _Named:
    groups = tuple(groups_of(reader, run))
    if not evaluator:
        return _Named(reader, "run", run, tuple(side for side in groups if not side.outcome.control))
    chosen = tuple(side for side in groups if evaluator in _names(side))
    if len(chosen) != 1:
        known = one_line(", ".join(side.name for side in groups), 300)
        raise UsageError(f"Run {run} has {len(chosen)} groups {one_line(evaluator, 60)!r}; it has {known}.")
    return _Named(reader, "run", run, chosen)
