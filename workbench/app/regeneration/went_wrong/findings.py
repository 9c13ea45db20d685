"""What the screen shows of a run: four lists, ready to be painted, each entry with the candidate that stands for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from workbench.app.key_table import with_keys
from workbench.app.regeneration.wording import NOTHING, plural, share, test_name
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.plot import bar
from workbench.glyphs import VERDICTS
from workbench.regeneration.failure_groups import FailedCandidate, failure_groups, same_error, same_exception
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.regeneration.breakdown import CurvePoint, TaskGroup
    from workbench.regeneration.failure_groups import FailureGroup
    from workbench.regeneration.passk import Estimate
    from workbench.results.failures import Diagnosis
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

FAILURES, UNSOLVED, TESTS, CURVE, BY_FILE = TABS = (
    "Failures",
    "Nobody solves",
    "Failing tests",
    "pass@k by m",
    "pass@k by file",
)
"""The tabs."""
NONE: Final = ""
BAR: Final = 16
"""Cells of a bar that is full."""
LEVELS: Final = {"": None, "error": same_error, "exception": same_exception}
"""How alike failures of one group are: the same tests and error, the same error whatever test, the same exception."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: its cells, the candidate that stands for it, the test that is shown with it ("" for its leading one), and its group."""

    cells: tuple[str, ...]
    candidate: FailedCandidate | None = None
    test: str = ""
    group: FailureGroup | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list under its columns; ``said`` stands in its frame, ``empty`` in its place where it has no row."""

    columns: tuple[Column[Entry], ...]
    entries: tuple[Entry, ...]
    said: str
    empty: str


def columns(*declared: tuple[str, int, bool]) -> tuple[Column[Entry], ...]:
    """Return the columns of a list.

    Args:
        declared: Title, cells (0 for a text that takes what is left) and whether it is a number of each. The first three stay.
    """

    def column(at: int, title: str, size: int, number: bool) -> Column[Entry]:
        return Column(
            title=title,
            cell=lambda entry: (entry.cells[at], "score" if number else ""),
            width=size if number else min(size or 24, 12 if size else 24),
            widest=0 if number else size or 400,
            text=not number,
            priority=max(0, at - 2) if size else 0,
            shorten=shortened,
        )

    return tuple(column(at, *one) for at, one in enumerate(declared))


COMING: Final = Listing((), (), "being read…", "Being read…")
"""What stands in the place of a list that is not there yet."""
_GONE = "This run is not in the open session: press {went-wrong.back}."


@dataclass(frozen=True, slots=True)
class Curve:
    """pass@k for one k: of the first m samples, m from k on."""

    k: int
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The lists by their tabs, but for the curves, which take longer; ``failures`` has those of each of :data:`LEVELS`."""

    listings: dict[str, Listing]
    failures: dict[str, Listing] = field(default_factory=dict)
    failed: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True)
class Curves:
    """pass@k by m for each k of the run, and by k over all samples; ``listing`` has the same as numbers.

    ``by_file`` has a bar for each file and k.
    """

    by_m: tuple[Curve, ...]
    by_k: tuple[Estimate, ...]
    listing: Listing
    by_file: Listing


def load_findings(
    reader: SessionReader, run_id: str, group: Group | None, stopped: Callable[[], bool] = lambda: False
) -> Findings:
    """Read why candidates of a run fail; of one group, or of all where it is None."""
    from workbench.results.failures import diagnose
    from workbench.results.samples import results_by_group

    if reader.run(run_id) is None:
        return Findings(dict.fromkeys(TABS, Listing((), (), "not here", with_keys(_GONE))))
    tasks = {task.id: task for task in reader.tasks(run_id)}
    found = diagnose(reader, run_id, results_by_group(reader, run_id), group, stopped)
    names = {key: f"{task.path}::{task.qualified_name}" for key, task in tasks.items()}
    levels = {
        level: _failures(found.candidates, found.groups if cause is None else failure_groups(found.failed, cause))
        for level, cause in LEVELS.items()
    }
    return Findings(
        {FAILURES: levels[""], UNSOLVED: _unsolved(found, names, len(tasks)), TESTS: _tests(found)},
        levels,
        found.candidates,
        len(found.groups),
    )


def _failures(failed: int, groups: Sequence[FailureGroup]) -> Listing:
    declared = (
        ("cand.", 6, True),
        ("tasks", 5, True),
        ("tests", 5, True),
        ("what", 19, False),
        ("message", 0, False),
        ("place", 30, False),
    )
    entries = [
        Entry(
            (
                f"{len(group.candidates):,}",
                f"{group.tasks:,}",
                f"{len(group.tests):,}",
                f"{VERDICTS.get(group.verdict, '?')} {one_line(group.exception.rpartition('.')[2], 60)}",
                one_line(group.message.removeprefix(f"{group.exception}: "), 300),
                one_line(_where(group.place, group.representative), 200),
            ),
            group.representative,
            group=group,
        )
        for group in groups
    ]
    said = f"{plural(failed, 'candidate')} in {plural(len(groups), 'group')}"
    return Listing(columns(*declared), tuple(entries), said, "No candidate failed.")


def members_of(group: FailureGroup) -> Listing:
    """Return the candidates of a group, the one with the smallest difference to the original first."""
    declared = (
        ("function", 0, False),
        ("sample", 6, True),
        ("changed", 7, True),
        ("evaluator", 24, False),
        ("message", 30, False),
    )
    entries = [
        Entry(
            (
                one_line(f"{one.path}::{one.function}", 300),
                f"{one.sample + 1:,}",
                f"{one.changed:,}",
                one_line(one.group.evaluator, 60),
                one_line(one.lead.message if one.lead is not None and one.lead.message else one.reason, 300),
            ),
            one,
        )
        for one in group.candidates
    ]
    said = f"{plural(len(entries), 'candidate')} of {plural(group.tasks, 'task')} · {one_line(group.exception, 60)}"
    return Listing(columns(*declared), tuple(entries), said, "")


def _where(place: str, one: FailedCandidate) -> str:
    return place or (test_name(one.lead.test) if one.lead is not None else one.function)


def _unsolved(found: Diagnosis, names: dict[str, str], tasks: int) -> Listing:
    nearest: dict[str, FailedCandidate] = {}
    for group in found.groups:
        for one in group.candidates:
            known = nearest.get(one.task)
            if known is None or _distance(one) < _distance(known):
                nearest[one.task] = one
    declared = (
        ("task", 0, False),
        ("samples", 7, True),
        ("by", 4, True),
        ("fewest failing", 14, True),
        ("nearest", 40, False),
    )
    entries = []
    for task in found.unsolved:
        best = nearest.get(task.task)
        fewest = f"{len(best.tests):,}" if best is not None and best.tests else NOTHING
        said = _where("", best) if best is not None else NOTHING
        cells = (
            one_line(names.get(task.task, task.task), 300),
            f"{task.samples:,}",
            f"{task.evaluators:,}",
            fewest,
            said,
        )
        entries.append(Entry(cells, best))
    said = f"{len(found.unsolved):,} of {plural(tasks, 'task')}, whoever wrote the body"
    return Listing(columns(*declared), tuple(entries), said, "Every task with a sample is solved by some candidate.")


def _distance(one: FailedCandidate) -> tuple[int, int]:
    return len(one.tests) or 1_000_000, one.changed


def _tests(found: Diagnosis) -> Listing:
    first: dict[str, FailedCandidate] = {}
    for group in found.groups:
        for test in group.tests:
            known = first.get(test)
            if known is None or group.representative.changed < known.changed:
                first[test] = group.representative
    declared = (("test", 0, False), ("candidates", 10, True), ("tasks", 5, True))
    entries = [
        Entry((one_line(one.test, 400), f"{one.candidates:,}", f"{one.tasks:,}"), first.get(one.test), one.test)
        for one in found.tests
    ]
    return Listing(columns(*declared), tuple(entries), plural(len(entries), "test"), "No test failed.")


def load_curves(reader: SessionReader, run_id: str, group: Group, ks: Sequence[int]) -> Curves:
    """Compute pass@k of a group by the number of samples and by k, both with intervals, and by file."""
    from workbench.regeneration.breakdown import pass_by, pass_by_k, pass_by_samples
    from workbench.results.failures import verdict_sequences
    from workbench.results.samples import results_by_group

    sequences = verdict_sequences(reader, run_id, group)
    by_m = tuple(Curve(k, pass_by_samples(sequences, k)) for k in ks)
    results = results_by_group(reader, run_id).get(group, ())
    by_k = pass_by_k(results)
    by_file = pass_by(((one.file, one) for one in results if one.counted), ks)
    return Curves(by_m, by_k, _numbers(by_m, by_k, "with 95 % intervals"), _bars(by_file, ks))


def _bars(files: Sequence[TaskGroup], ks: Sequence[int]) -> Listing:
    """Return a row per file, the hardest first, with a bar of pass@k for each k; full is 1."""
    declared = [("file", 0, False), ("tasks", 5, True)]
    for k in ks:
        declared += [(f"pass@{k}", 7, True), ("", BAR, False)]
    hardest = sorted(files, key=lambda one: next((e.value for e in one.pass_at if e.value is not None), 2.0))
    entries = []
    for one in hardest:
        cells = [one_line(one.name, 400), f"{one.tasks:,}"]
        for estimate in one.pass_at:
            cells += [share(estimate.value), bar(estimate.value or 0.0, 1.0, BAR)]
        entries.append(Entry(tuple(cells)))
    said = f"{plural(len(files), 'file')}, the hardest first"
    return Listing(columns(*declared), tuple(entries), said, "No sample has a verdict yet.")


def _numbers(by_m: tuple[Curve, ...], by_k: tuple[Estimate, ...], said: str) -> Listing:
    declared = [("m or k", 6, True)]
    for curve in by_m:
        declared += [(f"pass@{curve.k}", 7, True), ("of first m", 14, False)]
    declared += [("pass@k", 7, True), ("of all samples", 14, False), ("", 0, False)]
    of_m = [{point.m: point.estimate for point in curve.points} for curve in by_m]
    of_k = {estimate.k: estimate for estimate in by_k}
    entries = []
    for number in range(1, max([*(max(one, default=0) for one in of_m), len(by_k)], default=0) + 1):
        cells = [f"{number:,}"]
        for estimates in (*of_m, of_k):
            cells += _estimate(estimates.get(number))
        entries.append(Entry((*cells, "")))
    return Listing(columns(*declared), tuple(entries), said, "No sample has a verdict yet.")


def _estimate(estimate: Estimate | None) -> list[str]:
    if estimate is None or estimate.value is None:
        return [NOTHING, NONE]
    if estimate.low is None or estimate.high is None:
        return [share(estimate.value), NONE]
    return [share(estimate.value), f"[{estimate.low:.2f}, {estimate.high:.2f}]"]
