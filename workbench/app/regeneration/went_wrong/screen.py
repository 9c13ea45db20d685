"""What went wrong in a run: groups of failures, tasks that nobody solves, tests that fail most, and pass@k by m."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bind
from workbench.app.regeneration.sample_content import laid_out
from workbench.app.regeneration.went_wrong.findings import (
    BY_FILE,
    COMING,
    CURVE,
    FAILURES,
    LEVELS,
    TABS,
    Curves,
    Entry,
    Findings,
    Listing,
    load_curves,
    load_findings,
    members_of,
)
from workbench.app.regeneration.wording import short_name
from workbench.app.toolkit.columns import Columns
from workbench.app.toolkit.document import Document, Line, code, heading, joined, note, plain, prepared
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane, TabLine
from workbench.app.toolkit.plot import CurvePlot, PlotLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.text_pane import TextPane
from workbench.glyphs import VERDICTS
from workbench.regeneration.source_of_test import SourceOfTest, source_of_test, text_of_test_file
from workbench.results.samples import Sample
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.regeneration.failure_groups import FailedCandidate, FailureGroup
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change, FailingTestRow


_TRACEBACK = 40_000  # bytes
NOT_KEPT = "The source of this test is neither in this session nor in the cache; the traceback has what is known of it."


@dataclass(frozen=True, slots=True)
class Detail:
    """Two texts with their titles: the test, and the difference above the docstring."""

    test_title: str
    test: Document
    body_title: str
    body: Document


def load_detail(reader: SessionReader, one: FailedCandidate, test: str = "") -> Detail:
    """Read what a candidate wrote and how it fails a test; without one its leading test, without that why it failed."""
    task, candidate = reader.task(one.task), reader.candidate(one.id)
    if task is None or candidate is None:
        gone = note("This candidate is no longer in the session.")
        return Detail("test", gone, "difference", gone)
    sample = Sample(task, candidate, candidate.sample)
    body = joined(
        [
            laid_out(reader, sample, "Diff"),
            plain(""),
            heading("Docstring"),
            *([laid_out(reader, sample, "Docstring")]),
        ]
    )
    title = f"{one_line(one.function, 60)} · {one_line(one.group.evaluator, 40)} · sample {candidate.sample + 1}"
    failing = {row.test_id: row for row in reader.failing_tests(one.id)}
    wanted = failing.get(test or (one.lead.test if one.lead is not None else ""))
    if wanted is None:
        said = f"{VERDICTS.get(one.verdict, '?')} {one.verdict}: {one.reason or 'no test said why.'}"
        return Detail("no failing test", note(prepared(said)), title, body)
    trace = reader.shown(wanted.traceback_blob, "this traceback", _TRACEBACK) if wanted.traceback_blob else ""
    found = source_of_test(text_of_test_file(reader, task, wanted.test_id), wanted.test_id, trace)
    shown = _source(found, wanted, one) if found is not None else _without_source(wanted, trace)
    return Detail(one_line(wanted.test_id, 200), shown, title, body)


def _source(found: SourceOfTest, row: FailingTestRow, one: FailedCandidate) -> Document:
    """Lay out a test with its line numbers; below the asserting line stands what it said."""
    coloured = code("\n".join(found.lines), "test.py")
    lines: list[Line] = []
    told = False
    for at, line in enumerate(coloured.lines):
        number = found.first + at
        here = number == found.asserting
        lines.append(replace(line, number=number, fill="block" if here else ""))
        if here:
            lines += _said(found.said or (row.message,), line.text)
            told = True
    if not told:
        lines += [Line(""), *_said(found.said or (row.message,), "")]
    place = one.lead.place if one.lead is not None and one.lead.test == row.test_id else None
    if place is not None and place.path and place.path != found.path:
        lines += [Line(""), _styled(f"raised at {one_line(str(place), 200)}", "warn")]
    return Document(tuple(lines), "\n".join(line.text for line in lines), numbered=True)


def _said(said: tuple[str, ...], below: str) -> list[Line]:
    indent = " " * (len(below) - len(below.lstrip(" ")))
    return [_styled(f"{indent}E  {part}", "bad") for text in said for part in prepared(text).split("\n")]


def _without_source(row: FailingTestRow, trace: str) -> Document:
    lines = [_styled(NOT_KEPT, "dim"), Line("")]
    lines += [_styled(part, "bad" if part[:1].strip() else "") for part in prepared(trace or row.message).split("\n")]
    return Document(tuple(lines), "\n".join(line.text for line in lines))


def _styled(text: str, style: str) -> Line:
    ready = prepared(text)
    return Line(ready, ((0, len(ready), style),) if style else (), indent=4)


class FindingList(Table[Entry]):
    """The entries of a listing."""

    LEAD = 1
    BINDINGS: ClassVar[list[BindingType]] = [bind("went-wrong.open", "choose", "open candidate")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda entry: entry.cells, id=id)

    def show(self, listing: Listing, *, cursor: int = 1) -> None:
        self.columns = Columns(listing.columns)
        self.empty = listing.empty
        self.cursor = -1
        self.put(listing.entries)
        self.set_cursor(max(1, cursor))


REFRESH_SECONDS = 1.0
"""Shortest time between two readings of a run that goes on; readings that take longer are rarer."""
EVERYBODY = "all evaluators"


class FindingsPane(Pane):
    """The tabs over the list of the current one."""

    short = "What went wrong"

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="went-wrong-tabs")
        yield FindingList(id="findings")


class WentWrongScreen(ModeScreen):
    """Findings on the left; on the right the test that says most and the difference of the candidate that stands for it.

    Args:
        view: The run, as it was when this was opened.
        opened: Called with a candidate that is to be shown in the mode.
    """

    mode_name = "What went wrong"
    CSS_PATH = "../../styles/went_wrong.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("went-wrong.next-tab", "tab(1)", "tab", key_display="[ ]"),
        bind("went-wrong.previous-tab", "tab(-1)", "Previous tab", show=False),
        bind("went-wrong.evaluator", "evaluator", "next evaluator"),
        bind("went-wrong.group", "group", "group by"),
        bind("went-wrong.open-group", "members(True)", "members", key_display="l"),
        bind("went-wrong.close-group", "members(False)", "All groups", show=False),
        bind("went-wrong.back", "leave", "back"),
    ]

    def __init__(self, view: RunView, opened: Callable[[FailedCandidate], None]) -> None:
        super().__init__()
        self._view, self._open_candidate = view, opened
        self.group: Group | None = view.group  # whose candidates; None for all
        self.tab = FAILURES
        self.level = ""  # how alike failures of one group are, a key of LEVELS
        self.opened: FailureGroup | None = None  # the group whose members are listed in place of all groups
        self.findings: Findings | None = None
        self.curves: Curves | None = None
        self.reading, self.drawing = Latest(self, "went-wrong"), Latest(self, "curves")
        self.detailing = Latest(self, "failed-candidate")
        self._cursors: dict[str, int] = {}
        self._group_cursor = 1
        self._shown: Entry | None = None
        self._seconds = REFRESH_SECONDS

    def compose_body(self) -> Iterable[Widget]:
        test = Container(TextPane(id="test-text"), id="test-pane", classes="pane")
        set_title(test, "test")
        body = Container(TextPane(id="body-text"), id="body-pane", classes="pane")
        set_title(body, "difference")
        plot = Container(CurvePlot(id="plot"), id="plot-pane", classes="pane -off")
        set_title(plot, "pass@k by m")
        yield FindingsPane(id="findings-pane", classes="pane")
        yield Container(test, body, plot, id="beside", classes="pane-group")

    def on_mount(self) -> None:
        self.set_status("reading why candidates fail…")
        self.list.show(COMING)

    @property
    def list(self) -> FindingList:
        return self.query_one("#findings", FindingList)

    @property
    def idle(self) -> bool:
        return not self.reading.due and all(one.idle for one in (self.reading, self.drawing, self.detailing))

    # -- what is shown

    def on_session_opened(self, reader: SessionReader | None) -> None:
        if reader is None:
            self._put(Findings({}))
        else:
            self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        if any(change.kind in {"candidate", "task"} for change in changes):
            self.reading.soon(self._load, self._seconds)

    def _load(self) -> None:
        reader, run, group = self.workbench.reader, self._view.run.id, self.group
        if reader is None:
            return

        def work() -> tuple[Findings, float]:
            began = time.perf_counter()
            found = load_findings(reader, run, group, lambda: self.reading.outdated)
            return found, time.perf_counter() - began

        def done(found: tuple[Findings, float]) -> None:
            self._seconds = max(REFRESH_SECONDS, 4 * found[1])
            self._put(found[0])

        self.reading.ask(work, done)
        self.curves = None
        self._load_curves()

    def _load_curves(self) -> None:
        reader, run, ks, group = self.workbench.reader, self._view.run.id, self._view.ks, self.group or self._view.group
        if reader is not None and self.tab in {CURVE, BY_FILE}:
            self.drawing.ask(lambda: load_curves(reader, run, group, ks), self._draw)

    def _put(self, found: Findings) -> None:
        self.findings = found
        self._show_tab()

    def _draw(self, curves: Curves) -> None:
        self.curves = curves
        lines = [
            PlotLine(
                f"pass@{curve.k} of the first m samples",
                tuple(
                    (p.m, p.estimate.value, p.estimate.low, p.estimate.high)
                    for p in curve.points
                    if p.estimate.value is not None
                ),
            )
            for curve in curves.by_m
        ]
        of_k = tuple((e.k, e.value, e.low, e.high) for e in curves.by_k if e.value is not None)
        lines.append(PlotLine("pass@k of all samples, by k", of_k))
        self.query_one(CurvePlot).lines = tuple(lines)
        if self.tab in {CURVE, BY_FILE}:
            self._show_tab()

    def _show_tab(self) -> None:
        tabs = self.query_one(TabLine)
        tabs.current = self.tab
        found = self.findings
        listings = (
            {**found.listings, **({FAILURES: found.failures[self.level]} if found.failures else {})} if found else {}
        )
        tabs.empty = frozenset(name for name, listing in listings.items() if not listing.entries)
        listing = listings.get(self.tab)
        if self.tab in {CURVE, BY_FILE}:
            curves = self.curves
            listing = None if curves is None else curves.listing if self.tab == CURVE else curves.by_file
        whose = (
            one_line(short_name(self.group.evaluator, self._view.name_of(self.group)), 60) if self.group else EVERYBODY
        )
        self.query_one("#plot-pane").set_class(self.tab != CURVE, "-off")
        for selector in ("#test-pane", "#body-pane"):
            self.query_one(selector).set_class(self.tab in {CURVE, BY_FILE}, "-off")
        self.query_one("#beside").set_class(self.tab == BY_FILE, "-off")  # the bars have all the room
        if self.opened is not None and self.tab == FAILURES:
            listing = members_of(self.opened)
        listing = listing or COMING
        self.list.show(listing, cursor=self._cursors.get(self.tab, 1))
        by = f" by {self.level}" if self.level and self.tab == FAILURES else ""
        self.retitle("#findings-pane", f"{self.tab}{by} · {listing.said}", whose)
        if self.findings is not None:
            said = f"{self.findings.failed:,} failed in {self.findings.groups:,} ways"
            self.set_status(f"what went wrong · {whose} · {said}")
        self._show_entry()
        self.refresh_bindings()

    def _show_entry(self) -> None:
        entry, reader = self.list.selected, self.workbench.reader
        if entry is None or entry.candidate is None or reader is None:
            self._shown = None
            self._show_detail(Detail("test", note(""), "difference", note("")))
            return
        if entry == self._shown:
            return
        self._shown = entry
        candidate, test = entry.candidate, entry.test

        def failed(sentence: str) -> None:
            self._show_detail(Detail("test", note(sentence), "difference", note("")))

        self.detailing.ask(lambda: load_detail(reader, candidate, test), self._show_detail, failed)

    def _show_detail(self, detail: Detail) -> None:
        self.retitle("#test-pane", detail.test_title)
        self.retitle("#body-pane", detail.body_title)
        test = self.query_one("#test-text", TextPane)
        test.show(detail.test)
        self.query_one("#body-text", TextPane).show(detail.body)
        asserting = next((at for at, line in enumerate(detail.test.lines) if line.fill), None)
        if asserting is not None:
            test.go_to(asserting)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._cursors[self.tab] = self.list.cursor
        self._show_entry()

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        self.show_tab(message.name)

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "evaluator":
            return len(self._view.groups) > 1
        if action == "group":
            return self.tab == FAILURES and self.opened is None
        if action == "members":
            return self.tab == FAILURES and (self.opened is None) is parameters[0]
        return super().check_action(action, parameters)

    def show_tab(self, name: str) -> None:
        self.tab, self.opened, self._shown = name, None, None
        if self.curves is None:
            self._load_curves()
        self._show_tab()

    def action_tab(self, step: int) -> None:
        self.show_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])

    def action_group(self) -> None:
        levels = list(LEVELS)
        self.level = levels[(levels.index(self.level) + 1) % len(levels)]
        self._cursors.pop(FAILURES, None)
        self._shown = None
        self._show_tab()

    def action_evaluator(self) -> None:
        order = [*self._view.groups, None]
        self.group = order[(order.index(self.group) + 1) % len(order)] if self.group in order else order[0]
        self._cursors, self.opened, self._shown, self.curves = {}, None, None, None
        self._load()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        entry = self.list.selected
        if entry is not None and entry.candidate is not None:
            self.dismiss()
            self._open_candidate(entry.candidate)

    def action_members(self, listed: bool) -> None:
        entry = self.list.selected
        if not listed:
            self.opened = None
            self._cursors[FAILURES] = self._group_cursor
        elif entry is None or entry.group is None:
            return
        else:
            self._group_cursor = self.list.cursor
            self.opened = entry.group
            self._cursors.pop(FAILURES, None)
        self._shown = None
        self._show_tab()

    def action_leave(self) -> None:
        if self.opened is not None:
            self.action_members(False)
        else:
            super().action_leave()
