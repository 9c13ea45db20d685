"""All stars, tags and remarks of the open session; enter goes to what one belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.marked.lines import MarkedLine, load_marked
from workbench.app.toolkit.amounts import age
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.texts import Static
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

_SIGNS = {"star": "★ star", "tag": "# tag", "remark": "✎ remark"}
_NOTHING = "Nothing is starred, tagged or remarked on yet: * stars what is selected, t tags it, a (in Trajectory) remarks on it."


COLUMNS: tuple[Column[MarkedLine], ...] = (
    Column(title="what", cell=lambda line: (_SIGNS[line.kind], "marked"), width=9, text=True, sort=lambda line: line.kind),
    Column(title="text", cell=lambda line: "" if line.kind == "star" else one_line(line.text, 400), width=10, widest=200, text=True,
           shorten=shortened, sort=lambda line: line.text.casefold() if line.kind != "star" else None),
    Column(title="of", cell=lambda line: (one_line(line.title, 400), "" if line.what else "dim"), width=20, widest=200, text=True,
           shorten=shortened, sort=lambda line: line.title.casefold()),
    Column(title="age", cell=lambda line: (age(line.at), "dim"), width=6, sort=lambda line: line.at, descending=True),
)  # fmt: skip


class MarkedList(Table[MarkedLine]):
    """Stars, tags and remarks, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "go there", id="marked.open")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line, order="age", id=id)

    def words_of_row(self, row: MarkedLine) -> str:
        return f"{row.kind} {row.text} {row.what} {row.title}"


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
        pane = Container(MarkedList(id="marked-list"), Static("", id="marked-line"), id="marked", classes="pane")
        set_title(pane, "Stars, tags and remarks")
        yield pane

    @property
    def table(self) -> MarkedList:
        return self.query_one("#marked-list", MarkedList)

    def on_session_opened(self, reader: SessionReader | None) -> None:
        if reader is None:
            self._show(())
        else:
            self._loading.ask(lambda: load_marked(reader), self._show)

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
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
        if not table.rows:
            text = _NOTHING
        elif line is None:
            text = "Nothing here holds that text: esc shows all."
        else:
            text = one_line(line.text if line.kind == "remark" else line.title, 1000)
        self.query_one("#marked-line", Static).update(text)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._say()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
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
        self._say()

    def action_leave(self) -> None:
        self.dismiss()
