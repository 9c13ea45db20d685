"""All stars, tags and remarks of the open session; enter goes to what one belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.marked.lines import MarkedLine, load_marked
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.prompt_line import PromptLine
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.times import age
from workbench.app.toolkit.virtual_view import Part
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

_SIGNS = {"star": "★ star", "tag": "# tag", "remark": "✎ remark"}
_NOTHING = "Nothing is starred, tagged or remarked on yet: * stars what is selected, t tags it, a (in Trajectory) remarks on it."


class MarkedList(HeadedList):
    """Row 0 is the heading; below it a row for each star, tag and remark."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "go there", id="marked.open")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[MarkedLine, ...] = ()
        self.shown: list[MarkedLine] = []
        self.text = ""

    @property
    def selected(self) -> MarkedLine | None:
        """The line under the cursor."""
        at = self.cursor - 1
        return self.shown[at] if 0 <= at < len(self.shown) else None

    def put(self, lines: tuple[MarkedLine, ...], text: str) -> None:
        """Show the lines in which a text stands; "" shows all."""
        kept = self.selected
        self.lines, self.text = lines, text
        self.shown = [line for line in lines if line.holds(text)]
        self.rows_changed(cursor=self.shown.index(kept) + 1 if kept in self.shown else max(1, self.cursor))

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self.shown) + 1 if self.shown else 0

    def _widths(self, width: int) -> tuple[int, int]:
        room = max(20, width - 20)
        said = max(10, min(room // 2, max((len(line.text) for line in self.shown), default=0)))
        return said, max(10, room - said)

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        said, what = self._widths(width)
        return [(f" {fit('what', 9)} {fit('text', said)} {fit('of', what)} {fit('age', 6, right=True)}", "dim")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a star, tag or remark."""
        if index == 0:
            return self.heading_parts(width)
        line = self.shown[index - 1]
        said, what = self._widths(width)
        text = "" if line.kind == "star" else one_line(line.text, 400)
        return [
            (f" {fit(_SIGNS[line.kind], 9)} ", "marked"),
            (fit(shortened(text, said), said) + " ", ""),
            (fit(shortened(one_line(line.title, 400), what), what), "" if line.what else "dim"),
            (" " + fit(age(line.at), 6, right=True), "dim"),
        ]


class MarkedScreen(ModeScreen):
    """One list, and a line that says all of a long remark."""

    mode_name = "Stars, tags and remarks"
    CSS_PATH = "../styles/marked.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "narrow", "narrow down", key_display="/", id="marked.narrow"),
        Binding("escape,number_sign", "leave", "back", id="marked.back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._loading = Latest(self, "marked")

    def compose_body(self) -> Iterable[Widget]:
        """Yield the list, and the line in which one types."""
        pane = Container(MarkedList(id="marked-list"), Static("", id="marked-line"), id="marked", classes="pane")
        set_title(pane, "Stars, tags and remarks")
        yield pane
        yield PromptLine()

    def on_mount(self) -> None:
        """Begin in the list."""
        self.workbench.after_first_paint(self.table.focus)

    @property
    def table(self) -> MarkedList:
        """The list."""
        return self.query_one("#marked-list", MarkedList)

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Read the list anew."""
        if reader is None:
            self._show(())
        else:
            self._loading.ask(lambda: load_marked(reader), self._show)

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Read again when something was marked."""
        if any(change.kind in {"label", "annotation", "run"} for change in changes):
            self.on_session_opened(self.workbench.reader)

    def _show(self, lines: tuple[MarkedLine, ...]) -> None:
        self.table.put(lines, self.table.text)
        self._say()

    def _say(self) -> None:
        table = self.table
        count = f"{len(table.shown):,} of {len(table.lines):,}" if table.text else f"{len(table.lines):,}"
        self.retitle("#marked", f"Stars, tags and remarks {count}" + (f" · “{table.text}”" if table.text else ""))
        self.set_status(f"{len(table.lines):,} marked")
        line = table.selected
        if not table.lines:
            text = _NOTHING
        elif line is None:
            text = "Nothing here holds that text: / and an empty line show all."
        else:
            text = one_line(line.text if line.kind == "remark" else line.title, 1000)
        self.query_one("#marked-line", Static).update(text)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Say more of what is under the cursor."""
        self._say()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Go to what it belongs to."""
        line = self.table.selected
        if line is None:
            return
        if line.trial:
            self.app.call_later(self.workbench.show_trial, line.trial, line.place)
        elif line.run:
            self.app.call_later(self.workbench.show_run, line.run, "", line.place)
        else:
            self.notify("What it belongs to is no longer in the session.")

    def action_narrow(self) -> None:
        """Ask for a text that the lines must hold."""
        self.query_one(PromptLine).ask("narrow", "only with:", self.table.text)

    def on_prompt_line_answered(self, message: PromptLine.Answered) -> None:
        """Show the lines that hold the text."""
        self.table.put(self.table.lines, one_line(message.text.strip(), 100))
        self.table.focus()
        self._say()

    def on_prompt_line_left(self, message: PromptLine.Left) -> None:
        """Go back to the list."""
        self.table.focus()

    def action_leave(self) -> None:
        """Go back; first to all lines, where only some are shown."""
        if self.table.text:
            self.table.put(self.table.lines, "")
            self._say()
        else:
            self.dismiss()
