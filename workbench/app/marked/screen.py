"""All stars, tags and remarks of the open session; enter goes to what one belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.marked.lines import MarkedLine, load_marked
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
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

    @property
    def selected(self) -> MarkedLine | None:
        """The line under the cursor."""
        at = self.cursor - 1
        return self.lines[at] if 0 <= at < len(self.lines) else None

    def put(self, lines: tuple[MarkedLine, ...]) -> None:
        """Show these lines; the cursor stays on its own."""
        kept = self.selected
        self.lines = lines
        self.rows_changed(cursor=lines.index(kept) + 1 if kept in lines else max(1, self.cursor))

    def words_of(self, index: int) -> str:
        """Return the line's texts, also where they are too long for the row."""
        line = self.lines[index - 1]
        return f"{line.kind} {line.text} {line.what} {line.title}"

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self.lines) + 1 if self.lines else 0

    def _widths(self, width: int) -> tuple[int, int]:
        room = max(20, width - 20)
        said = max(10, min(room // 2, max((len(line.text) for line in self.lines), default=0)))
        return said, max(10, room - said)

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        said, what = self._widths(width)
        return [(f" {fit('what', 9)} {fit('text', said)} {fit('of', what)} {fit('age', 6, right=True)}", "dim")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a star, tag or remark."""
        if index == 0:
            return self.heading_parts(width)
        line = self.lines[index - 1]
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
        Binding("escape,number_sign", "leave", "back", id="marked.back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._loading = Latest(self, "marked")

    def compose_body(self) -> Iterable[Widget]:
        """Yield the list."""
        pane = Container(MarkedList(id="marked-list"), Static("", id="marked-line"), id="marked", classes="pane")
        set_title(pane, "Stars, tags and remarks")
        yield pane

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
        self.table.put(lines)
        self._say()

    def _say(self) -> None:
        table = self.table
        shown, total = table.narrow_counts()
        self.retitle(
            "#marked",
            f"Stars, tags and remarks {shown:,} of {total:,}"
            if table.narrowed
            else f"Stars, tags and remarks {total:,}",
        )
        self.set_status(f"{total:,} marked")
        line = table.selected
        if not table.lines:
            text = _NOTHING
        elif line is None:
            text = "Nothing here holds that text: esc shows all."
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
        if line.what == "session":
            self.app.call_later(self.app.run_action, "mode('sessions')")
        elif line.trial:
            self._follow(partial(self.workbench.show_trial, line.trial, line.place))
        elif line.run:
            self._follow(partial(self.workbench.show_run, line.run, "", line.place))
        else:
            self.notify("What it belongs to is no longer in the session.")

    def _follow(self, going: Callable[[], Any]) -> None:
        app = self.app
        app.call_later(self.workbench.trail.follow, going, lambda: app.push_screen(MarkedScreen()))

    def on_row_list_narrowed(self, message: RowList.Narrowed) -> None:
        """Say how many are left."""
        self._say()

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()
