"""Failure analysis of a run: failure groups, unsolved tasks, frequently failing tests, pass@k by m and by file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.widget import Widget

from workbench.app.keys import bindings, with_keys
from workbench.app.regeneration.findings_screen import (
    LOADING,
    FindingRow,
    FindingsScreen,
    Listing,
    TitledTexts,
    columns,
)
from workbench.app.regeneration.sample_content import laid_out
from workbench.app.regeneration.wording import short_name, test_name
from workbench.app.toolkit import document as doc
from workbench.app.toolkit.pane import Pane, TabLine
from workbench.app.toolkit.plot import CurvePlot, PlotLine, bar
from workbench.app.toolkit.workers import LiveLoader
from workbench.base.glyphs import VERDICTS
from workbench.base.text import NOTHING, one_line, plural, share
from workbench.regeneration.failure_groups import (
    FailedCandidate,
    FailureGroup,
    SourceOfTest,
    failure_groups,
    same_error,
    same_exception,
    source_of_test,
    text_of_test_file,
)
from workbench.results.samples import SampleView

if TYPE_CHECKING:
    from workbench.regeneration.outcome import TaskGroup
    from workbench.regeneration.passk import PassEstimate
    from workbench.results.failures import Diagnosis
    from workbench.results.regeneration_runs import RunView
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import FailingTestRow

FAILURES, UNSOLVED, TESTS, CURVE, BY_FILE = TABS = (
    "Failures", "Nobody solves", "Failing tests", "pass@k by m", "pass@k by file",
)  # fmt: skip
"""The titles of the tabs."""
LEVELS: Final = {FAILURES: None, f"{FAILURES} by error": same_error, f"{FAILURES} by exception": same_exception}
"""Criteria for grouping failures: same tests and error (None), same error in any test, or same exception."""
_BAR = 16  # width of a full bar in cells
_TRACEBACK = 40_000  # maximum bytes
_GONE = "This run is not in the open session: press {went-wrong.back}."
NO_SOURCE = "The source of this test is neither in the session nor in the cache; here is the traceback."
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


def load_findings(
    reader: SessionReader, run_id: str, group: Group | None, stopped: Callable[[], bool] = lambda: False
) -> dict[str, Listing]:
    """Load why candidates of one group, or of all groups (None), failed in a run, as listings by title."""
    from workbench.results.failures import diagnose
    from workbench.results.samples import results_by_group

    if reader.run(run_id) is None:
        return dict.fromkeys(TABS, Listing((), (), "not here", with_keys(_GONE)))
    names = {task.id: f"{task.path}::{task.qualified_name}" for task in reader.tasks(run_id)}
    found = diagnose(reader, run_id, results_by_group(reader, run_id), group, stopped)
    levels = {
        title: _failures(found.candidates, found.groups if cause is None else failure_groups(found.failed, cause))
        for title, cause in LEVELS.items()
    }
    return {**levels, UNSOLVED: _unsolved(found, names), TESTS: _tests(found)}


def _failures(failed: int, groups: Sequence[FailureGroup]) -> Listing:
    def entry(group: FailureGroup) -> FindingRow:
        counts = (f"{count:,}" for count in (len(group.candidates), group.tasks, len(group.tests)))
        what = f"{VERDICTS.get(group.verdict, '?')} {one_line(group.exception.rpartition('.')[2], 60)}"
        message = one_line(group.message.removeprefix(f"{group.exception}: "), 300)
        place = one_line(group.place or _where(group.representative), 200)
        return _entry((*counts, what, message, place), group.representative, of=group)

    text = f"{failed:,} failed in {plural(len(groups), 'group')}"
    return Listing(_OF_FAILURES, tuple(map(entry, groups)), text, "No candidate failed.")


def members_of(group: FailureGroup) -> Listing:
    """Return the candidates of a failure group, starting with the smallest difference to the original."""

    def entry(one: FailedCandidate) -> FindingRow:
        message = one.lead.message if one.lead is not None and one.lead.message else one.reason
        function, evaluator = one_line(f"{one.path}::{one.function}", 300), one_line(one.group.evaluator, 60)
        return _entry((function, f"{one.sample + 1:,}", f"{one.changed:,}", evaluator, one_line(message, 300)), one)

    entries = tuple(map(entry, group.candidates))
    text = f"{plural(len(entries), 'candidate')} of {plural(group.tasks, 'task')} · {one_line(group.exception, 60)}"
    return Listing(_OF_MEMBERS, entries, text, "")


def _entry(
    cells: tuple[str, ...], one: FailedCandidate | None, test: str = "", of: FailureGroup | None = None
) -> FindingRow:
    """Return a row for a candidate, with the test to show beside it; "" means its leading test."""
    return FindingRow(cells, of or one, partial(load_texts, one=one, test=test) if one is not None else None)


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
        entries.append(_entry((name, f"{task.samples:,}", f"{task.evaluators:,}", fewest, where), best))
    text = f"{len(found.unsolved):,} of {plural(len(names), 'task')}, by any evaluator"
    return Listing(_OF_UNSOLVED, tuple(entries), text, "Every task with samples is solved by some candidate.")


def _tests(found: Diagnosis) -> Listing:
    first: dict[str, FailedCandidate] = {}
    for group in found.groups:
        for test in group.tests:
            one = group.representative
            first[test] = min(first.get(test, one), one, key=lambda known: known.changed)
    entries = [
        _entry((one_line(one.test, 400), f"{one.candidates:,}", f"{one.tasks:,}"), first.get(one.test), one.test)
        for one in found.tests
    ]
    return Listing(_OF_TESTS, tuple(entries), plural(len(entries), "test"), "No test failed.")


# -- curves


def load_curves(reader: SessionReader, run_id: str, group: Group, ks: Sequence[int]) -> dict[str, Listing]:
    """Load pass@k of a group with intervals by the number of samples and by k, and pass@k by file."""
    from workbench.regeneration.outcome import pass_by, pass_by_k, pass_by_samples
    from workbench.results.failures import verdict_sequences
    from workbench.results.samples import results_by_group

    sequences = verdict_sequences(reader, run_id, group)
    results = results_by_group(reader, run_id).get(group, ())
    by_m = {k: {point.m: point.estimate for point in pass_by_samples(sequences, k)} for k in ks}
    by_k = {estimate.k: estimate for estimate in pass_by_k(results)}
    by_file = pass_by(((one.file, one) for one in results if one.counted), ks)
    named = {f"pass@{k} of the first m samples": of for k, of in by_m.items()} | {"pass@k of all samples, by k": by_k}
    lines = [
        PlotLine(title, tuple((x, e.value, e.low, e.high) for x, e in of.items() if e.value is not None))
        for title, of in named.items()
    ]
    return {CURVE: replace(_numbers(by_m, by_k), lines=tuple(lines)), BY_FILE: _bars(by_file, ks)}


def _bars(files: Sequence[TaskGroup], ks: Sequence[int]) -> Listing:
    """Return a row per file, hardest first, with a bar for each pass@k."""
    declared = [("file", 0, False), ("tasks", 5, True)]
    for k in ks:
        declared += [(f"pass@{k}", 7, True), ("", _BAR, False)]
    entries = []
    for one in sorted(files, key=lambda one: next((e.value for e in one.pass_at if e.value is not None), 2.0)):
        values = [(share(estimate.value), bar(estimate.value or 0.0, 1.0, _BAR)) for estimate in one.pass_at]
        entries.append(
            FindingRow((one_line(one.name, 400), f"{one.tasks:,}", *(cell for pair in values for cell in pair)))
        )
    text = f"{plural(len(files), 'file')}, the hardest first"
    return Listing(columns(*declared), tuple(entries), text, "No sample has a verdict yet.")


def _numbers(by_m: dict[int, dict[int, PassEstimate]], by_k: dict[int, PassEstimate]) -> Listing:
    declared = [("m or k", 6, True)]
    for k in by_m:
        declared += [(f"pass@{k}", 7, True), ("of first m", 14, False)]
    declared += [("pass@k", 7, True), ("of all samples", 14, False), ("", 0, False)]
    entries = []
    for number in range(1, max([*(max(of, default=0) for of in by_m.values()), len(by_k)], default=0) + 1):
        cells = [_estimate(of.get(number)) for of in (*by_m.values(), by_k)]
        entries.append(FindingRow((f"{number:,}", *(cell for pair in cells for cell in pair), "")))
    return Listing(columns(*declared), tuple(entries), "with 95 % intervals", "No sample has a verdict yet.")


def _estimate(estimate: PassEstimate | None) -> tuple[str, str]:
    if estimate is None or estimate.value is None:
        return NOTHING, ""
    known = estimate.low is not None and estimate.high is not None
    return share(estimate.value), f"[{estimate.low:.2f}, {estimate.high:.2f}]" if known else ""


# -- the selected candidate


def load_texts(reader: SessionReader, one: FailedCandidate, test: str = "") -> TitledTexts:
    """Load how a candidate fails a test, by default its leading one, and the code it wrote."""
    task, candidate = reader.task(one.task), reader.candidate(one.id)
    if task is None or candidate is None:
        return ("", doc.note("This candidate is no longer in the session.")), ("", doc.EMPTY)
    sample = SampleView(task, candidate, candidate.sample)
    usage = task.usage_blob is not None
    written, read = ("Answer", "Statement") if usage else ("Diff", "Docstring")
    difference, docs = (laid_out(reader, sample, tab) for tab in (written, read))
    body = doc.joined([difference, doc.plain(""), doc.heading(read), docs])
    title = f"{one_line(one.function, 60)} · {one_line(one.group.evaluator, 40)} · sample {candidate.sample + 1}"
    failing = {row.test_id: row for row in reader.failing_tests(one.id)}
    row = failing.get(test or (one.lead.test if one.lead is not None else ""))
    if row is None:
        text = f"{VERDICTS.get(one.verdict, '?')} {one.verdict}: {one.reason or 'no test failed.'}"
        return ("no failing test", doc.note(doc.prepared(text))), (title, body)
    trace = reader.shown(row.traceback_blob, "this traceback", _TRACEBACK) if row.traceback_blob else ""
    found = source_of_test(text_of_test_file(reader, task, row.test_id), row.test_id, trace)
    if found is not None:
        shown = replace(doc.of_lines(_source(found, row, one)), numbered=True)
    else:
        said_lines = doc.prepared(trace or row.message).split("\n")
        lines = [doc.styled((part, "bad" if part[:1].strip() else ""), indent=4) for part in said_lines]
        missing = () if usage else (doc.styled((NO_SOURCE, "dim"), indent=4), doc.TextLine(""))
        shown = doc.of_lines([*missing, *lines])
    return (one_line(row.test_id, 200), shown), (title, body)


def _source(found: SourceOfTest, row: FailingTestRow, one: FailedCandidate) -> Iterator[doc.TextLine]:
    """Lay out a test with line numbers, with the failure message after the asserting line."""

    def message(below: str) -> Iterator[doc.TextLine]:
        indent = " " * (len(below) - len(below.lstrip(" ")))
        for part in "\n".join(doc.prepared(text) for text in found.error_lines or (row.message,)).split("\n"):
            yield doc.styled((f"{indent}E  {part}", "bad"), indent=4)

    lines = doc.code("\n".join(found.lines), "test.py").lines
    for number, line in enumerate(lines, found.first):
        here = number == found.asserting
        yield replace(line, number=number, fill="block" if here else "")
        if here:
            yield from message(line.text)
    if found.asserting not in range(found.first, found.first + len(lines)):
        yield doc.TextLine("")
        yield from message("")
    place = one.lead.place if one.lead is not None and one.lead.test == row.test_id else None
    if place is not None and place.path and place.path != found.path:
        yield doc.TextLine("")
        yield doc.styled((doc.prepared(f"raised at {one_line(str(place), 200)}"), "warn"), indent=4)


# -- the screen


class WentWrongScreen(FindingsScreen):
    """A list of findings, with the failing test and the diff of the candidate for the selected one.

    ``opened`` is called with a candidate that the user wants to open in the Regeneration mode.
    """

    mode_name = "What went wrong"
    names = ("What went wrong", "test", "difference")
    BINDINGS = bindings("went-wrong")

    def __init__(self, view: RunView, opened: Callable[[FailedCandidate], None]) -> None:
        super().__init__()
        self._view, self._open_candidate = view, opened
        self.group: Group | None = view.group  # None for all groups
        self.tab = FAILURES
        self._level = FAILURES  # a key of LEVELS
        self._opened: FailureGroup | None = None  # the group whose members are listed
        self.listings: dict[str, Listing] = {}  # loaded listings by title
        kinds = {"candidate", "task"}
        self.live = LiveLoader(self, "went-wrong", self._read, self._put, kinds=kinds, seconds=1.0, nothing={})
        self.drawing = LiveLoader(
            self, "curves", self._read_curves, self._put
        )  # loaded separately, because that takes longer
        self._cursors: dict[str, int] = {}

    def compose_list(self) -> Iterable[Widget]:
        yield TabLine(TABS)
        yield from super().compose_list()

    def compose_beside(self) -> Iterable[Widget]:
        yield Pane(CurvePlot(), short=CURVE, id="plot-pane", classes="pane -off")

    def on_mount(self) -> None:
        self.set_status("loading failures…")

    @property
    def idle(self) -> bool:
        return super().idle and self.drawing.settled

    # -- content

    def _read(self, reader: SessionReader) -> Callable[[], dict[str, Listing]]:
        self.listings = {}
        self.drawing.refresh()
        return partial(load_findings, reader, self._view.run.id, self.group, lambda: self.live.outdated)

    def _read_curves(self, reader: SessionReader) -> Callable[[], dict[str, Listing]] | None:
        view = self._view
        if self.tab not in {CURVE, BY_FILE} or self.tab in self.listings:
            return None
        return partial(load_curves, reader, view.run.id, self.group or view.group, view.ks)

    def _put(self, found: dict[str, Listing]) -> None:
        self.listings |= found
        self._show_tab()

    @property
    def _title(self) -> str:
        return self._level if self.tab == FAILURES else self.tab

    def _show_tab(self) -> None:
        tabs, title = self.query_one(TabLine), self._title
        tabs.current = self.tab
        tabs.empty = frozenset(tab for tab in TABS if tab in self.listings and not self.listings[tab].entries)
        self.query_one("#plot-pane").set_class(self.tab != CURVE, "-off")
        self.query(".text").set_class(self.tab in {CURVE, BY_FILE}, "-off")
        self.query_one("#beside").set_class(self.tab == BY_FILE, "-off")  # the bars need the whole width
        listing = members_of(self._opened) if self._opened is not None else self.listings.get(title, LOADING)
        self.query_one(CurvePlot).lines = listing.lines
        self.list.show(listing, 1 if self._opened is not None else self._cursors.get(title, 1))
        name = self._view.name_of(self.group) if self.group else ""
        whose = one_line(short_name(self.group.evaluator, name) if self.group else "all evaluators", 60)
        self.retitle("#findings-pane", f"{title} · {listing.caption}", whose)
        if FAILURES in self.listings:
            self.set_status(f"what went wrong · {whose} · {self.listings[FAILURES].caption}")
        self.show_entry()
        self.refresh_bindings()

    def on_row_list_row_highlighted(self) -> None:
        if self._opened is None:
            self._cursors[self._title] = self.list.cursor
        super().on_row_list_row_highlighted()

    def on_tab_line_tab_activated(self, message: TabLine.TabActivated) -> None:
        self.show_tab(message.name)

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "evaluator":
            return len(self._view.groups) > 1
        if action == "group":
            return self.tab == FAILURES and self._opened is None
        if action == "members":
            return self.tab == FAILURES and (self._opened is None) is parameters[0]
        return super().check_action(action, parameters)

    def show_tab(self, name: str) -> None:
        self.tab, self._opened = name, None
        self.drawing.refresh()
        self._show_tab()

    def action_tab(self, step: int) -> None:
        self.show_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])

    def action_group(self) -> None:
        levels = list(LEVELS)
        self._level = levels[(levels.index(self._level) + 1) % len(levels)]
        self._show_tab()

    def action_evaluator(self) -> None:
        order = [*self._view.groups, None]
        self.group = order[(order.index(self.group) + 1) % len(order)] if self.group in order else order[0]
        self._cursors, self._opened = {}, None
        self.live.refresh()

    def on_row_list_row_selected(self) -> None:
        of = self.list.selected.of if self.list.selected is not None else None
        if of is not None:
            self.dismiss()
            self._open_candidate(of.representative if isinstance(of, FailureGroup) else of)

    def action_members(self, listed: bool) -> None:
        of = self.list.selected.of if self.list.selected is not None else None
        if not listed or isinstance(of, FailureGroup):
            self._opened = of if listed else None
            self._show_tab()

    def action_leave(self) -> None:
        if self._opened is not None:
            self.action_members(False)
        else:
            super().action_leave()
