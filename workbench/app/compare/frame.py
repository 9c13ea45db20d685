"""What all comparisons share: two things read from their sessions, panes of differences, and the keys to go through them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import work
from textual.binding import BindingType

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.keys import bind
from workbench.app.location import Location, Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane_tabs import PaneTabs
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

    A subclass yields its panes, whose lists are :class:`DifferenceList`, and fills :meth:`read`, :meth:`shown` and
    :meth:`target`.

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

    def shown(self, comparison: Any, sentence: str) -> None:
        """A comparison was put into the lists, or (None) a sentence says why there is none."""
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

    @property
    def lists(self) -> list[DifferenceList[Any]]:
        """The list of each pane."""
        return list(self.query(DifferenceList))

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Read both; each from its own session, whichever is open now."""
        self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Read again soon where something of the two may have changed."""
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
        self.shown(self.comparison, found if isinstance(found, str) else "")
        self.refresh_bindings()

    def hide_same(self, pane: str, *, same: bool) -> None:
        """Give a pane whose texts are the same no room, unless it was asked for."""
        self.query_one(f"#{pane}").set_class(same and self.begins.get(self.pair.about) != pane, "-off")

    def _refresh_tabs(self) -> None:
        # Where only one pane has room there is none for counts either.
        self.query_one(PaneTabs).show([(self.titles[pane.id or ""], pane.has_class("-current")) for pane in self.panes])

    # -- what one can do

    def action_difference(self, step: int) -> None:
        """Go to the next or previous difference in the current pane."""
        current = self.focused
        if isinstance(current, DifferenceList) and not current.go_to_difference(step):
            self.notify("Nothing differs here.", timeout=3)

    def action_only_differences(self) -> None:
        """Leave out what is the same, or show it again."""
        self.only_differences = not self.only_differences
        for one in self.lists:
            one.show_only_differences(self.only_differences)
        self.shown(self.comparison, "")

    def action_swap(self) -> None:
        """Let A be B and B be A."""
        self.pair = self.pair.swapped
        self.comparison = None  # what was read is the other way round
        self._load()

    @work
    async def action_export(self) -> None:
        """Ask for a file and write the comparison there, as ``workbench compare`` prints it."""
        if self.comparison is None:
            self.notify("There is nothing to export yet.", timeout=3)
            return
        from workbench.app.toolkit.ask import AskText
        from workbench.app.toolkit.handing_over import hand_over, place_of, suggested_place
        from workbench.app.toolkit.path_suggester import PathSuggester

        host, problem = self.workbench, ""
        suggested = suggested_place(host, f"{self.pair.left.kind}s-side-by-side.md")
        paths = None if host.in_browser else PathSuggester()
        while True:
            note = "\n".join(filter(None, (problem, "It is written as Markdown; a file of that name is replaced.")))
            answer = await host.push_screen_wait(AskText("Export comparison", note, suggested, suggester=paths))
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
        """Go to what the row under the cursor is about, in its own session."""
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
        """Return the comparison, as a place to come back to."""
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
