"""The side-by-side view of two items, possibly from different sessions; each pane shows their differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import events, work
from textual.containers import Container
from textual.widget import Widget

from workbench.app.difference_list import DifferenceList, laid_out
from workbench.app.keys import bindings, with_keys
from workbench.app.location import Anchor, Location, MarkedItem, MarkedPair
from workbench.app.toolkit.cell_table import PinnedLines
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.comparison import kind_of, panes
from workbench.comparison.texts import Texts

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


class SideBySide(ModeScreen):
    """Compares two items of the open session or of others; differences are B minus A."""

    mode_name = "Side by side"
    CSS_PATH = "styles/compare.tcss"
    # Between 24 and 34 lines, or below 100 columns, only one pane fits.
    VERTICAL_BREAKPOINTS = [(0, "-h-none"), (12, "-h-tabs"), (24, "-h-low"), (34, "-h-full"), (48, "-h-tall")]
    BINDINGS = bindings("compare")

    def __init__(self, pair: MarkedPair) -> None:
        super().__init__()
        self.pair = pair
        of_trials = all(one.kind == "trials" or one.of_trials for one in (pair.left, pair.right))
        self.kind = kind_of("trials" if of_trials else pair.left.kind)
        self.add_class(f"-{self.kind.what.replace(' ', '-')}")
        self.lists = [DifferenceList(title, id=f"{_id(title)}-list") for title in self.kind.titles]
        # Start with the pane for the text that the user was viewing, such as the docstring.
        self.first_title = f"{pair.about}s"
        self.first_pane = _id(self.first_title if self.first_title in self.kind.titles else self.kind.titles[0])
        self.live = self.comparing = LiveLoader(
            self, "compare", self._read, self._show, lambda why: self._show(None, why)
        )
        self.detailing, self.acting = LatestWorker(self, "detail"), LatestWorker(self, "act")
        self.comparison: panes.PairComparison | None = None
        self.detail: Mapping[str, panes.Pane] = {}
        self.only_differences = False
        self._why = f"Loading {self.kind.what}…"  # shown if there is no comparison
        self._at = 0  # index of the current pair of groups if two runs are compared
        self._first = True  # whether nothing was shown so far; changes of a large run may arrive before it is loaded

    # -- content

    def compose_body(self) -> Iterable[Widget]:
        found = []
        for one in self.lists:
            name = _id(one.title)
            classes = "pane -current" if name == self.first_pane else "pane"
            found.append(Pane(one, Static("", classes="below"), short=one.title, id=name, classes=classes))
        yield PinnedLines(self._head_lines, id="head")
        yield Container(*found, id="panes")

    def on_mount(self) -> None:
        self.set_status(f"{self.kind.what} side by side")

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        mine = {one for side in (self.pair.left, self.pair.right) for one in (side.key, side.run)}
        kinds = {"run", *(("candidate", "task") if self.pair.left.kind != "trial" else ())}
        if any(change.item in mine or change.kind in kinds for change in changes):
            self.comparing.refresh_soon()

    def _with_both(self, read: Callable[..., Any], *, surveyed: bool = False) -> Callable[[], Any]:
        """Return a job that reads both sessions; ``surveyed`` validates them first."""
        sessions, opened = (self.pair.left.session, self.pair.right.session), self.workbench.reader

        def work() -> Any:
            from workbench.session.reader import SessionReader

            with ExitStack() as stack:
                known = {opened.path: opened} if opened is not None else {}
                for one in {*sessions} - {*known}:
                    known[one] = stack.enter_context(SessionReader(one, surveyed=surveyed))
                return read(*(known[one] for one in sessions))

        return work

    def _read(self, reader: SessionReader) -> Callable[[], panes.PairComparison]:
        pair, at = self.pair, self._at

        def read(left: SessionReader, right: SessionReader) -> panes.PairComparison:
            return self.kind.read((left, _key(pair.left)), (right, _key(pair.right)), pair.rubric, pair.judge, at)

        return self._with_both(read, surveyed=True)

    def _show(self, found: panes.PairComparison | None, why: str = "") -> None:
        self.comparison, self._why = found, why
        for one in self.lists:
            if found is None or one.title in found.panes:
                one.put(None if found is None else found.panes[one.title])
                if self._first and found is not None:
                    one.go_to_first_difference()
        self._first = self._first and found is None
        self.show_figures()
        self._read_detail()
        self.refresh_bindings()

    def _read_detail(self) -> None:
        found, row = self.comparison, self.lists[0].selected
        if found is None or found.detail is None or row is None:
            self._show_detail({})
        else:
            detail = found.detail
            self.detailing.ask(self._with_both(lambda left, right: detail(left, right, row)), self._show_detail)

    def _show_detail(self, detail: Mapping[str, panes.Pane]) -> None:
        self.detail = detail
        for one in self.lists:
            if self.comparison is None or one.title not in self.comparison.panes:
                one.put(detail.get(one.title))
        self.show_figures()

    def _head_lines(self, width: int) -> Sequence[list[Part]]:
        """Return the figures of A, B and B − A under their headings, and a note; if nothing is loaded, a message."""
        found = self.comparison
        if found is None:
            return [[(f" {self._why}", "dim")], [], [], []]
        width -= 4
        gaps = f"B − A · {found.alike}" if found.alike else "B − A"
        names = *((name, "strong") for name in found.names[0]), (gaps, "dim")
        # Show the common title in full if that leaves three quarters of the width for the figures.
        least = max(20, min(cell_len(found.shared), width // 4))
        name: panes.PaneColumn[int] = panes.texts(found.shared, names.__getitem__, least, 200)
        columns = laid_out([name, *found.columns], range(3))
        signs = (" A ", "only-a"), (" B ", "only-b"), ("   ", "")
        turns = with_keys("{compare.previous-pair} {compare.next-pair} turns")
        which = f"pair {self._at % found.of + 1} of {found.of}, {turns}" if found.of > 1 else ""
        note = " · ".join(filter(None, (which, found.note)))
        return [
            [("   ", ""), *columns.heading(width)],
            *([sign, *columns.cells(at, width)] for at, sign in enumerate(signs)),
            *([[(fit(f"   {note}", width), "")]] if note else []),
        ]

    def show_figures(self) -> None:
        """Show the figures and the pane titles; optional texts that are equal are hidden unless requested."""
        self.query_one(PinnedLines).relayout()
        if self.comparison is None:
            return
        if status := self.comparison.status:
            self.set_status(f"side by side · {status}")
        folded = "only what differs" if self.only_differences else ""
        for pane, one in zip(self.query(Pane), self.lists, strict=True):
            shown, summary = one.pane, one.pane.summary if one.pane is not None else ""
            same = isinstance(shown, Texts) and shown.optional and shown.same
            pane.set_class(same and one.title != self.first_title, "-off")
            pane.titled(f"{one.title} · {summary}" if summary else one.title, folded)
        self._refresh_tabs()
        self.show_below()

    def show_below(self) -> None:
        lines = 4 if self.has_class("-h-tall") else 2
        for one, below in zip(self.lists, self.query(".below").results(Static), strict=True):
            text = one.below(lines)
            below.display = bool(text)
            below.update(text)

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if message.row_list is self.lists[0] and self.comparison is not None and self.comparison.detail is not None:
            self._read_detail()
        self.show_below()

    def on_resize(self, event: events.Resize) -> None:
        self.show_figures()

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "pair":
            return self.comparison is not None and self.comparison.of > 1
        return super().check_action(action, parameters)

    def action_pair(self, step: int) -> None:
        self._at += step
        self.comparing.refresh()

    def action_difference(self, step: int) -> None:
        current = self.focused
        if isinstance(current, DifferenceList) and not current.go_to_difference(step):
            self.notify("Nothing differs here.", timeout=3)

    def action_only_differences(self) -> None:
        self.only_differences = not self.only_differences
        for one in self.lists:
            one.show_only_differences(self.only_differences)
        self.show_figures()

    def action_swap(self) -> None:
        if self.workbench.reader is not None:  # the comparison cannot be reloaded without a session
            self.pair = self.pair.swapped
            self.comparison = None  # the loaded comparison still has the old order
            self.comparing.refresh()

    @work
    async def action_export(self) -> None:
        found, pair, host = self.comparison, self.pair, self.workbench
        if found is None:
            self.notify("There is nothing to export yet.", timeout=3)
            return
        from workbench.app.toolkit.export_dialog import deliver_file, destination, suggested_path
        from workbench.app.toolkit.form import AskText
        from workbench.pages.comparison import comparison_page
        from workbench.pages.writing import check_place, write_page

        def check(name: str) -> None:
            for side in (pair.left, pair.right):
                check_place(destination(host, name), side.session)

        def write(name: str) -> Path:
            return write_page(comparison_page([found]), destination(host, name))

        note = "A Markdown file; an existing one is replaced."
        suggested = suggested_path(host, f"{pair.left.kind.rstrip('s')}s-side-by-side.md")
        question = AskText("Export comparison", note, suggested, paths=not host.in_browser, check=check)
        if answer := await host.push_screen_wait(question):
            self.acting.ask(lambda: write(answer), lambda out: deliver_file(host, out, "comparison"))

    def action_open_item(self) -> None:
        """Open the item of a row in its mode, or two items side by side; going back returns here."""
        found, current = self.comparison, self.focused
        if found is None:
            self._open(())
        elif found.choose is not None:
            choose, rows = found.choose, {one.title: one.selected for one in self.lists}
            choosing = self._with_both(lambda left, right: choose(left, right, rows))
            self.acting.ask(choosing, self._open, lambda why: self.notify(why, timeout=4))
        elif isinstance(current, DifferenceList):
            row, pane = current.selected, current.pane
            lead = found.leads[pane.of_b if isinstance(pane, Texts) else row is not None and row.left is None]
            if isinstance(pane, panes.PaneTable) and pane.number is not None and row is not None:
                lead = replace(lead, number=pane.number(row))
            self._open((lead,))

    def _open(self, leads: panes.Leads) -> None:
        sides = [self.pair.right if one.of_b else self.pair.left for one in leads]
        if len(leads) == 2 and self.comparison is not None:
            marked = [
                MarkedItem(of.session, one.kind, one.key, run=one.run) for one, of in zip(leads, sides, strict=True)
            ]
            self.workbench.show_pair(MarkedPair(marked[0], marked[1], *self.comparison.scale))
        elif leads:
            (lead,) = leads
            place = Anchor(lead.number, item=lead.item) if lead.number is not None else None
            mode = "trajectory" if lead.kind == "trial" else "regeneration"
            item = lead.key if lead.kind in {"trial", "run"} else lead.run
            self.workbench.go_to(Location(sides[0].session, mode, item, place, lead.evaluator))
        else:
            self.notify("There is nothing to open here.", timeout=3)

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, str(self.app.current_mode), pair=self.pair)


def _id(title: str) -> str:
    return "-".join(re.findall(r"\w+", title.lower()))


def _key(one: MarkedItem) -> Any:
    return (one.run, one.key) if one.kind == "group" else (one.key, one.title) if one.kind == "trials" else one.key
