"""What went wrong in a run: groups of failures, tasks that nobody solves, tests that fail most, and pass@k by m."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual import getters
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings
from workbench.app.regeneration import findings
from workbench.app.regeneration.findings import BY_FILE, CURVE, FAILURES, LEVELS, TABS, Detail, Entry, Findings, Listing
from workbench.app.regeneration.wording import short_name
from workbench.app.toolkit.columns import Columns
from workbench.app.toolkit.document import note
from workbench.app.toolkit.latest import Latest, Live
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane, TabLine
from workbench.app.toolkit.plot import CurvePlot
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.text_pane import TextPane
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.regeneration.failure_groups import FailedCandidate, FailureGroup
    from workbench.results.regeneration_runs import RunView
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

EVERYBODY = "all evaluators"


class FindingList(Table[Entry]):
    """The entries of a listing."""

    LEAD = 1
    BINDINGS = bindings("went-wrong.open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda entry: entry.cells, id=id)

    def show(self, listing: Listing, *, cursor: int = 1) -> None:
        self.columns = Columns(listing.columns)
        self.empty = listing.empty
        self.cursor = -1
        self.put(listing.entries)
        self.set_cursor(max(1, cursor))


class WentWrongScreen(ModeScreen):
    """Findings on the left; on the right the test that says most and the difference of the candidate that stands for it.

    Args:
        view: The run, as it was when this was opened.
        opened: Called with a candidate that is to be shown in the mode.
    """

    mode_name = "What went wrong"
    CSS_PATH = "../styles/went_wrong.tcss"
    BINDINGS = bindings("went-wrong")

    def __init__(self, view: RunView, opened: Callable[[FailedCandidate], None]) -> None:
        super().__init__()
        self._view, self._open_candidate = view, opened
        self.group: Group | None = view.group  # whose candidates; None for all
        self.tab = FAILURES
        self.level = ""  # how alike failures of one group are, a key of LEVELS
        self.opened: FailureGroup | None = None  # the group whose members are listed in place of all groups
        self.findings: Findings | None = None
        self.curves: findings.Curves | None = None
        kinds = {"candidate", "task"}
        nothing = Findings({})
        self.live = Live(self, "went-wrong", self._read, self._put, kinds=kinds, seconds=1.0, nothing=nothing)
        self.drawing = Live(self, "curves", self._read_curves, self._draw)
        self.detailing = Latest(self, "failed-candidate")
        self._cursors: dict[str, int] = {}
        self._group_cursor = 1
        self._shown: Entry | None = None

    def compose_body(self) -> Iterable[Widget]:
        inside = (TabLine(TABS, id="went-wrong-tabs"), FindingList(id="findings"))
        yield Pane(*inside, short=self.mode_name, id="findings-pane", classes="pane")
        test = Pane(TextPane(id="test-text"), short="test", id="test-pane", classes="pane")
        body = Pane(TextPane(id="body-text"), short="difference", id="body-pane", classes="pane")
        plot = Pane(CurvePlot(id="plot"), short="pass@k by m", id="plot-pane", classes="pane -off")
        yield Container(test, body, plot, id="beside", classes="pane-group")

    def on_mount(self) -> None:
        self.set_status("reading why candidates fail…")
        self.list.show(findings.COMING)

    list = getters.query_one("#findings", FindingList)

    @property
    def idle(self) -> bool:
        return self.live.settled and self.drawing.settled and self.detailing.idle

    # -- what is shown

    def _read(self, reader: SessionReader) -> Callable[[], Findings]:
        self.curves = None
        self.drawing.refresh()
        return partial(findings.load_findings, reader, self._view.run.id, self.group, lambda: self.live.outdated)

    def _read_curves(self, reader: SessionReader) -> Callable[[], findings.Curves] | None:
        view = self._view
        if self.tab not in {CURVE, BY_FILE}:
            return None
        return partial(findings.load_curves, reader, view.run.id, self.group or view.group, view.ks)

    def _put(self, found: Findings) -> None:
        self.findings = found
        self._show_tab()

    def _draw(self, curves: findings.Curves) -> None:
        self.curves = curves
        self.query_one(CurvePlot).lines = curves.lines
        if self.tab in {CURVE, BY_FILE}:
            self._show_tab()

    def _listings(self) -> dict[str, Listing]:
        """Return what is there, by the tabs."""
        listings = dict(self.findings.listings) if self.findings is not None else {}
        if self.findings is not None and self.findings.failures:
            listings[FAILURES] = self.findings.failures[self.level]
        if self.opened is not None:
            listings[FAILURES] = findings.members_of(self.opened)
        if self.curves is not None:
            listings |= {CURVE: self.curves.listing, BY_FILE: self.curves.by_file}
        return listings

    def _show_tab(self) -> None:
        tabs, listings = self.query_one(TabLine), self._listings()
        tabs.current = self.tab
        tabs.empty = frozenset(name for name, listing in listings.items() if not listing.entries)
        self.query_one("#plot-pane").set_class(self.tab != CURVE, "-off")
        for selector in ("#test-pane", "#body-pane"):
            self.query_one(selector).set_class(self.tab in {CURVE, BY_FILE}, "-off")
        self.query_one("#beside").set_class(self.tab == BY_FILE, "-off")  # the bars have all the room
        listing = listings.get(self.tab, findings.COMING)
        self.list.show(listing, cursor=self._cursors.get(self.tab, 1))
        name = short_name(self.group.evaluator, self._view.name_of(self.group)) if self.group else EVERYBODY
        whose = one_line(name, 60)
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
            self._show_detail(Detail())
        elif entry != self._shown:
            self._shown = entry
            read = partial(findings.load_detail, reader, entry.candidate, entry.test)
            self.detailing.ask(read, self._show_detail, lambda sentence: self._show_detail(Detail(note(sentence))))

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
            self.drawing.refresh()
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
        self._cursors, self.opened, self._shown = {}, None, None
        self.live.refresh()

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
