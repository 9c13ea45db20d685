"""``workbench compare A B``: two trials, agents, tasks, samples, evaluators or runs side by side, of one session or of two."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.comparison import (
        CandidateComparison,
        ChosenTrials,
        Comparison,
        GroupComparison,
        GroupSide,
        TaskComparison,
        TrialsComparison,
    )
    from workbench.session import SessionReader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    what = (
        "SESSION/ITEM: a trial, task, candidate or run by the first characters of its id (a run of trials by all of it, or its name), an agent, a model or an evaluator by its name, or RUN/NAME for those of one run; "
        "SESSION alone is its newest regeneration run"
    )
    parser.add_argument("a", metavar="A", help=what)
    parser.add_argument("b", metavar="B", help="the other one; every difference is B minus A")
    parser.add_argument("--rubric", default="", help="by which rubric trials are compared; aeo-bench if not given")
    parser.add_argument("--judge", default="", help="by which judge; the first that scored both if not given")
    parser.add_argument("--json", action="store_true", help="print the comparison as one JSON object")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the comparison there as Markdown")


@dataclass(frozen=True, slots=True)
class _Named:
    """What a person named; ``groups`` are those that a run was asked for, or the one that was named, ``trials`` those of a run or agent."""

    reader: SessionReader
    kind: str
    id: str
    groups: tuple[GroupSide, ...] = ()
    trials: ChosenTrials | None = None


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison, or write it as Markdown."""
    from workbench.commands.comparing import show
    from workbench.commands.output import print_json, tell
    from workbench.comparison.chance import chances
    from workbench.errors import UsageError
    from workbench.files import expanded
    from workbench.reports.comparisons import Block, blocks_of, markdown
    from workbench.reports.writing import check_place, write_atomically
    from workbench.session import SessionReader

    paths = [_split(text) for text in (arguments.a, arguments.b)]
    out = expanded(arguments.output) if arguments.output else None
    if out is not None:
        for path, _ in paths:
            check_place(out, path)
    blocks: list[Block] = []
    with ExitStack() as stack:
        readers = {path: stack.enter_context(SessionReader(path)) for path in {path for path, _ in paths}}
        left, right = (_named(readers[path], item) for path, item in paths)
        if left.kind != right.kind:
            raise UsageError(f"A is a {left.kind}, B is a {right.kind}; name two of one kind.")
        if left.kind == "run":
            groups, alone = _all_groups(left, right)
            for group, tests in zip(groups, chances(groups), strict=True):
                if arguments.json:
                    values = {"type": "comparison", "kind": "groups", **group.to_json()}
                    for k, each in tests.items():
                        values["pass_at_k"][str(k)] |= {"p": each.test.p, "p_holm": each.adjusted, "test": each.words}
                    print_json(values)
                blocks += blocks_of(group, {k: each.words for k, each in tests.items()})
            blocks += alone
        else:
            found = _one(left, right, arguments.rubric, arguments.judge)
            if arguments.json:
                kind = "trials" if left.trials else f"{left.kind}s"
                print_json({"type": "comparison", "kind": kind, **found.to_json()})
            blocks += blocks_of(found)
    if out is not None:
        write_atomically(out, [markdown(blocks)])
        tell(f"Written: {out}")
    elif not arguments.json:
        show(blocks)
    return 0


def _one(
    left: _Named, right: _Named, rubric: str, judge: str
) -> Comparison | CandidateComparison | TaskComparison | TrialsComparison:
    from workbench.comparison import compare_trials

    if left.trials is not None and right.trials is not None:
        return compare_trials(left.trials, right.trials, rubric, judge)
    if left.kind == "trial":
        return _trials(left, right, rubric, judge)
    return _candidates(left, right) if left.kind == "candidate" else _tasks(left, right)


def _all_groups(left: _Named, right: _Named) -> tuple[list[GroupComparison], list[str]]:
    """Compare the groups of two runs that belong together, and name those that only one has.

    Raises:
        UsageError: There are none.
    """
    from workbench.comparison import join_groups
    from workbench.errors import UsageError

    beside = join_groups(left.groups, right.groups)
    # Two that are named belong together whatever they are, controls too.
    named = len(left.groups) == len(right.groups) == 1
    found = [_groups(*pair) for pair in ([(left.groups[0], right.groups[0])] if named else beside.pairs)]
    if not found:
        raise UsageError("They have no samples that could be compared.")
    sides = () if named else (("A", beside.only_left), ("B", beside.only_right))
    return found, [f"only {name}: {side.name}" for name, alone in sides for side in alone]


def _split(text: str) -> tuple[Path, str]:
    """Return the session and the item in ``SESSION/ITEM``: the longest beginning that is a session is one.

    Raises:
        UsageError: No beginning of it is a session.
    """
    from workbench.engine.session_names import resolve_session
    from workbench.errors import UsageError

    parts = text.split("/")
    for end in range(len(parts), 0, -1):
        name = "/".join(parts[:end])
        try:
            return resolve_session(name), "/".join(parts[end:])
        except UsageError:
            continue
    return resolve_session(text), ""


def _named(reader: SessionReader, item: str) -> _Named:
    """Return what an item's name means.

    Raises:
        UsageError: It means nothing, or several things.
    """
    from workbench.comparison import groups_of
    from workbench.errors import UsageError
    from workbench.results.items import all_items, find_item
    from workbench.text import one_line

    runs = [run for run in reader.runs() if run.kind == "regenerate"]
    if not item:
        if not runs:
            raise UsageError(f"{reader.path.name} has no regeneration run; name a trial: {reader.path.name}/TRIAL.")
        return _of_run(reader, runs[-1].id)
    trials = _trials_of(reader, item)
    if trials is not None:
        return _Named(reader, "group of trials", "", trials=trials)
    first, _, rest = item.partition("/")
    meant = [run for run in runs if run.id.startswith(first.lower()) or run.name == first]
    if len(meant) == 1:
        return _of_run(reader, meant[0].id, rest)
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


def _trials_of(reader: SessionReader, item: str) -> ChosenTrials | None:
    """Return the trials of a run, an agent or a model, or (RUN/NAME) of one in a run; None where the name means none of these."""
    from workbench.comparison import ChosenTrials

    runs = {name: run for run in reader.runs() if run.kind == "document" for name in (run.id, run.name) if name}
    if item in runs:
        return ChosenTrials.of_run(reader, runs[item].id)
    first, _, rest = item.partition("/")
    rows = reader.trials(runs[first].id) if first in runs and rest else reader.trials()
    name = rest if first in runs and rest else item
    mine = [row for row in rows if name in (row.agent, row.model, row.model.rpartition("/")[2])]
    return ChosenTrials.of(reader, mine, item) if mine else None


def _names(side: GroupSide) -> set[str]:
    return {side.name, side.group.evaluator, side.group.evaluator.rpartition("/")[2]}


def _of_run(reader: SessionReader, run: str, evaluator: str = "") -> _Named:
    from workbench.comparison import groups_of
    from workbench.errors import UsageError
    from workbench.text import one_line

    groups = tuple(groups_of(reader, run))
    if not evaluator:
        return _Named(reader, "run", run, tuple(side for side in groups if not side.outcome.control))
    chosen = tuple(side for side in groups if evaluator in _names(side))
    if len(chosen) != 1:
        known = one_line(", ".join(side.name for side in groups), 300)
        raise UsageError(f"Run {run} has {len(chosen)} evaluators {one_line(evaluator, 60)!r}; it has {known}.")
    return _Named(reader, "run", run, chosen)


def _trials(left: _Named, right: _Named, rubric: str, judge: str) -> Comparison:
    from workbench.comparison import compare, read_side, scales_of

    scales = scales_of((left.reader, left.id), (right.reader, right.id), rubric, judge)
    a, b = read_side(left.reader, left.id, *scales[0]), read_side(right.reader, right.id, *scales[1])
    assert a is not None
    assert b is not None
    return compare(a, b)


def _candidates(left: _Named, right: _Named) -> CandidateComparison:
    from workbench.comparison import compare_candidates, read_candidate

    a, b = read_candidate(left.reader, left.id), read_candidate(right.reader, right.id)
    assert a is not None
    assert b is not None
    return compare_candidates(a, b)


def _tasks(left: _Named, right: _Named) -> TaskComparison:
    from workbench.comparison import compare_tasks, read_task

    a, b = read_task(left.reader, left.id), read_task(right.reader, right.id)
    assert a is not None
    assert b is not None
    return compare_tasks(a, b)


def _groups(left: GroupSide, right: GroupSide) -> GroupComparison:
    from workbench.comparison import compare_groups

    return compare_groups(left, right)
