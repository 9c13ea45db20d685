"""All stars, tags and remarks of the open session; enter goes to what one belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.key_table import key_of, with_keys
from workbench.app.keys import bind
from workbench.app.location import Location, ResultList
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
_NOTHING = "Nothing is starred, tagged or remarked on yet: {labels.star} stars what is selected, {labels.tags} tags it, {trajectory.annotate} (in Trajectory) remarks on it."


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

    BINDINGS: ClassVar[list[BindingType]] = [bind("marked.open", "choose", "go there")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line, order="age", id=id)

    def words_of_row(self, row: MarkedLine) -> str:
        return f"{row.kind} {row.text} {row.what} {row.title}"


class MarkedScreen(ModeScreen):
    """One list, and a line that says all of a long remark.

    Args:
        current: The line at which the cursor starts, None for the one at which it was left.
    """

    mode_name = "Stars, tags and remarks"
    CSS_PATH = "../styles/marked.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("marked.back", "leave", "back"),
    ]

    def __init__(self, current: MarkedLine | None = None) -> None:
        super().__init__()
        self._current = current
        self._loading = Latest(self, "marked")

    def compose_body(self) -> Iterable[Widget]:
        pane = Container(MarkedList(id="marked-list"), Static("", id="marked-line"), id="marked", classes="pane")
        set_title(pane, "Stars, tags and remarks")
        yield pane

    def on_mount(self) -> None:
        self.table.restore(self._current)

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
            text = with_keys(_NOTHING)
        elif line is None:
            text = f"Nothing here holds that text: {key_of('list.all')} shows all."
        else:
            text = one_line(line.text if line.kind == "remark" else line.title, 1000)
        self.query_one("#marked-line", Static).update(text)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._say()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        line = self.table.selected
        app, path = self.app, self.workbench.session_path
        rows = [row for row in self.table.in_order() if row.trial or row.run]
        if line is None:
            return
        if line.what == "session":
            app.call_later(app.run_action, "mode('sessions')")
        elif line in rows:
            locations = [
                Location(path, "trajectory" if row.trial else "regeneration", row.trial or row.run, row.place)
                for row in rows
            ]
            results = ResultList(lambda at: app.push_screen(MarkedScreen(rows[at])), locations, row="label")
            self.workbench.follow(results, rows.index(line))
        else:
            self.notify("What it belongs to is no longer in the session.")

    def on_row_list_narrowed(self, message: RowList.Narrowed) -> None:
        self._say()
