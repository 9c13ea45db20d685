"""All stars, tags and remarks of the open session; enter goes to what one belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual import getters
from textual.containers import Container
from textual.widget import Widget

from workbench.app.key_table import key_of, with_keys
from workbench.app.keys import bindings
from workbench.app.location import Location, Place, ResultList
from workbench.app.toolkit.amounts import age
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.latest import Live
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.texts import Static
from workbench.results.plan_title import plan_title
from workbench.session.labels import SESSION, STAR, part_in_words
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_SIGNS = {"star": "★ star", "tag": "# tag", "remark": "✎ remark"}
_NOTHING = "Nothing is starred, tagged or remarked on yet: {labels.star} stars what is selected, {labels.tags} tags it, {labels.remark} remarks on it."


@dataclass(frozen=True, slots=True)
class Owner:
    """What a mark belongs to.

    Attributes:
        what: ``run``, ``trial``, ``step``, ``criterion``, ``task``, ``sample`` or ``session``; "" for what is no longer in the session.
        title: What a person calls it.
        trial: The trial to go to, "" where it belongs to none.
        run: The run to go to otherwise.
        place: Where in it.
    """

    what: str
    title: str
    trial: str = ""
    run: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A ``star``, a ``tag`` or a ``remark``, and when it was given in unix seconds."""

    kind: str
    text: str
    at: float
    owner: Owner


def load_marked(reader: SessionReader) -> tuple[MarkedLine, ...]:
    """Read all stars, tags and remarks of a session, the newest first."""
    rows = [("star" if row.label == STAR else "tag", row.label, row.at, row.item, row.part) for row in reader.labels()]
    rows += [("remark", note.text, note.at, note.item, note.of) for note in reader.annotations()]
    owners = {key: _owner(reader, *key) for key in dict.fromkeys(row[3:] for row in rows)}
    lines = (MarkedLine(kind, text, at, owners[item, part]) for kind, text, at, item, part in rows)
    return tuple(sorted(lines, key=lambda line: -line.at))


def _owner(reader: SessionReader, item: str, part: str) -> Owner:
    if item == SESSION:
        return Owner("session", f"the session {reader.path.stem}")
    if (trial := reader.trial(item)) is not None:
        title = f"{trial.case_name or trial.case_id} · {trial.agent} · {trial.model} · repeat {trial.repeat}"
        if part.isdecimal():
            return Owner("step", f"step {part} of {title}", trial.id, place=Place(int(part)))
        if part:
            return Owner("criterion", f"{part_in_words(part)} of {title}", trial.id, place=Place(item=part))
        return Owner("trial", title, trial.id)
    if (task := reader.task(item)) is not None:
        return Owner("task", f"{task.path}::{task.qualified_name}", run=task.run_id, place=Place(item=task.id))
    if (candidate := reader.candidate(item)) is not None:
        of = reader.task(candidate.task_id)
        title = f"{of.qualified_name if of is not None else candidate.task_id} · sample {candidate.sample + 1}"
        return Owner("sample", title, run=candidate.run_id, place=Place(candidate.sample, item=candidate.task_id))
    if (run := reader.run(item)) is not None:
        trials = reader.trials(item)
        return Owner("run", run.name or plan_title(run), trials[0].id if trials else "", run.id)
    return Owner("", f"{item}, which is no longer in the session")


COLUMNS: tuple[Column[MarkedLine], ...] = (
    Column(title="what", cell=lambda line: (_SIGNS[line.kind], "marked"), width=9, text=True, sort=lambda line: line.kind),
    Column(title="text", cell=lambda line: "" if line.kind == "star" else one_line(line.text, 400), width=10, widest=200, text=True,
           shorten=shortened, sort=lambda line: line.text.casefold() if line.kind != "star" else None),
    Column(title="of", cell=lambda line: (one_line(line.owner.title, 400), "" if line.owner.what else "dim"), width=20, widest=200,
           text=True, shorten=shortened, sort=lambda line: line.owner.title.casefold()),
    Column(title="age", cell=lambda line: (age(line.at), "dim"), width=6, sort=lambda line: line.at, descending=True),
)  # fmt: skip


class MarkedList(Table[MarkedLine]):
    """Stars, tags and remarks, the newest first."""

    BINDINGS = bindings("marked.open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line, order="age", id=id)

    def words_of_row(self, row: MarkedLine) -> str:
        return f"{row.kind} {row.text} {row.owner.what} {row.owner.title}"


class MarkedScreen(ModeScreen):
    """One list, and a line that says all of a long remark.

    Args:
        current: The line at which the cursor starts, None for the one at which it was left.
    """

    mode_name = "Stars, tags and remarks"
    CSS_PATH = "styles/marked.tcss"
    BINDINGS = bindings("marked.back")

    def __init__(self, current: MarkedLine | None = None) -> None:
        super().__init__()
        self._current = current
        kinds, read = {"label", "annotation", "run"}, lambda reader: partial(load_marked, reader)
        self.live = Live(self, "marked", read, self._show, kinds=kinds, nothing=())

    def compose_body(self) -> Iterable[Widget]:
        pane = Container(MarkedList(id="marked-list"), Static("", id="marked-line"), id="marked", classes="pane")
        set_title(pane, self.mode_name)
        yield pane

    def on_mount(self) -> None:
        self.table.restore(self._current)

    table = getters.query_one("#marked-list", MarkedList)

    def _show(self, lines: tuple[MarkedLine, ...]) -> None:
        self.table.put(lines)
        self.on_row_list_moved()

    def on_row_list_moved(self) -> None:
        table, line = self.table, self.table.selected
        shown, total = table.narrow_counts()
        of = f"{shown:,} of {total:,}" if table.narrowed else f"{total:,}"
        self.retitle("#marked", f"{self.mode_name} {of}")
        self.set_status(f"{total:,} marked")
        if not table.rows:
            text = with_keys(_NOTHING)
        elif line is None:
            text = f"Nothing here holds that text: {key_of('list.all')} shows all."
        else:
            text = one_line(line.text if line.kind == "remark" else line.owner.title, 1000)
        self.query_one("#marked-line", Static).update(text)

    def on_row_list_narrowed(self) -> None:
        self.on_row_list_moved()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        line, app, path = self.table.selected, self.app, self.workbench.session_path
        rows = [row for row in self.table.in_order() if row.owner.trial or row.owner.run]
        if line is None:
            return
        if line.owner.what == "session":
            app.call_later(app.run_action, "mode('sessions')")
        elif line in rows:
            owners = [row.owner for row in rows]
            locations = [
                Location(path, "trajectory" if one.trial else "regeneration", one.trial or one.run, one.place)
                for one in owners
            ]
            results = ResultList(lambda at: app.push_screen(MarkedScreen(rows[at])), locations, row="label")
            self.workbench.follow(results, rows.index(line))
        else:
            self.notify("What it belongs to is no longer in the session.")
