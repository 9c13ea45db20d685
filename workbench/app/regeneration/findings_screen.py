"""A base screen with a list of findings and two texts about the selected one, for failures and tried docstrings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import getters
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings
from workbench.app.toolkit.columns import ColumnLayout, TableColumn
from workbench.app.toolkit.document import EMPTY, TextDocument, note
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.plot import PlotLine
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.workers import LatestWorker
from workbench.base.text import shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

TitledTexts = tuple[tuple[str, TextDocument], tuple[str, TextDocument]]
"""Two texts, each with a title; "" means the name of the pane."""
NO_TEXTS: Final = ("", EMPTY), ("", EMPTY)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A row of a listing.

    ``of`` is the object that the row shows. ``read`` loads its texts in a thread. ``named`` identifies the row if its
    cells are not unique.
    """

    cells: tuple[str, ...]
    of: Any = None
    read: Callable[[SessionReader], TitledTexts] | None = None
    named: object = None

    @property
    def key(self) -> object:
        return self.named or self.cells


@dataclass(frozen=True, slots=True)
class Listing:
    """A list with its columns; ``empty`` is the text for an empty list, and ``lines`` are the lines of its plot."""

    columns: tuple[TableColumn[FindingRow], ...]
    entries: tuple[FindingRow, ...]
    caption: str
    empty: str
    lines: tuple[PlotLine, ...] = ()


LOADING: Final = Listing((), (), "loading…", "Loading…")
"""The placeholder for a list that is still loading."""


def columns(*declared: tuple[str, int, bool]) -> tuple[TableColumn[FindingRow], ...]:
    """Return columns declared as (title, width in cells, whether it is numeric).

    A column of width 0 takes the remaining width. This column and the first three are never dropped.
    """

    def column(at: int, title: str, size: int, number: bool) -> TableColumn[FindingRow]:
        return TableColumn(
            title=title,
            cell=lambda entry: (entry.cells[at], "score" if number else ""),
            width=size if number else min(size or 24, 12 if size else 24),
            widest=0 if number else size or 400,
            text=not number,
            priority=max(0, at - 2) if size else 0,
            shorten=shortened,
        )

    return tuple(column(at, *one) for at, one in enumerate(declared))


class FindingList(VirtualTable[FindingRow]):
    """The table of the rows of a listing."""

    LEAD = 1
    BINDINGS = bindings("went-wrong.open")

    def __init__(self) -> None:
        super().__init__((), key=lambda entry: entry.key)

    def show(self, listing: Listing, cursor: int | None = None) -> None:
        """Show another listing; if ``cursor`` is None, the cursor stays on its row."""
        self.columns, self.empty = ColumnLayout(listing.columns), listing.empty
        self.cursor = self.cursor if cursor is None else -1
        self.put(listing.entries)
        self.set_cursor(self.cursor if cursor is None else cursor)


class FindingsScreen(ModeScreen):
    """A screen with a list and two texts; ``names`` are the names of the three panes."""

    CSS_PATH = "../styles/findings.tcss"
    names: ClassVar[tuple[str, str, str]]

    def __init__(self) -> None:
        super().__init__()
        self.detailing = LatestWorker(self, "texts")
        self._asked: FindingRow | None = None
        self._shown: object = None  # key of the entry that the displayed texts belong to

    def compose_body(self) -> Iterable[Widget]:
        of_list, *of_texts = self.names
        yield Pane(*self.compose_list(), short=of_list, id="findings-pane", classes="pane")
        sides = zip(("left-pane", "right-pane"), of_texts, strict=True)
        texts = [Pane(TextPane(), short=name, id=id, classes="pane text") for id, name in sides]
        yield Container(*texts, *self.compose_beside(), id="beside", classes="pane-group")

    def compose_list(self) -> Iterable[Widget]:
        yield FindingList()

    def compose_beside(self) -> Iterable[Widget]:
        return ()

    def on_mount(self) -> None:
        self.list.show(LOADING)

    list = getters.query_one(FindingList)

    @property
    def idle(self) -> bool:
        """Whether nothing is loading."""
        return self.live.settled and self.detailing.idle

    def on_row_list_row_highlighted(self) -> None:
        self.show_entry()

    def show_entry(self) -> None:
        entry, reader = self.list.selected, self.workbench.reader
        if entry is None or entry.read is None or reader is None:
            self._asked = None
            self._show_texts(None, NO_TEXTS)
        elif entry is not self._asked:
            self._asked, key = entry, entry.key
            read, show = partial(entry.read, reader), partial(self._show_texts, key)
            self.detailing.ask(read, show, lambda sentence: show((("", note(sentence)), ("", EMPTY))))

    def _show_texts(self, key: object, texts: TitledTexts) -> None:
        same, self._shown = key == self._shown, key
        for pane, (title, document) in zip(self.query(".text").results(Pane), texts, strict=True):
            pane.titled(title or pane.short)
            text = pane.query_one(TextPane)
            text.show(document, keep_place=same)
            asked_for = next((at for at, line in enumerate(document.lines) if line.fill), None)
            if asked_for is not None and not same:
                text.go_to(asked_for)
        self._refresh_tabs()
