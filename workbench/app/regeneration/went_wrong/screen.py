"""What went wrong in a run: groups of failures, tasks that nobody solves, tests that fail most, and pass@k by m."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bind
from workbench.app.regeneration.evaluators import short_name
from workbench.app.regeneration.went_wrong.detail import Detail, load_detail
from workbench.app.regeneration.went_wrong.finding_list import FindingList
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
    load_curves,
    load_findings,
)
from workbench.app.toolkit.curve import CurvePlot, PlotLine
from workbench.app.toolkit.document import note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.tab_line import TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.regeneration.failure_groups import FailedCandidate
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

REFRESH_SECONDS = 1.0
"""Shortest time between two readings of a run that goes on; readings that take longer are rarer."""
EVERYBODY = "all evaluators"


class FindingsPane(Pane):
    """The tabs over the list of the current one."""

    short = "What went wrong"

    def compose(self) -> ComposeResult:
        """Compose tabs and list."""
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
        bind("went-wrong.back", "leave", "back"),
    ]

    def __init__(self, view: RunView, opened: Callable[[FailedCandidate], None]) -> None:
        super().__init__()
        self._view, self._opened = view, opened
        self.group: Group | None = view.group  # whose candidates; None for all
        self.tab = FAILURES
        self.level = ""  # how alike failures of one group are, a key of LEVELS
        self.findings: Findings | None = None
        self.curves: Curves | None = None
        self.reading, self.drawing = Latest(self, "went-wrong"), Latest(self, "curves")
        self.detailing = Latest(self, "failed-candidate")
        self._cursors: dict[str, int] = {}
        self._shown: Entry | None = None
        self._seconds = REFRESH_SECONDS

    def compose_body(self) -> Iterable[Widget]:
        """Yield the findings and what is to be seen of one."""
        test = Container(TextPane(id="test-text"), id="test-pane", classes="pane")
        set_title(test, "test")
        body = Container(TextPane(id="body-text"), id="body-pane", classes="pane")
        set_title(body, "difference")
        plot = Container(CurvePlot(id="plot"), id="plot-pane", classes="pane -off")
        set_title(plot, "pass@k by m")
        yield FindingsPane(id="findings-pane", classes="pane")
        yield Container(test, body, plot, id="beside", classes="pane-group")

    def on_mount(self) -> None:
        """Say what is being read."""
        self.set_status("reading why candidates fail…")
        self.list.show(COMING)

    @property
    def list(self) -> FindingList:
        """The list of the current tab."""
        return self.query_one("#findings", FindingList)

    @property
    def idle(self) -> bool:
        """Whether nothing is being read."""
        return not self.reading.due and all(one.idle for one in (self.reading, self.drawing, self.detailing))

    # -- what is shown

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Read the run; another session than the one that was open has none of it."""
        if reader is None:
            self._put(Findings({}))
        else:
            self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Read again soon."""
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
        """Compute the curves where they are looked at: they are many means over all tasks."""
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
        """Show the list of the current tab and what belongs to its entry."""
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
        """Show what belongs to the entry under the cursor."""
        self._cursors[self.tab] = self.list.cursor
        self._show_entry()

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """Show the tab that was clicked."""
        self.show_tab(message.name)

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer other evaluators only where there are some."""
        if action == "evaluator":
            return len(self._view.groups) > 1
        if action == "group":
            return self.tab == FAILURES
        return super().check_action(action, parameters)

    def show_tab(self, name: str) -> None:
        """Show another tab."""
        self.tab, self._shown = name, None
        if self.curves is None:
            self._load_curves()
        self._show_tab()

    def action_tab(self, step: int) -> None:
        """Show the next or previous tab."""
        self.show_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])

    def action_group(self) -> None:
        """Put failures together that are less alike: the same error whatever test, then the same exception."""
        levels = list(LEVELS)
        self.level = levels[(levels.index(self.level) + 1) % len(levels)]
        self._cursors.pop(FAILURES, None)
        self._shown = None
        self._show_tab()

    def action_evaluator(self) -> None:
        """Show the candidates of the next evaluator, after the last one those of all."""
        order = [*self._view.groups, None]
        self.group = order[(order.index(self.group) + 1) % len(order)] if self.group in order else order[0]
        self._cursors, self._shown, self.curves = {}, None, None
        self._load()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Show the candidate that stands for the entry in the mode."""
        entry = self.list.selected
        if entry is not None and entry.candidate is not None:
            self.dismiss()
            self._opened(entry.candidate)
