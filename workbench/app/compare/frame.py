"""What all comparisons share: two things read from their sessions, panes of differences, and the keys to go through them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events, work
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.head import Head, HeadTable
from workbench.app.keys import bind
from workbench.app.location import Location, Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import PaneTabs
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.errors import WorkbenchError
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


SideT = TypeVar("SideT")
REFRESH_SECONDS = 0.5
"""Time between two readings of what is at work."""


class SideBySide(ModeScreen):
    """Two things of the open session, or of others.

    A subclass declares its panes, and how two are read, what the head says of them and where a row leads.

    Args:
        pair: What is A, and what is B; differences are B minus A.
    """

    mode_name = "Side by side"
    CSS_PATH = "../styles/compare.tcss"
    # Between 24 and 34 lines there is room for one pane at a time, as there is under 100 columns.
    VERTICAL_BREAKPOINTS = [(0, "-h-none"), (12, "-h-tabs"), (24, "-h-low"), (34, "-h-full"), (48, "-h-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("compare.next", "difference(1)", "difference", key_display="n/N"),
        bind("compare.previous", "difference(-1)", "Previous difference", show=False),
        bind("compare.only-differences", "only_differences", "hide same"),
        bind("compare.swap", "swap", "swap"),
        bind("compare.open", "open_item", "open"),
        bind("compare.export", "export", "export"),
        bind("compare.back", "leave", "back"),
    ]
    titles: ClassVar[dict[str, str]] = {}
    """The panes' ids with their names."""
    what: ClassVar[str] = ""
    """What is compared: ``two tasks``."""
    head_lines: ClassVar[int] = 4
    begins: ClassVar[dict[str, str]] = {}
    """The pane to begin in where texts of a kind are compared: see :attr:`Pair.about`."""

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.pair = pair
        self.first_pane = self.begins.get(pair.about, next(iter(self.titles), ""))
        self.comparing = Latest(self, "compare")
        self.comparison: Any = None
        self.only_differences = False
        # A large run takes longer to read than what changes takes to come.
        self._first = True

    # -- what subclasses say

    def read(self, left: SessionReader, right: SessionReader) -> Any:
        """Read both and compare them, in a thread; a sentence where they cannot be compared."""
        raise NotImplementedError

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        """Return the list of each pane."""
        raise NotImplementedError

    def head_of(self, comparison: Any, width: int) -> HeadTable:
        """Return what stands over the panes, for so many cells."""
        raise NotImplementedError

    def figures_of(self, pane: str, comparison: Any) -> str:
        raise NotImplementedError

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return what the key for opening goes to, None where there is nothing."""
        raise NotImplementedError

    def both(
        self, left: SessionReader, right: SessionReader, read: Callable[[SessionReader, str], SideT | None], noun: str
    ) -> tuple[SideT, SideT] | str:
        """Return both sides, or a sentence that says which is not in its session."""
        sides = []
        for name, reader, one in zip("AB", (left, right), (self.pair.left, self.pair.right), strict=True):
            side = read(reader, str(one.key))
            if side is None:
                return f"{noun} {name} is not in {one_line(reader.path.name, 80)}."
            sides.append(side)
        return sides[0], sides[1]

    # -- what is shown

    def compose_body(self) -> Iterable[Widget]:
        panes: list[Container] = []
        for (name, title), one in zip(self.titles.items(), self.lists_of(), strict=True):
            inside: list[Widget] = [one]
            if isinstance(one, DifferenceTable) and one.shows.below is not None:
                inside.append(Static("", classes="below"))
            panes.append(Container(*inside, id=name, classes="pane -current" if name == self.first_pane else "pane"))
            set_title(panes[-1], title)
        yield Head(self.head_lines, id="head")
        yield Container(*panes, id="panes")

    def on_mount(self) -> None:
        self.set_status(f"{self.what} side by side")
        self.query_one(Head).show(None, f"Reading {self.what.replace('two', 'both')}…")

    @property
    def lists(self) -> list[DifferenceList[Any]]:
        return list(self.query(DifferenceList))

    def on_session_opened(self, reader: SessionReader | None) -> None:
        self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        mine = {one for side in (self.pair.left, self.pair.right) for one in (side.key, side.run)}
        kinds = {"run", *(("candidate", "task") if self.pair.left.kind != "trial" else ())}
        if any(change.item in mine or change.kind in kinds for change in changes):
            self.comparing.soon(self._load, REFRESH_SECONDS)

    def _load(self) -> None:
        pair, opened = self.pair, self.workbench.reader

        def work() -> Any:
            with reading(opened, pair.left.session) as left, reading(opened, pair.right.session) as right:
                return self.read(left, right)

        self.comparing.ask(work, self._show, self._show)

    def _show(self, found: Any) -> None:
        self.comparison = None if isinstance(found, str) else found
        for one in self.lists:
            one.put(self.comparison)
            if self._first and self.comparison is not None:
                one.go_to_first_difference()
        self._first = self._first and self.comparison is None
        if isinstance(found, str):
            self.query_one(Head).show(None, found)
        self.show_figures()
        self.refresh_bindings()

    def show_figures(self) -> None:
        """Show the head, and in each pane's title what it says; docs that are the same take no room unless they were asked for."""
        if self.comparison is None:
            return
        for name in {"docs-texts", "prompt-texts"} & self.titles.keys():
            pair = self.comparison.docstrings if name == "docs-texts" else self.comparison.prompts
            self.query_one(f"#{name}").set_class(pair.same and self.begins.get(self.pair.about) != name, "-off")
        self.query_one(Head).show(self.head_of(self.comparison, self.size.width))
        folded = "only what differs" if self.only_differences else ""
        for name, title in self.titles.items():
            said = self.figures_of(name, self.comparison)
            set_title(self.query_one(f"#{name}"), f"{title} · {said}" if said else title, folded)
        self._refresh_tabs()
        self.show_below()

    def show_below(self) -> None:
        """Say more of the rows under the cursors."""
        lines = 4 if self.has_class("-h-tall") else 2
        for one in self.query(DifferenceTable):
            if one.shows.below is not None and one.parent is not None:
                one.parent.query_one(".below", Static).update(one.below(lines))

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self.show_below()

    def on_resize(self, event: events.Resize) -> None:
        self.show_figures()

    def _refresh_tabs(self) -> None:
        # Where only one pane has room there is none for counts either.
        self.query_one(PaneTabs).show([(self.titles[pane.id or ""], pane.has_class("-current")) for pane in self.panes])

    # -- what one can do

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
            answer = await host.push_screen_wait(
                AskText("Export comparison", note, suggested, paths=not host.in_browser)
            )
            if not answer or self.comparison is None:
                return
            try:
                out = await asyncio.to_thread(_write, place_of(host, answer), self.comparison, self.pair)
            except WorkbenchError as error:
                suggested, problem = answer, f"✗ {error}"
                continue
            hand_over(host, out, "comparison")
            return

    def action_open_item(self) -> None:
        found = self.target()
        if found is None:
            self.notify("There is nothing to open here.", timeout=3)
        else:
            self.go_to(*found)

    def go_to(self, one: Marked, place: Place | None = None) -> None:
        """Show a trial, candidate or run in its mode; the way back leads here."""
        if one.kind == "trial":
            location = Location(one.session, "trajectory", str(one.key), place)
        elif one.kind == "run":
            location = Location(one.session, "regeneration", str(one.key))
        else:
            location = Location(one.session, "regeneration", one.run, place, self.evaluator_of(one))
        self.workbench.go_to(location)

    def evaluator_of(self, one: Marked) -> str:
        """Return whose samples are shown where a candidate or a group is gone to."""
        return one.key[1] if isinstance(one.key, tuple) else ""

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, str(self.app.current_mode), pair=self.pair)


def _write(out: Path, comparison: Any, pair: Pair) -> Path:
    """Write a comparison as Markdown.

    Raises:
        WorkbenchError: It cannot be written there, or that is a session.
    """
    from workbench.reports.comparisons import blocks_of, markdown
    from workbench.reports.writing import check_place, write_atomically

    for side in (pair.left, pair.right):
        check_place(out, side.session)
    return write_atomically(out, [markdown(blocks_of(comparison))])


@contextlib.contextmanager
def reading(opened: SessionReader | None, session: Path, *, surveyed: bool = True) -> Iterator[SessionReader]:
    """Give a reader of a session: that of the open one, else one for the time being.

    ``surveyed`` is False where single texts are wanted, at once.

    Raises:
        SessionError: The file cannot be read, or is gone.
    """
    if opened is not None and opened.path == session:
        yield opened
        return
    from workbench.session.reader import SessionReader

    with SessionReader(session, surveyed=surveyed) as reader:
        yield reader


def screen_for(pair: Pair) -> SideBySide:
    """Return the screen for a pair of one kind."""
    if pair.left.kind == "trial":
        from workbench.app.compare.screen import CompareScreen

        return CompareScreen(pair)
    if pair.left.kind == "candidate":
        from workbench.app.compare.candidate_screen import CandidatesScreen

        return CandidatesScreen(pair)
    if pair.left.kind == "task":
        from workbench.app.compare.tasks_screen import TasksScreen

        return TasksScreen(pair)
    if all(one.kind == "trials" or one.of_trials for one in (pair.left, pair.right)):
        from workbench.app.compare.run_trials_screen import RunTrialsScreen

        return RunTrialsScreen(pair)
    from workbench.app.compare.group_screen import GroupsScreen

    return GroupsScreen(pair)
