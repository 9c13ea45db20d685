"""What went wrong in a run: lists ready to be painted, each entry with the candidate that stands for it, and how that one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.app.key_table import with_keys
from workbench.app.regeneration.sample_content import laid_out
from workbench.app.regeneration.wording import NOTHING, share, test_name
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.document import (
    EMPTY,
    Document,
    Line,
    code,
    heading,
    joined,
    note,
    of_lines,
    plain,
    prepared,
    styled,
)
from workbench.app.toolkit.plot import PlotLine, bar
from workbench.glyphs import VERDICTS
from workbench.regeneration.failure_groups import FailedCandidate, failure_groups, same_error, same_exception
from workbench.regeneration.source_of_test import SourceOfTest, source_of_test, text_of_test_file
from workbench.results.samples import Sample
from workbench.text import one_line, plural, shortened

if TYPE_CHECKING:
    from workbench.regeneration.breakdown import TaskGroup
    from workbench.regeneration.failure_groups import FailureGroup
    from workbench.regeneration.passk import Estimate
    from workbench.results.failures import Diagnosis
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import FailingTestRow

FAILURES, UNSOLVED, TESTS, CURVE, BY_FILE = TABS = (
    "Failures", "Nobody solves", "Failing tests", "pass@k by m", "pass@k by file",
)  # fmt: skip
"""The tabs."""
LEVELS: Final = {"": None, "error": same_error, "exception": same_exception}
"""How alike failures of one group are: the same tests and error, the same error whatever test, the same exception."""
_BAR = 16  # cells of a bar that is full
_TRACEBACK = 40_000  # bytes
_GONE = "This run is not in the open session: press {went-wrong.back}."
NOT_KEPT = "The source of this test is neither in this session nor in the cache; the traceback has what is known of it."


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
_OF_FAILURES = columns(
    ("cand.", 6, True), ("tasks", 5, True), ("tests", 5, True), ("what", 19, False), ("message", 0, False), ("place", 30, False),
)  # fmt: skip
_OF_MEMBERS = columns(
    ("function", 0, False), ("sample", 6, True), ("changed", 7, True), ("evaluator", 24, False), ("message", 30, False),
)  # fmt: skip
_OF_UNSOLVED = columns(
    ("task", 0, False), ("samples", 7, True), ("by", 4, True), ("fewest failing", 14, True), ("nearest", 40, False),
)  # fmt: skip
_OF_TESTS = columns(("test", 0, False), ("candidates", 10, True), ("tasks", 5, True))


@dataclass(frozen=True, slots=True)
class Findings:
    """The lists by their tabs, but for the curves, which take longer; ``failures`` has those of each of :data:`LEVELS`."""

    listings: dict[str, Listing]
    failures: dict[str, Listing] = field(default_factory=dict)
    failed: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True)
class Curves:
    """pass@k by m for each k of the run, and by k over all samples; ``listing`` has the same as numbers, ``by_file`` bars."""

    lines: tuple[PlotLine, ...]
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
    names = {task.id: f"{task.path}::{task.qualified_name}" for task in reader.tasks(run_id)}
    found = diagnose(reader, run_id, results_by_group(reader, run_id), group, stopped)
    levels = {
        level: _failures(found.candidates, found.groups if cause is None else failure_groups(found.failed, cause))
        for level, cause in LEVELS.items()
    }
    listings = {FAILURES: levels[""], UNSOLVED: _unsolved(found, names), TESTS: _tests(found)}
    return Findings(listings, levels, found.candidates, len(found.groups))


def _failures(failed: int, groups: Sequence[FailureGroup]) -> Listing:
    def entry(group: FailureGroup) -> Entry:
        counts = (f"{count:,}" for count in (len(group.candidates), group.tasks, len(group.tests)))
        what = f"{VERDICTS.get(group.verdict, '?')} {one_line(group.exception.rpartition('.')[2], 60)}"
        message = one_line(group.message.removeprefix(f"{group.exception}: "), 300)
        place = one_line(group.place or _where(group.representative), 200)
        return Entry((*counts, what, message, place), group.representative, group=group)

    said = f"{plural(failed, 'candidate')} in {plural(len(groups), 'group')}"
    return Listing(_OF_FAILURES, tuple(map(entry, groups)), said, "No candidate failed.")


def members_of(group: FailureGroup) -> Listing:
    """Return the candidates of a group, the one with the smallest difference to the original first."""

    def entry(one: FailedCandidate) -> Entry:
        message = one.lead.message if one.lead is not None and one.lead.message else one.reason
        function, evaluator = one_line(f"{one.path}::{one.function}", 300), one_line(one.group.evaluator, 60)
        return Entry((function, f"{one.sample + 1:,}", f"{one.changed:,}", evaluator, one_line(message, 300)), one)

    entries = tuple(map(entry, group.candidates))
    said = f"{plural(len(entries), 'candidate')} of {plural(group.tasks, 'task')} · {one_line(group.exception, 60)}"
    return Listing(_OF_MEMBERS, entries, said, "")


def _where(one: FailedCandidate) -> str:
    return test_name(one.lead.test) if one.lead is not None else one.function


def _unsolved(found: Diagnosis, names: dict[str, str]) -> Listing:
    def distance(one: FailedCandidate) -> tuple[int, int]:
        return len(one.tests) or 1_000_000, one.changed

    nearest: dict[str, FailedCandidate] = {}
    for one in (one for group in found.groups for one in group.candidates):
        nearest[one.task] = min(nearest.get(one.task, one), one, key=distance)
    entries = []
    for task in found.unsolved:
        best = nearest.get(task.task)
        fewest = f"{len(best.tests):,}" if best is not None and best.tests else NOTHING
        where = _where(best) if best is not None else NOTHING
        name = one_line(names.get(task.task, task.task), 300)
        entries.append(Entry((name, f"{task.samples:,}", f"{task.evaluators:,}", fewest, where), best))
    said = f"{len(found.unsolved):,} of {plural(len(names), 'task')}, whoever wrote the body"
    return Listing(_OF_UNSOLVED, tuple(entries), said, "Every task with a sample is solved by some candidate.")


def _tests(found: Diagnosis) -> Listing:
    first: dict[str, FailedCandidate] = {}
    for group in found.groups:
        for test in group.tests:
            one = group.representative
            first[test] = min(first.get(test, one), one, key=lambda known: known.changed)
    entries = [
        Entry((one_line(one.test, 400), f"{one.candidates:,}", f"{one.tasks:,}"), first.get(one.test), one.test)
        for one in found.tests
    ]
    return Listing(_OF_TESTS, tuple(entries), plural(len(entries), "test"), "No test failed.")


# -- curves


def load_curves(reader: SessionReader, run_id: str, group: Group, ks: Sequence[int]) -> Curves:
    """Compute pass@k of a group by the number of samples and by k, both with intervals, and by file."""
    from workbench.regeneration.breakdown import pass_by, pass_by_k, pass_by_samples
    from workbench.results.failures import verdict_sequences
    from workbench.results.samples import results_by_group

    sequences = verdict_sequences(reader, run_id, group)
    results = results_by_group(reader, run_id).get(group, ())
    by_m = {k: {point.m: point.estimate for point in pass_by_samples(sequences, k)} for k in ks}
    by_k = {estimate.k: estimate for estimate in pass_by_k(results)}
    by_file = pass_by(((one.file, one) for one in results if one.counted), ks)
    lines = (*(_line(f"pass@{k} of the first m samples", of) for k, of in by_m.items()),
             _line("pass@k of all samples, by k", by_k))  # fmt: skip
    return Curves(lines, _numbers(by_m, by_k), _bars(by_file, ks))


def _line(title: str, estimates: dict[int, Estimate]) -> PlotLine:
    return PlotLine(title, tuple((x, e.value, e.low, e.high) for x, e in estimates.items() if e.value is not None))


def _bars(files: Sequence[TaskGroup], ks: Sequence[int]) -> Listing:
    """Return a row per file, the hardest first, with a bar of pass@k for each k; full is 1."""
    declared = [("file", 0, False), ("tasks", 5, True)]
    for k in ks:
        declared += [(f"pass@{k}", 7, True), ("", _BAR, False)]
    entries = []
    for one in sorted(files, key=lambda one: next((e.value for e in one.pass_at if e.value is not None), 2.0)):
        values = [(share(estimate.value), bar(estimate.value or 0.0, 1.0, _BAR)) for estimate in one.pass_at]
        entries.append(Entry((one_line(one.name, 400), f"{one.tasks:,}", *(cell for pair in values for cell in pair))))
    said = f"{plural(len(files), 'file')}, the hardest first"
    return Listing(columns(*declared), tuple(entries), said, "No sample has a verdict yet.")


def _numbers(by_m: dict[int, dict[int, Estimate]], by_k: dict[int, Estimate]) -> Listing:
    declared = [("m or k", 6, True)]
    for k in by_m:
        declared += [(f"pass@{k}", 7, True), ("of first m", 14, False)]
    declared += [("pass@k", 7, True), ("of all samples", 14, False), ("", 0, False)]
    entries = []
    for number in range(1, max([*(max(of, default=0) for of in by_m.values()), len(by_k)], default=0) + 1):
        cells = [_estimate(of.get(number)) for of in (*by_m.values(), by_k)]
        entries.append(Entry((f"{number:,}", *(cell for pair in cells for cell in pair), "")))
    return Listing(columns(*declared), tuple(entries), "with 95 % intervals", "No sample has a verdict yet.")


def _estimate(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None or estimate.value is None:
        return NOTHING, ""
    known = estimate.low is not None and estimate.high is not None
    return share(estimate.value), f"[{estimate.low:.2f}, {estimate.high:.2f}]" if known else ""


# -- the candidate under the cursor


@dataclass(frozen=True, slots=True)
class Detail:
    """Two texts with their titles: the test, and the difference above the docstring."""

    test: Document = EMPTY
    body: Document = EMPTY
    test_title: str = "test"
    body_title: str = "difference"


def load_detail(reader: SessionReader, one: FailedCandidate, test: str = "") -> Detail:
    """Read what a candidate wrote and how it fails a test; without one its leading test, without that why it failed."""
    task, candidate = reader.task(one.task), reader.candidate(one.id)
    if task is None or candidate is None:
        gone = note("This candidate is no longer in the session.")
        return Detail(gone, gone)
    sample = Sample(task, candidate, candidate.sample)
    difference, docstring = (laid_out(reader, sample, tab) for tab in ("Diff", "Docstring"))
    body = joined([difference, plain(""), heading("Docstring"), docstring])
    title = f"{one_line(one.function, 60)} · {one_line(one.group.evaluator, 40)} · sample {candidate.sample + 1}"
    failing = {row.test_id: row for row in reader.failing_tests(one.id)}
    row = failing.get(test or (one.lead.test if one.lead is not None else ""))
    if row is None:
        said = f"{VERDICTS.get(one.verdict, '?')} {one.verdict}: {one.reason or 'no test said why.'}"
        return Detail(note(prepared(said)), body, "no failing test", title)
    trace = reader.shown(row.traceback_blob, "this traceback", _TRACEBACK) if row.traceback_blob else ""
    found = source_of_test(text_of_test_file(reader, task, row.test_id), row.test_id, trace)
    if found is not None:
        shown = replace(of_lines(_source(found, row, one)), numbered=True)
    else:
        said_lines = prepared(trace or row.message).split("\n")
        lines = [styled((part, "bad" if part[:1].strip() else ""), indent=4) for part in said_lines]
        shown = of_lines([styled((NOT_KEPT, "dim"), indent=4), Line(""), *lines])
    return Detail(shown, body, one_line(row.test_id, 200), title)


def _source(found: SourceOfTest, row: FailingTestRow, one: FailedCandidate) -> Iterator[Line]:
    """Lay out a test with its line numbers; below the asserting line stands what it said."""

    def told(below: str) -> Iterator[Line]:
        indent = " " * (len(below) - len(below.lstrip(" ")))
        for part in "\n".join(prepared(text) for text in found.said or (row.message,)).split("\n"):
            yield styled((f"{indent}E  {part}", "bad"), indent=4)

    lines = code("\n".join(found.lines), "test.py").lines
    for number, line in enumerate(lines, found.first):
        here = number == found.asserting
        yield replace(line, number=number, fill="block" if here else "")
        if here:
            yield from told(line.text)
    if found.asserting not in range(found.first, found.first + len(lines)):
        yield Line("")
        yield from told("")
    place = one.lead.place if one.lead is not None and one.lead.test == row.test_id else None
    if place is not None and place.path and place.path != found.path:
        yield Line("")
        yield styled((prepared(f"raised at {one_line(str(place), 200)}"), "warn"), indent=4)
