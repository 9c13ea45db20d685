"""The screen for two things side by side: they are read from their sessions, and each pane shows how they differ."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events, work
from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList, Head
from workbench.app.key_table import with_keys
from workbench.app.keys import bindings
from workbench.app.location import Location, Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import PaneTabs
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.comparison import kind_of, panes
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

REFRESH_SECONDS = 0.5
"""Time between two readings of what is at work."""


class SideBySide(ModeScreen):
    """Two things of the open session, or of others.

    Args:
        pair: What is A, and what is B; differences are B minus A.
    """

    mode_name = "Side by side"
    CSS_PATH = "../styles/compare.tcss"
    # Between 24 and 34 lines there is room for one pane at a time, as there is under 100 columns.
    VERTICAL_BREAKPOINTS = [(0, "-h-none"), (12, "-h-tabs"), (24, "-h-low"), (34, "-h-full"), (48, "-h-tall")]
    BINDINGS = bindings("compare")

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.pair = pair
        of_trials = all(one.kind == "trials" or one.of_trials for one in (pair.left, pair.right))
        self.kind = kind_of("trials" if of_trials else pair.left.kind)
        self.add_class(f"-{self.kind.what.replace(' ', '-')}")
        # Whose docstring or prompt was looked at sees these first.
        asked = (name for name, title in self.kind.titles.items() if title == f"{pair.about}s")
        self.asked = next(asked, "")
        self.first_pane = self.asked or next(iter(self.kind.titles))
        self.comparing, self.detailing, self.choosing = (Latest(self, one) for one in ("compare", "detail", "samples"))
        self.comparison: panes.Comparison | None = None
        self.detail: Mapping[str, panes.Pane] = {}
        self.only_differences = False
        self._at = 0  # which pair of groups of two runs is shown
        # A large run takes longer to read than what changes takes to come.
        self._first = True

    # -- what is shown

    def compose_body(self) -> Iterable[Widget]:
        found: list[Container] = []
        for name, title in self.kind.titles.items():
            inside = DifferenceList(id=f"{name}-list"), Static("", classes="below")
            found.append(Container(*inside, id=name, classes="pane -current" if name == self.first_pane else "pane"))
            set_title(found[-1], title)
        yield Head(self.kind.head_lines, id="head")
        yield Container(*found, id="panes")

    def on_mount(self) -> None:
        self.set_status(f"{self.kind.what} side by side")
        self.query_one(Head).say(f"Reading {self.kind.what.replace('two', 'both')}…")

    @property
    def lists(self) -> list[DifferenceList]:
        return list(self.query(DifferenceList))

    def _named_lists(self) -> Iterator[tuple[str, DifferenceList]]:
        return zip(self.kind.titles, self.lists, strict=True)

    def on_session_opened(self, reader: SessionReader | None) -> None:
        self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        mine = {one for side in (self.pair.left, self.pair.right) for one in (side.key, side.run)}
        kinds = {"run", *(("candidate", "task") if self.pair.left.kind != "trial" else ())}
        if any(change.item in mine or change.kind in kinds for change in changes):
            self.comparing.soon(self._load, REFRESH_SECONDS)

    def _with_both(
        self, read: Callable[[SessionReader, SessionReader], Any], *, surveyed: bool = False
    ) -> Callable[[], Any]:
        """Return work for a thread that reads both sessions; they are surveyed where more than single texts are wanted."""
        pair, opened = self.pair, self.workbench.reader

        def work() -> Any:
            with (
                _reading(opened, pair.left.session, surveyed) as left,
                _reading(opened, pair.right.session, surveyed) as right,
            ):
                return read(left, right)

        return work

    def _load(self) -> None:
        pair, at = self.pair, self._at

        def read(left: SessionReader, right: SessionReader) -> panes.Comparison:
            return self.kind.read((left, _key(pair.left)), (right, _key(pair.right)), pair.rubric, pair.judge, at)

        self.comparing.ask(self._with_both(read, surveyed=True), self._show, self._show_nothing)

    def _show_nothing(self, sentence: str) -> None:
        self._show(None)
        self.query_one(Head).say(sentence)

    def _show(self, found: panes.Comparison | None) -> None:
        self.comparison = found
        for name, one in self._named_lists():
            if found is None or name in found.panes:
                one.put(None if found is None else found.panes[name])
                if self._first and found is not None:
                    one.go_to_first_difference()
        self._first = self._first and found is None
        self.show_figures()
        self._read_detail()
        self.refresh_bindings()

    def _read_detail(self) -> None:
        """Read what other panes show of the row under the cursor of the first one."""
        found, row = self.comparison, self.lists[0].selected
        if found is None or found.detail is None or row is None:
            self._show_detail({})
            return
        detail = found.detail
        self.detailing.ask(self._with_both(lambda left, right: detail(left, right, row)), self._show_detail)

    def _show_detail(self, detail: Mapping[str, panes.Pane]) -> None:
        self.detail = detail
        for name, one in self._named_lists():
            if self.comparison is None or name not in self.comparison.panes:
                one.put(detail.get(name))
        self.show_figures()

    def show_figures(self) -> None:
        """Show the head, and in each pane's title what it says; texts that are the same may take no room unless they were asked for."""
        found = self.comparison
        if found is None:
            return
        head = found.head(self.size.width)
        turns = with_keys("{compare.previous-pair} {compare.next-pair} turns")
        which = f"pair {self._at % found.of + 1} of {found.of}, {turns}" if found.of > 1 else ""
        self.query_one(Head).show(head, " · ".join(filter(None, (which, head.note))))
        if head.status:
            self.set_status(f"side by side · {head.status}")
        folded = "only what differs" if self.only_differences else ""
        for name, one in self._named_lists():
            pane, shown, title = self.query_one(f"#{name}"), one.pane, self.kind.titles[name]
            off = isinstance(shown, panes.Texts) and shown.optional and shown.pair.same and name != self.asked
            pane.set_class(off, "-off")
            set_title(pane, f"{title} · {shown.said}" if shown is not None and shown.said else title, folded)
        self._refresh_tabs()
        self.show_below()

    def show_below(self) -> None:
        """Say more of the rows under the cursors."""
        lines = 4 if self.has_class("-h-tall") else 2
        for one in self.lists:
            if one.parent is not None:
                below, text = one.parent.query_one(".below", Static), one.below(lines)
                below.display = bool(text)
                below.update(text)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.lists[0] and self.comparison is not None and self.comparison.detail is not None:
            self._read_detail()
        self.show_below()

    def on_resize(self, event: events.Resize) -> None:
        self.show_figures()

    def _refresh_tabs(self) -> None:
        # Where only one pane has room there is none for counts either.
        tabs = [(self.kind.titles[pane.id or ""], pane.has_class("-current")) for pane in self.panes]
        self.query_one(PaneTabs).tabs = tuple(tabs)

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "pair":
            return self.comparison is not None and self.comparison.of > 1
        return super().check_action(action, parameters)

    def action_pair(self, step: int) -> None:
        self._at += step
        self._load()

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
        self.pair = self.pair.swapped
        self.comparison = None  # what was read is the other way round
        self._load()

    @work
    async def action_export(self) -> None:
        """Ask for a file and write the comparison there, as ``workbench compare`` prints it."""
        if self.comparison is None:
            self.notify("There is nothing to export yet.", timeout=3)
            return
        from workbench.app.toolkit.form import AskText
        from workbench.app.toolkit.report_dialog import hand_over, place_of, suggested_place

        host, problem = self.workbench, ""
        suggested = suggested_place(host, f"{self.pair.left.kind.rstrip('s')}s-side-by-side.md")
        while True:
            note = "\n".join(filter(None, (problem, "It is written as Markdown; a file of that name is replaced.")))
            question = AskText("Export comparison", note, suggested, paths=not host.in_browser)
            answer = await host.push_screen_wait(question)
            if not answer or self.comparison is None:
                return
            try:
                out = await asyncio.to_thread(self._write, place_of(host, answer), self.comparison)
            except WorkbenchError as error:
                suggested, problem = answer, f"✗ {error}"
                continue
            hand_over(host, out, "comparison")
            return

    def _write(self, out: Path, comparison: panes.Comparison) -> Path:
        from workbench.reports.comparison_page import comparison_page
        from workbench.reports.page_markdown import page_markdown
        from workbench.reports.writing import check_place, write_atomically

        for side in (self.pair.left, self.pair.right):
            check_place(out, side.session)
        return write_atomically(out, [page_markdown(comparison_page(self.kind, [comparison]))])

    def action_open_item(self) -> None:
        found, rows = self.comparison, {name: one.selected for name, one in self._named_lists()}
        first = next(iter(rows.values()))
        if found is not None and found.choose is not None and first is not None:
            choose = found.choose
            choosing = self._with_both(lambda left, right: choose(left, right, first))
            self.choosing.ask(choosing, self._open, lambda why: self.notify(why, timeout=4))
        else:
            pane = (self.focused.id or "").removesuffix("-list") if self.focused is not None else ""
            self._open(found.leads(pane, rows) if found is not None else ())

    def _open(self, leads: panes.Leads) -> None:
        """Go to a row's item in its mode, from which the way back leads here, or show two of them side by side."""
        marked = [
            Marked((self.pair.right if one.of_b else self.pair.left).session, one.kind, one.key, run=one.run)
            for one in leads
        ]
        if len(marked) == 2 and self.comparison is not None:
            self.workbench.show_pair(Pair(marked[0], marked[1], *self.comparison.scale))
        elif len(marked) == 1:
            self.go_to(leads[0], marked[0].session)
        else:
            self.notify("There is nothing to open here.", timeout=3)

    def go_to(self, lead: panes.Lead, session: Path) -> None:
        place = Place(lead.number, item=lead.item) if lead.number is not None else None
        mode = "trajectory" if lead.kind == "trial" else "regeneration"
        item = lead.key if lead.kind in {"trial", "run"} else lead.run
        self.workbench.go_to(Location(session, mode, item, place, lead.evaluator))

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, str(self.app.current_mode), pair=self.pair)


def _key(one: Marked) -> Any:
    """Return what a comparison calls something marked in its session."""
    return (one.run, one.key) if one.kind == "group" else (one.key, one.title) if one.kind == "trials" else one.key


@contextlib.contextmanager
def _reading(opened: SessionReader | None, session: Path, surveyed: bool) -> Iterator[SessionReader]:
    """Give a reader of a session: that of the open one, else one for the time being; not ``surveyed`` where single texts are wanted."""
    if opened is not None and opened.path == session:
        yield opened
        return
    from workbench.session.reader import SessionReader

    with SessionReader(session, surveyed=surveyed) as reader:
        yield reader
